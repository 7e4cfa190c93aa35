/* SPDX-License-Identifier: Apache-2.0
 * modules.h: the HLO modules of a session, over all its hosts or files.
 *
 * In a trace a module is a program; one that several hosts hold is listed once,
 * under the first of them. In a dump it is a group of files, whose best one is
 * read. A file that cannot be read does not hide the others. */
#pragma once

#include "base/map.h"
#include "server/gather/snapshot.h"
#include "server/store/store.h"

/* One file of the session, read. */
struct modules_file {
    const struct snapshot_host *host;   /* NULL unless a trace */
    const struct snapshot_group *group; /* NULL in a trace */
    const struct snapshot_file *file;
    struct store_file opened; /* contents NULL: see err */
    struct err err;
    const struct store_totals *totals; /* NULL before modules_read_totals, and when that failed: totals_err */
    struct err totals_err;
    struct cache_hold totals_hold;
};

struct modules_entry {
    char id[SNAPSHOT_PART_ID_SIZE];
    const char *key; /* what tells it from others of its file: in a trace its key, else its stem; of the file */
    const struct modules_file *file;
    const struct analysis_program *program; /* NULL: the file cannot be read */
    size_t program_at;
    uint64_t largest_total_bytes;                   /* of its memory spaces; 0 before modules_read_totals */
    uint64_t temporary_bytes, largest_output_bytes; /* of that space */
};

struct modules {
    size_t file_count, entry_count, entry_capacity;
    struct modules_file *files;
    struct modules_entry *entries;
    struct map listed; /* of modules.c: entries by id, once a second host comes */
};

/* Reads what the files of a session hold; of one host when `host` is not NULL.
 * Close with modules_close. */
void modules_open(struct store *store, const struct snapshot_session *session, const struct snapshot_host *host,
                  struct modules *modules);
/* Adds the sums; slow the first time. */
void modules_read_totals(struct store *store, struct modules *modules);
void modules_close(struct modules *modules);

/* Does the text `wanted` match the entry's name, name(id) or id? NULL matches all. */
bool modules_is_named(const struct modules_entry *entry, const char *wanted);
/* The module with the largest total among those that `wanted` names. It is one that cannot be read only if there is no
 * other. NULL: no module has that name. After modules_read_totals. */
struct modules_entry *modules_largest(const struct modules *modules, const char *wanted);
/* Largest first, after modules_read_totals. */
void modules_sort(struct modules *modules);

/* How many, when that is known without reading anything; else -1. Counted once for each snapshot. */
int64_t modules_known_count(struct store *store, const struct snapshot_session *session);

/* The sums of an entry, or NULL and why in `err`. */
const struct analysis_totals *modules_totals(const struct modules_entry *entry, const struct err **err);

/* Opens only what is needed to find one module: by `id`, or the one with the
 * largest total when that is NULL. On success modules->entries[0] is it. On
 * failure `err` says why, of the file `*file` (or NULL), and nothing stays open. */
bool modules_find(struct store *store, const struct snapshot_session *session, const struct snapshot_host *host,
                  const char *id, struct modules *modules, struct err *err, const char **file);
