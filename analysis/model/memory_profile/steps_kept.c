/* SPDX-License-Identifier: Apache-2.0
 * steps_kept.c: see steps_kept.h. */
#include "model/memory_profile/steps_kept.h"

#include "base/chunks.h"
#include "base/sum.h"
#include "base/table.h"
#include "model/memory_profile/categories.h"
#include "model/memory_profile/passes.h"
#include "model/memory_profile/retained.h"
#include "read/torch/torch_snapshot.h"

enum {
    STEPS_LEAST = 4,
    STEPS_OF_MODULE = 5,
    STEPS_AT_WORK = 2,
    PART_OF_STEPS = 2,
    PART_IN_USE = 10,
    FIRST_WITHIN = 3,
    SELDOM_PART = 20
};

/* What steps keep of one line. */
struct line {
    uint32_t frame;
    uint32_t first_step, last_step, step_count, first_event;
    uint64_t count;
    int64_t bytes;
    int64_t of_category[CATEGORY_COUNT];
};

struct looking {
    const struct memory_profile_pool *pool;
    const struct torch_snapshot *snapshot;
    struct arena *arena;
    uint32_t count;       /* events that have happened */
    struct chunks begins; /* uint32_t: the event that each step begins with */
};

static uint32_t stack_of(const struct looking *looking, uint32_t event)
{
    const struct memory_profile *profile = looking->pool->profile;
    return profile->events.whats[profile->what[event]].stack;
}

static void passes_find(struct looking *looking)
{
    struct passes passes = {.course = PASSES_BESIDE};
    for (uint32_t at = 0; at < looking->count; at++) {
        uint32_t event = looking->pool->first + at;
        if (memory_profile_is_free(looking->pool->profile, event))
            continue;
        enum passes_course course =
            memory_profile_retained_course(memory_profile_categories_of(looking->pool->profile, event));
        if (passes_see(&passes, course, at) && passes.course == PASSES_FORWARD)
            CHUNKS_ADD(&looking->begins, uint32_t, event);
    }
    if (passes.backward_count == 0)
        looking->begins.count = 0;
}

/* Modules within each other that a stack is in; 0: in none. */
static uint32_t depth_of(const struct torch_snapshot *snapshot, uint32_t stack)
{
    const struct torch_stack *frames = &snapshot->stacks[stack];
    uint32_t depth = 0;
    for (uint32_t i = 0; i < frames->count; i++)
        depth += torch_snapshot_frame_is(&snapshot->frames[snapshot->stack_frames[frames->first + i]],
                                         "/torch/nn/modules/module", "=_call_impl");
    return depth;
}

/* The stack of the outermost module that asks least often. UINT32_MAX: there is none, or what modules ask for is asked
 * for once or a few times: then it is one pass, whose layers share their lines. */
static uint32_t anchor_find(const struct looking *looking)
{
    const struct torch_snapshot *snapshot = looking->snapshot;
    uint32_t *counts = arena_array(looking->arena, uint32_t, snapshot->stack_count + 1);
    uint32_t anchor = UINT32_MAX, least_depth = UINT32_MAX, seldom_count = 0, often_count = 0;
    for (uint32_t at = 0; at < looking->count; at++) {
        uint32_t event = looking->pool->first + at, stack = stack_of(looking, event);
        if (!memory_profile_is_free(looking->pool->profile, event) && stack < snapshot->stack_count)
            counts[stack]++;
    }
    for (uint32_t stack = 0; stack < snapshot->stack_count; stack++) {
        if (counts[stack] == 0)
            continue;
        arena_work(looking->arena, 1 + (uint64_t)snapshot->stacks[stack].count);
        uint32_t depth = depth_of(snapshot, stack);
        seldom_count += depth > 0 && counts[stack] < STEPS_OF_MODULE;
        often_count += depth > 0 && counts[stack] >= STEPS_OF_MODULE;
        if (depth == 0 || depth > least_depth)
            continue;
        if (depth < least_depth || counts[stack] < counts[anchor])
            anchor = stack;
        least_depth = depth;
    }
    bool is_repeated = anchor != UINT32_MAX && counts[anchor] >= STEPS_OF_MODULE;
    return is_repeated && seldom_count <= often_count / SELDOM_PART ? anchor : UINT32_MAX;
}

static void steps_find(struct looking *looking)
{
    chunks_init(&looking->begins, looking->arena, sizeof(uint32_t));
    arena_work(looking->arena, 2 * (uint64_t)looking->count + looking->snapshot->stack_count);
    passes_find(looking);
    uint32_t anchor = looking->begins.count == 0 ? anchor_find(looking) : UINT32_MAX;
    for (uint32_t at = 0; anchor != UINT32_MAX && at < looking->count; at++) {
        uint32_t event = looking->pool->first + at;
        if (!memory_profile_is_free(looking->pool->profile, event) && stack_of(looking, event) == anchor)
            CHUNKS_ADD(&looking->begins, uint32_t, event);
    }
}

static void line_add(struct table *keys, struct chunks *lines, uint32_t frame, uint32_t step, uint32_t event,
                     int64_t bytes, enum category category)
{
    const uint64_t key = frame;
    uint32_t number = table_number(keys, &key);
    if (number == lines->count)
        *(struct line *)chunks_add(lines) =
            (struct line){.frame = frame, .first_step = step, .last_step = UINT32_MAX, .first_event = event};
    struct line *line = chunks_at(lines, number);
    line->step_count += line->last_step != step;
    line->last_step = step;
    line->count++;
    line->bytes = sum_add(line->bytes, bytes);
    line->of_category[category] = sum_add(line->of_category[category], bytes);
}

static enum category most_of(const struct line *line)
{
    enum category most = CATEGORY_UNKNOWN;
    for (int i = 0; i < CATEGORY_COUNT; i++)
        most = line->of_category[i] > line->of_category[most] ? (enum category)i : most;
    return most;
}

/* What the model and its optimizer hold stays on purpose. */
static bool is_of_steps(enum category category)
{
    return category != CATEGORY_PARAMETER && category != CATEGORY_OPTIMIZER_STATE && category != CATEGORY_GRADIENT;
}

static void lines_fill(const struct looking *looking, struct table *keys, struct chunks *lines)
{
    const struct memory_profile *profile = looking->pool->profile;
    const uint32_t steps = (uint32_t)looking->begins.count;
    for (uint32_t at = 0, step = 0; at < looking->count; at++) {
        uint32_t event = looking->pool->first + at;
        while (step < steps && *(uint32_t *)chunks_at(&looking->begins, step) <= event)
            step++;
        if (step == 0 || step + STEPS_AT_WORK > steps || memory_profile_is_free(profile, event) ||
            !memory_profile_is_open(looking->pool, event, looking->count))
            continue;
        enum category category = memory_profile_categories_of(profile, event).category;
        uint32_t frame = torch_snapshot_line_frame(looking->snapshot, stack_of(looking, event));
        if (frame != UINT32_MAX && is_of_steps(category))
            line_add(keys, lines, frame, step, event, profile->size_bytes[event], category);
    }
}

bool memory_profile_steps_kept_find(const struct memory_profile_pool *pool, uint32_t count, struct arena *arena,
                                    struct memory_profile_kept *out)
{
    struct looking looking = {pool, pool->profile->events.snapshot, arena, count, {0}};
    struct table keys;
    struct chunks lines;
    const struct line *best = NULL;
    *out = (struct memory_profile_kept){0};
    if (pool->before == NULL || count == 0)
        return false;
    steps_find(&looking);
    const uint32_t steps = (uint32_t)looking.begins.count;
    if (steps < STEPS_LEAST + STEPS_AT_WORK)
        return false;
    table_init(&keys, arena, 1);
    chunks_init(&lines, arena, sizeof(struct line));
    lines_fill(&looking, &keys, &lines);
    for (size_t i = 0; i < lines.count; i++) {
        const struct line *line = chunks_at(&lines, i);
        uint32_t since = steps - STEPS_AT_WORK - line->first_step + 1;
        bool is_from_begin = line->first_step - 1 <= steps / FIRST_WITHIN;
        if (is_from_begin && line->step_count >= STEPS_LEAST && line->step_count >= since / PART_OF_STEPS &&
            (best == NULL || line->bytes > best->bytes))
            best = line;
    }
    if (best == NULL || best->bytes < memory_profile_in_use_after(pool, count) / PART_IN_USE)
        return false;
    *out =
        (struct memory_profile_kept){.words = torch_snapshot_frame_words(&looking.snapshot->frames[best->frame], arena),
                                     .category = most_of(best),
                                     .bytes = best->bytes,
                                     .count = best->count,
                                     .step_count = best->step_count,
                                     .steps_since = steps - STEPS_AT_WORK - best->first_step + 1,
                                     .first_time_ps = pool->profile->time_ps[best->first_event]};
    return true;
}
