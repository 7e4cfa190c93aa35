/* SPDX-License-Identifier: Apache-2.0
 * api_oom.c: what out-of-memory texts say: those that readers upload, and those of a session. */
#include "server/api/choice.h"
#include "server/api/listing.h"
#include "server/store/verdict_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a text in one answer. */
enum { WINDOW_BYTES = 64 * 1024, MAX_WINDOW_BYTES = 1 << 20 };

static void write_files(struct json *json, const struct snapshot_session *session)
{
    json_key_array(json, "files");
    for (size_t at = 0; session && at < session->text_count; at++)
        json_text(json, session->texts[at].file->name);
    json_array_end(json);
}

/* Who was asked, and the members of the core's answer. */
static struct response *api_oom_answer(const struct snapshot_session *session, const char *file, const char *local,
                                       struct body *report)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    json_object_begin(&json);
    json_key_text(&json, "local", local);
    json_key_text(&json, "session", session ? session->id : NULL);
    json_key_text(&json, "file", file);
    write_files(&json, session);
    buf_char(&buf, ',');
    buf_add(&buf, report->data + 1, report->size - 1); /* without its opening brace */
    body_release(report);
    return response_json(&buf);
}

/* The row of the table of views. */
static struct analysis_view view_of_texts(void)
{
    struct analysis_view view;
    bool is_there = analysis_view_find("oom", "report", &view);
    assert(is_there);
    (void)is_there;
    return view;
}

struct response *api_oom(const struct server *server, const struct request *request)
{
    static const char *const NAMES[] = {"session", "file", "local", NULL};
    const struct analysis_view view = view_of_texts();
    struct choice choice = {0};
    struct response *response = listing_check_names(request, NAMES);
    if (!response)
        response = choice_open(&choice, server, request, &view);
    struct body *report = response ? NULL : choice_answer(&choice, request, &view, &response);
    if (report)
        response =
            api_oom_answer(choice.about.session, choice.part_id, choice.count > 0 ? choice.uses[0].id : NULL, report);
    choice_close(&choice);
    return response;
}

struct response *api_oom_add(const struct server *server, const struct request *request)
{
    struct subject text = {0};
    struct body *report = NULL;
    struct err err = ERR_INIT;
    struct response *response =
        request->body->size == 0 ? response_problem(400, "argument", "the text is empty") : api_keep_body(request, 0);
    if (response)
        return response;
    if (subjects_add(server->store, ANALYSIS_TEXT, request->body, NULL, &text, &err)) {
        const struct analysis_use use = {.subject = text.core};
        const struct analysis_question question = {.tool = "oom", .view = "report", .uses = &use, .use_count = 1};
        report = subjects_answer(server->store, NULL, text.key, &question, &err, NULL);
    }
    response =
        report ? api_oom_answer(NULL, NULL, text.key, report) : response_failure(&err, text.hold.is_transient, NULL);
    subjects_close(&text);
    return response;
}

static bool read_offset(const struct request *request, const char *name, uint64_t default_value, uint64_t *offset)
{
    const char *text = request_param(request, name, NULL);
    char *end = NULL;
    *offset = default_value;
    if (!text)
        return true;
    if (text[0] < '0' || text[0] > '9' || strlen(text) > 18)
        return false;
    *offset = strtoull(text, &end, 10);
    return *end == '\0';
}

/* ---- beside the plan of its program ------------------------------------------------ */

/* The refusal where asking again may help; a program that never can be compared has no plan. */
static struct response *write_plan(struct json *json, struct store *store, const struct modules_entry *entry,
                                   const struct oom_meaning *failure)
{
    const struct subjects_place place = {
        .kind = ANALYSIS_MODULE, .opened = &entry->file->opened, .program = entry->program};
    struct subject subject = {0};
    struct err err = entry->file->err;
    struct oom_comparison *comparison = NULL;
    if (entry->program && subjects_open(store, &place, &subject, &err))
        comparison = analysis_oom_compare(failure, subject.core, &err);
    struct response *refusal = NULL;
    if (!comparison && (subject.hold.is_transient || response_status_of(err.code) == 503))
        refusal = response_failure(&err, subject.hold.is_transient, entry->file->file->path);
    json_key(json, "plan");
    if (comparison)
        analysis_oom_write_comparison(comparison, failure, json);
    else
        json_null(json);
    analysis_oom_comparison_free(comparison);
    subjects_close(&subject);
    return refusal;
}

static struct response *answer_plan(struct store *store, const struct choice *choice, const struct oom_meaning *failure)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    struct modules modules;
    struct response *refusal = NULL;
    struct analysis_oom_facts facts;
    analysis_oom_facts(failure, &facts);
    modules_open(store, choice->about.session, NULL, &modules);
    const struct modules_entry *entry = verdict_parts_module(store, &modules, failure);
    json_object_begin(&json);
    if (json_key_object_if(&json, "module", entry != NULL)) {
        json_key_text(&json, "id", entry->id);
        json_key_text(&json, "name", verdict_near_name(entry));
        json_key_bool(&json, "is_named", facts.module.data != NULL);
        json_object_end(&json);
        refusal = write_plan(&json, store, entry, failure);
    }
    json_object_end(&json);
    modules_close(&modules);
    if (!refusal)
        return response_json(&buf);
    buf_free(&buf);
    return refusal;
}

struct response *api_oom_plan(const struct server *server, const struct request *request)
{
    const struct analysis_view view = view_of_texts();
    struct choice choice = {0};
    struct subject text = {0};
    uint64_t report_at;
    struct err err = ERR_INIT;
    struct response *response = read_offset(request, "report", 1, &report_at)
                                    ? choice_open(&choice, server, request, &view)
                                    : response_problem(400, "argument", "report is a number, from 1");
    if (!response && !subjects_open(server->store, &choice.place, &text, &err))
        response = response_failure(&err, text.hold.is_transient, choice.file);
    const struct oom_report *report = response ? NULL : analysis_text_report(text.core);
    if (report && (report_at == 0 || report_at > analysis_oom_count(report)))
        response = response_problem(404, "notfound", "the text has no report of that number");
    else if (report)
        response = answer_plan(server->store, &choice, analysis_oom_at(report, report_at - 1));
    subjects_close(&text);
    choice_close(&choice);
    return response;
}

/* ---- the text itself ---------------------------------------------------------------- */

static bool read_window(const struct choice *choice, uint64_t from, uint64_t to, struct buf *out, struct err *err)
{
    if (choice->count > 0) {
        const struct source source = upload_source(choice->subjects[0].upload);
        return analysis_oom_window(&source, from, to, out, err);
    }
    struct file *file = files_open(choice->place.file, err);
    bool is_good = file && analysis_oom_window(files_source(file), from, to, out, err) && files_only_grew(file, err);
    files_close(file);
    return is_good;
}

static struct response *answer_window(const struct choice *choice, uint64_t from, uint64_t to)
{
    struct buf buf = BUF_INIT;
    struct err err = ERR_INIT;
    if (!read_window(choice, from, to, &buf, &err)) {
        buf_free(&buf);
        return response_err(&err, choice->file);
    }
    return response_of_buf(200, "application/octet-stream", &buf);
}

struct response *api_oom_text(const struct server *server, const struct request *request)
{
    const struct analysis_view view = view_of_texts();
    struct choice choice = {0};
    uint64_t from = 0, to = 0;
    struct response *response = NULL;
    if (!read_offset(request, "from", 0, &from) || !read_offset(request, "to", from + WINDOW_BYTES, &to))
        response = response_problem(400, "argument", "from and to are places in the text, in bytes");
    if (!response && (to < from || to - from > MAX_WINDOW_BYTES))
        response =
            response_problem(400, "argument", "to must not be before from, nor %d bytes behind it", MAX_WINDOW_BYTES);
    if (!response)
        response = choice_open(&choice, server, request, &view);
    if (!response)
        response = answer_window(&choice, from, to);
    choice_close(&choice);
    return response;
}
