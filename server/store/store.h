/* SPDX-License-Identifier: Apache-2.0
 * store.h: what the core made of files, kept while it is looked at.
 *
 * Everything is kept under the identity that the file has at the moment of the
 * question, so an answer is never older than its file. Each thing is made once
 * however many ask for it (cache.h), and memory follows what is looked at.
 * Errors: those of the core and of files.h; `changed` means: ask again.
 * Programs that are read or kept take their memory from one account
 * (account.h); whoever finds no room there is told so. */
#ifndef SERVER_STORE_STORE_H
#define SERVER_STORE_STORE_H

#include "analysis/analysis.h"
#include "server/store/account.h"
#include "server/store/body.h"
#include "server/store/cache.h"
#include "server/disk/files.h"

struct store;

/* `memory_bytes`: what all programs together may take. */
struct store *store_new(uint64_t memory_bytes);
/* Of the programs; other large things take their memory from it too. */
struct account *store_account(const struct store *store);
/* Before the first question, if at all: see cache.h. */
void store_on_wait(struct store *store, const struct cache_waiting *waiting);
/* Nothing may be held. */
void store_free(struct store *store);

/* What a file holds. */
struct store_file {
    const struct analysis_contents *contents; /* NULL while not open */
    struct files_place place;
    struct files_identity identity;
    struct cache_hold hold;
};

/* Reads what the file at `place` holds (its strings must live as long as `file`). */
bool store_open(struct store *store, const struct files_place *place, struct store_file *file, struct err *err);
void store_close(struct store_file *file); /* fine with {0} and twice */
/* The same, but only when it is known already: nothing is read. */
bool store_open_known(struct store *store, const struct files_place *place, const struct files_identity *identity,
                      struct store_file *file);

/* Sums of each program of a file, in the order of its contents. */
struct store_totals {
    size_t count;
    struct {
        struct analysis_totals *totals; /* NULL: see err */
        struct err err;
    } programs[];
};
/* NULL on error; let go with cache_release. */
const struct store_totals *store_totals(struct store *store, const struct store_file *file, struct cache_hold *hold,
                                        struct err *err);

/* A program's answer to a view, with a reference of its own, or NULL.
 * `is_passing` (may be NULL) is then whether it was only others that took the
 * memory; `limit` without it means that it is too large for this machine. */
struct store_question {
    const struct analysis_program *program; /* of the file's contents */
    const char *tool, *view;
    const struct analysis_param *params; /* in any order */
    size_t param_count;
};
struct body *store_answer(struct store *store, const struct store_file *file, const struct store_question *question,
                          struct err *err, bool *is_passing);

#endif
