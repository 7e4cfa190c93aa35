/* SPDX-License-Identifier: Apache-2.0
 * export_rows.c: every buffer of every memory space as a row, as CSV or as one JSON object a line: the columns of the
 * table, behind those that say whose row it is. The view writes texts in quotes and numbers without, so that what a cell
 * is stands in the CSV itself. */
#include "server/cmd/export.h"

#include "base/csv.h"
#include "base/json.h"
#include "server/base/log.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands before the columns of the view. */
struct whose {
    const struct export_module *module;
    const cJSON *space; /* of the view "summary" */
};
static const char HEADS[] = "session,module,file,modified_at,space,space_name,peak_step,";

static const cJSON *member(const struct whose *whose, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(whose->space, name);
}

static int64_t space_number(const struct whose *whose) { return (int64_t)member(whose, "space")->valuedouble; }

/* ---- CSV ---- */

static void whose_csv(const struct whose *whose, struct buf *out)
{
    struct csv csv = CSV_INIT(out);
    const struct export_module *module = whose->module;
    csv_text(&csv, str_of(module->session->name));
    csv_text(&csv, str_of(module->entry->program->name));
    csv_text(&csv, str_of(module->entry->file->file->path));
    csv_text(&csv, str_of(module->modified_at));
    csv_int(&csv, space_number(whose));
    csv_text(&csv, str_of(member(whose, "name")->valuestring));
    if (cJSON_IsNumber(member(whose, "peak_step")))
        csv_int(&csv, (int64_t)member(whose, "peak_step")->valuedouble);
    else
        csv_none(&csv);
    buf_char(out, ',');
}

/* The end of the record that begins at `text`: behind its line break outside of quotes. */
static const char *record_end(const char *text, const char *end)
{
    bool is_quoted = false;
    for (; text < end && (is_quoted || *text != '\n'); text++)
        is_quoted ^= *text == '"';
    return text < end ? text + 1 : end;
}

static void rows_csv(const struct whose *whose, const char *text, const char *end, bool is_first, struct buf *out)
{
    const char *next = record_end(text, end);
    if (is_first) {
        buf_text(out, HEADS);
        buf_add(out, text, (size_t)(next - text));
    }
    for (text = next; text < end; text = next) {
        next = record_end(text, end);
        whose_csv(whose, out);
        buf_add(out, text, (size_t)(next - text));
    }
}

/* ---- one JSON object a line ---- */

static void whose_json(const struct whose *whose, struct json *json)
{
    const struct export_module *module = whose->module;
    json_key_text(json, "session", module->session->name);
    json_key_text(json, "module", module->entry->program->name);
    json_key_text(json, "file", module->entry->file->file->path);
    json_key_text(json, "modified_at", module->modified_at[0] ? module->modified_at : NULL);
    json_key_int(json, "space", space_number(whose));
    json_key_text(json, "space_name", member(whose, "name")->valuestring);
    json_key(json, "peak_step");
    if (cJSON_IsNumber(member(whose, "peak_step")))
        json_int(json, (int64_t)member(whose, "peak_step")->valuedouble);
    else
        json_null(json);
}

/* A text in quotes, as csv_text wrote it: doubled quotes, and one before what a spreadsheet would take for a formula. */
static const char *cell_text(const char *at, const char *end, struct json *json, struct buf *scratch)
{
    scratch->length = 0;
    if (end - at > 2 && at[1] == '\'' && memchr("=+-@\t\r", at[2], 6))
        at++;
    for (at++; at < end && (*at != '"' || (at + 1 < end && at[1] == '"')); at++) {
        at += *at == '"';
        buf_char(scratch, *at);
    }
    json_string(json, (struct str){scratch->data ? scratch->data : "", scratch->length});
    return at < end ? at + 1 : end;
}

/* The value of the cell at `at`; where it ends. */
static const char *cell_json(const char *at, const char *end, struct json *json, struct buf *scratch)
{
    if (at < end && *at == '"')
        return cell_text(at, end, json, scratch);
    size_t length = 0;
    while (at + length < end && strchr(",\r\n", at[length]) == NULL)
        length++;
    if (length == 0) {
        json_null(json);
        return at;
    }
    scratch->length = 0;
    buf_add(scratch, at, length);
    buf_char(scratch, '\0');
    json_int(json, scratch->data ? strtoll(scratch->data, NULL, 10) : 0);
    return at + length;
}

static void rows_ndjson(const struct whose *whose, const char *text, const char *end, struct buf *out)
{
    struct buf scratch = BUF_INIT;
    const char *heads_end = record_end(text, end);
    for (const char *at = heads_end; at < end;) {
        struct json json = JSON_INIT(out);
        const char *head = text;
        json_object_begin(&json);
        whose_json(whose, &json);
        while (head < heads_end) {
            size_t length = strcspn(head, ",\r\n");
            json_key_name(&json, (struct str){head, length});
            at = cell_json(at, end, &json, &scratch);
            at += at < end && *at == ',';
            head += length + 1;
            if (head[-1] != ',')
                break;
        }
        json_object_end(&json);
        buf_char(out, '\n');
        at = record_end(at, end);
    }
    out->failed |= scratch.failed;
    buf_free(&scratch);
}

/* ---- both ---- */

static bool space_rows(const struct whose *whose, bool is_ndjson, bool is_first, struct buf *out)
{
    char number[24];
    struct buf csv = BUF_INIT;
    snprintf(number, sizeof(number), "%lld", (long long)space_number(whose));
    const struct analysis_param params[] = {{"space", number}, {"step", "all"}, {"sort", "-size"}, {"format", "csv"}};
    bool is_good = export_ask(whose->module, "buffers", params, 4, &csv) && csv.length > 0;
    if (is_good && is_ndjson)
        rows_ndjson(whose, csv.data, csv.data + csv.length, out);
    else if (is_good)
        rows_csv(whose, csv.data, csv.data + csv.length, is_first, out);
    buf_free(&csv);
    return is_good;
}

static bool module_rows(const struct export_module *module, bool is_ndjson, struct buf *out)
{
    struct buf answer = BUF_INIT;
    bool is_good = export_ask(module, "summary", NULL, 0, &answer), is_first = module->is_first;
    cJSON *root = is_good ? cJSON_ParseWithLength(answer.data, answer.length) : NULL;
    const cJSON *data = cJSON_GetObjectItemCaseSensitive(root, "data"),
                *list = cJSON_GetObjectItemCaseSensitive(data, "spaces"), *space;
    cJSON_ArrayForEach(space, list)
    {
        const struct whose whose = {module, space};
        is_good = is_good && space_rows(&whose, is_ndjson, is_first, out);
        is_first = false;
    }
    cJSON_Delete(root);
    buf_free(&answer);
    return is_good;
}

static bool module_csv(const struct export_module *module, struct buf *out) { return module_rows(module, false, out); }
static bool module_ndjson(const struct export_module *module, struct buf *out)
{
    return module_rows(module, true, out);
}

const struct export_form export_csv = {"csv", NULL, module_csv, NULL};
const struct export_form export_ndjson = {"ndjson", NULL, module_ndjson, NULL};
