/* SPDX-License-Identifier: Apache-2.0
 * torch_holder.c: see torch_holder.h. */
#include "plan/torch_holder.h"

static const struct {
    enum torch_holder holder;
    const char *file, *function; /* as in torch_holder.def */
} rows[] = {
#define TORCH_HOLDER(holder, file, function) {TORCH_HOLDER_##holder, file, function},
#include "plan/torch_holder.def"
#undef TORCH_HOLDER
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static uint8_t holders_of(const struct torch_frame *frame)
{
    uint8_t found = 0;
    for (size_t i = 0; i < ROWS; i++) {
        bool is_of_any_file = rows[i].file != NULL && rows[i].file[0] == '\0';
        if (torch_snapshot_frame_is(frame, rows[i].file, rows[i].function) &&
            !(is_of_any_file && frame->whose == LIBRARY_MACHINERY))
            found |= (uint8_t)(1u << rows[i].holder);
    }
    return found;
}

uint8_t *torch_holders_find(const struct torch_snapshot *snapshot, struct arena *arena)
{
    uint8_t *of_frame = arena_array(arena, uint8_t, snapshot->frame_count + 1);
    uint8_t *of_stack = arena_array(arena, uint8_t, snapshot->stack_count + 1);
    for (size_t i = 0; i < snapshot->frame_count; i++) {
        arena_work(arena, ROWS + snapshot->frames[i].file.length + snapshot->frames[i].function.length);
        of_frame[i] = holders_of(&snapshot->frames[i]);
    }
    for (size_t i = 0; i < snapshot->stack_count; i++) {
        const struct torch_stack stack = snapshot->stacks[i];
        arena_work(arena, 1 + (uint64_t)stack.count);
        for (uint32_t at = 0; at < stack.count; at++)
            of_stack[i] |= of_frame[snapshot->stack_frames[stack.first + at]];
    }
    return of_stack;
}
