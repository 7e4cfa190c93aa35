/* SPDX-License-Identifier: Apache-2.0
 * fit.h: the cheapest sets of changes that make a program fit.
 *
 * In:     a program as it is, what the device has.
 * Out:    at most FIT_SETS_MAX sets, none of which would still suffice with a change taken out: those that compute
 * least again first, then those that change the user's program least. Cost:   each change alone, then sets of two and
 * three by what their parts save, at most FIT_TRIALS_MAX trials. Source: the models of change.h; docs/use/what-if.md
 * says in which order changes are taken. */
#pragma once

#include "whatif/change.h"

enum { FIT_SETS_MAX = 5, FIT_CHANGES_MAX = 3, FIT_TRIALS_MAX = 48 };

struct fit_set {
    const char *changes[FIT_CHANGES_MAX]; /* as they are written */
    uint32_t count;
    int64_t total_bytes, peak_bytes;
    double extra_flops_percent;
    enum change_confidence confidence; /* the least sure of its parts */
    const char *calls[FIT_CHANGES_MAX];
    uint32_t tier, effort; /* of the person, for the order: by tier first; tier is 0 of a program of XLA */
    uint32_t kinds;        /* bits 1 << enum change_kind; of a replay, of its own sorts */
};

struct fit {
    struct fit_set sets[FIT_SETS_MAX];
    uint32_t set_count, trial_count;
    bool is_cut; /* not all sets were tried */
    bool has_fit_already;
    struct fit_set nearest; /* where none suffices: what comes nearest; count 0 where no change applies */
};

/* `room_bytes`: what fits without doubt (memory_fit_room). */
void fit_find(const struct variant *start, int64_t room_bytes, struct fit *out);
/* The changes that are tried, one of each sort: the text of number `at`; NULL after the last. */
const char *fit_usual(uint32_t at);
