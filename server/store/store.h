/* SPDX-License-Identifier: Apache-2.0
 * store.h: what the core made of files, kept while it is looked at.
 *
 * Everything is kept under the identity that the file has at the moment of the
 * question, so an answer is never older than its file. Each thing is made once
 * however many ask for it (cache.h), and memory follows what is looked at.
 * Errors: those of the core and of files.h; `changed` means: ask again.
 * There is one cache, with a shelf for each kind of thing, and one account: what is
 * read from files and what readers uploaded take their memory from it (account.h), and
 * a request without room there gets an error. What readers uploaded goes when it was not
 * looked at for six hours or later things need the room; it never reaches a disk. */
#pragma once

#include "analysis/analysis.h"
#include "server/files/files.h"
#include "server/store/account.h"
#include "server/store/body.h"
#include "server/store/cache.h"
#include "server/store/disk_cache.h"
#include "server/store/thread_pool.h"

#include <stdatomic.h>

struct store;

/* The shelves of the cache. */
enum {
    STORE_CONTENTS, /* what a file holds */
    STORE_TOTALS,   /* sums of each of its programs */
    STORE_UNPACKED, /* packed files, inflated: unpacked.h */
    STORE_ANSWERS,  /* bodies: subjects.h */
    STORE_DIGESTS,  /* all_modules.h: which programs of a trace are the same, and its pieces of reading */
    STORE_MODULES,  /* subjects.h, as the following */
    STORE_FIGURES,  /* by the hash of the program, so that equal ones of many hosts are one */
    STORE_RUNS,
    STORE_TRACES,
    STORE_PROFILES,
    STORE_TEXTS,
    STORE_UPLOADED_PROFILES,
    STORE_UPLOADED_TEXTS,
    STORE_UPLOADED_SETS, /* upload_set.h */
    STORE_KIND_COUNT,
};
/* "traces", as figures of the shelf name it. */
const char *store_kind_name(size_t kind);

/* `memory_bytes`: what all that takes from the account may take together. */
struct store *store_new(uint64_t memory_bytes);
struct cache *store_cache(const struct store *store);
struct account *store_account(const struct store *store);
/* Threads that read a large trace side by side. */
const struct workers *store_workers(const struct store *store);
/* More of them, for many files: they mostly wait for a disk. */
const struct workers *store_readers(const struct store *store);
/* Before the first question, if at all: see cache.h. */
void store_on_wait(struct store *store, const struct cache_waiting *waiting);
const struct cache_waiting *store_waiting(const struct store *store);
/* Lines that every question about a module has as well, good ones (analysis_category_rules_check); they must outlive
 * the store. Before the first question, if at all. */
void store_set_category_rules(struct store *store, const char *lines);
const char *store_category_rules(const struct store *store);
/* Pieces of paths of libraries and of the user's own code, one a line, for every module; as of the rules. */
void store_set_libraries(struct store *store, const char *lines);
const char *store_libraries(const struct store *store);
/* Where answers about files on disk, and what these hold, are kept for the next start; it must outlive the store. NULL:
 * nowhere. Before the first question, if at all. */
void store_set_disk_cache(struct store *store, struct disk_cache *disk_cache);
/* NULL for what does not lie on disk: what readers sent never gets there. */
struct disk_cache *store_disk_cache(const struct store *store, const struct files_place *place);
/* Releases all unused values that can be read again; false when there are none. */
bool store_drop_all(struct store *store);
/* Releases unused values that were read from files and that this thread was the last to ask for: what others are about
 * to ask for again stays. */
void store_drop_own(struct store *store);
/* To be called now and then: releases what was not looked at for long. */
void store_expire(struct store *store);
/* The daemon ends: texts that are read, or would be, fail with `io`. */
void store_stop(struct store *store);
const atomic_bool *store_is_stopping(const struct store *store);
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
/* Reads side by side what files hold, so that store_open knows it; what cannot be read it will say. */
void store_read_contents(struct store *store, const struct files_place *const *places, size_t count);
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
/* NULL on error; release with cache_release. */
const struct store_totals *store_totals(struct store *store, const struct store_file *file, struct cache_hold *hold,
                                        struct err *err);

/* Opens the file again, if it still is the one whose contents are known; else NULL: `io`, `changed`. */
struct file *store_reopen(const struct store_file *file, struct err *err);
/* Does the trace at `place` name memory events? Reads its headers alone. */
bool store_has_events(struct store *store, const struct files_place *place);
