/* SPDX-License-Identifier: Apache-2.0
 * replay.c: see replay.h. */
#include "model/memory_profile/replay.h"

#include "model/memory_profile/replay_program.h"

/* Steps that a pass may take: far more than one ever took. */
enum { LEAST_WORK = 1 << 24, WORK_PER_EVENT = 1 << 12 };

/* Is anything known of what was asked of the driver? */
static bool has_segments(const struct memory_profile_pool *pool)
{
    const struct torch_snapshot *snapshot = pool->profile->events.snapshot;
    bool has = false;
    for (uint32_t i = 0; i < pool->torch.event_count; i++)
        has |= torch_snapshot_driver_sign(&pool->torch.events[i]) != 0;
    for (size_t i = 0; i < snapshot->segment_count; i++)
        has |= snapshot->segments[i].device == pool->device;
    return has;
}

static const char *why_not(const struct memory_profile_pool *pool)
{
    const struct torch_snapshot *snapshot = pool->profile->events.snapshot;
    if (snapshot->is_of_profiler)
        return "a trace of the profiler does not tell what was asked of the driver";
    if (snapshot->is_end_alone)
        return "the snapshot has no history";
    if (!pool->torch.is_known)
        return "several lists of the file are of one device";
    if (!pool->has_addresses)
        return "the events tell no addresses";
    return NULL;
}

/* ---- with other settings, or of another program ---- */

/* Above all addresses that are recorded: of what another program asks for in between. */
#define PASSING_ADDRESS (UINT64_C(1) << 63)

/* What is run: the recorded requests, or those of another program. */
struct replay_course {
    const struct replay_ground *ground;
    const struct caching_settings *settings;
    const struct replay_program *program; /* NULL: as recorded */
    uint32_t extra_at;                    /* of the program's extras, that have happened */
    struct replay_curve *curve;           /* NULL: no curve is needed */
};

static void failure_try(struct replay_walk *walk, const struct replay_course *course, const struct torch_event *event,
                        struct memory_profile_replay_change *out)
{
    const struct replay_program *program = course->program;
    uint32_t at = walk->ground->pool->count + out->failure_count;
    int64_t bytes = program == NULL ? event->size_bytes : replay_program_bytes(program, at);
    out->failure_count++;
    out->is_last_left_out = bytes == 0;
    out->is_last_placed = out->is_last_left_out || replay_walk_try(walk, event, bytes) != CACHING_NONE;
    out->placed_count += out->is_last_placed;
}

/* Another program asks for what it does not hold any more, and gives back what it did hold. False: a request fails. */
static bool extras_run(struct replay_walk *walk, struct replay_course *course, uint32_t at,
                       struct memory_profile_replay_change *out)
{
    const struct replay_program *program = course->program;
    const struct memory_profile *profile = walk->ground->pool->profile;
    for (; program != NULL && course->extra_at < program->extra_count && program->extras[course->extra_at].at <= at;
         course->extra_at++) {
        const struct replay_extra *extra = &program->extras[course->extra_at];
        uint64_t recorded = profile->address[walk->ground->pool->first + extra->of];
        uint64_t address = extra->is_transient ? PASSING_ADDRESS | extra->of : recorded;
        int64_t bytes = replay_program_bytes(program, extra->of);
        if (extra->is_free) {
            replay_walk_free(walk, address);
        } else if (replay_walk_request_as(walk, extra->of, address, bytes) == CACHING_NONE && bytes > 0) {
            out->failed_at = at;
            out->failed_bytes = bytes;
            return false;
        }
    }
    return true;
}

/* What was recorded between two allocations or frees; `bytes` is what was held then. */
static void between_run(struct replay_walk *walk, const struct replay_course *course, uint32_t at, int64_t *bytes,
                        struct memory_profile_replay_change *out)
{
    const struct memory_profile_torch *torch = &walk->ground->pool->torch;
    while (walk->torch_at < torch->event_count && torch->events[walk->torch_at].event_at <= at) {
        const struct torch_event *event = &torch->events[walk->torch_at];
        uint32_t end = replay_driver_run_end(torch, walk->torch_at);
        if (end > walk->torch_at && replay_driver_is_emptied(torch, &walk->ground->driver, walk->torch_at, end, *bytes))
            caching_release(&walk->caching);
        if (event->action == TORCH_FREE_REQUESTED)
            replay_walk_ask_free(walk, event->address);
        if (event->action == TORCH_OOM)
            failure_try(walk, course, event, out);
        for (end = end > walk->torch_at ? end : walk->torch_at + 1; walk->torch_at < end; walk->torch_at++)
            *bytes += torch_snapshot_driver_bytes(&torch->events[walk->torch_at]);
    }
    walk->caching.change_count = 0;
}

static void block_free(struct replay_walk *walk, const struct replay_course *course, uint32_t event)
{
    const struct memory_profile_pool *pool = walk->ground->pool;
    uint32_t partner = pool->profile->partner[event];
    replay_walk_free(walk, pool->profile->address[event]);
    if (course->program != NULL && partner != PROFILE_NONE &&
        replay_program_is_earlier(course->program, partner - pool->first))
        replay_walk_free(walk, PASSING_ADDRESS | (partner - pool->first));
}

static uint32_t request_run(struct replay_walk *walk, const struct replay_course *course, uint32_t at,
                            struct memory_profile_replay_change *out)
{
    const struct memory_profile_pool *pool = walk->ground->pool;
    const struct memory_profile *profile = pool->profile;
    const uint32_t event = pool->first + at;
    int64_t bytes = course->program == NULL ? profile->size_bytes[event] : replay_program_bytes(course->program, at);
    uint32_t block = replay_walk_request_as(walk, at, profile->address[event], bytes);
    bool is_asked = (profile->flags[event] & MEMORY_HAS_ADDRESS) != 0 && (course->program == NULL || bytes > 0);
    if (block == CACHING_NONE && is_asked) {
        out->failed_at = at;
        out->failed_bytes = bytes;
    }
    return block;
}

static void run_once(struct replay_course course, struct replay_start start, struct arena *arena,
                     struct memory_profile_replay_change *out)
{
    struct replay_walk walk;
    uint32_t block;
    const struct replay_ground *ground = course.ground;
    const struct memory_profile_pool *pool = ground->pool;
    const struct memory_profile *profile = pool->profile;
    int64_t recorded_bytes = ground->driver.first_bytes;
    *out = (struct memory_profile_replay_change){.failed_at = PROFILE_NONE};
    start.held_bytes = course.program == NULL ? NULL : course.program->held_bytes;
    start.is_placed_again |= course.program != NULL; /* in segments that it would have had */
    replay_walk_begin(&walk, ground, course.settings, start, arena);
    walk.caching.device_bytes = ground->driver.limit_bytes;
    if (course.curve != NULL)
        replay_curve_add(course.curve, course.curve->from_ps, &walk.caching);
    for (uint32_t at = 0; at < pool->count && out->failed_at == PROFILE_NONE; at++) {
        uint32_t event = pool->first + at;
        between_run(&walk, &course, at, &recorded_bytes, out);
        if (!extras_run(&walk, &course, at, out))
            break;
        if (memory_profile_is_free(profile, event)) {
            block_free(&walk, &course, event);
        } else if ((block = request_run(&walk, &course, at, out)) != CACHING_NONE) {
            out->is_moved |= caching_blocks_at(&walk.caching.blocks, block)->address != profile->address[event];
        }
        walk.caching.change_count = 0;
        if (course.curve != NULL && out->failed_at == PROFILE_NONE)
            replay_curve_add(course.curve, profile->time_ps[event], &walk.caching);
    }
    if (out->failed_at == PROFILE_NONE && extras_run(&walk, &course, pool->count, out))
        between_run(&walk, &course, pool->count, &recorded_bytes, out);
    if (course.curve != NULL && out->failed_at == PROFILE_NONE)
        replay_curve_end(course.curve);
    out->requested_bytes = walk.caching.requested.peak_bytes;
    out->allocated_bytes = out->other_allocated_bytes = walk.caching.allocated.peak_bytes;
    out->reserved_bytes = out->other_bytes = walk.caching.reserved.peak_bytes;
}

/* ---- within bounds of their own ---- */

/* Without room for it the question is answered without a replay. */
struct replay_trial {
    const struct memory_profile_pool *pool;
    const struct caching_settings *settings; /* of a change */
    const struct replay_program *program;
    bool is_one_way;
    struct replay_curve *curve; /* NULL: no curve is needed */
    struct memory_profile_replay *replay;
    struct memory_profile_replay_change *change;
    uint64_t work; /* steps it took */
    struct arena arena;
    struct err err;
};

/* NULL: it was done, and what it holds is the arena's. Else why not: a clause. */
static const char *replay_try(struct replay_trial *trial, struct arena *arena, void (*work)(void *context))
{
    struct arena *whole = arena->parent != NULL ? arena->parent : arena;
    trial->err = (struct err)ERR_INIT;
    arena_init(&trial->arena, arena_left_bytes(whole), &trial->err);
    trial->arena.wanted = whole->wanted;
    const uint64_t allotted =
        LEAST_WORK + (uint64_t)WORK_PER_EVENT * ((uint64_t)trial->pool->count + trial->pool->torch.event_count);
    arena_allot_work(&trial->arena, allotted);
    bool is_done = arena_try(&trial->arena, work, trial);
    trial->work = allotted - arena_work_left(&trial->arena);
    if (is_done) {
        arena_adopt(whole, &trial->arena);
        return NULL;
    }
    arena_free(&trial->arena);
    arena_give_up_with(arena, &trial->err);
    return trial->arena.is_full ? "it takes more memory than one answer may"
                                : "it takes far more work than a snapshot of its size may";
}

static void check_work(void *context)
{
    struct replay_trial *trial = context;
    struct memory_profile_replay *replay = trial->replay;
    struct replay_ground *ground = arena_array(&trial->arena, struct replay_ground, 1);
    struct arena *scratch = arena_child(&trial->arena);
    replay_walk_ground(trial->pool, &trial->arena, ground);
    memory_profile_replay_settings(trial->pool, &replay->settings);
    replay_check_make(ground, scratch, replay);
    arena_free(scratch);
    replay->is_unchecked = !has_segments(trial->pool);
    replay->is_exact &= !replay->is_unchecked;
    replay->reserved_bytes = replay->is_unchecked ? replay->made_reserved_bytes : ground->driver.peak_bytes;
    replay->limit_bytes = ground->driver.limit_bytes;
    replay->ground = ground;
}

const struct memory_profile_replay *memory_profile_replay_of(const struct memory_profile_pool *pool,
                                                             struct arena *arena)
{
    if (pool->profile->events.snapshot == NULL)
        return NULL;
    struct memory_profile_replay *replay = arena_array(arena, struct memory_profile_replay, 1);
    const char *reason = why_not(pool);
    if (reason == NULL) {
        struct replay_trial *trial = arena_array(arena, struct replay_trial, 1);
        *trial = (struct replay_trial){.pool = pool, .replay = replay};
        reason = replay_try(trial, arena, check_work);
    }
    /* The segments of memory that a program held before the recording are unknown. */
    if (reason == NULL && replay->is_unchecked && (!replay->is_whole || pool->pairs.before_window > 0))
        reason = "it has no segments";
    if (reason != NULL)
        *replay = (struct memory_profile_replay){.why_not = reason};
    replay->sentence = memory_profile_replay_sentence(replay, arena);
    return replay;
}

static void change_work(void *context)
{
    struct replay_trial *trial = context;
    const struct replay_ground *ground = trial->replay->ground;
    struct memory_profile_replay_change other, *out = trial->change;
    struct arena *scratch = arena_child(&trial->arena);
    const bool is_placed_again = trial->settings->is_expandable != trial->replay->settings.is_expandable;
    const struct replay_course course = {
        .ground = ground, .settings = trial->settings, .program = trial->program, .curve = trial->curve};
    run_once(course, (struct replay_start){is_placed_again, .is_upwards = false}, scratch, out);
    arena_free(scratch);
    if (trial->is_one_way || trial->settings->is_expandable || !out->is_moved)
        return; /* no segment could lie another way: there are none, or they lie as recorded */
    run_once(course, (struct replay_start){is_placed_again, .is_upwards = true}, scratch, &other);
    out->other_bytes = other.reserved_bytes;
    out->other_allocated_bytes = other.allocated_bytes;
    out->is_other_failing = (other.failed_at == PROFILE_NONE) != (out->failed_at == PROFILE_NONE) ||
                            other.placed_count != out->placed_count;
    arena_free(scratch);
}

void memory_profile_replay_run(const struct memory_profile_replay *replay, const struct caching_settings *settings,
                               const struct replay_program *program, bool is_one_way, struct arena *arena,
                               struct memory_profile_replay_change *out)
{
    struct memory_profile_replay own = *replay;
    struct replay_trial *trial = arena_array(arena, struct replay_trial, 1);
    *trial = (struct replay_trial){.pool = replay->ground->pool,
                                   .settings = settings,
                                   .program = program,
                                   .is_one_way = is_one_way,
                                   .replay = &own,
                                   .change = out};
    const char *why_not = replay_try(trial, arena, change_work);
    if (why_not != NULL)
        *out = (struct memory_profile_replay_change){.why_not = why_not, .failed_at = PROFILE_NONE};
    out->work = trial->work;
    out->is_split_changed = settings->max_split_bytes != replay->settings.max_split_bytes;
}

const char *memory_profile_replay_curve(const struct memory_profile_replay *replay,
                                        const struct caching_settings *settings, const struct replay_program *program,
                                        struct arena *arena, struct replay_curve *curve)
{
    struct memory_profile_replay own = *replay;
    struct memory_profile_replay_change change;
    struct replay_trial *trial = arena_array(arena, struct replay_trial, 1);
    *trial = (struct replay_trial){.pool = replay->ground->pool,
                                   .settings = settings,
                                   .program = program,
                                   .is_one_way = true,
                                   .curve = curve,
                                   .replay = &own,
                                   .change = &change};
    return replay_try(trial, arena, change_work);
}
