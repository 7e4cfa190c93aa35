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
    bool was_before; /* has points of before runs were kept: of what is found in it nobody is notified */
    bool is_open;    /* false; set by whoever learns that it changed since: catalog_regressions_looked leaves it */
    bool is_cut;     /* false; set where not all of its points were looked at: then nothing of it is taken for gone */
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
/* One that is there already stays as it is, without a further notice. `notice` NULL: nobody is notified. `is_settled`
 * false: its series changed since it was listed, so that its points may be those of half a commit, and nothing was
 * added. */
bool catalog_regressions_add(struct catalog_regressions *regressions, const struct catalog_regression *found,
                             const struct buf *notice, bool *is_settled, struct err *err);
/* `count` of the list's series, from `first` on and all of one job, but for those that are open, need not be looked at
 * again until their points change. Of their regressions those in `found`, "ID,ID", are there, the others are gone.
 * `is_told`: of one that goes, and whose notice was sent, there is a notice of the kind regression_gone, in the same
 * statement; once. */
bool catalog_regressions_looked(struct catalog_regressions *regressions, const struct catalog_series_list *list,
                                size_t first, size_t count, const struct buf *found, bool is_told, struct err *err);
