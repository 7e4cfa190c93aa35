/* SPDX-License-Identifier: Apache-2.0
 * torch_operation.c: see torch_operation.h. */
#include "plan/torch_operation.h"

static const struct {
    enum torch_operation operation;
    const char *file, *function; /* as in torch_operation.def */
} rows[] = {
#define TORCH_OPERATION(operation, file, function) {TORCH_OPERATION_##operation, file, function},
#include "plan/torch_operation.def"
#undef TORCH_OPERATION
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

enum torch_operation torch_operation_of_frame(const struct torch_frame *frame)
{
    for (size_t i = 0; i < ROWS; i++) {
        bool is_own_name = rows[i].file != NULL && rows[i].file[0] == '\0';
        if (torch_snapshot_frame_is(frame, rows[i].file, rows[i].function) &&
            !(is_own_name && frame->whose == LIBRARY_MACHINERY))
            return rows[i].operation;
    }
    return TORCH_OPERATION_NONE;
}

uint8_t *torch_operations_find(const struct torch_snapshot *snapshot, struct arena *arena)
{
    uint8_t *of_frame = arena_array(arena, uint8_t, snapshot->frame_count + 1);
    uint8_t *of_stack = arena_array(arena, uint8_t, snapshot->stack_count + 1);
    for (size_t i = 0; i < snapshot->frame_count; i++) {
        arena_work(arena, ROWS + snapshot->frames[i].file.length + snapshot->frames[i].function.length);
        of_frame[i] = (uint8_t)torch_operation_of_frame(&snapshot->frames[i]);
    }
    for (size_t i = 0; i < snapshot->stack_count; i++) {
        const struct torch_stack stack = snapshot->stacks[i];
        arena_work(arena, 1 + (uint64_t)stack.count);
        for (uint32_t at = 0; at < stack.count && of_stack[i] != TORCH_OPERATION_LOSS; at++) {
            uint8_t of_one = of_frame[snapshot->stack_frames[stack.first + at]];
            of_stack[i] = of_one != TORCH_OPERATION_NONE ? of_one : of_stack[i];
        }
    }
    return of_stack;
}
