/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/notice.h"

#include "base/json.h"
#include "server/files/remote/remote_address.h"
#include "server/store/verdict_parts.h"

/* ---- a failure ---- */

void notice_failure_id(char id[ROWS_ID_SIZE], const struct snapshot_text *text) { rows_failure_id(id, text->file, 1); }

/* Appends the member "verdict", or "error": why there is none. */
static void verdict_write(struct store *store, const struct notice_failure *failure, struct json *json)
{
    struct err err = ERR_INIT;
    struct subject text = {0};
    struct verdict_parts parts = {0};
    struct buf verdict = BUF_INIT;
    const struct subjects_place place = {.kind = ANALYSIS_TEXT, .file = &failure->text->file->place};
    bool is_good = subjects_open(store, &place, &text, &err);
    const struct oom_report *report = is_good ? analysis_text_report(text.core) : NULL;
    if (is_good && report->found.failure_count == 0)
        is_good = err_set(&err, ERR_changed, ERR_NO_OFFSET, "tells of no failure any more");
    if (is_good) {
        const struct verdict_parts_wanted wanted = {.snapshot = failure->snapshot,
                                                    .session = failure->session,
                                                    .text = failure->text->file->name,
                                                    .failure = &report->meanings[0]};
        const struct verdict_parts_about about = {failure->session->id, failure->text->file->name, 1,
                                                  report->found.failure_count};
        is_good =
            verdict_parts_open(store, &wanted, &parts, &err) && verdict_parts_write(&parts, &about, &verdict, &err);
    }
    json_key(json, "verdict");
    if (is_good)
        json_written(json, (struct str){verdict.data, verdict.length});
    else
        json_null(json);
    json_key_text(json, "error", is_good ? NULL : err.text);
    buf_free(&verdict);
    verdict_parts_close(&parts);
    subjects_close(&text);
}

static void labels_write(const struct notice_failure *failure, struct json *json)
{
    struct err ignored = ERR_INIT; /* a memviewd.json that is of no use counts for nothing; its row says so */
    const char *file;
    labels_find(failure->labels, &failure->text->file->place, &file, &ignored);
    json_key_text(json, "job", labels_value(failure->labels, "job"));
    json_key_text(json, "commit", labels_value(failure->labels, "commit"));
    json_key_text(json, "user_name", labels_value(failure->labels, "user"));
    json_key(json, "labels");
    json_written(json, str_of(labels_json(failure->labels)));
}

bool notice_of_failure(struct store *store, const struct notice_failure *failure, struct buf *out, struct err *err)
{
    struct json json = JSON_INIT(out);
    const struct snapshot_file *file = failure->text->file;
    char id[ROWS_ID_SIZE], modified_at[ROWS_TIME_SIZE];
    notice_failure_id(id, failure->text);
    rows_time(file->identity.modified_at_ns, modified_at);
    json_object_begin(&json);
    json_key_int(&json, "schema_version", NOTICE_SCHEMA);
    json_key_text(&json, "id", id);
    json_key_text(&json, "kind", "failure");
    json_key_text(&json, "logdir", file->place.root);
    json_key_text(&json, "file", file->path);
    json_key_text(&json, "modified_at", modified_at[0] ? modified_at : NULL);
    labels_write(failure, &json);
    json_key_object(&json, "session");
    json_key_text(&json, "id", failure->session->id);
    json_key_text(&json, "name", failure->session->name);
    json_object_end(&json);
    verdict_write(store, failure, &json);
    json_object_end(&json);
    return buf_is_whole(out, "the notice", err);
}

/* ---- a regression ---- */

void notice_regression_id(char id[ROWS_ID_SIZE], const struct fleet_record *after)
{
    const char *const texts[] = {after->job, after->module, after->kind, after->memory_space, after->commit};
    enum { COUNT = sizeof(texts) / sizeof(texts[0]) };
    const char *all[COUNT + 2] = {"regression"};
    char known[COUNT + 1] = ""; /* a text that is empty is another one than none */
    for (size_t at = 0; at < COUNT; at++) {
        known[at] = texts[at] ? 'y' : 'n';
        all[at + 1] = texts[at];
    }
    all[COUNT + 1] = known;
    rows_id(id, all, COUNT + 2);
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
