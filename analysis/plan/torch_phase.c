/* SPDX-License-Identifier: Apache-2.0
 * torch_phase.c: see torch_phase.h. */
#include "plan/torch_phase.h"

enum { STRONG, WEAK, FAINT };

static const struct row {
    enum torch_phase phase;
    const char *file, *function; /* as in torch_frames.def */
    int strength;
} rows[] = {
#define TORCH_FRAME(phase, file, function, strength) {TORCH_PHASE_##phase, file, function, strength},
#include "plan/torch_frames.def"
#undef TORCH_FRAME
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), NO_ROW = UINT8_MAX };
_Static_assert((int)ROWS < (int)NO_ROW, "rows are kept as bytes");

static uint8_t row_of(const struct torch_frame *frame, struct arena *arena)
{
    arena_work(arena, ROWS + frame->file.length + frame->function.length);
    for (size_t i = 0; i < ROWS; i++)
        if (torch_snapshot_frame_is(frame, rows[i].file, rows[i].function))
            return (uint8_t)i;
    return NO_ROW;
}

static enum torch_phase phase_of(const struct torch_snapshot *snapshot, struct torch_stack stack,
                                 const uint8_t *row_of_frame)
{
    enum torch_phase found = stack.count == 0 ? TORCH_PHASE_EMPTY : TORCH_PHASE_NONE;
    int strength = FAINT + 1;
    for (uint32_t i = 0; i < stack.count; i++) {
        uint8_t row = row_of_frame[snapshot->stack_frames[stack.first + i]];
        if (row == NO_ROW)
            continue;
        if (rows[row].strength == STRONG)
            return rows[row].phase;
        if (rows[row].strength < strength) {
            strength = rows[row].strength;
            found = rows[row].phase;
        }
    }
    return found;
}

/* A module that runs again inside of the backward pass is recomputed: its frames are the inner ones. */
static bool is_inside_backward(const struct torch_snapshot *snapshot, struct torch_stack stack,
                               const uint8_t *row_of_frame)
{
    for (uint32_t i = 0; i < stack.count; i++) {
        uint8_t row = row_of_frame[snapshot->stack_frames[stack.first + i]];
        if (row != NO_ROW && (rows[row].phase == TORCH_PHASE_BACKWARD || rows[row].phase == TORCH_PHASE_RECOMPUTE))
            return true;
    }
    return false;
}

void torch_phases_find(struct torch_phases *phases, const struct torch_snapshot *snapshot, struct arena *arena)
{
    uint8_t *row_of_frame = arena_array(arena, uint8_t, snapshot->frame_count + 1);
    uint8_t *of_stack = arena_array(arena, uint8_t, snapshot->stack_count + 1);
    *phases = (struct torch_phases){of_stack, snapshot->stack_count, false};
    for (size_t i = 0; i < snapshot->frame_count; i++) {
        row_of_frame[i] = row_of(&snapshot->frames[i], arena);
        phases->has_cpp |= !snapshot->frames[i].is_python;
    }
    for (size_t i = 0; i < snapshot->stack_count; i++) {
        const struct torch_stack stack = snapshot->stacks[i];
        enum torch_phase phase = phase_of(snapshot, stack, row_of_frame);
        arena_work(arena, 1 + (uint64_t)stack.count);
        if (phase == TORCH_PHASE_FORWARD && is_inside_backward(snapshot, stack, row_of_frame))
            phase = TORCH_PHASE_RECOMPUTE;
        of_stack[i] = (uint8_t)phase;
    }
}
