/* SPDX-License-Identifier: Apache-2.0 */
#include "views/device_memory/frames_write.h"

void frames_write(const struct frames *frames, uint32_t at, struct buf *scratch, struct json *json)
{
    const struct frame *frame = &frames->items[at];
    char id[FRAMES_ID_SIZE];
    frames_id(frames, at, id);
    json_object_begin(json);
    json_key_text(json, "id", id);
    json_key_string(json, "function", frame->function);
    json_key_string(json, "file", frame->file);
    json_key_int(json, "line", frame->line);
    json_key_string(json, "name", frames_short_name(frames, at, scratch));
    json_key_bool(json, "is_machinery", frame->is_machinery);
    json_object_end(json);
}
