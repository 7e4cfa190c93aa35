/* SPDX-License-Identifier: Apache-2.0
 * replay_fit.c: see replay_fit.h. */
#include "model/memory_profile/replay_fit.h"

#include "base/size_text.h"
#include "base/sum.h"
#include "model/memory_profile/retained.h"
#include "plan/category.h"
#include "whatif/fit_search.h"

/* What is asked of the program: nothing; as much as leaves its numbers as they are; another program, or more devices.
 */
enum tier { TIER_SETTING, TIER_SAME, TIER_OTHER };

/* A set has at most one change of each sort; for activations that is either to compute them again or to move them. */
enum sort {
    SORT_SEGMENTS,
    SORT_ATTENTION,
    SORT_CHECKPOINT,
    SORT_PARTS,
    SORT_OPTIMIZER,
    SORT_SEQUENCE,
    SORT_GRADIENTS,
    SORT_CACHE,
    SORT_DEVICES
};

static const struct {
    const char *text;
    enum tier tier;
    enum sort sort;
    uint32_t effort;
} candidates[] = {
    {"expandable_segments", TIER_SETTING, SORT_SEGMENTS, 1},
    {"max_split_size=512MiB", TIER_SETTING, SORT_SEGMENTS, 2},
    {"zero_grad", TIER_SAME, SORT_GRADIENTS, 3},
    {"no_cache", TIER_SAME, SORT_CACHE, 3},
    {"attention=sdpa", TIER_SAME, SORT_ATTENTION, 4},
    {"checkpoint", TIER_SAME, SORT_CHECKPOINT, 5},
    {"accumulate=2", TIER_SAME, SORT_PARTS, 6},
    {"accumulate=4", TIER_SAME, SORT_PARTS, 7},
    {"accumulate=8", TIER_SAME, SORT_PARTS, 8},
    {"offload=activations", TIER_SAME, SORT_CHECKPOINT, 9},
    {"offload=optimizer", TIER_SAME, SORT_OPTIMIZER, 9},
    {"optimizer=8bit", TIER_OTHER, SORT_OPTIMIZER, 10},
    {"batch=0.5", TIER_OTHER, SORT_PARTS, 12},
    {"batch=0.25", TIER_OTHER, SORT_PARTS, 13},
    {"sequence=0.5", TIER_OTHER, SORT_SEQUENCE, 14},
    {"optimizer=adafactor", TIER_OTHER, SORT_OPTIMIZER, 15},
    {"optimizer=sgd", TIER_OTHER, SORT_OPTIMIZER, 16},
    {"shard=2", TIER_OTHER, SORT_DEVICES, 20},
    {"shard=4", TIER_OTHER, SORT_DEVICES, 21},
    {"shard=8", TIER_OTHER, SORT_DEVICES, 22},
};
enum { CANDIDATE_COUNT = sizeof(candidates) / sizeof(candidates[0]) };
_Static_assert((int)CANDIDATE_COUNT <= (int)FIT_CANDIDATES_MAX, "a search takes them all");

/* A search leaves this part of an answer's work, so that it ends before the answer is given up. */
enum { WORK_KEPT_PART = 4 };

const char *replay_fit_candidate(uint32_t at) { return at < CANDIDATE_COUNT ? candidates[at].text : NULL; }

struct replay_trials {
    const struct replay_steps *start; /* as it is, where only settings change */
    struct replay_steps program;      /* the same with a program that can be changed */
    bool has_program;
    uint32_t trials_most;
    uint64_t work;       /* steps of the trials so far: of the changes, and of their replays */
    uint64_t work_least; /* that the answer has left; with less no trial is begun */
    struct arena *arena; /* of the set that is tried */
    struct fit *out;
};

int64_t replay_fit_needed_bytes(const struct replay_steps *steps, const struct memory_profile_replay_change *change)
{
    const struct memory_profile_pool *pool = steps->pool;
    const int64_t reserved = replay_steps_reserved_bytes(steps, change);
    if (change->failed_at != PROFILE_NONE)
        return sum_add(reserved, change->failed_bytes);
    if (change->failure_count == 0 || change->is_last_placed || pool->failure_count == 0)
        return reserved;
    return sum_add(reserved, pool->failures[pool->failure_count - 1].requested_bytes);
}

/* ---- one set ---- */

/* Exact figures say what the recorded part of a job takes: where that is not the whole, they are a bound of the job. */
static enum change_confidence confidence_beyond(const struct replay_steps *steps, enum change_confidence confidence)
{
    bool is_part = steps->pool->failure_count > 0 || !steps->replay->is_whole;
    return is_part && confidence < CHANGE_BOUND ? CHANGE_BOUND : confidence;
}

/* What the answer that is made may work yet. */
static uint64_t work_left(const struct replay_trials *trials) { return arena_work_left(trials->arena->parent); }

static bool is_spent(const void *context)
{
    const struct replay_trials *trials = context;
    return trials->out->trial_count >= trials->trials_most || trials->work >= REPLAY_FIT_WORK ||
           work_left(trials) < trials->work_least;
}

static bool replay_set_run(struct replay_trials *trials, const uint32_t *chosen, uint32_t count, struct fit_set *set,
                           bool *is_enough)
{
    struct replay_steps *steps = arena_array(trials->arena, struct replay_steps, 1);
    struct err err = ERR_INIT;
    bool is_of_program = false;
    *set = (struct fit_set){.count = count, .extra_flops_percent = -1};
    for (uint32_t i = 0; i < count; i++)
        is_of_program |= candidates[chosen[i]].tier != TIER_SETTING;
    if (is_of_program && !trials->has_program)
        return false;
    replay_steps_copy(steps, is_of_program ? &trials->program : trials->start, trials->arena);
    for (uint32_t i = 0; i < count; i++) {
        set->changes[i] = candidates[chosen[i]].text;
        set->kinds |= 1U << candidates[chosen[i]].sort;
        set->tier = candidates[chosen[i]].tier > set->tier ? candidates[chosen[i]].tier : set->tier;
        set->effort += candidates[chosen[i]].effort;
        if (!replay_steps_apply(steps, set->changes[i], &err))
            return false;
        set->calls[i] = arena_text(trials->start->arena, str_of(steps->items[steps->count - 1].call));
    }
    trials->out->trial_count++;
    bool is_run = replay_steps_run(steps, &err);
    trials->work += steps->items[steps->count - 1].after.work;
    if (!is_run)
        return false;
    const struct memory_profile_replay_change after = replay_steps_after(steps);
    set->confidence = confidence_beyond(steps, steps->items[steps->count - 1].confidence);
    set->total_bytes = replay_fit_needed_bytes(steps, &after);
    set->peak_bytes = after.requested_bytes;
    *is_enough = replay_steps_is_enough(steps, &after);
    return true;
}

/* False: a change does not apply, or the set could not be replayed. */
static bool replay_set_try(void *context, const uint32_t *chosen, uint32_t count, struct fit_set *set, bool *is_enough)
{
    struct replay_trials *trials = context;
    const uint64_t left = work_left(trials);
    bool is_run = replay_set_run(trials, chosen, count, set, is_enough);
    trials->work += left - work_left(trials);
    arena_free(trials->arena);
    return is_run;
}

static uint32_t trials_most(const struct replay_steps *start)
{
    uint64_t trials = REPLAY_FIT_EVENTS / (replay_steps_walk(start->replay) + 1);
    return (uint32_t)(trials < REPLAY_FIT_LEAST  ? REPLAY_FIT_LEAST
                      : trials > REPLAY_FIT_MOST ? REPLAY_FIT_MOST
                                                 : trials);
}

void replay_fit_find(const struct replay_steps *start, struct fit *out)
{
    struct replay_trials *trials = arena_array(start->arena, struct replay_trials, 1);
    const struct memory_profile_replay_change now = replay_steps_after(start);
    struct err err = ERR_INIT;
    *trials = (struct replay_trials){.start = start,
                                     .program = *start,
                                     .arena = arena_child(start->arena),
                                     .trials_most = trials_most(start),
                                     .out = out};
    *out = (struct fit){.set_count = 0};
    trials->work_least = work_left(trials) / WORK_KEPT_PART;
    out->has_fit_already = replay_steps_is_enough(start, &now);
    if (out->has_fit_already)
        return;
    trials->program.is_one_way = true;
    trials->has_program = start->program != NULL || replay_steps_begin_program(&trials->program, &err);
    const struct fit_search search = {.candidate_count = CANDIDATE_COUNT,
                                      .needed_bytes = replay_fit_needed_bytes(start, &now),
                                      .room_bytes = start->capacity_bytes,
                                      .context = trials,
                                      .set_try = replay_set_try,
                                      .is_spent = is_spent,
                                      .out = out};
    fit_search_run(&search);
}

/* ---- in words ---- */

/* What stays whatever is done to batch and activations. */
static int64_t kept_bytes(const struct memory_profile_pool *pool)
{
    static const enum category kept[] = {CATEGORY_PARAMETER, CATEGORY_GRADIENT, CATEGORY_OPTIMIZER_STATE};
    int64_t bytes = 0;
    for (size_t i = 0; pool->at_peak != NULL && i < sizeof(kept) / sizeof(kept[0]); i++)
        bytes = sum_add(bytes, pool->at_peak[kept[i]].bytes);
    return bytes;
}

/* A job that keeps what each step saved runs full whatever one step takes. */
static const char *retained_words(const struct replay_steps *start)
{
    const struct memory_profile_pool *pool = start->pool;
    struct memory_profile_retained retained;
    if (pool->failure_count == 0 ||
        !memory_profile_retained_find(pool, pool->failures[pool->failure_count - 1].count, start->arena, &retained))
        return "";
    return arena_format(start->arena,
                        " %s saved by earlier steps are still held, and grow with each step: free these first "
                        "(memviewd explain).",
                        size_text_in(start->arena, (uint64_t)retained.bytes));
}

const char *replay_fit_sentence(const struct replay_steps *start, const struct fit *fit)
{
    struct arena *arena = start->arena;
    const struct memory_profile_replay_change now = replay_steps_after(start);
    const char *capacity = size_text_in(arena, (uint64_t)start->capacity_bytes);
    if (fit->has_fit_already)
        return arena_format(arena, "It fits %s: %s of %s.", start->count > 0 ? "with what is changed" : "as it is",
                            size_text_in(arena, (uint64_t)now.reserved_bytes), capacity);
    if (fit->set_count > 0 && start->pool->failure_count > 0)
        return arena_format(arena,
                            "%u %s of changes would get it past the request that failed, within %s, by replay; later "
                            "requests are not known.%s",
                            fit->set_count, fit->set_count == 1 ? "set" : "sets", capacity, retained_words(start));
    if (fit->set_count > 0)
        return arena_format(arena, "%u %s of changes would make it fit %s, by replay.", fit->set_count,
                            fit->set_count == 1 ? "set" : "sets", capacity);
    if (fit->nearest.count == 0)
        return "Nothing that was tried applies to this recording.";
    int64_t over = fit->nearest.total_bytes - start->capacity_bytes, kept = kept_bytes(start->pool);
    const char *stays = kept <= 0 ? ""
                                  : arena_format(arena,
                                                 "; parameters, gradients and optimizer state, which changes to "
                                                 "activations do not shrink, take %s at the peak",
                                                 size_text_in(arena, (uint64_t)kept));
    if (over <= 0)
        return arena_format(arena, "Nothing that was tried is enough: a request fails with each%s.", stays);
    return arena_format(arena, "Nothing that was tried is enough: the best leaves %s over %s%s.",
                        size_text_in(arena, (uint64_t)over), capacity, stays);
}
