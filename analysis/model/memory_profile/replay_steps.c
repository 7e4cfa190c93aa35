/* SPDX-License-Identifier: Apache-2.0
 * replay_steps.c: see replay_steps.h. */
#include "model/memory_profile/replay_steps.h"

#include "base/sum.h"
#include "model/memory_profile/replay_walk.h"

void replay_steps_begin(struct replay_steps *steps, const struct memory_profile_replay *replay, int64_t capacity_bytes,
                        struct arena *arena)
{
    *steps = (struct replay_steps){
        .replay = replay, .pool = replay->ground->pool, .arena = arena, .capacity_bytes = capacity_bytes};
    steps->change.settings = replay->settings;
}

bool replay_steps_begin_program(struct replay_steps *steps, struct err *err)
{
    const struct memory_profile_replay *replay = steps->replay;
    steps->program = replay_program_begin(replay, steps->arena);
    memory_profile_replay_run(replay, &replay->settings, steps->program, steps->is_one_way, steps->arena,
                              &steps->unchanged);
    if (steps->unchanged.why_not != NULL)
        return err_set(err, ERR_limit, ERR_NO_OFFSET, "the program as it was: %s", steps->unchanged.why_not);
    return true;
}

void replay_steps_copy(struct replay_steps *steps, const struct replay_steps *from, struct arena *arena)
{
    *steps = *from;
    steps->arena = arena;
    if (from->program != NULL)
        steps->program = replay_program_copy(from->program, arena);
}

uint64_t replay_steps_walk(const struct memory_profile_replay *replay)
{
    const struct memory_profile_pool *pool = replay->ground->pool;
    return (uint64_t)pool->count + pool->torch.event_count + replay->ground->held.block_count;
}

/* ---- steps ---- */

static bool is_seen_to_its_end(const struct replay_steps *steps)
{
    return steps->replay->is_whole && steps->pool->failure_count == 0;
}

static bool program_apply(struct replay_steps *steps, struct replay_step *step, struct err *err)
{
    steps->is_program_changed = true;
    if (!replay_program_apply(steps->program, step->text, err))
        return false;
    step->call = steps->program->call;
    step->words = steps->program->words;
    step->reason = steps->program->reason;
    steps->bounds |= steps->program->bounds;
    steps->bounds |= is_seen_to_its_end(steps) ? 0 : REPLAY_AT_LEAST;
    return true;
}

static bool settings_apply(struct replay_steps *steps, struct replay_step *step, struct err *err)
{
    if (!replay_settings_apply(&steps->change, step->text, steps->capacity_bytes, steps->arena, err))
        return false;
    step->call = steps->change.call;
    step->words = steps->change.words;
    return true;
}

bool replay_steps_apply(struct replay_steps *steps, const char *text, struct err *err)
{
    if (steps->count == REPLAY_STEPS_MAX)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "change: at most %d of them", REPLAY_STEPS_MAX);
    struct replay_step *step = &steps->items[steps->count];
    *step = (struct replay_step){.text = text};
    if (replay_program_is_change(text) ? !program_apply(steps, step, err) : !settings_apply(steps, step, err))
        return false;
    step->bounds = steps->bounds;
    steps->count++;
    return true;
}

static enum change_confidence confidence_of(uint8_t bounds)
{
    return bounds == 0 ? CHANGE_MODEL : bounds == (REPLAY_AT_MOST | REPLAY_AT_LEAST) ? CHANGE_GUESS : CHANGE_BOUND;
}

bool replay_steps_run(struct replay_steps *steps, struct err *err)
{
    struct replay_step *step = &steps->items[steps->count - 1];
    const struct memory_profile_replay *replay = steps->replay;
    memory_profile_replay_run(replay, &steps->change.settings, steps->program, steps->is_one_way, steps->arena,
                              &step->after);
    if (step->after.why_not != NULL)
        return err_set(err, ERR_limit, ERR_NO_OFFSET, "change \"%.60s\": %s", step->text, step->after.why_not);
    if (steps->is_program_changed) {
        step->confidence = confidence_of(steps->bounds);
        step->reason = memory_profile_replay_reason_of_program(replay, &steps->unchanged, step->reason, steps->bounds,
                                                               steps->arena);
    } else {
        bool is_sure = !steps->is_one_way && memory_profile_replay_is_sure(replay, &step->after);
        step->confidence = is_sure ? CHANGE_EXACT : CHANGE_MODEL;
        step->reason = memory_profile_replay_reason(replay, &step->after, steps->arena);
    }
    if (steps->change.settings.collect_threshold > 0 && steps->change.settings.fraction_bytes == 0)
        step->reason = arena_format(
            steps->arena, "%s Nothing is collected without a memory fraction: add memory_fraction=0.9.", step->reason);
    return true;
}

bool replay_steps_curve(const struct replay_steps *steps, struct replay_curve *curve, struct err *err)
{
    const char *why_not =
        memory_profile_replay_curve(steps->replay, &steps->change.settings, steps->program, steps->arena, curve);
    return why_not == NULL || err_set(err, ERR_limit, ERR_NO_OFFSET, "the curve of the changes: %s", why_not);
}

/* ---- what they leave ---- */

static struct memory_profile_replay_change recorded_of(const struct replay_steps *steps)
{
    const struct memory_profile_replay *replay = steps->replay;
    return (struct memory_profile_replay_change){.requested_bytes = replay->requested_bytes,
                                                 .allocated_bytes = replay->allocated_bytes,
                                                 .reserved_bytes = replay->reserved_bytes,
                                                 .other_bytes = replay->reserved_bytes,
                                                 .other_allocated_bytes = replay->allocated_bytes,
                                                 .failed_at = PROFILE_NONE,
                                                 .failure_count = steps->pool->failure_count};
}

/* For a changed program, compares with the replay of the unchanged one: otherwise a difference of the replay would
 * count as one of the program. */
struct memory_profile_replay_change replay_steps_before(const struct replay_steps *steps)
{
    return steps->program == NULL ? recorded_of(steps) : steps->unchanged;
}

struct memory_profile_replay_change replay_steps_after(const struct replay_steps *steps)
{
    return steps->count == 0 ? replay_steps_before(steps) : steps->items[steps->count - 1].after;
}

static bool is_failing(const struct memory_profile_replay_change *change)
{
    return change->failed_at != PROFILE_NONE || (change->failure_count > 0 && !change->is_last_placed);
}

/* What the recorded job needed; with `made`, what the rules make of the unchanged one in the same replay. */
static int64_t recorded_bytes(const struct replay_steps *steps, int64_t *made)
{
    const struct memory_profile_replay *replay = steps->replay;
    const struct memory_profile_pool *pool = steps->pool;
    bool is_replayed = steps->program != NULL && steps->unchanged.failed_at == PROFILE_NONE;
    *made = is_replayed ? steps->unchanged.reserved_bytes : replay->made_reserved_bytes;
    bool is_placed = is_replayed && pool->failure_count > 0 && !is_failing(&steps->unchanged); /* where it failed */
    return is_placed ? sum_add(replay->reserved_bytes, pool->failures[pool->failure_count - 1].requested_bytes)
                     : replay->reserved_bytes;
}

int64_t replay_steps_reserved_bytes(const struct replay_steps *steps, const struct memory_profile_replay_change *change)
{
    int64_t made, recorded = recorded_bytes(steps, &made);
    if (made >= recorded || change->reserved_bytes >= recorded)
        return change->reserved_bytes;
    return change->reserved_bytes < made ? change->reserved_bytes + (recorded - made) : recorded;
}

enum replay_fits replay_steps_fits(const struct replay_steps *steps, const struct memory_profile_replay_change *change,
                                   uint8_t bounds, struct memory_fit *fit)
{
    const struct memory_capacity capacity = {.bytes = steps->capacity_bytes, .asked_bytes = -1};
    memory_fit_judge(&capacity, change->reserved_bytes, "device memory", steps->arena, fit);
    if (fit->word == MEMORY_FIT_NOT_KNOWN)
        return REPLAY_FITS_NOT_KNOWN;
    if (is_failing(change) || fit->word != MEMORY_FIT_FITS)
        return (bounds & REPLAY_AT_MOST) != 0 ? REPLAY_FITS_NOT_KNOWN : REPLAY_FITS_NO;
    bool is_sure = is_seen_to_its_end(steps) && (bounds & REPLAY_AT_LEAST) == 0 &&
                   replay_steps_reserved_bytes(steps, change) <= steps->capacity_bytes;
    return is_sure ? REPLAY_FITS_YES : REPLAY_FITS_NOT_KNOWN;
}

bool replay_steps_is_enough(const struct replay_steps *steps, const struct memory_profile_replay_change *change)
{
    return !is_failing(change) && replay_steps_reserved_bytes(steps, change) <= steps->capacity_bytes;
}
