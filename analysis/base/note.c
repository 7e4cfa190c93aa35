/* SPDX-License-Identifier: Apache-2.0 */
#include "base/note.h"

void note_write_list(struct json *json, const struct note *notes, size_t count)
{
    json_key_array(json, "notes");
    for (size_t i = 0; i < count; i++) {
        json_object_begin(json);
        json_key_text(json, "code", notes[i].code);
        json_key_uint(json, "count", notes[i].count);
        json_key_text(json, "text", notes[i].text);
        json_object_end(json);
    }
    json_array_end(json);
}
