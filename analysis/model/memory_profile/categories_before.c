/* SPDX-License-Identifier: Apache-2.0
 * categories_before.c: see categories_before.h.
 *
 * Of most such blocks nothing is recorded but their sizes. They decide in two cases. Optimizers keep as many tensors
 * for each parameter, of its size: so the state that the recording shows tells the sizes of all parameters, and blocks
 * that are there as often are these, or these and their gradients. And a backward pass that leaves no gradient of its
 * own adds to those that are there: then blocks come in pairs, a parameter and its gradient. Both are guesses. */
#include "model/memory_profile/categories_before.h"

#include "base/sum.h"

#define CHOICE(category, rule) category_choice_of(CATEGORY_##category, CATEGORY_RULE_TORCH_##rule)

/* Blocks of scalars, as the number of steps of each parameter, are no twins of anything. */
enum { LEAST_TWIN_BYTES = 64, STATES_MAX = 8 };
/* At most one part in this many of the bytes of a pool's blocks may be in no pair. */
enum { ODD_PART = 10 };

bool memory_profile_categories_is_cublas(int64_t bytes) { return bytes == 2 * 4096 * 1024 + 8 * 16 * 1024; }

/* How often each size is there. */
struct sizes {
    struct table keys;    /* size */
    struct chunks counts; /* uint32_t */
};

static void sizes_init(struct sizes *sizes, struct arena *arena)
{
    table_init(&sizes->keys, arena, 1);
    chunks_init(&sizes->counts, arena, sizeof(uint32_t));
}

static void sizes_add(struct sizes *sizes, int64_t bytes)
{
    const uint64_t key = (uint64_t)bytes;
    uint32_t number = table_number(&sizes->keys, &key);
    if (number == sizes->counts.count)
        CHUNKS_ADD(&sizes->counts, uint32_t, 0);
    CHUNKS_AT(&sizes->counts, uint32_t, number)++;
}

static uint32_t sizes_count(const struct sizes *sizes, uint64_t bytes)
{
    uint32_t number = table_find(&sizes->keys, &bytes, 1);
    return number == MAP_NONE ? 0 : CHUNKS_AT(&sizes->counts, uint32_t, number);
}

static uint32_t greatest_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* ---- what the recording shows of gradients and of the optimizer's state ---- */

struct shown {
    struct sizes states;         /* of the state that is there at the end */
    uint32_t stacks[STATES_MAX]; /* that made it */
    uint32_t stack_counts[STATES_MAX];
    uint32_t stack_count;
    bool is_mixed; /* made by too many stacks to tell how many a parameter has */
    bool has_backward, has_gradients;
};

static void state_take(struct shown *shown, uint32_t stack, int64_t bytes)
{
    uint32_t at = 0;
    if (bytes < LEAST_TWIN_BYTES)
        return;
    sizes_add(&shown->states, bytes);
    while (at < shown->stack_count && shown->stacks[at] != stack)
        at++;
    if (at == STATES_MAX) {
        shown->is_mixed = true;
        return;
    }
    shown->stack_count += at == shown->stack_count;
    shown->stacks[at] = stack;
    shown->stack_counts[at]++;
}

static void shown_find(const struct deciding *deciding, struct shown *shown)
{
    const struct memory_profile_pool *pool = deciding->pool;
    const struct memory_profile *profile = deciding->profile;
    for (uint32_t i = 0; i < deciding->run_count; i++)
        shown->has_backward |= deciding->runs[i].era == ERA_BACKWARD;
    for (uint32_t event = pool->first; event < pool->first + pool->count; event++) {
        bool is_free = memory_profile_is_free(profile, event);
        if (is_free && profile->partner[event] != PROFILE_NONE)
            continue;
        enum category category = (enum category)memory_profile_categories_of(profile, event).category;
        shown->has_gradients |= category == CATEGORY_GRADIENT;
        if (category == CATEGORY_OPTIMIZER_STATE && !is_free && profile->partner[event] == PROFILE_NONE)
            state_take(shown, profile->events.whats[profile->what[event]].stack, profile->size_bytes[event]);
    }
}

/* How many tensors of state a parameter has; 0: not known. Each is made at a place of its own, as often as the
 * others. */
static uint32_t states_each(const struct shown *shown)
{
    for (uint32_t i = 1; i < shown->stack_count; i++)
        if (shown->stack_counts[i] != shown->stack_counts[0])
            return 0;
    return shown->is_mixed ? 0 : shown->stack_count;
}

/* ---- blocks ---- */

struct before {
    const struct deciding *deciding;
    struct memory_profile_category_sum *sums;
    struct category_choice *choices; /* of the snapshot's blocks */
    const uint32_t *kept;            /* numbers of the blocks without an event */
    uint32_t kept_count;
    struct sizes sizes; /* of blocks about which nothing else is known */
    int64_t unknown_bytes;
};

static void block_take(struct before *before, uint32_t at)
{
    const struct torch_block *block = &before->deciding->profile->events.snapshot->blocks[at];
    struct category_choice choice =
        memory_profile_categories_kept(before->deciding, before->deciding->profile->events.whats[block->what].stack);
    if (memory_profile_categories_is_cublas(block->requested_bytes))
        choice = CHOICE(WORKSPACE, CUBLAS_SIZE);
    before->choices[at] = choice;
    if (choice.category == CATEGORY_UNKNOWN && block->requested_bytes >= LEAST_TWIN_BYTES) {
        sizes_add(&before->sizes, block->requested_bytes);
        before->unknown_bytes = sum_add(before->unknown_bytes, block->requested_bytes);
    }
    memory_profile_categories_add(before->sums, choice, block->requested_bytes, 1);
}

/* `count` blocks of a size that were unknown are of another category. */
static void change(struct before *before, uint64_t bytes, uint32_t count, struct category_choice to)
{
    int64_t all_bytes = (int64_t)bytes * count;
    memory_profile_categories_add(before->sums, CHOICE(UNKNOWN, BEFORE), -all_bytes, -(int64_t)count);
    memory_profile_categories_add(before->sums, to, all_bytes, count);
}

/* Which of a pair is the parameter, nothing tells: those that come first in the snapshot are called so. */
static void sizes_change(struct before *before, uint64_t bytes, uint32_t parameters, uint32_t gradients,
                         enum category_rule rule)
{
    const struct torch_snapshot *snapshot = before->deciding->profile->events.snapshot;
    uint32_t seen = 0;
    change(before, bytes, parameters, category_choice_of(CATEGORY_PARAMETER, rule));
    change(before, bytes, gradients, category_choice_of(CATEGORY_GRADIENT, rule));
    for (uint32_t i = 0; i < before->kept_count; i++) {
        struct category_choice *choice = &before->choices[before->kept[i]];
        if (choice->rule != CATEGORY_RULE_TORCH_BEFORE ||
            snapshot->blocks[before->kept[i]].requested_bytes != (int64_t)bytes)
            continue;
        *choice = category_choice_of(seen < parameters ? CATEGORY_PARAMETER : CATEGORY_GRADIENT, rule);
        seen++;
    }
}

/* False where the sizes are not those of the state. */
static bool state_twins(struct before *before, const struct shown *shown)
{
    uint32_t each = states_each(shown), copies = 0;
    size_t size_count = table_count(&shown->states.keys);
    for (size_t i = 0; i < size_count; i++) {
        uint32_t states = CHUNKS_AT(&shown->states.counts, uint32_t, i);
        uint32_t found = sizes_count(&before->sizes, *table_key(&shown->states.keys, i));
        uint32_t parameters = each > 0 ? states / each : 0;
        if (parameters == 0 || states % each != 0 || found == 0 || found % parameters != 0 ||
            (copies > 0 && found / parameters != copies))
            return false;
        copies = found / parameters;
    }
    bool has_gradients = copies == 2 && shown->has_backward && !shown->has_gradients;
    if (copies != 1 && !has_gradients)
        return false;
    for (size_t i = 0; i < size_count; i++) {
        uint32_t parameters = CHUNKS_AT(&shown->states.counts, uint32_t, i) / each;
        sizes_change(before, *table_key(&shown->states.keys, i), parameters, has_gradients ? parameters : 0,
                     CATEGORY_RULE_TORCH_STATE_TWINS);
    }
    return true;
}

/* Two of each size, and not four: with the optimizer's state there, too, it would be four. */
static void gradient_twins(struct before *before, const struct shown *shown)
{
    uint32_t divisor = 0;
    int64_t odd_bytes = 0;
    size_t size_count = table_count(&before->sizes.keys);
    for (size_t i = 0; i < size_count; i++) {
        uint32_t found = CHUNKS_AT(&before->sizes.counts, uint32_t, i);
        if (found % 2 == 0)
            divisor = greatest_divisor(divisor, found);
        else
            odd_bytes = sum_add(odd_bytes, (int64_t)*table_key(&before->sizes.keys, i) * found);
    }
    if (divisor != 2 || !shown->has_backward || shown->has_gradients || odd_bytes > before->unknown_bytes / ODD_PART)
        return;
    for (size_t i = 0; i < size_count; i++) {
        uint32_t found = CHUNKS_AT(&before->sizes.counts, uint32_t, i);
        if (found % 2 == 0)
            sizes_change(before, *table_key(&before->sizes.keys, i), found / 2, found / 2,
                         CATEGORY_RULE_TORCH_GRADIENT_TWINS);
    }
}

void memory_profile_categories_before_make(struct memory_profile *profile, struct deciding *deciding,
                                           struct arena *arena)
{
    const struct torch_snapshot *snapshot = profile->events.snapshot;
    struct category_choice *choices = arena_array(arena, struct category_choice, snapshot->block_count + 1);
    for (size_t i = 0; i < snapshot->block_count; i++)
        choices[i] = category_choice_of(CATEGORY_UNKNOWN, CATEGORY_RULE_NONE);
    for (uint32_t p = 0; p < profile->pool_count; p++) {
        struct arena *scratch = deciding[p].scratch;
        struct shown shown = {.stack_count = 0};
        struct before before = {.deciding = &deciding[p], .choices = choices};
        before.sums = arena_array(arena, struct memory_profile_category_sum, CATEGORY_COUNT);
        sizes_init(&before.sizes, scratch);
        sizes_init(&shown.states, scratch);
        shown_find(&deciding[p], &shown);
        const struct memory_profile_torch *torch = &profile->pools[p].torch;
        before.kept = torch->kept;
        before.kept_count = torch->is_known ? torch->kept_count : 0;
        for (uint32_t i = 0; i < before.kept_count; i++)
            block_take(&before, before.kept[i]);
        if (!state_twins(&before, &shown) && table_count(&shown.states.keys) == 0)
            gradient_twins(&before, &shown);
        profile->pools[p].before = before.sums;
    }
    profile->block_choices = choices;
}
