/* SPDX-License-Identifier: Apache-2.0
 * retained.c: see retained.h. */
#include "model/memory_profile/retained.h"

#include "base/sum.h"
#include "model/memory_profile/categories.h"
#include "read/torch/torch_snapshot.h"

/* Two networks that train each other hold one pass through the step of the other: what is older than that is left. */
enum { PASSES_AT_WORK = 2, PASSES_LEAST = 3, OLDEST_WITHIN = 3, PART_OF_SAVED = 2, PART_IN_USE = 10 };

struct pass {
    int64_t bytes;
    uint64_t count;
};

enum course { COURSE_OTHER, COURSE_FORWARD, COURSE_BACKWARD };

static enum course course_of(struct category_choice choice)
{
    switch (choice.rule) {
    case CATEGORY_RULE_TORCH_SAVED:
    case CATEGORY_RULE_TORCH_FORWARD:
    case CATEGORY_RULE_TORCH_FORWARD_OPEN: return COURSE_FORWARD;
    case CATEGORY_RULE_TORCH_GRADIENT:
    case CATEGORY_RULE_TORCH_GRADIENT_OPEN:
    case CATEGORY_RULE_TORCH_BACKWARD:
    case CATEGORY_RULE_TORCH_RECOMPUTED:
    case CATEGORY_RULE_TORCH_ZERO_GRAD: return COURSE_BACKWARD;
    default: return COURSE_OTHER;
    }
}

/* Passes through the events, one after the other: a pass ends where a forward follows a backward. */
struct walk {
    uint32_t backward_count; /* that have begun */
    bool is_backward;        /* the last event that tells was of one */
};

static void walk_step(struct walk *walk, enum course course)
{
    if (course == COURSE_BACKWARD && !walk->is_backward)
        walk->backward_count++;
    if (course != COURSE_OTHER)
        walk->is_backward = course == COURSE_BACKWARD;
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

/* passes[i]: what was saved after i backward passes had begun, and is alive. Returns which pass is at work. */
static uint32_t passes_fill(const struct memory_profile_pool *pool, uint32_t count, struct pass *passes)
{
    const struct memory_profile *profile = pool->profile;
    struct walk walk = {0};
    for (uint32_t at = 0; at < count; at++) {
        uint32_t event = pool->first + at, partner = profile->partner[event];
        if (memory_profile_is_free(profile, event))
            continue;
        struct category_choice choice = memory_profile_categories_of(profile, event);
        walk_step(&walk, course_of(choice));
        bool is_alive = partner == PROFILE_NONE || partner - pool->first >= count;
        if (!is_alive || choice.category != CATEGORY_SAVED_ACTIVATION)
            continue;
        struct pass *pass = &passes[walk.backward_count];
        pass->bytes = sum_add(pass->bytes, profile->size_bytes[event]);
        pass->count++;
    }
    return walk.backward_count - (walk.is_backward ? 1 : 0);
}

static uint32_t backward_count_of(const struct memory_profile_pool *pool, uint32_t count)
{
    struct walk walk = {0};
    for (uint32_t at = 0; at < count; at++)
        if (!memory_profile_is_free(pool->profile, pool->first + at))
            walk_step(&walk, course_of(memory_profile_categories_of(pool->profile, pool->first + at)));
    return walk.backward_count;
}

bool memory_profile_retained_find(const struct memory_profile_pool *pool, uint32_t count, struct arena *arena,
                                  struct memory_profile_retained *out)
{
    const struct memory_profile *profile = pool->profile;
    *out = (struct memory_profile_retained){0};
    arena_work(arena, 2 * (uint64_t)count);
    uint32_t backward_count = pool->before != NULL && count > 0 ? backward_count_of(pool, count) : 0;
    if (backward_count < PASSES_AT_WORK + PASSES_LEAST || is_pipeline(profile->events.snapshot, arena))
        return false;
    struct pass *passes = arena_array(arena, struct pass, (size_t)backward_count + 1);
    uint32_t at_work = passes_fill(pool, count, passes), pass_count = 0, oldest = backward_count;
    const struct memory_profile_category_sum *before = &pool->before[CATEGORY_SAVED_ACTIVATION];
    struct memory_profile_retained found = {.bytes = before->bytes, .count = before->count};
    int64_t saved_bytes = before->bytes;
    for (uint32_t at = 0; at <= backward_count; at++) {
        saved_bytes = sum_add(saved_bytes, passes[at].bytes);
        if (passes[at].count == 0 || at + PASSES_AT_WORK > at_work)
            continue;
        oldest = pass_count++ == 0 ? at : oldest;
        found.bytes = sum_add(found.bytes, passes[at].bytes);
        found.count += passes[at].count;
    }
    bool is_most = found.bytes >= saved_bytes / PART_OF_SAVED &&
                   found.bytes >= memory_profile_in_use_after(pool, count) / PART_IN_USE;
    if (pass_count < PASSES_LEAST || oldest > backward_count / OLDEST_WITHIN || !is_most)
        return false;
    found.backward_count = at_work - oldest;
    *out = found;
    return true;
}
