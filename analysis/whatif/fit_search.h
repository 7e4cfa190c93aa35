/* SPDX-License-Identifier: Apache-2.0
 * fit_search.h: the search of fit.h, whatever the changes are made to: a program of XLA, or a recording that is
 * replayed.
 *
 * In:     candidates by their numbers, and how a set of them is tried.
 * Out:    as fit.h says. Of sets of the same kinds the cheapest represents all: half the batch, not a quarter too.
 * Order:  by tier, then what is computed again, then what is asked of a person, then how many changes and bytes.
 * Cost:   each candidate alone, then two and three of those whose savings together may be enough, until is_spent. */
#pragma once

#include "whatif/fit.h"

#include <stdbool.h>
#include <stdint.h>

enum { FIT_CANDIDATES_MAX = 32 };

struct fit_search {
    uint32_t candidate_count;         /* at most FIT_CANDIDATES_MAX; the cheapest first */
    int64_t needed_bytes, room_bytes; /* without any change: more than the room */
    uint32_t repeated_kinds;          /* bits as in fit_set: kinds that a set may have several times */
    void *context;
    /* Tries `count` candidates together and counts the trial in `out`. False: one of them does not apply. */
    bool (*set_try)(void *context, const uint32_t *chosen, uint32_t count, struct fit_set *set, bool *is_enough);
    /* May nothing more be tried? */
    bool (*is_spent)(const void *context);
    struct fit *out;
};

/* Fills sets, nearest and is_cut of `out`, which begins as 0. */
void fit_search_run(const struct fit_search *search);
