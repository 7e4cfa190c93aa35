/* SPDX-License-Identifier: Apache-2.0 */
#include "views/arrays_write.h"

static void array_write(struct json *json, const struct program_array *array)
{
    json_object_begin(json);
    json_key_text(json, "role", program_arrays_role_name(array->role));
    json_key_text(json, "words", program_arrays_role_words(array->role));
    json_key_int(json, "bytes", array->bytes);
    json_key_uint(json, "count", array->count);
    json_key_text(json, "shape", array->shape);
    json_key_text(json, "name", array->name);
    json_key_text(json, "source", array->source);
    json_object_end(json);
}

void arrays_write(struct json *json, const char *key, const struct program_arrays *arrays)
{
    if (!json_key_object_if(json, key, arrays != NULL))
        return;
    json_key_text(json, "sentence", arrays->sentence);
    json_key_uint(json, "device_count", arrays->device_count);
    json_key_int(json, "least_bytes", arrays->least_bytes);
    json_key_int(json, "argument_bytes", arrays->argument_bytes);
    json_key_int(json, "result_bytes", arrays->result_bytes);
    json_key_int(json, "shared_bytes", arrays->shared_bytes);
    json_key_int(json, "listed_bytes", arrays->listed_bytes);
    json_key_uint(json, "fused_count", arrays->fused_count);
    json_key_int(json, "fused_largest_bytes", arrays->fused_largest_bytes);
    json_key_uint(json, "total_count", arrays->total_count);
    json_key_array(json, "items");
    for (uint32_t i = 0; i < arrays->count; i++)
        array_write(json, &arrays->items[i]);
    json_array_end(json);
    json_object_end(json);
}
