/* SPDX-License-Identifier: Apache-2.0
 * torch_snapshot_frames.c: what a stack of a snapshot says in a few words. */
#include "input/torch_snapshot.h"

uint32_t torch_snapshot_own_frame(const struct torch_snapshot *snapshot, uint32_t stack)
{
    uint32_t of_python = UINT32_MAX;
    if (stack >= snapshot->stack_count)
        return UINT32_MAX;
    const struct torch_stack *found = &snapshot->stacks[stack];
    const uint32_t *frames = snapshot->stack_frames + found->first;
    for (uint32_t i = 0; i < found->count; i++) {
        const struct torch_frame *frame = &snapshot->frames[frames[i]];
        if (frame->is_python && frame->whose == LIBRARY_USER)
            return frames[i];
        of_python = of_python == UINT32_MAX && frame->is_python ? frames[i] : of_python;
    }
    return of_python != UINT32_MAX ? of_python : frames[0];
}

struct str torch_snapshot_frame_words(const struct torch_frame *frame, struct arena *arena)
{
    size_t from = frame->file.length; /* of the last part of the path */
    while (from > 0 && frame->file.data[from - 1] != '/' && frame->file.data[from - 1] != '\\')
        from--;
    const struct str file = {frame->file.data + from, frame->file.length - from};
    if (!frame->is_python || frame->line == 0)
        return frame->function;
    return str_of(arena_format(arena, "%.*s:%u %.*s", (int)file.length, file.data, frame->line,
                               (int)frame->function.length, frame->function.data));
}
