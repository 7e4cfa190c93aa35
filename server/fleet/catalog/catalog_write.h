/* SPDX-License-Identifier: Apache-2.0
 * catalog_write.h: rows of files (rows.h) into PostgreSQL: those of files that are new or changed in the place of what
 * was there of them, and which files are not there any more.
 *
 * Files are written in batches, each in one transaction with its files, their rows and the points that are made of
 * these: killed at any moment, a run leaves whole batches, and the next one goes on where it ended. What a file is told
 * by (rows_file.state) is in the database alone, so there is no other place that could disagree.
 * Several of them may write at the same time, also the same files: each waits for what the other does to one of them.
 * Files whose rows are known are recognised by what the database had at the beginning: so a run that could not read a
 * file may put that in the place of what another one has read meanwhile, until the next run. Several threads may call
 * catalog_write_is_wanted at a time, also while one calls catalog_write_take; all else is for one thread. */
#pragma once

#include "server/fleet/catalog/rows.h"

struct catalog_writer;

/* Connects, brings the schema up to date. NULL and `err` as of catalog.h. */
struct catalog_writer *catalog_write_open(const char *url, struct err *err);
void catalog_write_close(struct catalog_writer *writer);
/* See catalog_name. */
const char *catalog_write_name(const struct catalog_writer *writer);

/* Before anything is looked for below `logdirs`: what was found out by reading and is in no row, of which rows and
 * facts by a memviewd older than `older_than` ("1.2.0", borrowed; NULL: none) are not known. NULL with `err`. */
const struct facts *catalog_write_facts(struct catalog_writer *writer, const char *const *logdirs, size_t count,
                                        const char *older_than, struct err *err);
/* Call before any file: notes that this part of the work on these folders begins, and loads what the database has. */
bool catalog_write_begin(struct catalog_writer *writer, const char *const *logdirs, size_t count, uint64_t shard,
                         uint64_t shard_count, struct err *err);
/* The callbacks of struct rows_wanted; `context` is the writer. After a fault they refuse all further files, and
 * catalog_write_end reports the fault. Rows have the form CSV_COPY. */
bool catalog_write_is_wanted(void *context, const struct rows_file *file);
bool catalog_write_had_rows(void *context, const char *id);
bool catalog_write_take(void *context, const struct rows_file *file);

struct catalog_write_counts {
    size_t files, rows; /* written */
    size_t errors;      /* how many of these rows have no verdict */
    size_t gone;        /* not met in a whole scan */
    size_t unread;      /* rows_file.is_unread, lacks_file: the next run reads them again */
    size_t standing;    /* how many unread files keep their former rows, instead of rows that say so */
};
/* Writes what is left; with `is_whole`, of a scan that saw all there is, notes which known files were not met, and that
 * this part has finished. */
bool catalog_write_end(struct catalog_writer *writer, bool is_whole, struct catalog_write_counts *counts,
                       struct err *err);
