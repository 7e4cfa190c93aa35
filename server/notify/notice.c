/* SPDX-License-Identifier: Apache-2.0 */
#include "server/notify/notice.h"

#include "base/json.h"
#include "server/store/verdict_parts.h"

void notice_failure_id(char id[ROWS_ID_SIZE], const struct snapshot_text *text)
{
    rows_failure_id(id, text->file->place.root, text->file->path, 1);
}

/* Appends the JSON object, or null and why. */
static void verdict_write(struct store *store, const struct notice_failure *failure, struct json *json)
{
    struct err err = ERR_INIT;
    struct subject text = {0};
    struct verdict_parts parts = {0};
    struct buf verdict = BUF_INIT;
    const struct subjects_place place = {.kind = ANALYSIS_TEXT, .file = &failure->text->file->place};
    bool is_good = subjects_open(store, &place, &text, &err);
    const struct oom_report *report = is_good ? analysis_text_report(text.core) : NULL;
    if (report && report->found.failure_count == 0)
        is_good = err_set(&err, ERR_changed, ERR_NO_OFFSET, "tells of no failure any more");
    if (is_good) {
        const struct verdict_parts_wanted wanted = {
            .snapshot = failure->snapshot, .session = failure->session, .failure = &report->verdicts[0]};
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
