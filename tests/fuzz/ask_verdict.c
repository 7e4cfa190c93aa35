/* SPDX-License-Identifier: Apache-2.0
 * ask_verdict.c: the verdict of whatever was read, in every form; its row in a fleet; and may it be merged. */
#include "model/oom/model.h"
#include "tests/fuzz/ask.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void broken(const char *promise, const char *where, const struct err *err)
{
    fprintf(stderr, "broken promise: %s (%s; %s: %s)\n", promise, where, err_name(err->code), err->text);
    abort();
}

static void check_refusal(const struct err *err, const char *where)
{
    if (err->code == ERR_none || err->code == ERR_internal || err->text[0] == '\0')
        broken("an error has a code and a text", where, err);
}

static cJSON *check_json(const struct buf *out, const char *where, const struct err *err)
{
    cJSON *tree = out->failed ? NULL : cJSON_ParseWithLength(out->data, out->length);
    if (tree == NULL)
        broken("an answer is JSON", where, err);
    return tree;
}

/* ---- the verdict ---- */

/* Sums of damaged sizes are larger than a double holds. */
static void check_sum(double sum, double whole, const struct err *err)
{
    if (sum > whole * 1.000001 || whole > sum * 1.000001)
        broken("a verdict's rows add up", "verdict", err);
}

static void check_verdict(const cJSON *tree, const struct err *err)
{
    const cJSON *row, *whole = cJSON_GetObjectItem(tree, "where_bytes");
    const char *sentence = cJSON_GetStringValue(cJSON_GetObjectItem(tree, "verdict"));
    double sum = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(tree, "where"))
    {
        double bytes = cJSON_GetNumberValue(cJSON_GetObjectItem(row, "bytes"));
        if (!(bytes >= 0))
            broken("no part is negative", "verdict", err);
        sum += bytes;
    }
    if (cJSON_IsNumber(whole))
        check_sum(sum, whole->valuedouble, err);
    if (sentence == NULL || sentence[0] == '\0')
        broken("a verdict has a sentence", "verdict", err);
}

/* ---- many jobs ---- */

static int64_t number_of(const cJSON *row, const char *name)
{
    const cJSON *member = cJSON_GetObjectItem(row, name);
    if (cJSON_IsNumber(member) && !(member->valuedouble >= 0))
        broken("no cell of a row is negative", name, &(struct err)ERR_INIT);
    return !cJSON_IsNumber(member) ? -1 : member->valuedouble < 0x1p63 ? (int64_t)member->valuedouble : INT64_MAX;
}

static void ask_fleet_views(const struct analysis_fleet *fleet)
{
    struct analysis_view view;
    for (size_t at = 0; analysis_view_at(at, &view); at++) {
        const struct analysis_question question = {.tool = view.tool, .view = view.view, .fleet = fleet};
        struct buf out = BUF_INIT;
        struct err err = ERR_INIT;
        if (view.kind != ANALYSIS_FLEET)
            continue;
        if (analysis_answer(&question, &out, &err))
            cJSON_Delete(check_json(&out, view.view, &err));
        else
            check_refusal(&err, view.view);
        buf_free(&out);
    }
}

/* The row as that of three hosts at each of eight commits, in which its figures come, go and are halved. */
static void ask_fleet(const cJSON *row)
{
    enum { COMMITS = 8, HOSTS = 3, DAY_MS = 86400000 };
    static const char *const names[] = {"parameter"}, *const hosts[HOSTS] = {"a", "b", "c"};
    const int64_t needed = number_of(row, "needed_bytes"), peak = number_of(row, "peak_bytes");
    int64_t category = number_of(row, "category_parameter_bytes");
    struct err err = ERR_INIT;
    struct analysis_fleet *fleet = analysis_fleet_new(names, 1, &err);
    bool is_good = fleet != NULL;
    for (int i = 0; is_good && i < COMMITS * HOSTS; i++) {
        char commit[16];
        int64_t part = i / HOSTS % 4 == 0 ? 1 : 1 + (i / HOSTS + i) % 2;
        snprintf(commit, sizeof(commit), "c%d", i / HOSTS);
        const struct fleet_record record = {.job = "job",
                                            .module = cJSON_GetStringValue(cJSON_GetObjectItem(row, "program")),
                                            .kind = "module",
                                            .memory_space =
                                                cJSON_GetStringValue(cJSON_GetObjectItem(row, "memory_space")),
                                            .commit = commit,
                                            .host = hosts[i % HOSTS],
                                            .device = cJSON_GetStringValue(cJSON_GetObjectItem(row, "device")),
                                            .verdict = cJSON_GetStringValue(cJSON_GetObjectItem(row, "verdict")),
                                            .first_at_ms = (int64_t)(i / HOSTS) * DAY_MS,
                                            .last_at_ms = (int64_t)(i / HOSTS) * DAY_MS,
                                            .row_count = 1,
                                            .needed_min_bytes = needed,
                                            .needed_bytes = needed < 0 ? needed : needed / part,
                                            .peak_bytes = peak < 0 ? peak : peak / part,
                                            .capacity_bytes = number_of(row, "capacity_bytes"),
                                            .category_bytes = category < 0 ? NULL : &category};
        is_good = analysis_fleet_add(fleet, &record, &err);
    }
    if (is_good && analysis_fleet_build(fleet, "rows", false, 1, 1, &err))
        ask_fleet_views(fleet);
    else
        check_refusal(&err, "fleet");
    analysis_fleet_free(fleet);
}

/* ---- its forms ---- */

static void ask_rows(const struct analysis_verdict_parts *parts)
{
    static const struct csv_cell lead = {.head = "file", .kind = CSV_TEXT, .text = "f"};
    for (int form = CSV_COMMAS; form <= CSV_COPY; form++) {
        const struct analysis_row_form asked = {.form = (enum csv_form)form, .lead = &lead, .lead_count = 1};
        struct buf out = BUF_INIT;
        struct err err = ERR_INIT;
        if (!analysis_verdict_row(parts, &asked, &out, &err))
            check_refusal(&err, "row");
        else if (out.failed || out.length == 0 || out.data[out.length - 1] != '\n')
            broken("a row is a line", "row", &err);
        if (form == CSV_NDJSON && out.length > 0) {
            cJSON *row = check_json(&out, "row", &err);
            ask_fleet(row);
            cJSON_Delete(row);
        }
        buf_free(&out);
    }
}

void ask_verdict(const struct analysis_verdict_parts *parts)
{
    struct buf json = BUF_INIT, text = BUF_INIT;
    struct err err = ERR_INIT;
    if (!analysis_verdict(parts, ANALYSIS_VERDICT_JSON, &json, &err)) {
        check_refusal(&err, "verdict");
    } else {
        cJSON *tree = check_json(&json, "verdict", &err);
        check_verdict(tree, &err);
        cJSON_Delete(tree);
    }
    err = (struct err)ERR_INIT;
    if (!analysis_verdict(parts, ANALYSIS_VERDICT_TEXT, &text, &err))
        check_refusal(&err, "verdict as text");
    else if (text.failed || text.length == 0)
        broken("an answer has bytes", "verdict as text", &err);
    buf_free(&json);
    buf_free(&text);
    ask_rows(parts);
}

void ask_verdict_of_failure(struct analysis_verdict_parts parts, const char *text)
{
    struct ask_bytes bytes = {(const uint8_t *)text, strlen(text)};
    struct source source = ask_source_of(&bytes);
    const struct analysis_reading reading = {.kind = ANALYSIS_TEXT, .limit_bytes = ANALYSIS_TEXT_MAX_BYTES};
    struct err err = ERR_INIT;
    struct analysis_subject *subject = analysis_subject_read(&source, &reading, &err);
    const struct oom_report *report = subject != NULL ? analysis_text_report(subject) : NULL;
    if (report == NULL || report->found.failure_count == 0)
        broken("a failure is known", text, &err);
    parts.failure = &report->meanings[0];
    ask_verdict(&parts);
    analysis_subject_free(subject);
}

/* ---- may it be merged ---- */

void ask_check(const struct analysis_subject *module)
{
    static const char *const formats[] = {"text", "json", "junit", "markdown", "github"};
    const struct analysis_check_limits limits = {.max_total_bytes = 1, .has_baseline = true, .tolerance_ppm = 20000};
    const struct analysis_check_baseline itself = {module, NULL, -1}, figures = {NULL, "HBM", 4096}, none = {0};
    struct analysis_check *check = analysis_check_new(&limits);
    struct err err = ERR_INIT;
    const struct analysis_check_baseline *const against[] = {&itself, &figures, &none};
    for (int i = 0; i < 3; i++) {
        err = (struct err)ERR_INIT;
        if (!analysis_check_module(check, "f", "m", module, against[i], &err))
            check_refusal(&err, "check");
    }
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct buf out = BUF_INIT;
        err = (struct err)ERR_INIT;
        if (!analysis_check_write(check, formats[i], &out, &err))
            check_refusal(&err, formats[i]);
        else if (i == 1)
            cJSON_Delete(check_json(&out, "check", &err));
        buf_free(&out);
    }
    analysis_check_free(check);
}
