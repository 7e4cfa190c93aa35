/* SPDX-License-Identifier: Apache-2.0
 * torch_replay.c: see torch_replay.h. */
#include "verdict/torch_replay.h"

#include "model/memory_profile/replay_fit.h"
#include "verdict/torch_moment.h"

void torch_replay_begin(struct torch_replay *replay, const struct verdict_facts *facts)
{
    *replay = (struct torch_replay){.facts = facts, .events_left = TORCH_REPLAY_EVENTS};
}

/* A replay tells of the last request that failed, and of no other; beside a plan the figures are the plan's. */
static bool is_of_moment(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    const struct memory_profile_pool *pool = moment->pool;
    bool is_last = moment->failure == NULL ? pool->failure_count == 0
                                           : moment->failure == &pool->failures[pool->failure_count - 1];
    return is_last && !moment->is_end && facts->total_bytes < 0 && pool->torch.is_known && pool->count > 0;
}

/* Has the budget so many walks? They are taken then. */
static bool walks_take(struct torch_replay *replay, uint64_t walks)
{
    const struct memory_profile_pool *pool = replay->facts->moment->pool;
    uint64_t events = walks * (replay->steps.replay != NULL ? replay_steps_walk(replay->steps.replay)
                                                            : (uint64_t)pool->count + pool->torch.event_count);
    bool has = events < replay->events_left && replay->work < TORCH_REPLAY_WORK;
    replay->events_left -= has ? events : 0;
    return has;
}

/* The recording as it is, and the program as it is: once for all changes. */
static void ground_make(struct torch_replay *replay)
{
    const struct verdict_facts *facts = replay->facts;
    const struct memory_profile_replay *own = facts->moment->segments.replay;
    struct err err = ERR_INIT;
    replay->is_begun = true;
    if (!is_of_moment(facts))
        return;
    replay->is_costly = !walks_take(replay, own == NULL ? 2 : 1);
    if (replay->is_costly)
        return;
    if (own == NULL)
        own = memory_profile_replay_of(facts->moment->pool, facts->arena);
    if (own == NULL || own->why_not != NULL)
        return;
    replay_steps_begin(&replay->steps, own, facts->limit_bytes, facts->arena);
    replay->steps.is_one_way = true;
    replay->is_ready = replay_steps_begin_program(&replay->steps, &err);
    replay->work = replay->steps.unchanged.work;
    replay->tried = arena_child(facts->arena);
}

static enum verdict_confidence confidence_of(enum change_confidence confidence)
{
    static const enum verdict_confidence confidences[] = {[CHANGE_EXACT] = VERDICT_EXACT,
                                                          [CHANGE_MODEL] = VERDICT_MODEL,
                                                          [CHANGE_BOUND] = VERDICT_BOUND,
                                                          [CHANGE_GUESS] = VERDICT_GUESS};
    return confidences[confidence];
}

/* What follows in a job that failed is not known, so no change is known to be enough. */
static enum verdict_fits replay_fits_of(const struct replay_steps *steps,
                                        const struct memory_profile_replay_change *after, uint8_t bounds)
{
    struct memory_fit fit;
    enum replay_fits fits = replay_steps_fits(steps, after, bounds, &fit);
    if (after->failure_count > 0 && !after->is_last_placed && (bounds & REPLAY_AT_MOST) == 0)
        return VERDICT_FITS_NO;
    return fits == REPLAY_FITS_YES                                  ? VERDICT_FITS_YES
           : fits == REPLAY_FITS_NO                                 ? VERDICT_FITS_NO
           : steps->capacity_bytes >= 0 || after->failure_count > 0 ? VERDICT_FITS_PERHAPS
                                                                    : VERDICT_FITS_UNKNOWN;
}

static const char *placed_words(const struct verdict_facts *facts, const struct memory_profile_replay_change *after)
{
    return after->failure_count == 0 ? ""
                                     : arena_format(facts->arena, " The request that failed %s.",
                                                    memory_profile_replay_request_clause(after));
}

static void figures_set(struct torch_replay *replay, const struct replay_steps *steps, struct torch_replay_figures *out)
{
    const struct verdict_facts *facts = replay->facts;
    const struct replay_step *step = &steps->items[steps->count - 1];
    const struct memory_profile_replay_change before = replay_steps_before(steps), after = step->after;
    *out = (struct torch_replay_figures){.lands_at_bytes = replay_fit_needed_bytes(steps, &after),
                                         .allocated_bytes = after.allocated_bytes,
                                         .fits = replay_fits_of(steps, &after, step->bounds),
                                         .confidence = confidence_of(step->confidence)};
    out->saves_bytes = replay_fit_needed_bytes(steps, &before) - out->lands_at_bytes;
    int64_t reserved_before = replay_steps_reserved_bytes(steps, &before),
            reserved_after = replay_steps_reserved_bytes(steps, &after);
    out->reason = arena_format(facts->arena, "By replay %s reserved become %s, of which blocks take %s.%s %s",
                               facts_size_beside(facts, reserved_before, reserved_after),
                               facts_size_beside(facts, reserved_after, reserved_before),
                               facts_size_beside(facts, after.allocated_bytes, reserved_after),
                               placed_words(facts, &after), step->reason);
}

/* Settings are replayed on the recording itself, and both ways round: so they can be exact. */
static enum torch_replay_word change_try(struct torch_replay *replay, const char *change,
                                         struct torch_replay_figures *out)
{
    struct err err = ERR_INIT;
    struct replay_steps *steps = arena_array(replay->tried, struct replay_steps, 1);
    bool is_of_program = replay_program_is_change(change);
    replay_steps_copy(steps, &replay->steps, replay->tried);
    if (!is_of_program) {
        steps->program = NULL;
        steps->is_one_way = false;
    }
    const uint64_t left = arena_work_left(replay->tried->parent);
    bool is_applied = replay_steps_apply(steps, change, &err);
    replay->work += left - arena_work_left(replay->tried->parent);
    if (!is_applied)
        return is_of_program && steps->program->is_already ? TORCH_REPLAY_IDLE : TORCH_REPLAY_NOT_KNOWN;
    if (!walks_take(replay, is_of_program ? 1 : 2))
        return TORCH_REPLAY_COSTLY;
    bool is_run = replay_steps_run(steps, &err);
    replay->work += steps->items[steps->count - 1].after.work;
    if (!is_run)
        return TORCH_REPLAY_NOT_KNOWN;
    const struct memory_profile_replay_change after = replay_steps_after(steps);
    figures_set(replay, steps, out);
    if (after.failed_at == PROFILE_NONE && out->saves_bytes > 0)
        return TORCH_REPLAY_MADE;
    return replay->steps.replay->is_exact ? TORCH_REPLAY_IDLE : TORCH_REPLAY_NOT_KNOWN;
}

enum torch_replay_word torch_replay_try(struct torch_replay *replay, const char *change,
                                        struct torch_replay_figures *out)
{
    if (!replay->is_begun)
        ground_make(replay);
    if (!replay->is_ready)
        return replay->is_costly ? TORCH_REPLAY_COSTLY : TORCH_REPLAY_NOT_KNOWN;
    if (replay->work >= TORCH_REPLAY_WORK)
        return TORCH_REPLAY_COSTLY;
    enum torch_replay_word word = change_try(replay, change, out);
    arena_free(replay->tried);
    return word;
}
