/* SPDX-License-Identifier: Apache-2.0
 * fleet_files.h: rows (rows.h) of the files that a daemon watches itself, each made once and kept while nothing changes
 * that it depends on: what its fleet shows where it has no catalog.
 *
 * For folders of some hundred files, as a person has: of more than FLEET_FILES_MAX none are read. Threads: any
 * number. */
#pragma once

#include "server/fleet/catalog/fleet_record.h"
#include "server/store/store.h"

enum { FLEET_FILES_MAX = 2000 };

struct fleet_files;

/* `patterns`: of --label-path; `environment`: of MEMVIEWD_LABELS, or NULL; they must outlive it. NULL and a line of the
 * log when one is not understood. */
struct fleet_files *fleet_files_new(const char *const *patterns, size_t pattern_count, const char *environment);
void fleet_files_free(struct fleet_files *files);
const struct fleet_columns *fleet_files_columns(const struct fleet_files *files);

/* How far it has come. */
struct fleet_files_reading {
    uint64_t file_count, read_count;
};

/* Reads on for about `budget_ms`, at least one file; -1: to the end. Where another thread reads, one with a budget
 * reads nothing. On a worker. False: see err (limit: there are too many files; stopped). */
bool fleet_files_read(struct fleet_files *files, struct store *store, const struct snapshot *snapshot,
                      int64_t budget_ms, struct fleet_files_reading *reading, struct err *err);
/* Adds what was read of files that are there and matches. */
bool fleet_files_add(struct fleet_files *files, const struct snapshot *snapshot, const struct fleet_filter *filter,
                     struct analysis_fleet *fleet, struct err *err);
