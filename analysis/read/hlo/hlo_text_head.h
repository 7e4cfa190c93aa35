/* SPDX-License-Identifier: Apache-2.0
 * hlo_text_head.h: what comes before the computations of a module in a text: its first line, and the tables of stack
 * frames. Errors: `malformed` with the line. */
#pragma once

#include "read/text_cursor.h"
#include "wire/arena_out.h"

struct hlo_text_head {
    bool is_scheduled;
};

/* The rest of the first line, behind the name, as fields of a HloModuleProto: which outputs live in which arguments,
 * donors, how many devices. */
bool hlo_text_head_read(struct text_cursor *cursor, struct arena_out *out, struct hlo_text_head *head);

struct hlo_text_frame {
    int64_t location, parent;
};

/* FileNames, FunctionNames, FileLocations and StackFrames: lines, as they are. */
struct hlo_text_frames {
    struct str *files, *functions, *locations;
    struct hlo_text_frame *frames;
    size_t file_count, function_count, location_count, frame_count;
    size_t file_capacity, function_capacity, location_capacity, frame_capacity;
};

/* Takes a whole table if one begins here. */
bool hlo_text_frames_take(struct hlo_text_frames *frames, struct text_cursor *cursor, struct arena *arena);
/* A StackFrameIndexProto, if there is any table. */
void hlo_text_frames_write(const struct hlo_text_frames *frames, struct arena_out *out);
