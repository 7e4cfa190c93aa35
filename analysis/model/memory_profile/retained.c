/* SPDX-License-Identifier: Apache-2.0
 * retained.c: see retained.h. */
#include "model/memory_profile/retained.h"

#include "base/chunks.h"
#include "base/sum.h"
#include "model/memory_profile/categories.h"
#include "read/torch/torch_snapshot.h"

/* Two networks that train each other hold one pass through the step of the other: what is older than that is left. */
enum { PASSES_AT_WORK = 2, PASSES_LEAST = 3, OLDEST_WITHIN = 3, PART_OF_SAVED = 2, PART_IN_USE = 10 };

struct pass {
    int64_t bytes;
    uint64_t count;
};

enum passes_course memory_profile_retained_course(struct category_choice choice)
{
    switch (choice.rule) {
    case CATEGORY_RULE_TORCH_SAVED:
    case CATEGORY_RULE_TORCH_FORWARD:
    case CATEGORY_RULE_TORCH_FORWARD_OPEN: return PASSES_FORWARD;
    case CATEGORY_RULE_TORCH_GRADIENT:
    case CATEGORY_RULE_TORCH_GRADIENT_OPEN:
    case CATEGORY_RULE_TORCH_BACKWARD:
    case CATEGORY_RULE_TORCH_RECOMPUTED:
    case CATEGORY_RULE_TORCH_ZERO_GRAD: return PASSES_BACKWARD;
    default: return PASSES_BESIDE;
    }
}

/* A schedule that holds several passes on purpose: PyTorch's, Megatron's, DeepSpeed's. */
static bool is_pipeline(const struct torch_snapshot *snapshot, struct arena *arena)
{
    static const struct {
        const char *file, *function;
    } rows[] = {{"/torch/distributed/pipelining/", ""},
                {"/pipeline_parallel/schedules", "pipelining_with"},
                {"/deepspeed/runtime/pipe/", ""}};
    for (size_t frame = 0; frame < snapshot->frame_count; frame++) {
        arena_work(arena, snapshot->frames[frame].file.length);
        for (size_t at = 0; at < sizeof(rows) / sizeof(rows[0]); at++)
            if (torch_snapshot_frame_is(&snapshot->frames[frame], rows[at].file, rows[at].function))
                return true;
    }
    return false;
}

/* Fills passes[i], what was saved after i backward passes had begun, and is alive. Returns the number of the pass at
 * work: the last one, but inside of a backward pass the one that it is of. */
static uint32_t passes_fill(const struct memory_profile_pool *pool, uint32_t count, struct chunks *passes)
{
    const struct memory_profile *profile = pool->profile;
    struct passes at_work = {.course = PASSES_BESIDE};
    CHUNKS_ADD(passes, struct pass, (struct pass){0});
    for (uint32_t at = 0; at < count; at++) {
        uint32_t event = pool->first + at;
        if (memory_profile_is_free(profile, event))
            continue;
        struct category_choice choice = memory_profile_categories_of(profile, event);
        if (passes_see(&at_work, memory_profile_retained_course(choice), at) && at_work.course == PASSES_BACKWARD)
            CHUNKS_ADD(passes, struct pass, (struct pass){0});
        if (!memory_profile_is_open(pool, event, count) || choice.category != CATEGORY_SAVED_ACTIVATION)
            continue;
        struct pass *pass = chunks_at(passes, passes->count - 1);
        pass->bytes = sum_add(pass->bytes, profile->size_bytes[event]);
        pass->count++;
    }
    return (uint32_t)passes->count - (at_work.course == PASSES_BACKWARD ? 2 : 1);
}

bool memory_profile_retained_find(const struct memory_profile_pool *pool, uint32_t count, struct arena *arena,
                                  struct memory_profile_retained *out)
{
    const struct memory_profile *profile = pool->profile;
    *out = (struct memory_profile_retained){0};
    if (pool->before == NULL || count == 0)
        return false;
    struct chunks passes;
    chunks_init(&passes, arena, sizeof(struct pass));
    arena_work(arena, count);
    uint32_t at_work = passes_fill(pool, count, &passes), pass_count = 0;
    uint32_t backward_count = (uint32_t)passes.count - 1, oldest = backward_count;
    if (backward_count < PASSES_AT_WORK + PASSES_LEAST || is_pipeline(profile->events.snapshot, arena))
        return false;
    const struct memory_profile_category_sum *before = &pool->before[CATEGORY_SAVED_ACTIVATION];
    struct memory_profile_retained found = {.bytes = before->bytes, .count = before->count};
    int64_t saved_bytes = before->bytes;
    for (uint32_t at = 0; at <= backward_count; at++) {
        const struct pass *pass = chunks_at(&passes, at);
        saved_bytes = sum_add(saved_bytes, pass->bytes);
        if (pass->count == 0 || at + PASSES_AT_WORK > at_work)
            continue;
        oldest = pass_count++ == 0 ? at : oldest;
        found.bytes = sum_add(found.bytes, pass->bytes);
        found.count += pass->count;
    }
    bool is_most = found.bytes >= saved_bytes / PART_OF_SAVED &&
                   found.bytes >= memory_profile_in_use_after(pool, count) / PART_IN_USE;
    if (pass_count < PASSES_LEAST || oldest > backward_count / OLDEST_WITHIN || !is_most)
        return false;
    found.backward_count = at_work - oldest;
    *out = found;
    return true;
}
