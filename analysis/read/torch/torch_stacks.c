/* SPDX-License-Identifier: Apache-2.0
 * torch_stacks.c: equal lists of frames are one stack, of whatever event or block they are. */
#include "read/torch/torch_reading.h"

enum { MAX_STACK_FRAMES = 1 << 16 };

struct wanted_stack {
    const struct torch_reading *reading;
    uint32_t count;
};

static bool is_stack(const void *context, uint64_t value)
{
    const struct wanted_stack *wanted = context;
    const struct torch_reading *reading = wanted->reading;
    struct torch_stack stack = CHUNKS_AT(&reading->stacks, struct torch_stack, value);
    arena_work(reading->scratch, wanted->count / 8);
    return stack.count == wanted->count && memcmp(&COLUMN_AT(&reading->stack_frames, uint32_t, stack.first),
                                                  reading->own_frames, stack.count * sizeof(uint32_t)) == 0;
}

static uint32_t stack_add(struct torch_reading *reading, uint32_t count)
{
    struct column *column = &reading->stack_frames;
    uint32_t first = 0, at = (uint32_t)reading->stacks.count;
    if (at > 0) {
        struct torch_stack last = CHUNKS_AT(&reading->stacks, struct torch_stack, at - 1);
        first = last.first + last.count;
    }
    if (first > UINT32_MAX / 2 - count || at == TORCH_TAKEN_MAX) {
        err_set(pickle_err(reading->pickle), ERR_limit, pickle_at(reading->pickle), "more frames than can be counted");
        return TORCH_NO_STACK;
    }
    if ((size_t)first + count > column->capacity)
        column_resize(column, ((size_t)first + count) * 2);
    memcpy(&COLUMN_AT(column, uint32_t, first), reading->own_frames, count * sizeof(uint32_t));
    CHUNKS_ADD(&reading->stacks, struct torch_stack, ((struct torch_stack){first, count}));
    return at;
}

uint32_t torch_stacks_of(struct torch_reading *reading, struct pickle_value frames)
{
    struct pickle *pickle = reading->pickle;
    size_t count;
    uint32_t taken = pickle_value_taken(pickle, frames), used = 0;
    if (taken != UINT32_MAX)
        return torch_taken_number(taken, TORCH_TAKEN_STACK) < reading->stacks.count
                   ? torch_taken_number(taken, TORCH_TAKEN_STACK)
                   : TORCH_NO_STACK;
    const struct pickle_value *items = pickle_value_items(pickle, frames, &count);
    if (count == 0 || pickle_value_list_number(frames) == UINT32_MAX)
        return TORCH_NO_STACK;
    if (count > MAX_STACK_FRAMES) {
        reading->snapshot->damaged_count++;
        return TORCH_NO_STACK;
    }
    reading->own_frames =
        arena_grown(reading->scratch, reading->own_frames, count, &reading->own_frame_capacity, sizeof(uint32_t));
    for (size_t i = 0; i < count; i++) {
        uint32_t frame = torch_taken_number(pickle_value_taken(pickle, items[i]), TORCH_TAKEN_FRAME);
        bool is_frame = frame < table_count(&reading->frames);
        reading->snapshot->damaged_count += !is_frame;
        if (is_frame)
            reading->own_frames[used++] = frame;
    }
    arena_work(reading->scratch, count / 4);
    if (used == 0)
        return TORCH_NO_STACK;
    const struct wanted_stack wanted = {reading, used};
    uint64_t hash = hash_bytes((const char *)reading->own_frames, used * sizeof(uint32_t), 0);
    uint64_t found = map_find(&reading->stack_map, hash, is_stack, &wanted);
    uint32_t stack = (uint32_t)found;
    if (found == MAP_FREE) {
        stack = stack_add(reading, used);
        if (stack == TORCH_NO_STACK)
            return stack;
        map_add(&reading->stack_map, hash, stack);
    }
    pickle_take_list(pickle, frames, torch_taken_as(TORCH_TAKEN_STACK, stack));
    return stack;
}

uint32_t torch_stacks_frame(struct torch_reading *reading, struct pickle_value dict)
{
    const uint64_t key[3] = {torch_reading_text(reading, dict, TORCH_KEY_name),
                             torch_reading_text(reading, dict, TORCH_KEY_filename),
                             (uint64_t)torch_reading_int(reading, dict, TORCH_KEY_line, 0, UINT32_MAX, 0)};
    return table_number(&reading->frames, key);
}
