/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/rows_schema.h"

#include "base/json.h"
#include "server/fleet/catalog/rows.h"
#include "server/fleet/catalog/rows_columns.h"

#include <string.h>

/* ---- SQL ---- */

struct dialect {
    const char *types[CSV_TYPE_OBJECT + 1]; /* by enum csv_type */
    const char *open, *close;               /* around the type of a column that may be null */
    const char *required;                   /* after the type of one that may not */
    char quote;                             /* around names */
    const char *backslash;                  /* in a text between quotes */
};

static void quoted(struct buf *out, const char *text, const char *backslash)
{
    buf_char(out, '\'');
    for (const char *at = text; *at; at++) {
        if (*at == '\'')
            buf_char(out, '\'');
        if (*at == '\\')
            buf_text(out, backslash);
        else
            buf_char(out, *at);
    }
    buf_char(out, '\'');
}

/* "  "job" text,", without the comma. */
static void column_declare(const struct rows_column *column, const struct dialect *dialect, struct buf *out)
{
    buf_format(out, "    %c%s%c %s%s%s%s", dialect->quote, column->name, dialect->quote,
               column->is_always ? "" : dialect->open, dialect->types[column->type],
               column->is_always ? "" : dialect->close, column->is_always ? dialect->required : "");
}

static void postgresql_write(const struct rows_columns *columns, struct buf *out)
{
    static const struct dialect dialect = {{"text", "bigint", "timestamptz", "jsonb"}, "", "", " NOT NULL", '"', "\\"};
    buf_format(out,
               "-- Columns of memviewd index, version %d.\n"
               "-- \\copy memviewd_rows FROM 'rows.csv' (FORMAT csv, HEADER)\n"
               "CREATE TABLE memviewd_rows (\n",
               ROWS_SCHEMA);
    for (size_t at = 0; at < columns->count; at++) {
        const struct rows_column *column = &columns->items[at];
        column_declare(column, &dialect, out);
        buf_text(out, strcmp(column->name, "id") == 0 ? " PRIMARY KEY" : "");
        buf_text(out, at + 1 < columns->count ? ",\n" : "\n);\n");
    }
    for (size_t at = 0; at < columns->count; at++) {
        buf_format(out, "COMMENT ON COLUMN memviewd_rows.\"%s\" IS ", columns->items[at].name);
        quoted(out, rows_columns_help(columns->items[at].name), dialect.backslash);
        buf_text(out, ";\n");
    }
}

/* A row that is written again takes the place of the one with its id, when parts are merged and by FINAL. */
static void clickhouse_write(const struct rows_columns *columns, struct buf *out)
{
    static const struct dialect dialect = {
        {"String", "Int64", "DateTime64(6, 'UTC')", "String"}, "Nullable(", ")", "", '`', "\\\\"};
    buf_format(out,
               "-- Columns of memviewd index, version %d.\n"
               "-- clickhouse-client --query 'INSERT INTO memviewd_rows FORMAT Parquet' < rows.parquet\n"
               "CREATE TABLE memviewd_rows (\n",
               ROWS_SCHEMA);
    for (size_t at = 0; at < columns->count; at++) {
        const struct rows_column *column = &columns->items[at];
        column_declare(column, &dialect, out);
        buf_text(out, " COMMENT ");
        quoted(out, rows_columns_help(column->name), dialect.backslash);
        buf_text(out, at + 1 < columns->count ? ",\n" : "\n) ENGINE = ReplacingMergeTree ORDER BY id;\n");
    }
}

/* ---- JSON ---- */

/* As `bq load --schema` takes it. */
static void bigquery_write(const struct rows_columns *columns, struct buf *out)
{
    static const char *const types[] = {"STRING", "INTEGER", "TIMESTAMP", "STRING"};
    struct json json = JSON_INIT(out);
    json_array_begin(&json);
    for (size_t at = 0; at < columns->count; at++) {
        const struct rows_column *column = &columns->items[at];
        struct buf help = BUF_INIT;
        buf_text(&help, rows_columns_help(column->name));
        if (strcmp(column->name, "schema_version") == 0)
            buf_format(&help, " This is version %d.", ROWS_SCHEMA);
        json_object_begin(&json);
        json_key_text(&json, "name", column->name);
        json_key_text(&json, "type", types[column->type]);
        json_key_text(&json, "mode", column->is_always ? "REQUIRED" : "NULLABLE");
        json_key_string(&json, "description", (struct str){help.data, help.length});
        json_object_end(&json);
        buf_free(&help);
    }
    json_array_end(&json);
    buf_char(out, '\n');
}

static void arrow_type(struct json *json, enum csv_type type)
{
    json_key_object(json, "type");
    if (type == CSV_TYPE_INTEGER) {
        json_key_text(json, "name", "int");
        json_key_int(json, "bitWidth", 64);
        json_key_bool(json, "isSigned", true);
    } else if (type == CSV_TYPE_TIME) {
        json_key_text(json, "name", "timestamp");
        json_key_text(json, "unit", "MICROSECOND");
        json_key_text(json, "timezone", "UTC");
    } else {
        json_key_text(json, "name", "utf8");
    }
    json_object_end(json);
}

static void arrow_metadata(struct json *json, const char *key, struct str value)
{
    json_key_array(json, "metadata");
    json_object_begin(json);
    json_key_text(json, "key", key);
    json_key_string(json, "value", value);
    json_object_end(json);
    json_array_end(json);
}

/* The "schema" of Arrow's JSON format for integration tests: Arrow has no other one that is a text. */
static void arrow_write(const struct rows_columns *columns, struct buf *out)
{
    struct json json = JSON_INIT(out);
    struct buf version = BUF_INIT;
    buf_format(&version, "%d", ROWS_SCHEMA);
    json_object_begin(&json);
    json_key_object(&json, "schema");
    json_key_array(&json, "fields");
    for (size_t at = 0; at < columns->count; at++) {
        const struct rows_column *column = &columns->items[at];
        json_object_begin(&json);
        json_key_text(&json, "name", column->name);
        json_key_bool(&json, "nullable", !column->is_always);
        arrow_type(&json, column->type);
        json_key_array(&json, "children");
        json_array_end(&json);
        arrow_metadata(&json, "description", str_of(rows_columns_help(column->name)));
        json_object_end(&json);
    }
    json_array_end(&json);
    arrow_metadata(&json, "memviewd.schema_version", (struct str){version.data, version.length});
    json_object_end(&json);
    json_object_end(&json);
    buf_char(out, '\n');
    buf_free(&version);
}

static void property_write(struct json *json, const struct rows_column *column)
{
    const char *type = column->type == CSV_TYPE_INTEGER ? "integer" : "string";
    json_key_object(json, column->name);
    if (column->is_always) {
        json_key_text(json, "type", type);
    } else {
        json_key_array(json, "type");
        json_text(json, type);
        json_text(json, "null");
        json_array_end(json);
    }
    if (column->type == CSV_TYPE_TIME)
        json_key_text(json, "format", "date-time");
    if (column->type == CSV_TYPE_OBJECT)
        json_key_text(json, "contentMediaType", "application/json");
    if (strcmp(column->name, "schema_version") == 0)
        json_key_int(json, "const", ROWS_SCHEMA);
    json_key_text(json, "description", rows_columns_help(column->name));
    json_object_end(json);
}

/* JSON Schema of one row of --format=ndjson. */
static void json_write(const struct rows_columns *columns, struct buf *out)
{
    struct json json = JSON_INIT(out);
    json_object_begin(&json);
    json_key_text(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_key_text(&json, "title", "One row of memviewd index");
    json_key_text(&json, "type", "object");
    json_key_object(&json, "properties");
    for (size_t at = 0; at < columns->count; at++)
        property_write(&json, &columns->items[at]);
    json_object_end(&json);
    json_key_array(&json, "required");
    for (size_t at = 0; at < columns->count; at++)
        json_text(&json, columns->items[at].name);
    json_array_end(&json);
    json_key_bool(&json, "additionalProperties", false);
    json_object_end(&json);
    buf_char(out, '\n');
}

/* ---- which ---- */

bool rows_schema_write(const char *name, struct buf *out)
{
    static const struct {
        const char *name;
        void (*write)(const struct rows_columns *columns, struct buf *out);
    } forms[] = {{"arrow", arrow_write},
                 {"bigquery", bigquery_write},
                 {"clickhouse", clickhouse_write},
                 {"json", json_write},
                 {"postgresql", postgresql_write}};
    struct rows_columns columns;
    for (size_t at = 0; at < sizeof(forms) / sizeof(forms[0]); at++) {
        if (strcmp(forms[at].name, name) != 0)
            continue;
        rows_columns_read(&columns);
        forms[at].write(&columns, out);
        return true;
    }
    return false;
}

const char *rows_schema_names(void) { return "arrow, bigquery, clickhouse, json or postgresql"; }
