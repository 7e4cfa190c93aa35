/* SPDX-License-Identifier: Apache-2.0
 * catalog_regressions.h: which series of the catalog can be looked at for steps (memviewd.settled_series), and the
 * regressions that were found (memviewd.regressions), each once, with its notice (catalog_notices.h) in the same
 * statement.
 *
 * Killed at any moment, a process leaves a series to be looked at again, and a regression with its notice or neither.
 * One connection, made when it is opened; one that is lost is not made again. For one thread. Errors: as in
 * catalog.h. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "server/base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct catalog_regressions;

/* `url`: see catalog_open. NULL with `err`. */
struct catalog_regressions *catalog_regressions_open(const char *url, struct err *err);
void catalog_regressions_close(struct catalog_regressions *regressions); /* NULL is none */

/* Texts NULL: not known. */
struct catalog_series {
    const char *id, *job, *module, *kind, *memory_space, *configuration;
    bool was_before; /* it has points of runs from before runs were kept: its regressions send no notices */
    bool is_open;    /* false; the caller sets it if the series changed since: catalog_regressions_looked leaves it */
    bool is_cut;     /* false; set where some points were not examined: then none of its regressions counts as gone */
};
struct catalog_series_list {
    struct catalog_series *items; /* by job */
    size_t count, capacity;
    char settled_at[48]; /* the last of them, by the server's clock */
    struct memory_pool pool;
};
/* Those that are settled and have not been looked at; catalog_regressions_list_free, always. */
bool catalog_regressions_settled(struct catalog_regressions *regressions, struct catalog_series_list *out,
                                 struct err *err);
void catalog_regressions_list_free(struct catalog_series_list *list);
/* Waits until no other process has the lock; until it is closed. */
bool catalog_regressions_lock(struct catalog_regressions *regressions, struct err *err);

struct catalog_regression {
    const char *id;
    const char *series_id, *settled_at; /* of its series, and of the list that has it */
    const char *job, *module, *kind, *memory_space, *configuration, *commit, *commit_before; /* NULL: not known */
    int64_t before_bytes, after_bytes, noise_bytes, threshold_bytes;
};
bool catalog_regressions_has(struct catalog_regressions *regressions, const char *id, bool *has, struct err *err);
/* Adds the regression. One that exists stays as it is, without a further notice. `notice` NULL: no notice is sent.
 * `is_settled` false: nothing was added, because its series changed since it was listed and its points may be those of
 * half a commit. */
bool catalog_regressions_add(struct catalog_regressions *regressions, const struct catalog_regression *found,
                             const struct buf *notice, bool *is_settled, struct err *err);
/* Marks `count` series of the list, from `first` on and all of one job, as examined until their points change; open
 * ones stay. Regressions of these series that are in `found`, "ID,ID", exist, the others are gone. `is_told`: if the
 * notice of a regression that goes was sent, the same statement adds one notice of the kind regression_gone. */
bool catalog_regressions_looked(struct catalog_regressions *regressions, const struct catalog_series_list *list,
                                size_t first, size_t count, const struct buf *found, bool is_told, struct err *err);
