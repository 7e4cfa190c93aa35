/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/notice.h"

#include "base/json.h"
#include "server/files/remote/remote_address.h"
#include "server/store/text_report.h"
#include "server/store/verdict_parts.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* ---- a failure ---- */

void notice_row_id(char id[ROWS_ID_SIZE], const struct snapshot_text *text) { rows_failure_id(id, text->file, 1); }

/* False with `err`: there is none. */
static bool verdict_make(struct store *store, const struct notice_failure *failure, struct buf *verdict,
                         struct err *err)
{
    struct subject text;
    struct verdict_parts parts = {0};
    const struct oom_report *report = text_report_open(store, failure->text, &text, err);
    bool is_good = report != NULL;
    if (is_good && analysis_oom_count(report) == 0)
        is_good = err_set(err, ERR_changed, ERR_NO_OFFSET, "reports no failure any more");
    if (is_good) {
        const struct verdict_parts_wanted wanted = {.snapshot = failure->snapshot,
                                                    .session = failure->session,
                                                    .text = failure->text->file->name,
                                                    .failure = analysis_oom_at(report, 0)};
        const struct verdict_parts_about about = {failure->session->id, failure->text->file->name, 1,
                                                  analysis_oom_count(report)};
        is_good = verdict_parts_open(store, &wanted, &parts, err) && verdict_parts_write(&parts, &about, verdict, err);
    }
    verdict_parts_close(&parts);
    subjects_close(&text);
    return is_good;
}

static void labels_write(const struct notice_failure *failure, struct json *json)
{
    json_key_text(json, "job", labels_value(failure->labels, "job"));
    json_key_text(json, "commit", labels_value(failure->labels, "commit"));
    json_key_text(json, "user_name", labels_value(failure->labels, "user"));
    json_key(json, "labels");
    json_written(json, str_of(labels_json(failure->labels)));
}

/* What failures of one message have in common. */
static void group_id(char id[ROWS_ID_SIZE], const struct notice_failure *failure, const char *cause, const char *at)
{
    enum { DAY_LENGTH = sizeof("2026-11-29") - 1 };
    const char *job = labels_value(failure->labels, "job"), *commit = labels_value(failure->labels, "commit");
    const char *run = labels_value(failure->labels, "run");
    char day[DAY_LENGTH + 1];
    snprintf(day, sizeof(day), "%.*s", DAY_LENGTH, at);
    const char *const of_commit[] = {"failure of a commit", job, commit, cause};
    const char *const of_run[] = {"failure of a run", job, run ? run : day, cause};
    const char *const of_session[] = {"failure of a session", failure->session->id, "", cause};
    rows_id(id, !job ? of_session : commit ? of_commit : of_run, 4);
}

static void host_write(const struct notice_failure *failure, const cJSON *verdict, struct buf *out)
{
    static const char *const figures[] = {"needed_bytes", "capacity_bytes"};
    struct json json = JSON_INIT(out);
    const cJSON *fit = cJSON_GetObjectItemCaseSensitive(verdict, "fit");
    json_object_begin(&json);
    json_key_text(&json, "host", labels_value(failure->labels, "host"));
    json_key_text(&json, "file", failure->text->file->path);
    json_key_text(&json, "program", cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(verdict, "program")));
    for (size_t at = 0; at < sizeof(figures) / sizeof(figures[0]); at++) {
        const cJSON *figure = cJSON_GetObjectItemCaseSensitive(fit, figures[at]);
        json_key_known(&json, figures[at], cJSON_IsNumber(figure) ? (int64_t)cJSON_GetNumberValue(figure) : -1);
    }
    json_object_end(&json);
}

static void body_write(const struct notice_failure *failure, const struct notice_made *made, const char *modified_at,
                       const struct buf *verdict, const char *fault, struct buf *out)
{
    struct json json = JSON_INIT(out);
    const struct snapshot_file *file = failure->text->file;
    json_object_begin(&json);
    json_key_int(&json, "schema_version", NOTICE_SCHEMA);
    json_key_text(&json, "id", made->id);
    json_key_text(&json, "row_id", made->row_id);
    json_key_text(&json, "kind", "failure");
    json_key_text(&json, "logdir", file->place.root);
    json_key_text(&json, "file", file->path);
    json_key_text(&json, "modified_at", modified_at[0] ? modified_at : NULL);
    labels_write(failure, &json);
    json_key_object(&json, "session");
    json_key_text(&json, "id", failure->session->id);
    json_key_text(&json, "name", failure->session->name);
    json_object_end(&json);
    json_key(&json, "verdict");
    if (fault)
        json_null(&json);
    else
        json_written(&json, (struct str){verdict->data, verdict->length});
    json_key_text(&json, "error", fault);
    json_object_end(&json);
}

bool notice_of_failure(struct store *store, const struct notice_failure *failure, struct notice_made *out,
                       struct err *err)
{
    struct err unknown = ERR_INIT, ignored = ERR_INIT;
    struct buf verdict = BUF_INIT;
    char modified_at[ROWS_TIME_SIZE];
    const char *file;
    *out = (struct notice_made){.body = BUF_INIT, .host = BUF_INIT};
    bool has_verdict = verdict_make(store, failure, &verdict, &unknown);
    cJSON *tree = has_verdict ? cJSON_ParseWithLength(verdict.data, verdict.length) : NULL;
    const char *cause =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(tree, "cause"), "kind"));
    labels_find(failure->labels, &failure->text->file->place, &file, &ignored); /* what is of no use its row says */
    rows_time(failure->text->file->identity.modified_at_ns, modified_at);
    notice_row_id(out->row_id, failure->text);
    group_id(out->id, failure, cause, modified_at);
    host_write(failure, tree, &out->host);
    body_write(failure, out, modified_at, &verdict, has_verdict ? NULL : unknown.text, &out->body);
    cJSON_Delete(tree);
    buf_free(&verdict);
    return buf_is_whole(&out->body, "the notice", err) && buf_is_whole(&out->host, "the notice", err);
}

void notice_made_free(struct notice_made *made)
{
    buf_free(&made->body);
    buf_free(&made->host);
}

/* ---- a regression ---- */

void notice_regression_id(char id[ROWS_ID_SIZE], const struct fleet_record *after)
{
    const char *texts[] = {"regression",        after->job,    after->module,        after->kind,
                           after->memory_space, after->commit, after->configuration, NULL};
    /* without a configuration as it was before there were any */
    const size_t count = after->configuration ? 6 : 5;
    char known[6 + 1] = ""; /* a text that is empty is another one than none */
    for (size_t at = 0; at < count; at++)
        known[at] = texts[1 + at] ? 'y' : 'n';
    texts[1 + count] = known;
    rows_id(id, texts, count + 2);
}

/* The page Fleet with the regressions of that job, below wherever it is served: as web/tools/fleet/state.js has it. */
static void page_write(const char *job, struct json *json)
{
    struct buf filter = BUF_INIT, page = BUF_INIT;
    buf_text(&filter, "job:\"");
    for (; *job; job++) {
        if (*job != '"') /* no filter can have it */
            buf_char(&filter, *job);
    }
    buf_text(&filter, "\"");
    buf_char(&filter, '\0');
    buf_text(&page, "?tool=fleet&view=regressions&filter=");
    remote_address_encode(&page, filter.failed ? "" : filter.data, false);
    json_key_string(json, "page", (struct str){page.data, page.length});
    buf_free(&filter);
    buf_free(&page);
}

bool notice_of_regression(struct analysis_fleet *fleet, size_t step, struct buf *out, struct err *err)
{
    struct json json = JSON_INIT(out);
    struct buf row = BUF_INIT;
    char id[ROWS_ID_SIZE];
    const struct fleet_record *before, *after;
    analysis_fleet_step(fleet, step, &before, &after);
    notice_regression_id(id, after);
    json_object_begin(&json);
    json_key_int(&json, "schema_version", NOTICE_SCHEMA);
    json_key_text(&json, "id", id);
    json_key_text(&json, "kind", "regression");
    json_key_text(&json, "logdir", after->logdir);
    json_key_text(&json, "file", after->file);
    json_key_text(&json, "job", after->job);
    json_key_text(&json, "commit", after->commit);
    json_key_text(&json, "user_name", after->user_name);
    page_write(after->job, &json);
    bool is_good = analysis_fleet_step_write(fleet, step, &row, err);
    json_key(&json, "regression");
    json_written(&json, (struct str){row.data, row.length});
    json_object_end(&json);
    buf_free(&row);
    return is_good && buf_is_whole(out, "the notice", err);
}
