/* SPDX-License-Identifier: Apache-2.0
 * replay_steps.h: changes of the allocator's settings and of the program, one after the other: what each leaves, how
 * sure that is and why, and whether it fits.
 *
 * In:     a replay that has no why_not; changes as a person writes them (replay_settings.h, replay_program.def).
 * Out:    of each change the peaks behind it. The first change of the program brings with it what the unchanged one
 *         takes in the same replay (`unchanged`): that is what changes are compared with then.
 * Cost:   a replay or two each time that replay_steps_run is called. */
#pragma once

#include "model/memory_profile/replay_program.h"
#include "model/memory_profile/replay_settings.h"
#include "plan/memory_fit.h"
#include "whatif/change.h"

enum { REPLAY_STEPS_MAX = 16 };

enum replay_fits { REPLAY_FITS_NOT_KNOWN, REPLAY_FITS_NO, REPLAY_FITS_YES };

struct replay_step {
    const char *text;         /* as it is written; borrowed */
    const char *call, *words; /* the line to write; what it does */
    const char *reason;       /* of the confidence: sentences */
    enum change_confidence confidence;
    uint8_t bounds;                            /* enum replay_bound */
    struct memory_profile_replay_change after; /* with this change and those before it */
};

struct replay_steps {
    const struct memory_profile_replay *replay;
    const struct memory_profile_pool *pool;
    struct arena *arena;
    int64_t capacity_bytes; /* -1: not known */
    bool is_one_way;        /* as of memory_profile_replay_run: quicker, and never exact */
    struct replay_settings_change change;
    struct replay_program *program;                /* NULL: no change is of the program */
    bool is_program_changed;                       /* by a step so far */
    uint8_t bounds;                                /* of all changes of the program so far */
    struct memory_profile_replay_change unchanged; /* the program as it was, replayed as the changed one is */
    struct replay_step items[REPLAY_STEPS_MAX];
    uint32_t count;
};

void replay_steps_begin(struct replay_steps *steps, const struct memory_profile_replay *replay, int64_t capacity_bytes,
                        struct arena *arena);
/* Call before any steps that include a change of the program: all steps are then compared with the replay of the
 * unchanged program. False with a `limit` report. */
bool replay_steps_begin_program(struct replay_steps *steps, struct err *err);
/* The same changes on a copy of what `from` begins with, for a trial. */
void replay_steps_copy(struct replay_steps *steps, const struct replay_steps *from, struct arena *arena);
/* A further change, which is not replayed yet. False with an `argument` report: how it is written, or why it does not
 * apply. */
bool replay_steps_apply(struct replay_steps *steps, const char *text, struct err *err);
/* Replays the changes so far: what it says is of the last one. False with a `limit` report. */
bool replay_steps_run(struct replay_steps *steps, struct err *err);

/* What the changes so far would hold over time. False with a `limit` report. */
bool replay_steps_curve(const struct replay_steps *steps, struct replay_curve *curve, struct err *err);

/* Without any change, and with all of them. */
struct memory_profile_replay_change replay_steps_before(const struct replay_steps *steps);
struct memory_profile_replay_change replay_steps_after(const struct replay_steps *steps);
/* What is reserved, and beside it what the recorded job needed and the replay of the unchanged one does not: so what
 * the rules leave out is no saving of a change. */
int64_t replay_steps_reserved_bytes(const struct replay_steps *steps,
                                    const struct memory_profile_replay_change *change);
/* Says whether the job fits. It is over if it needs more than the device has or a request fails, unless the figure is
 * an upper bound. It fits if it needs less, was recorded to its end and is replayed as recorded, unless the figure is a
 * lower bound. `fit`: of what is reserved. */
enum replay_fits replay_steps_fits(const struct replay_steps *steps, const struct memory_profile_replay_change *change,
                                   uint8_t bounds, struct memory_fit *fit);
/* Events and blocks that one replay walks over. */
uint64_t replay_steps_walk(const struct memory_profile_replay *replay);
/* Does it get past all that was recorded, within the capacity? What comes behind the recording is not asked. */
bool replay_steps_is_enough(const struct replay_steps *steps, const struct memory_profile_replay_change *change);
