/* SPDX-License-Identifier: Apache-2.0
 * torch_named.c: what a moment holds of each cause that has a name; see torch_named.h. */
#include "verdict/torch_named.h"

#include "base/chunks.h"
#include "base/sum.h"
#include "base/table.h"
#include "model/memory_profile/categories.h"
#include "model/memory_profile/failures.h"
#include "verdict/torch_moment.h"

/* Parts of what is in use: 1/CAUSE_PART may be why memory ran short. A graph that nobody asks back has so many blocks
 * at least; what passes without one has a few at a time. */
enum { CAUSE_PART = 5, GRAPH_BLOCKS_LEAST = 12, SECOND_COPY_PERCENT = 40, WEIGHTS_PART = 7, PRIVATE_PART = 10 };

/* ---- holders ---- */

struct line {
    uint32_t frame, holder;
    int64_t bytes;
};

struct holders_summing {
    const struct memory_profile *profile;
    const uint8_t *holders_of; /* by stack */
    struct table keys;         /* holder, frame */
    struct chunks lines;
    struct torch_holder_sum *sums;
    int64_t of_category[TORCH_HOLDER_COUNT][CATEGORY_COUNT];
};

static bool is_counted(enum torch_holder holder, enum category category)
{
    bool is_of_pass = category == CATEGORY_SAVED_ACTIVATION || category == CATEGORY_WORKSPACE;
    return holder == TORCH_HOLDER_EVALUATION ? is_of_pass
           : holder == TORCH_HOLDER_FOREACH  ? category == CATEGORY_OPTIMIZER_TEMPORARY
                                             : true;
}

static void block_add(void *context, uint32_t number_of_what, int64_t bytes)
{
    struct holders_summing *summing = context;
    const struct memory_what *what = &summing->profile->events.whats[number_of_what];
    const struct torch_snapshot *snapshot = summing->profile->events.snapshot;
    uint8_t holders = what->stack < snapshot->stack_count ? summing->holders_of[what->stack] : 0;
    if (holders == 0)
        return;
    enum category category = memory_profile_categories_of_what(summing->profile, what);
    for (uint32_t at = 0; at < TORCH_HOLDER_COUNT; at++) {
        if ((holders & 1u << at) == 0 || !is_counted((enum torch_holder)at, category))
            continue;
        struct torch_holder_sum *sum = &summing->sums[at];
        const uint64_t key[2] = {at, torch_snapshot_line_frame(snapshot, what->stack)};
        uint32_t number = table_number(&summing->keys, key);
        if (number == summing->lines.count)
            *(struct line *)chunks_add(&summing->lines) = (struct line){.frame = (uint32_t)key[1], .holder = at};
        struct line *line = chunks_at(&summing->lines, number);
        line->bytes = sum_add(line->bytes, bytes);
        sum->bytes = sum_add(sum->bytes, bytes);
        sum->parameter_bytes = sum_add(sum->parameter_bytes, category == CATEGORY_PARAMETER ? bytes : 0);
        sum->count++;
        summing->of_category[at][category] = sum_add(summing->of_category[at][category], bytes);
    }
}

static void sums_settle(const struct verdict_facts *facts, const struct holders_summing *summing)
{
    const struct torch_snapshot *snapshot = summing->profile->events.snapshot;
    for (uint32_t at = 0; at < TORCH_HOLDER_COUNT; at++) {
        struct torch_holder_sum *sum = &summing->sums[at];
        const struct line *largest = NULL;
        for (size_t i = 0; i < summing->lines.count; i++) {
            const struct line *line = chunks_at(&summing->lines, i);
            if (line->holder == at && line->frame != UINT32_MAX && (largest == NULL || line->bytes > largest->bytes))
                largest = line;
        }
        sum->line =
            largest == NULL
                ? ""
                : arena_text(facts->arena, torch_snapshot_frame_words(&snapshot->frames[largest->frame], facts->arena));
        sum->category = CATEGORY_UNKNOWN;
        for (int i = 0; i < CATEGORY_COUNT; i++)
            if (summing->of_category[at][i] > summing->of_category[at][sum->category])
                sum->category = (enum category)i;
    }
}

static void holders_sum(const struct verdict_facts *facts, struct torch_moment *moment)
{
    const struct memory_profile_pool *pool = moment->pool;
    const struct torch_snapshot *snapshot = pool->profile->events.snapshot;
    struct holders_summing *summing = arena_array(facts->arena, struct holders_summing, 1);
    *summing = (struct holders_summing){
        .profile = pool->profile, .holders_of = torch_holders_find(snapshot, facts->arena), .sums = moment->named.sums};
    table_init(&summing->keys, facts->arena, 2);
    chunks_init(&summing->lines, facts->arena, sizeof(struct line));
    torch_moment_each_held(moment, facts->arena, block_add, summing);
    if (moment->failure != NULL && moment->failure->stack < snapshot->stack_count)
        moment->named.failed_of = summing->holders_of[moment->failure->stack];
    sums_settle(facts, summing);
}

/* ---- is something learned? ---- */

static bool is_of_training(enum torch_phase phase)
{
    return phase == TORCH_PHASE_BACKWARD || phase == TORCH_PHASE_RECOMPUTE || phase == TORCH_PHASE_OPTIMIZER ||
           phase == TORCH_PHASE_OPTIMIZER_STATE || phase == TORCH_PHASE_ZERO_GRAD;
}

static void training_find(const struct verdict_facts *facts, struct torch_moment *moment)
{
    const struct torch_snapshot *snapshot = moment->pool->profile->events.snapshot;
    struct torch_named *named = &moment->named;
    struct torch_phases phases;
    torch_phases_find(&phases, snapshot, facts->arena);
    named->is_training = moment->has_backward;
    for (size_t i = 0; i < phases.stack_count && !named->is_training; i++)
        named->is_training = is_of_training((enum torch_phase)phases.of_stack[i]);
    named->has_loss = facts->failure != NULL && facts->failure->has_loss;
    named->failed_in = moment->failure != NULL ? torch_phase_of(&phases, moment->failure->stack) : TORCH_PHASE_NONE;
}

/* ---- gradients ---- */

/* The pass that the moment is in, and whether the optimizer has made something since the last backward pass. */
static void late_find(struct torch_moment *moment)
{
    const struct memory_profile_pool *pool = moment->pool;
    struct passes passes = {.course = PASSES_BESIDE};
    bool has_stepped = false;
    for (uint32_t at = 0; at < moment->count; at++) {
        uint32_t event = pool->first + at;
        if (memory_profile_is_free(pool->profile, event))
            continue;
        struct category_choice choice = memory_profile_categories_of(pool->profile, event);
        passes_see(&passes, memory_profile_retained_course(choice), at);
        has_stepped = passes.course != PASSES_BACKWARD ? has_stepped
                                                       : choice.category == CATEGORY_OPTIMIZER_STATE ||
                                                             choice.category == CATEGORY_OPTIMIZER_TEMPORARY;
    }
    bool is_forward = passes.course == PASSES_FORWARD || moment->named.failed_in == TORCH_PHASE_FORWARD;
    bool is_late = is_forward && has_stepped;
    moment->named.bytes[TORCH_NAMED_LATE_GRADIENTS] = is_late ? moment->sums[CATEGORY_GRADIENT].bytes : 0;
}

/* Adds the sizes of blocks of one category to a table of them, or what of another has such a size. */
static int64_t sizes_walk(const struct torch_moment *moment, enum category category, struct table *sizes,
                          int64_t (*of)(struct table *sizes, int64_t bytes))
{
    const struct memory_profile_pool *pool = moment->pool;
    int64_t sum = 0;
    for (uint32_t at = 0; at < moment->count; at++) {
        uint32_t event = pool->first + at;
        if (memory_profile_is_open(pool, event, moment->count) &&
            memory_profile_categories_of(pool->profile, event).category == category)
            sum = sum_add(sum, of(sizes, pool->profile->size_bytes[event]));
    }
    return sum;
}

static int64_t size_add(struct table *sizes, int64_t bytes)
{
    const uint64_t key = (uint64_t)bytes;
    table_number(sizes, &key);
    return bytes;
}

static bool has_size(struct table *sizes, int64_t bytes)
{
    const uint64_t key = (uint64_t)bytes;
    return table_find(sizes, &key, 1) != MAP_NONE;
}

static int64_t size_wide(struct table *sizes, int64_t bytes)
{
    return bytes % 2 == 0 && has_size(sizes, bytes / 2) && !has_size(sizes, bytes) ? bytes : 0;
}

static void wide_find(const struct verdict_facts *facts, struct torch_moment *moment)
{
    struct table sizes;
    table_init(&sizes, facts->arena, 1);
    int64_t weights = sizes_walk(moment, CATEGORY_PARAMETER, &sizes, size_add);
    int64_t wide = sizes_walk(moment, CATEGORY_GRADIENT, &sizes, size_wide);
    bool is_most = wide >= moment->sums[CATEGORY_GRADIENT].bytes / 2 && weights > 0;
    moment->named.bytes[TORCH_NAMED_WIDE_GRADIENTS] = is_most ? wide : 0;
}

/* ---- private pools ---- */

static bool has_private(const struct torch_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->segment_count; i++)
        if (snapshot->segments[i].pool_id[0] != 0 || snapshot->segments[i].pool_id[1] != 0)
            return true;
    return false;
}

static void private_find(const struct verdict_facts *facts, struct torch_moment *moment)
{
    const struct memory_profile_pool *pool = moment->pool;
    struct torch_named *named = &moment->named;
    if (!pool->torch.is_known || !has_private(pool->profile->events.snapshot))
        return;
    const struct memory_profile_moment at = moment->failure != NULL
                                                ? memory_profile_failures_moment(moment->failure)
                                                : memory_profile_moment_at_time(pool, moment->time_ps);
    struct arena *scratch = arena_child(facts->arena);
    struct memory_profile_held held;
    uint64_t free_bytes = 0, all = 0;
    memory_profile_held_find(pool, &at, scratch, &held);
    for (uint32_t i = 0; i < held.segment_count; i++) {
        const struct memory_profile_segment *segment = &held.segments[i];
        bool is_private = segment->pool_id[0] != 0 || segment->pool_id[1] != 0;
        all += is_private ? segment->size_bytes : 0;
        free_bytes += is_private ? segment->size_bytes - segment->used_bytes : 0;
    }
    named->private_bytes = (int64_t)(all < SUM_MAX_BYTES ? all : SUM_MAX_BYTES);
    named->bytes[TORCH_NAMED_GRAPH_POOLS] = (int64_t)(free_bytes < SUM_MAX_BYTES ? free_bytes : SUM_MAX_BYTES);
    named->is_cause[TORCH_NAMED_GRAPH_POOLS] = free_bytes > held.reserved_bytes / PRIVATE_PART;
    arena_free(scratch);
}

/* ---- all ---- */

static void weights_find(struct torch_moment *moment)
{
    const struct torch_holder_sum *loaded = &moment->named.sums[TORCH_HOLDER_LOADED];
    int64_t own = moment->sums[CATEGORY_PARAMETER].bytes - loaded->parameter_bytes,
            less = own < loaded->bytes ? own : loaded->bytes, more = own < loaded->bytes ? loaded->bytes : own;
    bool are_two = less > 0 && less >= more / 100 * SECOND_COPY_PERCENT;
    moment->named.bytes[TORCH_NAMED_WEIGHTS_TWICE] = are_two ? loaded->bytes : 0;
    moment->named.is_cause[TORCH_NAMED_WEIGHTS_TWICE] = are_two && less >= moment->in_use_bytes / WEIGHTS_PART;
}

static void optimizer_find(struct torch_moment *moment)
{
    struct torch_named *named = &moment->named;
    int64_t asked = moment->failure != NULL ? moment->failure->requested_bytes : 0,
            temporaries = named->sums[TORCH_HOLDER_FOREACH].bytes;
    bool is_step = (named->failed_of & 1u << TORCH_HOLDER_FOREACH) != 0;
    if (named->failed_in == TORCH_PHASE_OPTIMIZER_STATE)
        named->bytes[TORCH_NAMED_FIRST_STEP] = sum_add(moment->sums[CATEGORY_OPTIMIZER_STATE].bytes, asked);
    named->bytes[TORCH_NAMED_STEP_TEMPORARIES] = is_step ? sum_add(temporaries, asked) : temporaries;
    named->is_cause[TORCH_NAMED_FIRST_STEP] = named->bytes[TORCH_NAMED_FIRST_STEP] > 0;
    named->is_cause[TORCH_NAMED_STEP_TEMPORARIES] =
        is_step || (temporaries > 0 && temporaries >= moment->in_use_bytes / CAUSE_PART);
}

static void evaluation_find(struct torch_moment *moment)
{
    const struct torch_holder_sum *held = &moment->named.sums[TORCH_HOLDER_EVALUATION];
    int64_t of_pass = sum_add(moment->sums[CATEGORY_SAVED_ACTIVATION].bytes, moment->sums[CATEGORY_WORKSPACE].bytes);
    bool is_graph = held->count >= GRAPH_BLOCKS_LEAST && held->bytes >= of_pass / 2;
    moment->named.bytes[TORCH_NAMED_EVALUATION] = is_graph ? held->bytes : 0;
}

/* How each is found: by a holder's sum alone (COUNT: it is found apart). Whether it is the cause: by its share of what
 * is in use, or by a rule of its own; by its share only while that category is the largest (COUNT: any). */
static const struct {
    enum torch_holder holder;
    bool has_rule;
    enum category largest;
} judged[TORCH_NAMED_COUNT] = {
    [TORCH_NAMED_STEPS_KEEP] = {TORCH_HOLDER_COUNT, false, CATEGORY_COUNT},
    [TORCH_NAMED_WEIGHTS_TWICE] = {TORCH_HOLDER_COUNT, true, CATEGORY_COUNT},
    [TORCH_NAMED_EVALUATION] = {TORCH_HOLDER_COUNT, false, CATEGORY_COUNT},
    [TORCH_NAMED_FIRST_STEP] = {TORCH_HOLDER_COUNT, true, CATEGORY_COUNT},
    [TORCH_NAMED_STEP_TEMPORARIES] = {TORCH_HOLDER_COUNT, true, CATEGORY_COUNT},
    [TORCH_NAMED_GRAPH_POOLS] = {TORCH_HOLDER_COUNT, true, CATEGORY_COUNT},
    [TORCH_NAMED_AUTOTUNING] = {TORCH_HOLDER_AUTOTUNING, false, CATEGORY_COUNT},
    [TORCH_NAMED_CUDNN] = {TORCH_HOLDER_CUDNN, false, CATEGORY_COUNT},
    [TORCH_NAMED_CUBLAS] = {TORCH_HOLDER_CUBLAS, false, CATEGORY_COUNT},
    [TORCH_NAMED_BUCKETS] = {TORCH_HOLDER_BUCKETS, false, CATEGORY_COUNT},
    [TORCH_NAMED_AVERAGED] = {TORCH_HOLDER_AVERAGED, false, CATEGORY_COUNT}, /* and is what its own sum is most of */
    [TORCH_NAMED_WIDE_GRADIENTS] = {TORCH_HOLDER_COUNT, false, CATEGORY_GRADIENT},
    [TORCH_NAMED_LATE_GRADIENTS] = {TORCH_HOLDER_COUNT, false, CATEGORY_GRADIENT},
    [TORCH_NAMED_TRAINING_CACHE] = {TORCH_HOLDER_COUNT, false, CATEGORY_CACHE},
};

static void shares_judge(struct torch_moment *moment)
{
    struct torch_named *named = &moment->named;
    const enum category largest = torch_moment_largest(moment);
    for (int i = 0; i < TORCH_NAMED_COUNT; i++) {
        bool is_enough = named->bytes[i] > 0 && named->bytes[i] >= moment->in_use_bytes / CAUSE_PART;
        if (!judged[i].has_rule)
            named->is_cause[i] = is_enough && (judged[i].largest == CATEGORY_COUNT || judged[i].largest == largest);
    }
    named->is_cause[TORCH_NAMED_AVERAGED] &= largest == named->sums[TORCH_HOLDER_AVERAGED].category;
}

void torch_named_find(const struct verdict_facts *facts, struct torch_moment *moment)
{
    struct torch_named *named = &moment->named;
    holders_sum(facts, moment);
    training_find(facts, moment);
    arena_work(facts->arena, 3 * (uint64_t)moment->count);
    late_find(moment);
    wide_find(facts, moment);
    weights_find(moment);
    optimizer_find(moment);
    evaluation_find(moment);
    for (int i = 0; i < TORCH_NAMED_COUNT; i++)
        if (judged[i].holder != TORCH_HOLDER_COUNT)
            named->bytes[i] = named->sums[judged[i].holder].bytes;
    if (!moment->is_retained && memory_profile_steps_kept_find(moment->pool, moment->count, facts->arena, &named->kept))
        named->bytes[TORCH_NAMED_STEPS_KEEP] = named->kept.bytes;
    named->bytes[TORCH_NAMED_TRAINING_CACHE] = named->is_training ? moment->sums[CATEGORY_CACHE].bytes : 0;
    shares_judge(moment);
    private_find(facts, moment);
}

enum torch_named_cause torch_named_first(const struct torch_moment *moment)
{
    int at = 0;
    while (at < TORCH_NAMED_COUNT && !moment->named.is_cause[at])
        at++;
    return (enum torch_named_cause)at;
}
