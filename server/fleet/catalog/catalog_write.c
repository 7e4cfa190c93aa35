/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/catalog_write.h"

#include "base/map.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/version.h"
#include "server/fleet/catalog/catalog_connection.h"
#include "server/fleet/catalog/catalog_facts.h"
#include "server/fleet/catalog/catalog_runs.h"
#include "server/fleet/catalog/catalog_schema.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One transaction takes up to this many files, bytes of rows, or milliseconds. */
enum { BATCH_FILES = 10000, BATCH_BYTES = 32 << 20, BATCH_MS = 1000, MARKED_AT_ONCE = 10000 };

/* A file that the database has, or that was met. */
struct catalog_write_known {
    char id[33], state[33];
    bool is_met, is_gone; /* in this run; in the database */
    bool is_old;          /* by rules that are to be renewed */
    bool is_of_other;     /* was found below another root, which has this one in it or is in it */
};

struct catalog_writer {
    struct catalog_connection *connection;
    struct catalog_facts *facts;
    const char *older_than; /* rows by an older memviewd are made anew; NULL: none are */
    char *name;
    char *began_at; /* by the server's clock: before anything was looked for */
    char run_id[CATALOG_RUNS_ID_SIZE];
    pthread_mutex_t lock; /* for what is known: several threads ask whether a file is new */
    struct catalog_write_known *known;
    size_t known_count, known_capacity;
    struct map by_id; /* places in `known` */
    uint64_t shard, shard_count;
    struct buf heads;                 /* names of the columns, apart by commas */
    struct buf files, rows, file_ids; /* of the batch: lines of COPY, and "{ID,ID" */
    struct buf back_ids; /* "{ID,ID" of files that were gone and are back, whose rows are kept; empty: none */
    size_t batch_count;
    int64_t batch_began_ms;
    struct catalog_write_counts counts;
    struct err err;        /* the first fault: nothing is written after it */
    atomic_bool is_faulty; /* the same, for other threads */
};

/* ---- what is known ---- */

struct same {
    const struct catalog_writer *writer;
    const char *id;
};

static bool is_same(const void *context, uint64_t value)
{
    const struct same *same = context;
    return strcmp(same->writer->known[value].id, same->id) == 0;
}

static struct catalog_write_known *known_find(const struct catalog_writer *writer, const char *id)
{
    const struct same same = {writer, id};
    uint64_t at = map_find(&writer->by_id, hash_text(id, 0), is_same, &same);
    return at == MAP_FREE ? NULL : &writer->known[at];
}

static struct catalog_write_known *known_add(struct catalog_writer *writer, const char *id, const char *state)
{
    writer->known =
        memory_grow(writer->known, &writer->known_capacity, writer->known_count + 1, sizeof(*writer->known));
    struct catalog_write_known *known = &writer->known[writer->known_count];
    *known = (struct catalog_write_known){.is_met = false};
    memcpy(known->id, id, strnlen(id, sizeof(known->id) - 1));
    memcpy(known->state, state, strnlen(state, sizeof(known->state) - 1));
    map_add(&writer->by_id, hash_text(known->id, 0), writer->known_count++);
    return known;
}

/* A row of file_id, file, state, is_gone, is_old, is_of_other. */
static bool known_take(void *context, const struct catalog_row *row, struct err *err)
{
    struct catalog_writer *writer = context;
    (void)err;
    if (!row->cells || !row->cells[0] || !row->cells[1] || !row->cells[2] || !row->cells[3] || !row->cells[4] ||
        !row->cells[5])
        return true;
    bool is_of_other = row->cells[5][0] == 't';
    if (known_find(writer, row->cells[0]) ||
        (!is_of_other && rows_shard(row->cells[1], writer->shard_count) != writer->shard))
        return true;
    struct catalog_write_known *known = known_add(writer, row->cells[0], row->cells[2]);
    known->is_gone = row->cells[3][0] == 't';
    known->is_old = row->cells[4][0] == 't';
    known->is_of_other = is_of_other;
    return true;
}

const struct facts *catalog_write_facts(struct catalog_writer *writer, const char *const *logdirs, size_t count,
                                        const char *older_than, struct err *err)
{
    writer->older_than = older_than;
    catalog_facts_set_alone(writer->facts, true);
    return catalog_facts_load(writer->facts, logdirs, count, older_than, err) ? catalog_facts_of(writer->facts) : NULL;
}

bool catalog_write_begin(struct catalog_writer *writer, const char *const *logdirs, size_t count, uint64_t shard,
                         uint64_t shard_count, struct err *err)
{
    static const char known[] =
        "SELECT file_id, file, state, gone_at IS NOT NULL, $2::text IS NOT NULL AND (rules_version IS NULL OR "
        "string_to_array(rules_version, '.')::integer[] < string_to_array($2, '.')::integer[]), logdir <> $1 "
        "FROM memviewd.files WHERE " CATALOG_CONNECTION_NEAR("logdir", "$1");
    const struct catalog_run run = {logdirs, count, shard, shard_count, writer->began_at};
    writer->shard = shard;
    writer->shard_count = shard_count;
    bool is_good = catalog_runs_begin(writer->connection, &run, writer->run_id, err);
    catalog_facts_set_alone(writer->facts, false);
    is_good = is_good && catalog_facts_flush(writer->facts, err);
    for (size_t at = 0; at < count && is_good; at++) {
        const char *const parameters[] = {logdirs[at], writer->older_than};
        is_good = catalog_connection_query(writer->connection, known, parameters, 2, known_take, writer, err);
    }
    return is_good;
}

/* ---- one batch ---- */

static bool catalog_write_run(struct catalog_writer *writer, const char *sql, const char *parameter)
{
    return catalog_connection_query(writer->connection, sql, &parameter, parameter ? 1 : 0, NULL, NULL, &writer->err);
}

static bool catalog_write_copy(struct catalog_writer *writer, const char *sql, const struct buf *lines)
{
    return catalog_connection_copy(writer->connection, sql, lines->data, lines->length, &writer->err);
}

static bool copy_rows(struct catalog_writer *writer)
{
    struct buf sql = BUF_INIT;
    buf_format(&sql, "COPY memviewd.rows (%.*s) FROM STDIN", (int)writer->heads.length, writer->heads.data);
    buf_char(&sql, '\0');
    bool is_good = !sql.failed ? catalog_write_copy(writer, sql.data, &writer->rows) : err_exhausted(&writer->err);
    buf_free(&sql);
    return is_good;
}

/* In the order of their ids, so that of two that write the same files one waits for the other, and not each. What
 * points had these rows is asked before they go, and what points they have now, after. Those that lost rows are made
 * anew; the others grow by the new rows alone. */
static bool batch_write(struct catalog_writer *writer)
{
    static const char files[] =
        "COPY pg_temp.incoming (file_id, logdir, file, file_bytes, modified_at, content_sha256, state, "
        "row_count, rules_version) FROM STDIN";
    static const char upsert[] =
        "INSERT INTO memviewd.files SELECT * FROM pg_temp.incoming ORDER BY file_id ON CONFLICT (file_id) DO UPDATE "
        "SET (logdir, file, file_bytes, modified_at, content_sha256, state, row_count, indexed_at, gone_at, "
        "rules_version) = (EXCLUDED.logdir, EXCLUDED.file, EXCLUDED.file_bytes, EXCLUDED.modified_at, "
        "EXCLUDED.content_sha256, EXCLUDED.state, EXCLUDED.row_count, "
        "EXCLUDED.indexed_at, NULL, EXCLUDED.rules_version)";
    static const char replaced[] =
        "WITH replaced AS (DELETE FROM memviewd.rows WHERE file_id = ANY ($1::text[]) RETURNING point_id, "
        "job, module, kind, memory_space, configuration, logdir) INSERT INTO pg_temp.touched SELECT DISTINCT point_id, "
        "job, module, kind, memory_space, configuration, logdir, true FROM replaced";
    static const char touched[] =
        "INSERT INTO pg_temp.touched SELECT DISTINCT point_id, job, module, kind, memory_space, configuration, "
        "logdir, false FROM memviewd.rows WHERE file_id = ANY ($1::text[])";
    static const char refresh[] = "SELECT memviewd.points_refresh(array_agg(DISTINCT point_id)) FROM pg_temp.touched "
                                  "WHERE has_lost HAVING count(*) > 0";
    static const char grow[] =
        "SELECT memviewd.points_add($1::text[], array_agg(point_id)) FROM (SELECT point_id FROM pg_temp.touched "
        "GROUP BY point_id HAVING NOT bool_or(has_lost)) AS grown HAVING count(*) > 0";
    const char *ids = writer->file_ids.data;
    return catalog_write_run(writer, "BEGIN ISOLATION LEVEL READ COMMITTED", NULL) &&
           catalog_write_copy(writer, files, &writer->files) && catalog_write_run(writer, upsert, NULL) &&
           catalog_write_run(writer, replaced, ids) && copy_rows(writer) && catalog_write_run(writer, touched, ids) &&
           catalog_write_run(writer, refresh, NULL) && catalog_write_run(writer, grow, ids) &&
           catalog_runs_changed(writer->connection, writer->run_id, &writer->err) &&
           catalog_write_run(writer, "COMMIT", NULL);
}

static void batch_flush(struct catalog_writer *writer)
{
    if (writer->batch_count == 0 || err_is_set(&writer->err))
        return;
    buf_text(&writer->file_ids, "}");
    buf_char(&writer->file_ids, '\0');
    if (writer->files.failed || writer->rows.failed || writer->file_ids.failed)
        err_exhausted(&writer->err);
    else if (batch_write(writer))
        writer->counts.files += writer->batch_count;
    atomic_store(&writer->is_faulty, err_is_set(&writer->err));
    writer->files.length = writer->rows.length = writer->file_ids.length = writer->batch_count = 0;
}

/* ---- one file ---- */

bool catalog_write_is_wanted(void *context, const struct rows_file *file)
{
    struct catalog_writer *writer = context;
    if (atomic_load(&writer->is_faulty))
        return false;
    pthread_mutex_lock(&writer->lock);
    struct catalog_write_known *known = known_find(writer, file->id);
    bool is_known = known && !known->is_gone && !known->is_old && strcmp(known->state, file->state) == 0;
    if (is_known)
        known->is_met = true;
    pthread_mutex_unlock(&writer->lock);
    return !is_known;
}

bool catalog_write_had_rows(void *context, const char *id)
{
    const struct catalog_writer *writer = context;
    const struct catalog_write_known *known = known_find(writer, id);
    return known && !known->is_met;
}

static void file_line(struct catalog_writer *writer, const struct rows_file *file)
{
    struct csv csv = CSV_INIT(&writer->files);
    csv.is_copy = true;
    csv_text(&csv, str_of(file->id));
    csv_text(&csv, str_of(file->root));
    csv_text(&csv, str_of(file->path));
    if (file->file)
        csv_int(&csv, (int64_t)file->file->identity.size_bytes);
    else
        csv_none(&csv);
    const char *const texts[] = {file->modified_at, file->content_sha256};
    for (size_t at = 0; at < 2; at++) {
        if (texts[at][0])
            csv_text(&csv, str_of(texts[at]));
        else
            csv_none(&csv);
    }
    csv_text(&csv, str_of(rows_file_is_again(file) ? "" : file->state)); /* "": no file has it */
    csv_int(&csv, (int64_t)file->count);
    csv_text(&csv, str_of(version_number));
    csv_row_end(&csv);
}

/* False where it was met before. */
static bool known_meet(struct catalog_writer *writer, const struct rows_file *file)
{
    pthread_mutex_lock(&writer->lock);
    struct catalog_write_known *known = known_find(writer, file->id);
    if (!known)
        known = known_add(writer, file->id, file->state);
    bool is_first = !known->is_met;
    known->is_met = true;
    known->is_gone &= !is_first;
    pthread_mutex_unlock(&writer->lock);
    return is_first;
}

/* Does the database have rows that an earlier run read from a file that cannot be read now? Those are kept. */
static bool stands(struct catalog_writer *writer, const struct rows_file *file)
{
    bool has = false;
    pthread_mutex_lock(&writer->lock);
    const struct catalog_write_known *known = file->is_unread ? known_find(writer, file->id) : NULL;
    if (known && known->state[0] && !known->is_met) {
        has = true;
        if (known->is_gone)
            buf_format(&writer->back_ids, "%s%s", writer->back_ids.length == 0 ? "{" : ",", file->id);
    }
    pthread_mutex_unlock(&writer->lock);
    return has;
}

/* A file that was written in this run already is not written again: its rows would take the place of those. Nor do rows
 * that only say that it cannot be read now take the place of others. */
bool catalog_write_take(void *context, const struct rows_file *file)
{
    struct catalog_writer *writer = context;
    bool is_standing = stands(writer, file);
    if (!known_meet(writer, file))
        return !err_is_set(&writer->err);
    writer->counts.unread += file->is_unread || file->lacks_file;
    writer->counts.standing += is_standing;
    if (is_standing)
        return !err_is_set(&writer->err);
    if (writer->batch_count++ == 0)
        writer->batch_began_ms = clock_ms();
    file_line(writer, file);
    buf_add(&writer->rows, file->rows->data, file->rows->length);
    buf_format(&writer->file_ids, "%s%s", writer->batch_count == 1 ? "{" : ",", file->id);
    writer->counts.rows += file->count;
    writer->counts.errors += file->error_count;
    if (writer->batch_count == BATCH_FILES || writer->rows.length >= BATCH_BYTES ||
        clock_ms() - writer->batch_began_ms >= BATCH_MS)
        batch_flush(writer);
    return !err_is_set(&writer->err);
}

/* ---- the end ---- */

/* Collects known files from *at on that were not met and are not known to be gone: "{ID,ID}"; returns how many. */
static size_t gone_collect(const struct catalog_writer *writer, size_t *at, struct buf *ids)
{
    size_t count = 0;
    ids->length = 0;
    for (; *at < writer->known_count && count < MARKED_AT_ONCE; (*at)++) {
        const struct catalog_write_known *known = &writer->known[*at];
        if (!known->is_met && !known->is_gone && !known->is_of_other)
            buf_format(ids, "%s%s", count++ == 0 ? "{" : ",", known->id);
    }
    buf_text(ids, "}");
    buf_char(ids, '\0');
    return count;
}

/* The one number of an answer is added to the count. */
static bool gone_take(void *context, const struct catalog_row *row, struct err *err)
{
    struct catalog_writer *writer = context;
    (void)err;
    if (row->cells && row->count == 1 && row->cells[0])
        writer->counts.gone += strtoull(row->cells[0], NULL, 10);
    return true;
}

/* What another process wrote since this one began, it has seen: this one's scan may have been before that. Locked in
 * the order of batch_write, so that of two processes one waits for the other. */
static bool gone_write(struct catalog_writer *writer, const char *ids)
{
    static const char sql[] =
        "WITH locked AS MATERIALIZED (SELECT file_id FROM memviewd.files WHERE file_id = ANY ($1::text[]) AND gone_at "
        "IS NULL AND indexed_at < $2::timestamptz ORDER BY file_id FOR UPDATE), gone AS (UPDATE memviewd.files SET "
        "gone_at = now() FROM locked WHERE files.file_id = locked.file_id RETURNING 1) SELECT count(*) FROM gone";
    const char *const parameters[] = {ids, writer->began_at};
    return catalog_connection_query(writer->connection, sql, parameters, 2, gone_take, writer, &writer->err);
}

static void gone_mark(struct catalog_writer *writer)
{
    struct buf ids = BUF_INIT;
    size_t at = 0;
    while (!err_is_set(&writer->err) && gone_collect(writer, &at, &ids) > 0) {
        if (ids.failed)
            err_exhausted(&writer->err);
        else
            gone_write(writer, ids.data);
    }
    buf_free(&ids);
}

static void back_mark(struct catalog_writer *writer)
{
    static const char sql[] =
        "WITH locked AS MATERIALIZED (SELECT file_id FROM memviewd.files WHERE file_id = ANY ($1::text[]) ORDER BY "
        "file_id FOR UPDATE) UPDATE memviewd.files SET gone_at = NULL FROM locked WHERE files.file_id = locked.file_id";
    if (writer->back_ids.length == 0 || err_is_set(&writer->err))
        return;
    buf_text(&writer->back_ids, "}");
    buf_char(&writer->back_ids, '\0');
    if (writer->back_ids.failed)
        err_exhausted(&writer->err);
    else
        catalog_write_run(writer, sql, writer->back_ids.data);
}

bool catalog_write_end(struct catalog_writer *writer, bool is_whole, struct catalog_write_counts *counts,
                       struct err *err)
{
    batch_flush(writer);
    back_mark(writer);
    if (!err_is_set(&writer->err))
        catalog_facts_flush(writer->facts, &writer->err);
    if (is_whole)
        gone_mark(writer);
    if (is_whole && !err_is_set(&writer->err))
        catalog_facts_forget(writer->facts, writer->began_at, writer->shard_count == 1, &writer->err);
    if (is_whole && !err_is_set(&writer->err))
        catalog_runs_finish(writer->connection, writer->run_id, &writer->err);
    *counts = writer->counts;
    if (err_is_set(&writer->err))
        *err = writer->err;
    return !err_is_set(&writer->err);
}

/* ---- the whole ---- */

static bool time_take(void *context, const struct catalog_row *row, struct err *err)
{
    struct catalog_writer *writer = context;
    (void)err;
    if (row->cells && row->count == 1 && row->cells[0] && !writer->began_at)
        writer->began_at = memory_text(row->cells[0]);
    return true;
}

static bool catalog_write_prepare(struct catalog_writer *writer, struct err *err)
{
    static const char incoming[] =
        "CREATE TEMPORARY TABLE incoming (LIKE memviewd.files INCLUDING DEFAULTS) ON COMMIT DELETE ROWS; "
        "CREATE TEMPORARY TABLE touched (point_id text, job text, module text, kind text, memory_space text, "
        "configuration text, logdir text, has_lost boolean) ON COMMIT DELETE ROWS";
    return catalog_schema_migrate(writer->connection, err) &&
           catalog_connection_command(writer->connection, incoming, err) &&
           catalog_connection_query(writer->connection, "SELECT clock_timestamp()", NULL, 0, time_take, writer, err);
}

struct catalog_writer *catalog_write_open(const char *url, struct err *err)
{
    char *name = NULL;
    if (!catalog_connection_check(url, &name, err)) {
        free(name);
        return NULL;
    }
    struct catalog_writer *writer = memory_new(sizeof(*writer));
    *writer = (struct catalog_writer){.name = name,
                                      .shard_count = 1,
                                      .heads = BUF_INIT,
                                      .files = BUF_INIT,
                                      .rows = BUF_INIT,
                                      .file_ids = BUF_INIT,
                                      .back_ids = BUF_INIT,
                                      .err = ERR_INIT};
    pthread_mutex_init(&writer->lock, NULL);
    map_init_of(&writer->by_id, memory_new, 0);
    rows_heads(CSV_COMMAS, &writer->heads);
    writer->heads.length -= writer->heads.length > 1 ? 2 : 0; /* the end of the line */
    writer->connection = catalog_connection_open(url, false, err);
    writer->facts = catalog_facts_new(writer->connection);
    if (writer->connection && catalog_write_prepare(writer, err))
        return writer;
    catalog_write_close(writer);
    return NULL;
}

void catalog_write_close(struct catalog_writer *writer)
{
    if (!writer)
        return;
    catalog_facts_free(writer->facts);
    catalog_connection_close(writer->connection);
    pthread_mutex_destroy(&writer->lock);
    map_free(&writer->by_id);
    buf_free(&writer->heads);
    buf_free(&writer->files);
    buf_free(&writer->rows);
    buf_free(&writer->file_ids);
    buf_free(&writer->back_ids);
    free(writer->known);
    free(writer->began_at);
    free(writer->name);
    free(writer);
}

const char *catalog_write_name(const struct catalog_writer *writer) { return writer->name; }
