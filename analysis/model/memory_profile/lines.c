/* SPDX-License-Identifier: Apache-2.0
 * lines.c: see lines.h. */
#include "model/memory_profile/lines.h"

#include "base/sum.h"
#include "base/table.h"
#include "read/torch/torch_snapshot.h"

#include <stdlib.h>

struct lines_making {
    const struct memory_profile *profile;
    uint32_t *frame_of;          /* of each stack of the snapshot, by memory_what.stack; PROFILE_NONE */
    const uint8_t *operation_of; /* enum torch_operation, of each stack */
    struct table keys;           /* frame, category */
    struct chunks lines;
};

static enum category category_of(const struct memory_profile *profile, const struct memory_what *what)
{
    const struct memory_profile_guess *guess = memory_profile_guess_of(profile, what);
    return guess != NULL && guess->has_category ? (enum category)guess->choice.category : CATEGORY_UNKNOWN;
}

static struct memory_profile_line *line_of(struct lines_making *making, uint32_t number_of_what)
{
    const struct memory_what *what = &making->profile->events.whats[number_of_what];
    const struct torch_snapshot *snapshot = making->profile->events.snapshot;
    uint32_t frame = what->stack < snapshot->stack_count ? making->frame_of[what->stack] : PROFILE_NONE;
    enum category category = category_of(making->profile, what);
    const uint64_t key[2] = {frame, category};
    uint32_t number = table_number(&making->keys, key);
    if (number == making->lines.count)
        *(struct memory_profile_line *)chunks_add(&making->lines) =
            (struct memory_profile_line){.frame = frame, .category = category, .event = PROFILE_NONE};
    struct memory_profile_line *line = chunks_at(&making->lines, number);
    if (line->operation == TORCH_OPERATION_NONE && what->stack < snapshot->stack_count)
        line->operation = (enum torch_operation)making->operation_of[what->stack];
    return line;
}

static void line_add(struct memory_profile_line *line, int64_t bytes)
{
    line->count++;
    line->bytes = sum_add(line->bytes, bytes);
}

static int larger_first(const void *left, const void *right)
{
    const struct memory_profile_line *a = left, *b = right;
    return a->bytes != b->bytes         ? (a->bytes < b->bytes ? 1 : -1)
           : a->category != b->category ? (a->category > b->category ? 1 : -1)
                                        : (a->frame > b->frame) - (a->frame < b->frame);
}

static void lines_take(const struct lines_making *making, struct arena *arena, struct memory_profile_lines *out)
{
    const struct torch_snapshot *snapshot = making->profile->events.snapshot;
    out->items = chunks_copy(&making->lines, arena);
    out->count = making->lines.count;
    for (size_t i = 0; i < out->count; i++) {
        uint32_t frame = out->items[i].frame;
        out->items[i].words =
            frame == PROFILE_NONE ? STR("") : torch_snapshot_frame_words(&snapshot->frames[frame], arena);
    }
    if (out->count > 1)
        qsort(out->items, out->count, sizeof(*out->items), larger_first);
}

void memory_profile_lines_make(const struct memory_profile_pool *pool, uint32_t count, struct arena *arena,
                               struct memory_profile_lines *out)
{
    const struct memory_profile *profile = pool->profile;
    const struct torch_snapshot *snapshot = profile->events.snapshot;
    *out = (struct memory_profile_lines){0};
    if (snapshot == NULL)
        return;
    struct lines_making making = {.profile = profile,
                                  .frame_of = arena_array(arena, uint32_t, snapshot->stack_count + 1),
                                  .operation_of = torch_operations_find(snapshot, arena)};
    table_init(&making.keys, arena, 2);
    chunks_init(&making.lines, arena, sizeof(struct memory_profile_line));
    for (uint32_t stack = 0; stack < snapshot->stack_count; stack++)
        making.frame_of[stack] = torch_snapshot_line_frame(snapshot, stack);
    for (uint32_t at = 0; at < count; at++) {
        uint32_t event = pool->first + at, partner = profile->partner[event];
        bool is_open = partner == PROFILE_NONE || partner - pool->first >= count;
        if (!is_open || memory_profile_is_free(profile, event))
            continue;
        struct memory_profile_line *line = line_of(&making, profile->what[event]);
        line->event = line->event == PROFILE_NONE ? event : line->event;
        line_add(line, profile->size_bytes[event]);
    }
    for (uint32_t i = 0; i < pool->torch.kept_count; i++) {
        const struct torch_block *block = &snapshot->blocks[pool->torch.kept[i]];
        struct memory_profile_line *line = line_of(&making, block->what);
        line->kept = line->count == 0 ? pool->torch.kept[i] : line->kept;
        line_add(line, block->requested_bytes);
    }
    lines_take(&making, arena, out);
}
