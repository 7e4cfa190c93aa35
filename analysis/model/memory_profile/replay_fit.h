/* SPDX-License-Identifier: Apache-2.0
 * replay_fit.h: the cheapest sets of changes with which a recorded job would fit its device.
 *
 * In:     changes that are made already, which may be none (replay_steps.h); what the device has.
 * Out:    as of a program of XLA (whatif/fit.h), but for what is computed again, which a snapshot does not tell. Of a
 *         job that failed a set is enough that gets it past all that was recorded; what comes behind is not known, and
 *         its confidence says so.
 * Order:  settings first, which cost nothing; then what leaves the numbers as they are; then what does not. Within
 *         these what asks less of a person.
 * Cost:   a replay for each trial: as many as REPLAY_FIT_EVENTS allows, from REPLAY_FIT_LEAST to REPLAY_FIT_MOST,
 *         and none after REPLAY_FIT_WORK steps, or where the answer has little work left. */
#pragma once

#include "model/memory_profile/replay_steps.h"
#include "whatif/fit.h"

#define REPLAY_FIT_EVENTS (UINT64_C(1) << 24)
/* Steps of all trials together; about 15 an event are usual. */
#define REPLAY_FIT_WORK (UINT64_C(1) << 30)
enum { REPLAY_FIT_LEAST = 8, REPLAY_FIT_MOST = 240 };

/* `start` has a capacity, and was replayed as far as it has steps. Texts are in its arena. */
void replay_fit_find(const struct replay_steps *start, struct fit *out);
/* What the device would need to have for a job to get past the request at which it ends, if it does. */
int64_t replay_fit_needed_bytes(const struct replay_steps *steps, const struct memory_profile_replay_change *change);
/* Why nothing is enough, or what is: one sentence. */
const char *replay_fit_sentence(const struct replay_steps *start, const struct fit *fit);
/* Change `at` of those that a search tries, as it is written; NULL: there are no more. */
const char *replay_fit_candidate(uint32_t at);
