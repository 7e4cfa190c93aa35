/* SPDX-License-Identifier: Apache-2.0
 * categories.c: see categories.h. */
#include "model/memory_profile/categories.h"

#include "base/sum.h"
#include "model/memory_profile/categories_before.h"
#include "model/memory_profile/failures.h"

/* How an allocation ends, seen from the run that it was made in. */
struct life {
    uint32_t run;         /* in which it was allocated */
    uint32_t end;         /* run in which it is freed; the last one where it never is */
    bool is_freed;        /* in the recording */
    bool is_held_longer;  /* another run began before it was freed, or, where it never is, before the recording ended */
    bool is_backward_met; /* a backward pass began before that */
    enum torch_phase freed_in; /* NONE where frees have no stacks */
};

static struct life life_of(const struct deciding *deciding, uint32_t event)
{
    uint32_t partner = deciding->profile->partner[event];
    bool is_freed = partner != PROFILE_NONE && memory_profile_is_free(deciding->profile, partner);
    uint32_t run = memory_profile_categories_run_of(deciding, event);
    uint32_t end = is_freed ? memory_profile_categories_run_of(deciding, partner) : deciding->run_count - 1;
    is_freed = is_freed && !memory_profile_categories_is_unwound(deciding, event, partner, &end);
    enum torch_phase freed_in =
        is_freed && deciding->has_free_stacks ? memory_profile_categories_phase(deciding, partner) : TORCH_PHASE_NONE;
    return (struct life){run, end, is_freed, end != run, deciding->runs[run].next_backward <= end, freed_in};
}

#define CHOICE(category, rule) category_choice_of(CATEGORY_##category, CATEGORY_RULE_TORCH_##rule)

static struct category_choice of_backward(const struct life *life)
{
    if (life->freed_in == TORCH_PHASE_ZERO_GRAD)
        return CHOICE(GRADIENT, ZERO_GRAD);
    if (life->is_held_longer)
        return CHOICE(GRADIENT, GRADIENT);
    return life->is_freed ? CHOICE(WORKSPACE, BACKWARD) : CHOICE(GRADIENT, GRADIENT_OPEN);
}

static struct category_choice of_forward(const struct life *life)
{
    if (life->is_backward_met)
        return CHOICE(SAVED_ACTIVATION, SAVED);
    return life->is_freed ? CHOICE(WORKSPACE, FORWARD) : CHOICE(SAVED_ACTIVATION, FORWARD_OPEN);
}

static struct category_choice of_optimizer(const struct life *life)
{
    if (life->is_held_longer)
        return CHOICE(OPTIMIZER_STATE, STATE);
    return life->is_freed ? CHOICE(OPTIMIZER_TEMPORARY, STEP) : CHOICE(OPTIMIZER_STATE, STATE_OPEN);
}

/* By the program's own code, where no frame tells. */
static struct category_choice of_own_code(const struct life *life)
{
    if (life->is_freed && life->is_backward_met)
        return CHOICE(SAVED_ACTIVATION, FREED_BACKWARD);
    return life->is_freed && !life->is_held_longer ? CHOICE(WORKSPACE, PASSING) : CHOICE(UNKNOWN, NO_FRAME);
}

/* It is held through a backward pass and freed, or the recording ends before the backward pass that it waits for. */
static bool is_for_one_step(const struct life *life) { return life->is_freed == life->is_backward_met; }

static struct category_choice categories_decide(enum torch_phase phase, const struct life *life)
{
    switch (phase) {
    case TORCH_PHASE_PARAMETER:
        return life->is_freed && !life->is_held_longer ? CHOICE(WORKSPACE, MODULE_PASSING) : CHOICE(PARAMETER, MODULE);
    case TORCH_PHASE_MADE: return life->is_freed ? of_own_code(life) : CHOICE(PARAMETER, INIT);
    case TORCH_PHASE_CACHE: return CHOICE(CACHE, CACHE);
    case TORCH_PHASE_FORWARD: return of_forward(life);
    case TORCH_PHASE_RECOMPUTE: return CHOICE(WORKSPACE, RECOMPUTED);
    case TORCH_PHASE_BACKWARD: return of_backward(life);
    case TORCH_PHASE_OPTIMIZER: return of_optimizer(life);
    case TORCH_PHASE_OPTIMIZER_STATE: return CHOICE(OPTIMIZER_STATE, STATE_MADE);
    case TORCH_PHASE_COLLECTIVE: return CHOICE(COLLECTIVE, COLLECTIVE);
    case TORCH_PHASE_WORKSPACE: return CHOICE(WORKSPACE, WORKSPACE);
    case TORCH_PHASE_INPUT: return CHOICE(INPUT, DATA);
    case TORCH_PHASE_MOVED: return CHOICE(INPUT, MOVED);
    case TORCH_PHASE_DRAWN: return is_for_one_step(life) ? CHOICE(INPUT, DRAWN) : of_own_code(life);
    case TORCH_PHASE_EMPTY: return CHOICE(UNKNOWN, NO_STACK);
    case TORCH_PHASE_NONE:
    case TORCH_PHASE_ZERO_GRAD:
    case TORCH_PHASE_COUNT: break;
    }
    return of_own_code(life);
}

static struct category_choice decide_allocation(const struct deciding *deciding, uint32_t event)
{
    const struct life life = life_of(deciding, event);
    if (!life.is_freed && memory_profile_categories_is_cublas(deciding->profile->size_bytes[event]))
        return CHOICE(WORKSPACE, CUBLAS_SIZE);
    return categories_decide(memory_profile_categories_phase(deciding, event), &life);
}

/* The category of a block that was live before the recording. If the snapshot has its stack, it is judged as a block
 * that outlives the phase of that stack. */
struct category_choice memory_profile_categories_kept(const struct deciding *deciding, uint32_t stack)
{
    const struct life life = {.is_held_longer = true,
                              .is_backward_met = deciding->runs[0].next_backward != PROFILE_NONE};
    enum torch_phase phase = torch_phase_of(deciding->phases, stack);
    return phase == TORCH_PHASE_EMPTY || phase == TORCH_PHASE_NONE ? CHOICE(UNKNOWN, BEFORE)
                                                                   : categories_decide(phase, &life);
}

/* For blocks that were live before the recording: by what frees them. */
static struct category_choice decide_before(const struct deciding *deciding, uint32_t event)
{
    const struct memory_profile *profile = deciding->profile;
    if (!deciding->has_free_stacks)
        return memory_profile_categories_kept(deciding, profile->events.whats[profile->what[event]].stack);
    switch (memory_profile_categories_phase(deciding, event)) {
    case TORCH_PHASE_ZERO_GRAD: return CHOICE(GRADIENT, ZERO_GRAD);
    case TORCH_PHASE_OPTIMIZER:
    case TORCH_PHASE_OPTIMIZER_STATE: return CHOICE(OPTIMIZER_STATE, BEFORE_STEP);
    case TORCH_PHASE_BACKWARD:
    case TORCH_PHASE_RECOMPUTE: return CHOICE(SAVED_ACTIVATION, BEFORE_BACKWARD);
    default: return CHOICE(UNKNOWN, BEFORE);
    }
}

/* ---- sums ---- */

void memory_profile_categories_add(struct memory_profile_category_sum *sums, struct category_choice choice,
                                   int64_t bytes, int64_t count)
{
    struct memory_profile_category_sum *sum = &sums[choice.category];
    bool is_guess = category_rule_confidence((enum category_rule)choice.rule) == CONFIDENCE_GUESS;
    sum->bytes = sum_add(sum->bytes, bytes);
    sum->guessed_bytes = sum_add(sum->guessed_bytes, is_guess ? bytes : 0);
    sum->count += (uint64_t)count;
}

enum category memory_profile_categories_of_what(const struct memory_profile *profile, const struct memory_what *what)
{
    const struct memory_profile_guess *guess = memory_profile_guess_of(profile, what);
    return guess != NULL && guess->has_category ? (enum category)guess->choice.category : CATEGORY_UNKNOWN;
}

uint32_t memory_profile_categories_order(const struct memory_profile_category_sum *sums,
                                         enum category order[CATEGORY_COUNT])
{
    uint32_t count = 0;
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        uint32_t at = count;
        if (sums[i].bytes <= 0)
            continue;
        for (; at > 0 && sums[order[at - 1]].bytes < sums[i].bytes; at--)
            order[at] = order[at - 1];
        order[at] = (enum category)i;
        count++;
    }
    return count;
}

const char *memory_profile_categories_guess_words(enum category category, const struct memory_profile_category_sum *sum)
{
    return sum->guessed_bytes == 0 || category == CATEGORY_UNKNOWN ? ""
           : sum->guessed_bytes == sum->bytes                      ? " (guess)"
                                                                   : " (part guess)";
}

struct category_choice memory_profile_categories_of(const struct memory_profile *profile, uint32_t event)
{
    const struct memory_profile_guess *guess =
        memory_profile_guess_of(profile, &profile->events.whats[profile->what[event]]);
    return guess != NULL && guess->has_category ? guess->choice : CHOICE(UNKNOWN, NO_FRAME);
}

void memory_profile_categories_freed(const struct memory_profile_pool *pool, uint32_t count,
                                     struct memory_profile_category_sum *sums)
{
    const struct memory_profile *profile = pool->profile;
    for (uint32_t event = pool->first + count; event < pool->first + pool->count; event++)
        if (memory_profile_is_free(profile, event) && profile->partner[event] == PROFILE_NONE)
            memory_profile_categories_add(sums, memory_profile_categories_of(profile, event),
                                          profile->size_bytes[event], 1);
}

bool memory_profile_categories_at(const struct memory_profile_pool *pool, uint32_t count,
                                  struct memory_profile_category_sum *sums)
{
    const struct memory_profile *profile = pool->profile;
    if (pool->before == NULL)
        return false;
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        sums[i].bytes = sum_add(sums[i].bytes, pool->before[i].bytes);
        sums[i].guessed_bytes = sum_add(sums[i].guessed_bytes, pool->before[i].guessed_bytes);
        sums[i].count += pool->before[i].count;
    }
    memory_profile_categories_freed(pool, count, sums);
    for (uint32_t at = 0; at < count; at++) {
        uint32_t event = pool->first + at;
        if (memory_profile_is_open(pool, event, count))
            memory_profile_categories_add(sums, memory_profile_categories_of(profile, event),
                                          profile->size_bytes[event], 1);
    }
    int64_t left_bytes = memory_profile_in_use_bytes(profile, pool->first + (count > 0 ? count - 1 : 0));
    if (count == 0)
        left_bytes = memory_profile_stack_bytes(profile, pool->first) + pool->base_bytes;
    for (int i = 0; i < CATEGORY_COUNT; i++)
        left_bytes = sum_add(left_bytes, -sums[i].bytes);
    if (left_bytes > 0) /* else the events tell of more than is in use; the note chain_break counts them */
        memory_profile_categories_add(sums, CHOICE(UNKNOWN, BEFORE), left_bytes, 0);
    return true;
}

/* ---- the model ---- */

/* Each kind of allocation with its choice is a kind of its own. */
struct giving {
    struct memory_profile *profile;
    struct table kinds;   /* what, choice */
    struct table guesses; /* choice */
};

static uint32_t given(struct giving *giving, uint32_t what, struct category_choice choice)
{
    const uint64_t guess = (uint64_t)choice.category << 8 | choice.rule;
    const uint64_t key[2] = {what, table_number(&giving->guesses, &guess)};
    return (uint32_t)giving->profile->events.what_count + table_number(&giving->kinds, key);
}

static void give(struct giving *giving, uint32_t event, struct category_choice choice)
{
    giving->profile->what[event] = given(giving, giving->profile->what[event], choice);
}

static void given_take(struct giving *giving, struct arena *arena)
{
    struct memory_profile *profile = giving->profile;
    struct memory_events *events = &profile->events;
    size_t kind_count = table_count(&giving->kinds), guess_count = table_count(&giving->guesses);
    struct memory_what *whats = arena_array(arena, struct memory_what, events->what_count + kind_count + 1);
    struct memory_profile_guess *guesses = arena_array(arena, struct memory_profile_guess, guess_count + 1);
    memcpy(whats, events->whats, events->what_count * sizeof(*whats));
    for (size_t i = 0; i < kind_count; i++) {
        whats[events->what_count + i] = events->whats[table_key(&giving->kinds, i)[0]];
        whats[events->what_count + i].guess = (uint32_t)table_key(&giving->kinds, i)[1];
    }
    for (size_t i = 0; i < guess_count; i++) {
        uint64_t key = *table_key(&giving->guesses, i);
        guesses[i] = (struct memory_profile_guess){.program = STR(""),
                                                   .module = STR(""),
                                                   .role = STR(""),
                                                   .has_category = true,
                                                   .choice = {(uint8_t)(key >> 8), (uint8_t)key}};
    }
    events->whats = whats;
    events->what_count += kind_count;
    profile->guesses = guesses;
    profile->guess_count = (uint32_t)guess_count;
}

static void pool_decide(struct giving *giving, struct deciding *deciding)
{
    const struct memory_profile_pool *pool = deciding->pool;
    const struct memory_profile *profile = deciding->profile;
    memory_profile_categories_runs(deciding);
    struct category_choice *choices = arena_array(deciding->scratch, struct category_choice, (size_t)pool->count + 1);
    for (uint32_t at = 0; at < pool->count; at++) { /* all, before the kinds of any change: a life looks at both ends */
        uint32_t event = pool->first + at;
        bool is_free = memory_profile_is_free(profile, event);
        if (is_free && profile->partner[event] != PROFILE_NONE)
            continue;
        choices[at] = is_free ? decide_before(deciding, event) : decide_allocation(deciding, event);
    }
    for (uint32_t at = 0; at < pool->count; at++) {
        uint32_t event = pool->first + at;
        if (!memory_profile_is_free(profile, event) || profile->partner[event] == PROFILE_NONE)
            give(giving, event, choices[at]);
    }
}

/* Blocks that no event speaks of are shown by what they are, as allocations are. */
static void blocks_give(struct giving *giving, struct arena *arena, struct arena *scratch)
{
    const struct memory_profile *profile = giving->profile;
    const struct torch_snapshot *snapshot = profile->events.snapshot;
    table_init(&giving->kinds, scratch, 2);
    for (size_t i = 0; i < snapshot->block_count; i++)
        if (profile->block_choices[i].rule != CATEGORY_RULE_NONE)
            snapshot->blocks[i].what = given(giving, snapshot->blocks[i].what, profile->block_choices[i]);
    given_take(giving, arena);
}

static struct memory_profile_category_sum *sums_at(const struct memory_profile_pool *pool, uint32_t count,
                                                   struct arena *arena)
{
    struct memory_profile_category_sum *sums = arena_array(arena, struct memory_profile_category_sum, CATEGORY_COUNT);
    memory_profile_categories_at(pool, count, sums);
    return sums;
}

void memory_profile_categories_make(struct memory_profile *profile, struct arena *arena)
{
    const struct torch_snapshot *snapshot = profile->events.snapshot;
    if (snapshot == NULL)
        return;
    struct arena *scratch = arena_child(arena);
    struct giving giving = {.profile = profile};
    struct torch_phases phases;
    torch_phases_find(&phases, snapshot, scratch);
    const struct memory_profile_failure *last_failure = memory_profile_categories_last_failure(profile);
    table_init(&giving.kinds, scratch, 2);
    table_init(&giving.guesses, scratch, 1);
    struct deciding *deciding = arena_array(scratch, struct deciding, (size_t)profile->pool_count + 1);
    for (uint32_t p = 0; p < profile->pool_count; p++) {
        deciding[p] = (struct deciding){.profile = profile,
                                        .pool = &profile->pools[p],
                                        .phases = &phases,
                                        .scratch = scratch,
                                        .last_failure = last_failure,
                                        .is_python_only = snapshot->frame_count > 0 && !phases.has_cpp};
        pool_decide(&giving, &deciding[p]);
    }
    given_take(&giving, arena);
    memory_profile_categories_before_make(profile, deciding, arena);
    blocks_give(&giving, arena, scratch);
    for (uint32_t p = 0; p < profile->pool_count; p++) {
        struct memory_profile_pool *pool = &profile->pools[p];
        pool->at_peak = sums_at(pool, pool->peak_at - pool->first + 1, arena);
        if (pool->failure_count > 0) {
            const struct memory_profile_failure *last = &pool->failures[pool->failure_count - 1];
            pool->at_failure = sums_at(pool, memory_profile_failures_moment(last).count, arena);
        }
    }
    arena_free(scratch);
}
