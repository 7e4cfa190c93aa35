/* SPDX-License-Identifier: Apache-2.0 */
#include "views/live/live_write.h"

#include "views/finding_write.h"

#include <stddef.h>

static void column_write(const struct live_line *line, const char *key, size_t field_at, struct json *json)
{
    json_key_array(json, key);
    for (size_t at = 0; at < line->count; at++) {
        int64_t value = *(const int64_t *)(const void *)((const char *)&line->samples[at] + field_at);
        if (value < 0)
            json_null(json);
        else
            json_int(json, value);
    }
    json_array_end(json);
}

static void samples_write(const struct live_line *line, struct json *json)
{
    json_key_object(json, "samples");
    column_write(line, "at_ms", offsetof(struct live_sample, at_ms), json);
    column_write(line, "low_bytes", offsetof(struct live_sample, low_bytes), json);
    column_write(line, "high_bytes", offsetof(struct live_sample, high_bytes), json);
    column_write(line, "reserved_bytes", offsetof(struct live_sample, reserved_bytes), json);
    column_write(line, "free_bytes", offsetof(struct live_sample, free_bytes), json);
    json_object_end(json);
}

static void line_write(const struct live_line *line, bool with_samples, struct json *json)
{
    const struct live_sample *last = &line->samples[line->count - 1];
    json_object_begin(json);
    json_key_text(json, "process", line->process);
    json_key_text(json, "device", line->device);
    json_key_text(json, "name", line->name);
    json_key_text(json, "kind", live_kind_name(line->kind));
    json_key_text(json, "sentence", line->sentence);
    json_key_known(json, "total_bytes", line->total_bytes);
    json_key_int(json, "at_ms", last->at_ms);
    json_key_int(json, "used_bytes", last->high_bytes);
    json_key_known(json, "reserved_bytes", last->reserved_bytes);
    json_key_known(json, "free_bytes", last->free_bytes);
    json_key_known(json, "room_bytes", line->room_bytes);
    json_key_int(json, "peak_bytes", line->peak_bytes);
    json_key_int(json, "peak_ms", line->peak_ms);
    json_key_bool(json, "has_ended", line->is_ended);
    json_key_text(json, "reason", line->reason);
    if (line->finding != NULL) {
        json_key_int(json, "grown_per_minute_bytes", line->grown_per_minute_bytes);
        json_key_text(json, "growth_sentence", line->growth_sentence);
    }
    finding_write(json, line->finding);
    if (with_samples)
        samples_write(line, json);
    json_object_end(json);
}

void live_write(const struct live *live, bool with_samples, struct json *json)
{
    json_key_array(json, "lines");
    for (size_t at = 0; at < live->count; at++)
        line_write(&live->lines[at], with_samples, json);
    json_array_end(json);
    json_key_uint(json, "left_out_count", live->left_out_count);
}
