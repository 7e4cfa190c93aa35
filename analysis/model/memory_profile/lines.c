/* SPDX-License-Identifier: Apache-2.0
 * lines.c: see lines.h. */
#include "model/memory_profile/lines.h"

#include "base/sum.h"
#include "base/table.h"
#include "model/memory_profile/categories.h"
#include "read/torch/torch_snapshot.h"

#include <stdlib.h>

/* What a stack of the snapshot says. */
struct stack_line {
    uint32_t frame; /* PROFILE_NONE */
    bool is_own;    /* that frame is the innermost one of Python */
};

struct lines_making {
    const struct memory_profile *profile;
    struct stack_line *line_of;  /* by memory_what.stack */
    const uint8_t *operation_of; /* enum torch_operation, of each stack */
    struct table keys;           /* frame, category */
    struct chunks lines;
};

static struct stack_line stack_line_of(const struct torch_snapshot *snapshot, uint32_t stack)
{
    const struct torch_stack *frames = &snapshot->stacks[stack];
    struct stack_line line = {torch_snapshot_line_frame(snapshot, stack), false};
    for (uint32_t i = 0; i < frames->count; i++) {
        uint32_t frame = snapshot->stack_frames[frames->first + i];
        if (snapshot->frames[frame].is_python)
            return (struct stack_line){line.frame, frame == line.frame};
    }
    return line;
}

static void line_add(struct lines_making *making, uint32_t number_of_what, int64_t bytes)
{
    const struct memory_what *what = &making->profile->events.whats[number_of_what];
    bool has_stack = what->stack < making->profile->events.snapshot->stack_count;
    const struct stack_line of = has_stack ? making->line_of[what->stack] : (struct stack_line){PROFILE_NONE, false};
    enum torch_operation operation =
        has_stack ? (enum torch_operation)making->operation_of[what->stack] : TORCH_OPERATION_NONE;
    enum category category = memory_profile_categories_of_what(making->profile, what);
    const uint64_t key[2] = {of.frame, category};
    uint32_t number = table_number(&making->keys, key);
    if (number == making->lines.count)
        *(struct memory_profile_line *)chunks_add(&making->lines) =
            (struct memory_profile_line){.frame = of.frame, .category = category};
    struct memory_profile_line *line = chunks_at(&making->lines, number);
    line->count++;
    line->bytes = sum_add(line->bytes, bytes);
    if (operation != TORCH_OPERATION_NONE || of.is_own) {
        line->operation_count[operation]++;
        line->operation_bytes[operation] = sum_add(line->operation_bytes[operation], bytes);
    }
}

static int larger_first(const void *left, const void *right)
{
    const struct memory_profile_line *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(a->category, b->category) ?: ORDER(a->frame, b->frame);
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
                                  .line_of = arena_array(arena, struct stack_line, snapshot->stack_count + 1),
                                  .operation_of = torch_operations_find(snapshot, arena)};
    arena_work(arena, (uint64_t)snapshot->stack_count + count);
    table_init(&making.keys, arena, 2);
    chunks_init(&making.lines, arena, sizeof(struct memory_profile_line));
    for (uint32_t stack = 0; stack < snapshot->stack_count; stack++)
        making.line_of[stack] = stack_line_of(snapshot, stack);
    for (uint32_t at = 0; at < count; at++) {
        uint32_t event = pool->first + at;
        if (memory_profile_is_open(pool, event, count))
            line_add(&making, profile->what[event], profile->size_bytes[event]);
    }
    uint32_t kept_count = pool->torch.is_known ? pool->torch.kept_count : 0;
    for (uint32_t i = 0; i < kept_count; i++) {
        const struct torch_block *block = &snapshot->blocks[pool->torch.kept[i]];
        line_add(&making, block->what, block->requested_bytes);
    }
    lines_take(&making, arena, out);
}
