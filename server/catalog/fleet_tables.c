/* SPDX-License-Identifier: Apache-2.0
 * fleet_tables.c: see fleet_tables.h. */
#include "server/catalog/fleet_tables.h"

#include "server/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS_MAX = 12, NUMBER_SIZE = 24 };

/* A statement that is put together of our own words; what others say are its parameters. */
struct statement {
    struct buf sql;
    const char *parameters[PARAMETERS_MAX];
    size_t count;
    char numbers[2][NUMBER_SIZE];
};

/* "… $3": the words and the place of the value; nothing for NULL. */
static void condition_add(struct statement *statement, const char *words, const char *value, const char *behind)
{
    if (!value)
        return;
    statement->parameters[statement->count++] = value;
    buf_format(&statement->sql, " AND %s$%zu%s", words, statement->count, behind);
}

static void times_add(struct statement *statement, const struct fleet_filter *filter, bool is_of_rows)
{
    const char *since = is_of_rows ? "r.modified_at >= to_timestamp(" : "p.last_at >= to_timestamp(";
    const char *until = is_of_rows ? "r.modified_at < to_timestamp(" : "p.first_at < to_timestamp(";
    snprintf(statement->numbers[0], NUMBER_SIZE, "%lld", (long long)filter->since_ms);
    snprintf(statement->numbers[1], NUMBER_SIZE, "%lld", (long long)filter->until_ms);
    condition_add(statement, since, filter->since_ms >= 0 ? statement->numbers[0] : NULL, "::float8 / 1000)");
    condition_add(statement, until, filter->until_ms >= 0 ? statement->numbers[1] : NULL, "::float8 / 1000)");
}

static void label_add(struct statement *statement, const struct fleet_filter *filter)
{
    if (!filter->label_key)
        return;
    statement->parameters[statement->count++] = filter->label_key;
    statement->parameters[statement->count++] = filter->label_value;
    buf_format(&statement->sql, " AND r.labels @> jsonb_build_object($%zu::text, $%zu::text)", statement->count - 1,
               statement->count);
}

/* Only rows know these. */
static bool is_of_rows(const struct fleet_tables_asked *asked)
{
    const struct fleet_filter *filter = asked->filter;
    return asked->is_of_hosts || asked->is_by_host || filter->host || filter->user || filter->label_key;
}

/* In the order in which they are asked for, see answer_cell. */
static void columns_write(struct statement *statement, const struct fleet_columns *columns, bool rows)
{
    const char *table = rows ? "r" : "p";
    buf_text(&statement->sql, "SELECT p.job, p.module, p.kind, p.memory_space, p.commit, ");
    buf_format(&statement->sql, "%s AS host, %s.user_name, %s.device, %s.verdict, ", rows ? "r.host" : "NULL::text",
               table, table, table);
    buf_format(&statement->sql, "r.id, r.logdir, r.file, %s.session_id, %s.needed_bytes, ", table, table);
    buf_format(&statement->sql, "%s AS peak_bytes, %s.capacity_bytes", rows ? "r.peak_bytes" : "p.peak_max_bytes",
               table);
    for (size_t at = 0; at < columns->count; at++)
        buf_format(&statement->sql, ", %s.%s", table, columns->heads[at]);
    buf_text(&statement->sql, ", r.program_id");
    buf_format(&statement->sql, ", (extract(epoch FROM %s) * 1000)::bigint AS first_at_ms",
               rows ? "r.modified_at" : "p.first_at");
    buf_format(&statement->sql, ", (extract(epoch FROM %s) * 1000)::bigint AS last_at_ms",
               rows ? "r.modified_at" : "p.last_at");
    buf_text(&statement->sql, rows ? ", 1 AS row_count, 0 AS host_count, r.needed_bytes AS needed_min_bytes"
                                   : ", p.row_count, p.host_count, p.needed_min_bytes");
}

/* Of points `p` and, where they are asked about, of rows `r`. */
static void conditions_write(struct statement *statement, const struct fleet_tables_asked *asked, bool rows,
                             bool is_labelled)
{
    const struct fleet_filter *filter = asked->filter;
    buf_text(&statement->sql, is_labelled ? " WHERE p.job IS NOT NULL" : " WHERE p.job IS NULL");
    if (asked->is_of_hosts)
        buf_text(&statement->sql, " AND p.host_count > 1 AND (p.needed_min_bytes < p.needed_bytes"
                                  " OR (p.needed_bytes IS NULL AND p.peak_min_bytes < p.peak_max_bytes))");
    condition_add(statement, "p.job = ", filter->job, "");
    condition_add(statement, "p.commit = ", filter->commit, "");
    condition_add(statement, "p.module = ", filter->module, "");
    condition_add(statement, "p.kind = ", filter->kind, "");
    condition_add(statement, "r.host = ", filter->host, "");
    condition_add(statement, "r.user_name = ", filter->user, "");
    label_add(statement, filter);
    times_add(statement, filter, rows);
}

/* The newest first; by the index points_last. */
static void order_write(struct statement *statement, bool rows)
{
    buf_format(&statement->sql, " ORDER BY %s DESC NULLS LAST, %s LIMIT %d", rows ? "r.modified_at" : "p.last_at",
               rows ? "r.id" : "p.point_id", FLEET_TABLES_MAX + 1);
}

static const char of_rows[] = " FROM memviewd.points AS p JOIN memviewd.rows AS r ON r.point_id = p.point_id"
                              " AND r.verdict IS NOT NULL";

/* Of points the newest are found first, by their index, and only then the rows that they are of. */
static void statement_write(struct statement *statement, const struct fleet_tables_asked *asked)
{
    bool rows = is_of_rows(asked);
    columns_write(statement, asked->columns, rows);
    if (rows) {
        buf_text(&statement->sql, of_rows);
        conditions_write(statement, asked, rows, true);
        order_write(statement, rows);
    } else {
        buf_text(&statement->sql, " FROM (SELECT * FROM memviewd.points AS p");
        conditions_write(statement, asked, rows, true);
        order_write(statement, rows);
        buf_text(&statement->sql, ") AS p LEFT JOIN memviewd.rows AS r ON r.id = p.row_id");
    }
    buf_char(&statement->sql, '\0');
}

/* How many rows would be wanted if they said which job they are of. */
static void unlabelled_write(struct statement *statement, const struct fleet_tables_asked *asked)
{
    bool rows = is_of_rows(asked);
    buf_text(&statement->sql, rows ? "SELECT count(*)" : "SELECT coalesce(sum(p.row_count), 0)");
    buf_text(&statement->sql, rows ? of_rows : " FROM memviewd.points AS p");
    conditions_write(statement, asked, rows, false);
    buf_char(&statement->sql, '\0');
}

/* ---- the answer ---- */

/* A row of it. */
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

static bool ask(const struct fleet_tables_asked *asked, struct statement *statement, struct catalog_answer *answer,
                struct err *err)
{
    bool is_good =
        buf_is_whole(&statement->sql, "the statement", err) &&
        catalog_query(asked->catalog, statement->sql.data, statement->parameters, statement->count, answer, err);
    buf_free(&statement->sql);
    return is_good;
}

/* Where nothing has a job, it is told apart from a catalog that is empty. */
static bool unlabelled_add(const struct fleet_tables_asked *asked, struct analysis_fleet *fleet, struct err *err)
{
    struct statement statement = {.count = 0};
    struct catalog_answer answer = {0};
    unlabelled_write(&statement, asked);
    bool is_good = ask(asked, &statement, &answer, err);
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
    bool is_good = ask(asked, &statement, &answer, err);
    if (is_good)
        is_good = answer.row_count > 0 ? rows_add(asked, &answer, fleet, err) : unlabelled_add(asked, fleet, err);
    catalog_answer_free(&answer);
    return is_good;
}
