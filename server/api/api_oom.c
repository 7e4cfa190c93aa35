/* SPDX-License-Identifier: Apache-2.0
 * api_oom.c: what out-of-memory texts say: those that a reader gave, and those of a session. */
#include "server/api/api.h"

#include "server/api/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a text in one answer. */
enum { WINDOW_BYTES = 64 * 1024, MAX_WINDOW_BYTES = 1 << 20 };

/* The text that a request is about. */
struct asked {
    struct api_subject subject; /* without a session: a given text */
    const struct snapshot_file *file;
    struct text text;
};

static void asked_close(struct asked *asked)
{
    texts_close(&asked->text);
    api_close(&asked->subject);
}

/* The text of a session: the one named, else the first with a failure, else the first. */
static const struct snapshot_file *choose(const struct snapshot_session *session, const char *name)
{
    const struct snapshot_file *chosen = NULL;
    for (size_t at = 0; at < session->text_count; at++) {
        const struct snapshot_text *text = &session->texts[at];
        if (name && strcmp(text->file->name, name) == 0)
            return text->file;
        if (!name && (!chosen || text->verdict.failure_count > 0)) {
            chosen = text->file;
            if (text->verdict.failure_count > 0)
                break;
        }
    }
    return chosen;
}

static struct response *find_in_session(const struct server *server, const struct request *request, struct asked *asked)
{
    const char *name = request_param(request, "file", "");
    struct response *refusal = api_open(server, request_param(request, "session", NULL), NULL, &asked->subject);
    if (refusal)
        return refusal;
    asked->file = choose(asked->subject.session, name[0] ? name : NULL);
    if (!asked->file)
        return response_problem(
            404, "notfound", name[0] ? "the session has no text of that name" : "the session has no error text or log");
    return NULL;
}

static bool is_id(const char *text)
{
    return strlen(text) == TEXTS_ID_SIZE - 1 && strspn(text, "0123456789abcdef") == TEXTS_ID_SIZE - 1;
}

/* Finds what session= and file=, or local=, name, without reading it; NULL or the refusal. */
static struct response *find(const struct server *server, const struct request *request, struct asked *asked)
{
    const char *local = request_param(request, "local", NULL);
    struct err err = ERR_INIT;
    if (!local)
        return find_in_session(server, request, asked);
    if (request_param(request, "session", NULL) || request_param(request, "file", NULL))
        return response_problem(400, "argument", "give either session (and file), or local");
    if (!is_id(local))
        return response_problem(400, "argument", "local must be %d hex digits", TEXTS_ID_SIZE - 1);
    return texts_find(server->store, local, &asked->text, &err) ? NULL : response_err(&err, NULL);
}

static void write_files(struct json *json, const struct snapshot_session *session)
{
    json_key(json, "files");
    json_array_begin(json);
    for (size_t at = 0; session && at < session->text_count; at++)
        json_text(json, session->texts[at].file->name);
    json_array_end(json);
}

static struct response *answer(const struct asked *asked)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    json_object_begin(&json);
    json_key_text(&json, "local", asked->text.id);
    json_key_text(&json, "session", asked->subject.session ? asked->subject.session->id : NULL);
    json_key_text(&json, "file", asked->file ? asked->file->name : NULL);
    write_files(&json, asked->subject.session);
    buf_char(&buf, ',');
    buf_text(&buf, asked->text.answer);
    json_object_end(&json);
    return response_json(&buf);
}

struct response *api_oom(const struct server *server, const struct request *request)
{
    static const char *const NAMES[] = {"session", "file", "local", NULL};
    struct asked asked = {0};
    struct err err = ERR_INIT;
    struct response *response = listing_check_names(request, NAMES);
    if (!response)
        response = find(server, request, &asked);
    if (!response && asked.file && !texts_of_file(server->store, &asked.file->place, &asked.text, &err))
        response = response_err(&err, asked.file->path);
    if (!response)
        response = answer(&asked);
    asked_close(&asked);
    return response;
}

struct response *api_oom_give(const struct server *server, const struct request *request)
{
    static const char *const NAMES[] = {NULL}, *const TYPES[] = {"text/plain", "application/octet-stream", NULL};
    struct asked asked = {0};
    struct err err = ERR_INIT;
    struct response *response = listing_check_names(request, NAMES);
    if (!response)
        response = api_check_type(request, TYPES);
    if (!response && request->body->size == 0)
        response = response_problem(400, "argument", "the text is empty");
    if (!response)
        response = api_keep_body(request, TEXTS_COST_BYTES);
    if (!response && !texts_give(server->store, request->body, &asked.text, &err))
        response = response_err(&err, NULL);
    if (!response)
        response = answer(&asked);
    asked_close(&asked);
    return response;
}

/* ---- the text itself ---------------------------------------------------------------- */

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

static bool read_window(const struct asked *asked, uint64_t from, uint64_t to, struct buf *out, struct err *err)
{
    if (asked->text.upload) {
        const struct source source = upload_source(asked->text.upload);
        return analysis_oom_window(&source, from, to, out, err);
    }
    struct file *file = files_open(&asked->file->place, err);
    bool is_good = file && analysis_oom_window(files_source(file), from, to, out, err) && files_only_grew(file, err);
    files_close(file);
    return is_good;
}

static struct response *answer_window(const struct asked *asked, uint64_t from, uint64_t to)
{
    struct buf buf = BUF_INIT;
    struct err err = ERR_INIT;
    if (!read_window(asked, from, to, &buf, &err)) {
        buf_free(&buf);
        return response_err(&err, asked->file ? asked->file->path : NULL);
    }
    return response_of_buf(200, "application/octet-stream", &buf);
}

struct response *api_oom_text(const struct server *server, const struct request *request)
{
    static const char *const NAMES[] = {"session", "file", "local", "from", "to", NULL};
    struct asked asked = {0};
    uint64_t from = 0, to = 0;
    struct response *response = listing_check_names(request, NAMES);
    if (!response && (!read_offset(request, "from", 0, &from) || !read_offset(request, "to", from + WINDOW_BYTES, &to)))
        response = response_problem(400, "argument", "from and to are places in the text, in bytes");
    if (!response && (to < from || to - from > MAX_WINDOW_BYTES))
        response =
            response_problem(400, "argument", "to must not be before from, nor %d bytes behind it", MAX_WINDOW_BYTES);
    if (!response)
        response = find(server, request, &asked);
    if (!response)
        response = answer_window(&asked, from, to);
    asked_close(&asked);
    return response;
}
