/* SPDX-License-Identifier: Apache-2.0
 * all_modules.h: the figures of every module of a session on each of its hosts, read side by side.
 *
 * Hosts of one job hold equal programs: each program's bytes are hashed (SHA-256), or held against those of a hashed
 * one of its name and size, and equal ones are decoded once, whichever host they came from. What was read stays in the
 * cache under that hash; a session is read in pieces, of which any request may do the next. A file or module that
 * cannot be read says why and does not hold up the others. */
#pragma once

#include "base/map.h"
#include "server/gather/snapshot.h"
#include "server/store/capacity.h"
#include "server/store/subjects.h"

struct all_modules_file {
    const struct snapshot_host *host;   /* NULL unless a trace */
    const struct snapshot_group *group; /* NULL in a trace */
    const struct snapshot_file *file;
    struct store_file opened; /* contents NULL: see err */
    struct err err;
    const struct all_modules_digests *digests; /* NULL: not known yet, or see err */
    struct cache_hold digests_hold;
    struct subject runs;
    bool has_runs, is_runs_known; /* has: the trace may tell of runs; known: they were read, or cannot be */
    size_t entry_first, entry_count;
    struct capacity capacity; /* of the device; 0 bytes: not known */
};

struct all_modules_entry {
    char id[SNAPSHOT_PART_ID_SIZE]; /* "": of a trace that cannot be read */
    size_t file_at;
    const struct analysis_program *program; /* NULL: the file cannot be read */
    size_t program_at, figures_at;          /* figures_at: SIZE_MAX while the hash is not known */
};

struct all_modules {
    struct store *store;
    const struct snapshot_session *session;
    char *category_rules; /* NULL: those of the store alone */
    size_t file_count, entry_count, entry_capacity, figures_count, figures_capacity;
    struct all_modules_file *files;
    struct all_modules_entry *entries;      /* file by file */
    struct all_modules_figures *figures;    /* of each distinct program */
    struct map figures_of, figures_of_name; /* by hash; by name and size, of which several may differ */
};

/* Lists the modules of all hosts, or of one; reads only what the files hold. `own_rules`: lines that come before those
 * of the store, good ones (analysis_own_rules_check); may be NULL. Close with all_modules_close. */
void all_modules_open(struct store *store, const struct snapshot_session *session, const struct snapshot_host *host,
                      const char *own_rules, struct all_modules *all);
/* A capacity that a person chose, for all of them. */
void all_modules_choose(struct all_modules *all, const struct capacity *chosen);
void all_modules_close(struct all_modules *all);

/* Reads on for about `budget_ms`, at least one piece; 0: takes only what is known; -1: to the end. On a worker. */
void all_modules_read(struct all_modules *all, int64_t budget_ms);
/* Is everything read, or known to be unreadable? */
bool all_modules_is_complete(const struct all_modules *all);

/* What a question to the core is made of; free() the array. Its texts and subjects live as long as `all`. */
struct analysis_module_use *all_modules_uses(const struct all_modules *all);
struct analysis_modules_read all_modules_progress(const struct all_modules *all);
/* Tells the answers about what was read from all others; free(). */
char *all_modules_key(const struct all_modules *all);
