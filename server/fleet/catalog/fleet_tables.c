/* SPDX-License-Identifier: Apache-2.0
 * fleet_tables.c: see fleet_tables.h. */
#include "server/fleet/catalog/fleet_tables.h"

#include "base/json.h"
#include "server/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS_MAX = 24, NUMBER_SIZE = 24 };
/* A point whose hosts differ has two rows. */
enum { POINTS_APART_MAX = FLEET_TABLES_MAX / 2 + 1 };

/* A statement that is put together of our own words; what others say are its parameters. */
struct statement {
    struct buf sql;
    const char *parameters[PARAMETERS_MAX];
    size_t count;
    char numbers[2][NUMBER_SIZE];
    struct buf label; /* the requested label, as JSON; or empty */
};

/* What a question is asked of. */
struct asked_of {
    bool rows;       /* of rows `r`; else of points `p` */
    bool points;     /* of points as well: rows of a job are found by its points */
    const char *own; /* "r" or "p": which of them has the columns that both have */
};

/* Only rows know hosts, users and labels. */
static struct asked_of asked_of(const struct fleet_tables_asked *asked)
{
    const struct fleet_filter *filter = asked->filter;
    bool rows = asked->is_of_hosts || asked->is_by_host || filter->host || filter->user || filter->label_key;
    bool points = !rows || asked->is_of_hosts || filter->job;
    return (struct asked_of){.rows = rows, .points = points, .own = points ? "p" : "r"};
}

static void equal_add(struct statement *statement, const char *table, const char *column, const char *value)
{
    if (!value)
        return;
    statement->parameters[statement->count++] = value;
    buf_format(&statement->sql, " AND %s.%s = $%zu", table, column, statement->count);
}

static void time_add(struct statement *statement, const char *words, int64_t at_ms, char number[NUMBER_SIZE])
{
    if (at_ms < 0)
        return;
    snprintf(number, NUMBER_SIZE, "%lld", (long long)at_ms);
    statement->parameters[statement->count++] = number;
    buf_format(&statement->sql, " AND %s to_timestamp($%zu::float8 / 1000)", words, statement->count);
}

/* The label "user" is a column, too (rows.c), with an index in the order of time; of any other all its rows are
 * sorted. */
static void label_add(struct statement *statement, const struct fleet_filter *filter)
{
    if (!filter->label_key)
        return;
    if (strcmp(filter->label_key, "user") == 0 && filter->label_value[0]) {
        equal_add(statement, "r", "user_name", filter->label_value);
        return;
    }
    /* A function of the database would make it anew for each row. */
    struct json json = JSON_INIT(&statement->label);
    json_object_begin(&json);
    json_key_name(&json, str_of(filter->label_key));
    json_text(&json, filter->label_value);
    json_object_end(&json);
    buf_char(&statement->label, '\0');
    buf_fail_with(&statement->sql, &statement->label);
    statement->parameters[statement->count++] = statement->label.data;
    buf_format(&statement->sql, " AND r.labels @> $%zu::jsonb", statement->count);
}

/* In the order in which they are asked for, see answer_cell. */
static void columns_write(struct statement *statement, const struct fleet_columns *columns, bool rows)
{
    const char *table = rows ? "r" : "p";
    buf_format(&statement->sql, "SELECT %1$s.job, %1$s.module, %1$s.kind, %1$s.memory_space, %1$s.configuration, ",
               table);
    buf_format(&statement->sql, "%s.commit, ", table);
    buf_format(&statement->sql, "%s AS host, %s.user_name, %s.device, %s.verdict, ", rows ? "r.host" : "NULL::text",
               table, table, table);
    buf_format(&statement->sql, "%s AS id, %s.logdir, %s.file, %s.session_id, %s.needed_bytes, ",
               rows ? "r.id" : "p.row_id", table, table, table, table);
    buf_format(&statement->sql, "%s AS peak_bytes, %s.capacity_bytes", rows ? "r.peak_bytes" : "p.peak_max_bytes",
               table);
    for (size_t at = 0; at < columns->count; at++)
        buf_format(&statement->sql, ", %s.%s", table, columns->heads[at]);
    buf_format(&statement->sql, ", %s.program_id", table);
    buf_format(&statement->sql, ", (extract(epoch FROM %s) * 1000)::bigint AS first_at_ms",
               rows ? "r.modified_at" : "p.first_at");
    buf_format(&statement->sql, ", (extract(epoch FROM %s) * 1000)::bigint AS last_at_ms",
               rows ? "r.modified_at" : "p.last_at");
    buf_text(&statement->sql, rows ? ", 1 AS row_count, 0 AS host_count, r.needed_bytes AS needed_min_bytes"
                                   : ", p.row_count, p.host_count, p.needed_min_bytes");
}

static void tables_write(struct statement *statement, const struct asked_of *of)
{
    if (of->rows && of->points)
        buf_text(&statement->sql, " FROM memviewd.points AS p JOIN memviewd.rows AS r ON r.point_id = p.point_id");
    else
        buf_text(&statement->sql, of->rows ? " FROM memviewd.rows AS r" : " FROM memviewd.points AS p");
}

/* ---- hosts that differ ---- */

/* Conditions of a filter that the points `p` of a job can decide with their own columns. */
static void point_conditions_write(struct statement *statement, const struct fleet_filter *filter)
{
    buf_text(&statement->sql, " FROM memviewd.points AS p WHERE p.job IS NOT NULL");
    equal_add(statement, "p", "job", filter->job);
    equal_add(statement, "p", "commit", filter->commit);
    equal_add(statement, "p", "module", filter->module);
    equal_add(statement, "p", "kind", filter->kind);
    time_add(statement, "p.last_at >=", filter->since_ms, statement->numbers[0]);
    time_add(statement, "p.first_at <", filter->until_ms, statement->numbers[1]);
}

/* The points whose hosts are more than 1 MiB apart, which no host is that does not differ, by an index of the
 * schema's. */
static const char IS_APART[] = "p.host_count > 1 AND (p.needed_bytes - p.needed_min_bytes > 1048576"
                               " OR (p.needed_bytes IS NULL AND p.peak_max_bytes - p.peak_min_bytes > 1048576))";

/* Hosts differ within a point; a host with a batch of its own makes several points. These are searched among the
 * newest: as many points are taken as have matching rows. */
static void apart_write(struct statement *statement, const struct fleet_filter *filter)
{
    struct buf *sql = &statement->sql;
    buf_text(sql, "WITH newest AS MATERIALIZED (SELECT p.point_id, p.last_at, p.row_count, p.job, p.commit, p.module,"
                  " p.kind, p.memory_space, p.configuration");
    point_conditions_write(statement, filter);
    buf_format(sql, " ORDER BY p.last_at DESC NULLS LAST, p.point_id LIMIT %d), ", FLEET_TABLES_MAX + 1);
    buf_text(sql, "apart AS ((SELECT p.point_id, p.last_at, p.row_count");
    point_conditions_write(statement, filter);
    buf_format(sql, " AND %s ORDER BY p.last_at DESC NULLS LAST, p.point_id LIMIT %d) UNION ", IS_APART,
               POINTS_APART_MAX);
    buf_text(sql, "SELECT each.* FROM (SELECT array_agg(point_id) AS ids, array_agg(last_at) AS times,"
                  " array_agg(row_count) AS counts FROM newest WHERE configuration LIKE '%, batch %'"
                  " GROUP BY job, commit, module, kind, memory_space, split_part(configuration, ', batch ', 1)"
                  " HAVING count(*) > 1) AS beside, unnest(ids, times, counts) AS each), ");
    buf_text(sql, "wanted AS (SELECT point_id, last_at, sum(row_count) OVER (ORDER BY last_at DESC NULLS LAST,"
                  " point_id) - row_count AS rows_before FROM apart) ");
}

static void row_conditions_write(struct statement *statement, const struct fleet_filter *filter)
{
    equal_add(statement, "r", "host", filter->host);
    equal_add(statement, "r", "user_name", filter->user);
    label_add(statement, filter);
}

static void hosts_write(struct statement *statement, const struct fleet_tables_asked *asked)
{
    const struct fleet_filter *filter = asked->filter;
    bool is_of_rows = filter->host || filter->user || filter->label_key; /* of a point's rows there may be few */
    apart_write(statement, filter);
    columns_write(statement, asked->columns, true);
    buf_text(&statement->sql, " FROM wanted AS w JOIN memviewd.rows AS r ON r.point_id = w.point_id"
                              " WHERE r.verdict IS NOT NULL");
    if (!is_of_rows)
        buf_format(&statement->sql, " AND w.rows_before <= %d", FLEET_TABLES_MAX);
    row_conditions_write(statement, filter);
    time_add(statement, "r.modified_at >=", filter->since_ms, statement->numbers[0]);
    time_add(statement, "r.modified_at <", filter->until_ms, statement->numbers[1]);
    buf_format(&statement->sql, " ORDER BY w.last_at DESC NULLS LAST, w.point_id, r.id LIMIT %d", FLEET_TABLES_MAX + 1);
}

/* ---- all others ---- */

static void conditions_write(struct statement *statement, const struct fleet_tables_asked *asked,
                             const struct asked_of *of, bool is_labelled)
{
    const struct fleet_filter *filter = asked->filter;
    buf_format(&statement->sql, " WHERE %s.job IS %s", of->own, is_labelled ? "NOT NULL" : "NULL");
    if (of->rows)
        buf_text(&statement->sql, " AND r.verdict IS NOT NULL");
    if (asked->is_of_hosts)
        buf_format(&statement->sql, " AND %s", IS_APART);
    equal_add(statement, of->own, "job", filter->job);
    equal_add(statement, of->own, "commit", filter->commit);
    equal_add(statement, of->own, "module", filter->module);
    equal_add(statement, of->own, "kind", filter->kind);
    row_conditions_write(statement, filter);
    time_add(statement, of->rows ? "r.modified_at >=" : "p.last_at >=", filter->since_ms, statement->numbers[0]);
    time_add(statement, of->rows ? "r.modified_at <" : "p.first_at <", filter->until_ms, statement->numbers[1]);
}

/* The newest first, by an index of the schema's. */
static void newest_write(struct statement *statement, const struct fleet_tables_asked *asked)
{
    const struct asked_of of = asked_of(asked);
    columns_write(statement, asked->columns, of.rows);
    tables_write(statement, &of);
    conditions_write(statement, asked, &of, true);
    buf_format(&statement->sql, " ORDER BY %s DESC NULLS LAST, %s LIMIT %d", of.rows ? "r.modified_at" : "p.last_at",
               of.rows ? "r.id" : "p.point_id", FLEET_TABLES_MAX + 1);
}

static void statement_write(struct statement *statement, const struct fleet_tables_asked *asked)
{
    (asked->is_of_hosts ? hosts_write : newest_write)(statement, asked);
    buf_char(&statement->sql, '\0');
}

/* How many rows would match if they named their job. */
static void unlabelled_write(struct statement *statement, const struct fleet_tables_asked *asked)
{
    const struct asked_of of = asked_of(asked);
    buf_text(&statement->sql, of.rows ? "SELECT count(*)" : "SELECT coalesce(sum(p.row_count), 0)");
    tables_write(statement, &of);
    conditions_write(statement, asked, &of, false);
    buf_char(&statement->sql, '\0');
}

/* ---- the answer ---- */

/* A row of the answer. */
struct line {
    const struct catalog_answer *answer;
    size_t row, next; /* next: where the column that is asked for next is likely to be */
};

static const char *answer_cell(void *context, const char *column)
{
    struct line *line = context;
    for (size_t tried = 0; tried < line->answer->column_count; tried++) {
        size_t at = (line->next + tried) % line->answer->column_count;
        if (strcmp(catalog_head(line->answer, at), column) != 0)
            continue;
        line->next = at + 1;
        return catalog_cell(line->answer, line->row, at);
    }
    return NULL;
}

static int64_t answer_number(struct line *line, const char *column)
{
    const char *text = answer_cell(line, column);
    return text ? strtoll(text, NULL, 10) : -1;
}

static bool row_add(const struct fleet_tables_asked *asked, const struct fleet_sessions *sessions, struct line *line,
                    int64_t *categories, struct analysis_fleet *fleet, struct err *err)
{
    struct fleet_record record = fleet_record_read(asked->columns, answer_cell, line, categories);
    const char *program_id = answer_cell(line, "program_id");
    record.first_at_ms = answer_number(line, "first_at_ms");
    record.last_at_ms = answer_number(line, "last_at_ms");
    record.row_count = answer_number(line, "row_count");
    record.host_count = answer_number(line, "host_count");
    record.needed_min_bytes = answer_number(line, "needed_min_bytes");
    char *reference = fleet_record_reference(sessions, &record, program_id);
    record.reference = reference;
    bool is_added = analysis_fleet_add(fleet, &record, err);
    free(reference);
    return is_added;
}

static bool rows_add(const struct fleet_tables_asked *asked, const struct catalog_answer *answer,
                     struct analysis_fleet *fleet, struct err *err)
{
    struct fleet_sessions *sessions = fleet_record_sessions_new(asked->snapshot);
    int64_t *categories = memory_new((asked->columns->count + 1) * sizeof(*categories));
    bool is_good = true;
    for (size_t row = 0; is_good && row < answer->row_count && row < FLEET_TABLES_MAX; row++) {
        struct line line = {.answer = answer, .row = row};
        is_good = row_add(asked, sessions, &line, categories, fleet, err);
    }
    free(categories);
    fleet_record_sessions_free(sessions);
    return is_good &&
           analysis_fleet_note(fleet, "left_out", answer->row_count > FLEET_TABLES_MAX,
                               "There are more than are looked at together: these are the newest. Ask for one "
                               "job, or for a time.",
                               err);
}

static bool fleet_tables_ask(const struct fleet_tables_asked *asked, struct statement *statement,
                             struct catalog_answer *answer, struct err *err)
{
    bool is_good =
        buf_is_whole(&statement->sql, "the statement", err) &&
        catalog_query(asked->catalog, statement->sql.data, statement->parameters, statement->count, answer, err);
    buf_free(&statement->sql);
    buf_free(&statement->label);
    return is_good;
}

/* If no row has a job, says so, to distinguish that from an empty catalog. */
static bool unlabelled_add(const struct fleet_tables_asked *asked, struct analysis_fleet *fleet, struct err *err)
{
    struct statement statement = {.count = 0};
    struct catalog_answer answer = {0};
    unlabelled_write(&statement, asked);
    bool is_good = fleet_tables_ask(asked, &statement, &answer, err);
    const char *count = is_good && answer.row_count == 1 ? catalog_cell(&answer, 0, 0) : NULL;
    analysis_fleet_unlabelled(fleet, count ? strtoull(count, NULL, 10) : 0);
    catalog_answer_free(&answer);
    return is_good;
}

bool fleet_tables_add(const struct fleet_tables_asked *asked, struct analysis_fleet *fleet, struct err *err)
{
    struct statement statement = {.count = 0};
    struct catalog_answer answer = {0};
    statement_write(&statement, asked);
    bool is_good = fleet_tables_ask(asked, &statement, &answer, err);
    if (asked->is_cut)
        *asked->is_cut = answer.row_count > FLEET_TABLES_MAX;
    if (is_good)
        is_good = answer.row_count > 0 ? rows_add(asked, &answer, fleet, err) : unlabelled_add(asked, fleet, err);
    catalog_answer_free(&answer);
    return is_good;
}
