/* SPDX-License-Identifier: Apache-2.0
 * replay_program.h: what another program would have asked the allocator for: each recorded request gets another size,
 * or is left out, by whose memory it is, where it was asked for and how long it lives.
 *
 * In:     a replay that has no why_not, and a change as a person writes it (replay_program.def).
 * Out:    sizes of all requests, and requests and frees that come between the recorded ones, for replay.c.
 * Bounds: judged by categories, frames, phases and sizes alone. What nothing is told of stays as it is and is summed.
 *         What the program does behind the recording's end is not known.
 * Cost:   a change is some passes over the events of the pool, charged to the arena's work; 24 bytes an event. */
#pragma once

#include "base/chunks.h"
#include "base/err.h"
#include "model/memory_profile/passes.h"
#include "model/memory_profile/replay.h"
#include "plan/torch_phase.h"

/* What the job takes is on one side of what is said; or on either. */
enum replay_bound { REPLAY_AT_MOST = 1, REPLAY_AT_LEAST = 2 };

/* One of the pool's events that asks for memory, or a request that failed. */
struct replay_request {
    int64_t bytes;  /* as it is so far; 0: it is not asked for */
    uint32_t stack; /* of the snapshot; TORCH_NO_STACK */
    uint32_t event; /* of the pool, counted from its first, before which it failed; of all else its own */
    uint8_t category, rule, phase;
    bool is_request, is_failure;
    bool is_earlier; /* an extra asks for it before it, to the end that was recorded */
};

/* What comes between recorded events. */
struct replay_extra {
    uint32_t at;     /* before this event of the pool */
    uint32_t number; /* extras of one place keep their order */
    uint32_t of;     /* the request that it repeats or ends */
    bool is_free;
    bool is_transient; /* the repeated request and its free; not what is at the address of the recorded one */
};

struct replay_program {
    const struct memory_profile_pool *pool;
    const struct replay_ground *ground;
    struct arena *arena;
    struct replay_request *requests; /* of each event of the pool; behind them those that failed */
    uint32_t request_count;
    uint32_t failure_count;
    int64_t *held_bytes; /* of each block that was there before; NULL: as they are */
    struct replay_extra *extras;
    uint32_t extra_count;
    bool is_checkpointed, is_moved, is_optimizer_changed, is_in_parts;
    /* of the change that was applied last: */
    const char *call, *words, *reason;
    uint8_t bounds;         /* enum replay_bound; 0: it is a model */
    uint64_t changed_count; /* requests that it changed */
    bool is_already;        /* refused, for the program is so as it is */
};

/* As recorded. In the arena. */
struct replay_program *replay_program_begin(const struct memory_profile_replay *replay, struct arena *arena);
/* One to be changed by itself; in `arena`. */
struct replay_program *replay_program_copy(const struct replay_program *from, struct arena *arena);
/* Is it a change of the program by its name? */
bool replay_program_is_change(const char *text);
/* "batch, optimizer, …"; in the arena. */
const char *replay_program_names(struct arena *arena);
/* False with an `argument` report: how it is written, or why it does not apply here. */
bool replay_program_apply(struct replay_program *program, const char *text, struct err *err);

/* What a recorded request asks for. */
static inline int64_t replay_program_bytes(const struct replay_program *program, uint32_t at)
{
    return program->requests[at].bytes;
}

/* Does an extra ask for it, that has no free of its own? */
static inline bool replay_program_is_earlier(const struct replay_program *program, uint32_t at)
{
    return program->requests[at].is_earlier;
}

/* ---- for the changes ---- */

/* True; or false with a report. */
typedef bool replay_program_change(struct replay_program *program, struct str value, const char *text, struct err *err);
replay_program_change replay_program_batch, replay_program_accumulate, replay_program_optimizer,
    replay_program_attention, replay_program_sequence, replay_program_checkpoint, replay_program_zero_grad,
    replay_program_no_cache, replay_program_offload, replay_program_shard;
/* The optimizer's state is the host's: so is its step. */
bool replay_program_optimizer_move(struct replay_program *program, const char *text, struct err *err);
/* Above 0.001, up to 1000. */
bool replay_program_factor(struct str text, double *factor);
/* All that is of examples, so many times as large. `is_growing`: of each request, is it in any case? NULL: of none.
 * False with a report: there is nothing. */
bool replay_program_scale(struct replay_program *program, double factor, const bool *is_growing, const char *text,
                          struct err *err);
/* On which side the answer is where something may grow with `factor` that stays in it. */
static inline uint8_t replay_program_bound(double factor)
{
    return factor < 1 ? REPLAY_AT_MOST : factor > 1 ? REPLAY_AT_LEAST : 0;
}
/* Takes `extras` (struct replay_extra, without numbers) beside those that are there. */
void replay_program_extras_take(struct replay_program *program, const struct chunks *extras);
bool replay_program_refuse(const char *text, const char *why, struct err *err);
/* The same where the program is so as it is. */
bool replay_program_refuse_already(struct replay_program *program, const char *text, const char *why, struct err *err);
bool replay_program_is_forward(const struct replay_request *request);
bool replay_program_is_backward(const struct replay_request *request);
/* Which way it goes; BESIDE of what is no request, too. */
static inline enum passes_course replay_program_course(const struct replay_request *request)
{
    return !request->is_request                  ? PASSES_BESIDE
           : replay_program_is_backward(request) ? PASSES_BACKWARD
           : replay_program_is_forward(request)  ? PASSES_FORWARD
                                                 : PASSES_BESIDE;
}
/* The event that frees what event `at` allocates, or allocates what it frees; PROFILE_NONE, which is behind all. */
static inline uint32_t replay_program_partner(const struct replay_program *program, uint32_t at)
{
    const struct memory_profile_pool *pool = program->pool;
    uint32_t partner = pool->profile->partner[pool->first + at];
    return partner == PROFILE_NONE ? PROFILE_NONE : partner - pool->first;
}
/* Is what event `at` allocates there before event `before`, which is behind it? */
static inline bool replay_program_is_there(const struct replay_program *program, uint32_t at, uint32_t before)
{
    return memory_profile_is_open(program->pool, program->pool->first + at, before);
}
/* Is it there at the recorded peak? */
bool replay_program_is_at_peak(const struct replay_program *program, uint32_t at);
enum category replay_program_category_of_held(const struct replay_program *program, uint32_t block);
/* The size requested for each block that was live before the recording, for the caller to change. */
int64_t *replay_program_held(struct replay_program *program);
/* The sizes of the weights that can be identified, as they are so far. False: there are none. */
bool replay_program_weights(const struct replay_program *program, struct map *sizes);
/* For each stack of the snapshot: does it have such a frame? `is_such` may use only a frame's file and function. */
bool *replay_program_stacks_with(const struct replay_program *program,
                                 bool (*is_such)(const struct torch_frame *frame));
/* "1.20 GiB" */
const char *replay_program_size(const struct replay_program *program, int64_t bytes);
