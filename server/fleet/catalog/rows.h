/* SPDX-License-Identifier: Apache-2.0
 * rows.h: what many jobs took, as rows of one table: of each module of each host or dump, of each allocator that was
 * traced, of each failure that a text tells of and of each series of device profiles the verdict, as `memviewd
 * explain` gives it of that session alone, behind the cells that say whose row it is. A file of which nothing can be
 * said has a row that says why.
 *
 * Columns are always there, in one order and of one type: ROWS_SCHEMA counts their changes (docs/operate/fleet.md).
 * Rows of one file depend on that file, on those of its session and on labels alone, so that files can be divided
 * among processes, and asked again at any time. */
#pragma once

#include "base/buf.h"
#include "base/csv.h"
#include "server/fleet/catalog/labels.h"
#include "server/gather/snapshot.h"
#include "server/store/sha256.h"
#include "server/store/store.h"

enum { ROWS_SCHEMA = 3, ROWS_ID_SIZE = 33, ROWS_STATE_SIZE = 33, ROWS_TIME_SIZE = 40 };

/* All of one file. */
struct rows_file {
    const struct snapshot_file *file; /* NULL: of a file that could not be listed; see path */
    const char *root, *path;
    char id[33]; /* of its address alone (rows_address): 32 hex digits */
    /* Digest of all that its rows depend on, without reading it: sizes and times of the files of its session, labels,
     * what was said to this program. */
    char state[ROWS_STATE_SIZE];
    char modified_at[ROWS_TIME_SIZE]; /* ISO 8601, or "": not known */
    const char *content_sha256;       /* "": not known */
    const struct buf *rows;           /* lines */
    size_t count, error_count;        /* error_count: of these, those that say why there is no verdict */
    size_t unread_count;              /* of those, where something could not be read; else there is nothing in it */
    /* What it says could not be read now (err_is_transient), and a row says so; something that lies beside it could
     * not, and its rows are without. Either is to be asked for again, whatever `state` is. */
    bool is_unread, lacks_file;
};

/* Is it to be read again although its state is the same? Why one could not even be listed, is in its state. */
static inline bool rows_file_is_again(const struct rows_file *file)
{
    return file->file && (file->is_unread || file->lacks_file);
}

struct rows_wanted {
    struct store *store;
    const struct snapshot *snapshot;
    struct labels *labels;
    uint64_t shard, shard_count; /* files of part `shard`, from 0, of `shard_count` */
    enum csv_form form;
    /* For files that are roots themselves: the folder or address that their rows name as logdir and where labels begin;
     * NULL: the file. Each file lies below it. */
    const char *base;
    /* By a command that looks at all once: sessions are read by several threads, and what was read is not kept.
     * `is_wanted` is then called by several threads at a time, also while `take` runs. Files are taken in the same
     * order. */
    bool is_once;
    /* False: the rows of this file are known, so it is skipped. NULL: all files are read. */
    bool (*is_wanted)(void *context, const struct rows_file *file);
    /* For a file that exists and has no rows now, as all but the last of a series of profiles: true if it had rows.
     * Then it is passed to is_wanted and `take`, without rows, after all other files. `id`: as in struct rows_file.
     * NULL: no file had any. */
    bool (*had_rows)(void *context, const char *id);
    /* NULL, or told of each text that tells of a failure before its rows are taken. False: to be stopped. */
    bool (*fails)(void *fails_context, const struct snapshot_session *session, const struct snapshot_text *text);
    void *fails_context;
    /* False: to be stopped. */
    bool (*take)(void *context, const struct rows_file *file);
    void *context;
};

struct rows_counts {
    /* Files with rows, and files that were skipped; rows, rows that say why there is nothing, and those of them that
     * are about unreadable files. */
    size_t files, known, rows, errors, unread;
};

/* The part of `count` that a file is of, from 0; those of one session of the profiler (plugins/profile/SESSION/) are
 * together. */
uint64_t rows_shard(const char *path, uint64_t count);
/* The address of a file, "/a/b" or "s3://b/k", independent of the root below which it was found; free(). Ids are made
 * from it, so a file has the same rows in every process and below every root. */
char *rows_address(const struct files_place *place, const char *path);
/* The id of a row of the file at that address: its kind, the part of the file ("": the whole file), and the number of
 * the failure (-1: none). */
void rows_row_id(char id[ROWS_ID_SIZE], const char *address, const char *kind, const char *part, int64_t failure);
/* The id of the row of a text's failure (which one, from 1). 32 hex digits. */
void rows_failure_id(char id[ROWS_ID_SIZE], const struct snapshot_file *file, int64_t failure);
/* An id that tells these texts (NULL: as "") from all others. 32 hex digits. */
void rows_id(char id[ROWS_ID_SIZE], const char *const *texts, size_t count);
/* ISO 8601 with microseconds, UTC: what PostgreSQL and DuckDB keep of a time. "" where it is not known. */
void rows_time(int64_t unix_ns, char text[ROWS_TIME_SIZE]);

/* Those of one session, by the caller's thread, without what rows_write asks of files that have no rows; `counts` is
 * added to. False when it was stopped. */
bool rows_session_write(const struct rows_wanted *wanted, const struct snapshot_session *session,
                        struct rows_counts *counts);
/* False when it was stopped. */
bool rows_write(const struct rows_wanted *wanted, struct rows_counts *counts);
/* The names of the columns: CSV_COMMAS, as the first line, or CSV_CELLS, with their types (rows_columns.h). */
void rows_heads(enum csv_form form, struct buf *out);
