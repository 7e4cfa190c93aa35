/* SPDX-License-Identifier: Apache-2.0
 * torch_replay.h: what a change of settings or of the program would make of a recording, for advice: the figures of
 * `memviewd whatif`. For analysis/verdict alone.
 *
 * Cost:   all replays of one verdict together walk over at most TORCH_REPLAY_EVENTS events, so that a verdict of a
 * large recording takes no longer than reading it: those asked for first are made. */
#pragma once

#include "model/memory_profile/replay_steps.h"
#include "verdict/facts.h"

#define TORCH_REPLAY_EVENTS (UINT64_C(1) << 20)
/* Steps of them together; about 15 an event are usual. */
#define TORCH_REPLAY_WORK (UINT64_C(1) << 27)

enum torch_replay_word {
    TORCH_REPLAY_NOT_KNOWN, /* it cannot be replayed, or the change cannot be computed here */
    TORCH_REPLAY_COSTLY,    /* it would take too long; memviewd whatif computes it */
    TORCH_REPLAY_IDLE,      /* it is so already, saves nothing, or the job gets less far with it */
    TORCH_REPLAY_MADE,      /* the figures are set */
};

struct torch_replay_figures {
    /* Reserved, with the request at which the job would end, if it would. */
    int64_t saves_bytes, lands_at_bytes;
    int64_t allocated_bytes; /* peak of the blocks */
    enum verdict_fits fits;
    enum verdict_confidence confidence;
    const char *reason; /* of the confidence, and what is reserved before and after; in the arena of the facts */
};

struct torch_replay {
    const struct verdict_facts *facts;
    struct replay_steps steps;  /* with the program as it is */
    struct arena *tried;        /* of the change that is tried */
    uint64_t events_left, work; /* work: steps so far */
    bool is_begun, is_ready, is_costly;
};

void torch_replay_begin(struct torch_replay *replay, const struct verdict_facts *facts);
enum torch_replay_word torch_replay_try(struct torch_replay *replay, const char *change,
                                        struct torch_replay_figures *out);
