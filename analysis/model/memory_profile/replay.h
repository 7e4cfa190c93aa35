/* SPDX-License-Identifier: Apache-2.0
 * replay.h: the requests and frees of an allocator snapshot, run through the allocator's rules again
 * (memory/allocator/caching.h): as it was recorded, which shows whether the rules are understood, and with other
 * settings.
 *
 * In:     a pool of a snapshot; what was there before its first event, counted back from the end (held.h). Nothing of
 *         it is kept with the snapshot: whoever is asked about it makes it.
 * Out:    peaks, the segments that the rules make, and where they first differ from those that were recorded.
 * Taken as recorded: when frees are completed, when the cache was emptied, and what the driver refused. How much the
 *         process may take of its device is what failed requests say: what was reserved then, and free on the device.
 * Cost:   a pass over the pool's events; each step of a search is charged to work of its own.
 * Memory: the arena's, within what it has left; where that is too little the replay says so, and all else is
 *         answered. */
#pragma once

#include "memory/allocator/caching.h"
#include "model/memory_profile/model.h"
#include "model/memory_profile/replay_curve.h"
#include "model/memory_profile/replay_walk.h"

struct replay_ground;
struct replay_program;

struct memory_profile_replay {
    const char *sentence; /* how far it was replayed */
    const char *why_not;  /* nothing can be replayed, for this reason: a clause; NULL: it was */
    bool is_whole;        /* nothing was there before the first event */
    bool is_exact;        /* the rules made the segments that were recorded; blocks may lie elsewhere: moved_count */
    bool is_unchecked;    /* no segment was recorded: they are those of the rules, `reserved_bytes` too */
    /* of the first difference: */
    uint32_t differs_at;                /* event of the pool, counted from its first */
    int64_t recorded_bytes, made_bytes; /* what was asked of the driver there: given back is below 0 */
    /* of the whole: */
    uint32_t segment_count, made_count; /* asked of the driver (mapped pages too), as recorded, by the rules */
    uint32_t moved_count;               /* blocks at other addresses than the recorded ones */
    int64_t requested_bytes;            /* peaks: what was asked for, */
    int64_t allocated_bytes;            /* blocks by the rules, as torch.cuda.max_memory_allocated counts, */
    int64_t reserved_bytes;             /* segments as recorded, */
    int64_t made_reserved_bytes;        /* segments by the rules */
    int64_t limit_bytes;                /* the process could not take more of the device; 0: it was never refused */
    struct caching_settings settings;   /* as recorded */
    const struct replay_ground *ground;
};

/* The peaks of the job under other settings. */
struct memory_profile_replay_change {
    const char *why_not; /* there are no figures, for this reason: a clause; NULL: there are */
    int64_t requested_bytes, allocated_bytes, reserved_bytes; /* peaks; up to failed_at */
    int64_t other_allocated_bytes;
    int64_t
        other_bytes; /* what would be reserved if new segments lay the other way round: where it is another figure, the
                            driver decides, who says the addresses */
    bool is_split_changed; /* another max_split_size: not every run with it was met to the byte */
    bool is_moved;         /* some block lies elsewhere than it was recorded */
    bool is_other_failing; /* and other requests would fail then */
    uint32_t failed_at;    /* event of the pool whose request would have failed; PROFILE_NONE: none would */
    int64_t failed_bytes;  /* that were asked for there */
    uint32_t failure_count, placed_count; /* requests that failed as recorded; of them, that would have got memory */
    bool is_last_placed;                  /* the last of them would have, or is not made any more */
    bool is_last_left_out;                /* it is not made any more */
    uint64_t work;                        /* steps that the replay took: more than usual of a file that is made so */
};

/* How the pool is replayed with the settings that were recorded; in the arena. NULL: it is of a trace. */
const struct memory_profile_replay *memory_profile_replay_of(const struct memory_profile_pool *pool,
                                                             struct arena *arena);
/* The settings that the snapshot tells. */
void memory_profile_replay_settings(const struct memory_profile_pool *pool, struct caching_settings *out);
/* `replay` has no why_not. `program`: what is asked for then (replay_program.h); NULL: what was recorded. `is_one_way`:
 * new segments lie one way alone, in half of the time: what lies the other way round is then said to be the same. */
void memory_profile_replay_run(const struct memory_profile_replay *replay, const struct caching_settings *settings,
                               const struct replay_program *program, bool is_one_way, struct arena *arena,
                               struct memory_profile_replay_change *out);

/* What would be held over time, as memory_profile_replay_run replays it, in parts that `curve` has begun with. Where a
 * request fails the curve ends there. NULL: it is made; else why not: a clause. */
const char *memory_profile_replay_curve(const struct memory_profile_replay *replay,
                                        const struct caching_settings *settings, const struct replay_program *program,
                                        struct arena *arena, struct replay_curve *curve);

/* What then becomes of the last request that failed as recorded, in a few words: "not made", "gets its memory",
 * "fails"; "another fails": the job does not get as far ("one fails": of a recording without any). NULL: none failed,
 * and none would. `recorded_count`: of all requests of the pool that failed. */
const char *memory_profile_replay_request_word(const struct memory_profile_replay_change *change,
                                               uint32_t recorded_count);
/* The same as what a sentence says of that request, where the job gets as far: "gets its memory", without a full
 * stop. */
const char *memory_profile_replay_request_clause(const struct memory_profile_replay_change *change);

/* How far it was replayed: one sentence; in the arena. */
const char *memory_profile_replay_sentence(const struct memory_profile_replay *replay, struct arena *arena);
/* Are the figures of other settings exact? And why, or why not: a sentence. */
bool memory_profile_replay_is_sure(const struct memory_profile_replay *replay,
                                   const struct memory_profile_replay_change *change);
const char *memory_profile_replay_reason(const struct memory_profile_replay *replay,
                                         const struct memory_profile_replay_change *change, struct arena *arena);
/* How sure the figures of another program are: sentences. `unchanged`: the program as it was, replayed in the same way.
 * `change_reason`: of the change itself; NULL: it was one of settings, behind one of the program. `bounds`: enum
 * replay_bound. */
const char *memory_profile_replay_reason_of_program(const struct memory_profile_replay *replay,
                                                    const struct memory_profile_replay_change *unchanged,
                                                    const char *change_reason, uint8_t bounds, struct arena *arena);

/* replay_check.c: a recording run again with its own settings, beside what was recorded; for replay.c. */
/* Sets what `out` says of the rules; out->settings are those that were recorded. */
void replay_check_make(const struct replay_ground *ground, struct arena *arena, struct memory_profile_replay *out);
