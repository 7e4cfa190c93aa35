/* SPDX-License-Identifier: Apache-2.0
 * regressions.h: looks for steps in the series of a catalog that are settled (catalog_regressions.h), and has a
 * receiver told of those that go up, last, and were not known: by notices that stand in the catalog, for whichever
 * process sends them.
 *
 * A job is looked at as a whole; one with more than FLEET_TABLES_MAX points by its modules and kinds, each for itself.
 *
 * What fails leaves the series to whoever looks next. Of one process or of many at the same time each regression has
 * one notice. */
#pragma once

#include "server/gather/snapshot.h"
#include "server/store/store.h"

struct regressions_wanted {
    const char *catalog_url;
    struct store *store;
    const struct snapshot *snapshot; /* in which the programs on both sides of a step are looked for */
    bool is_told;                    /* false: no notice is sent, now or later */
};

struct regressions_counts {
    size_t series, found; /* that were looked at; regressions in them that were not known */
    size_t cut;           /* modules of a job with more points than FLEET_TABLES_MAX: only the newest were examined */
};

/* Call before anything is written: records what was in the catalog before it kept runs, and sends no notice about it.
 * If several processes call it, one does the work and the others wait. */
bool regressions_know_those_before(const struct regressions_wanted *wanted, struct err *err);
/* After it was written. False: see err. */
bool regressions_look(const struct regressions_wanted *wanted, struct regressions_counts *counts, struct err *err);
