/* SPDX-License-Identifier: Apache-2.0
 * torch_inner.c: see torch_moment.h. */

#include "base/sum.h"
#include "base/table.h"
#include "model/memory_profile/categories.h"
#include "verdict/torch_moment.h"

/* A line that asked for a smaller part of the group does not describe it. */
enum { LEAST_PART = 10 };

struct inner_lines {
    const struct memory_profile *profile;
    struct table keys;   /* op, category, frame */
    struct chunks bytes; /* int64_t */
};

static void inner_add(void *context, uint32_t number_of_what, int64_t bytes)
{
    struct inner_lines *lines = context;
    const struct memory_what *what = &lines->profile->events.whats[number_of_what];
    const struct torch_snapshot *snapshot = lines->profile->events.snapshot;
    uint32_t frame = torch_snapshot_line_frame(snapshot, what->stack);
    if (frame == UINT32_MAX || frame == torch_snapshot_own_frame(snapshot, what->stack))
        return;
    const uint64_t key[3] = {what->op, memory_profile_categories_of_what(lines->profile, what), frame};
    uint32_t number = table_number(&lines->keys, key);
    if (number == lines->bytes.count)
        CHUNKS_ADD(&lines->bytes, int64_t, 0);
    int64_t *sum = chunks_at(&lines->bytes, number);
    *sum = sum_add(*sum, bytes);
}

static void group_set(const struct verdict_facts *facts, const struct inner_lines *lines,
                      const struct memory_what *what, struct verdict_group *group)
{
    const enum category category = memory_profile_categories_of_what(lines->profile, what);
    uint32_t frame = UINT32_MAX;
    for (size_t i = 0; i < lines->bytes.count; i++) {
        const uint64_t *key = table_key(&lines->keys, i);
        int64_t bytes = *(int64_t *)chunks_at(&lines->bytes, i);
        if (key[0] != what->op || key[1] != category || bytes <= group->inner_bytes)
            continue;
        group->inner_bytes = bytes;
        frame = (uint32_t)key[2];
    }
    if (frame != UINT32_MAX && group->inner_bytes >= group->bytes / LEAST_PART)
        group->inner = arena_text(
            facts->arena, torch_snapshot_frame_words(&lines->profile->events.snapshot->frames[frame], facts->arena));
}

void torch_inner_find(const struct verdict_facts *facts, const struct memory_what *const *whats)
{
    const struct torch_moment *moment = facts->moment;
    struct inner_lines lines = {.profile = moment->pool->profile};
    table_init(&lines.keys, facts->arena, 3);
    chunks_init(&lines.bytes, facts->arena, sizeof(int64_t));
    torch_moment_each_held(moment, facts->arena, inner_add, &lines);
    for (uint32_t i = 0; i < facts->out->group_count; i++)
        group_set(facts, &lines, whats[i], &facts->out->groups[i]);
}
