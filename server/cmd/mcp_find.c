/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/mcp_find.h"

#include "base/printable.h"
#include "base/size_text.h"
#include "server/api/api.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/cmd/box.h"
#include "server/gather/index.h"
#include "server/store/account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE_COUNT = 100, CURSOR_DIGITS = 9, MS_PER_S = 1000, TIME_BYTES = 32 };
#define SESSIONS "memviewd://sessions/"

/* The sessions of one moment. */
struct found {
    struct index *index;
    struct snapshot *snapshot;
    struct store *store;
};

static void found_open(struct found *found, const struct mcp_tools *tools)
{
    found->index = index_new();
    for (size_t at = 0; at < tools->roots.count; at++)
        index_add(found->index, tools->roots.paths[at]);
    index_scan_once_with_texts(found->index, false);
    found->snapshot = index_hold(found->index);
    found->store = store_new(account_default_limit());
}

static void found_close(struct found *found)
{
    store_free(found->store);
    index_release(found->index, found->snapshot);
    index_free(found->index);
}

/* ---- a session ----------------------------------------------------------------------------- */

static const struct snapshot_file *file_of(const struct snapshot_session *session, size_t at)
{
    if (at < session->file_count)
        return session->files[at];
    return session->file_count == 0 && at < session->text_count ? session->texts[at].file : NULL;
}

/* What the tools take for it: its file, or the folder that all of its files lie below. free() */
static char *path_of(const struct snapshot_session *session)
{
    const struct snapshot_file *file = file_of(session, 0);
    char *path = file ? files_place_path(&file->place) : memory_text("");
    for (size_t at = 1; (file = file_of(session, at)); at++) {
        char *other = files_place_path(&file->place);
        size_t shared = 0, slash = 0;
        for (; path[shared] && path[shared] == other[shared]; shared++)
            slash = path[shared] == '/' ? shared : slash;
        if (path[shared] == '\0' && other[shared] == '/')
            slash = shared;
        path[slash > 0 ? slash : 1] = '\0';
        free(other);
    }
    return path;
}

static bool is_chosen(const struct snapshot_session *session, const char *path, const char *filter, bool is_failed)
{
    bool is_named = !filter || strcasestr(session->name, filter) || strcasestr(path, filter);
    return is_named && (!is_failed || snapshot_failure(session));
}

static void write_session(struct json *json, struct store *store, const struct snapshot_session *session,
                          const char *path)
{
    json_object_begin(json);
    api_write_session(json, store, session, false);
    json_key_text(json, "path", path);
    json_object_end(json);
}

static const char *time_text(char text[TIME_BYTES], int64_t modified_at_ms)
{
    time_t seconds = (time_t)(modified_at_ms / MS_PER_S);
    struct tm parts;
    text[0] = '\0';
    if (modified_at_ms > 0 && gmtime_r(&seconds, &parts))
        strftime(text, TIME_BYTES, ", %Y-%m-%d %H:%M:%S UTC", &parts);
    return text;
}

/* "runs/a: dump, 12.30 MiB, 2026-11-23 10:02:00 UTC", its path and its failure. */
static void add_session(struct buf *out, const struct snapshot_session *session, const char *path)
{
    const struct log_text_failure *failure = snapshot_failure(session);
    char size[SIZE_TEXT_BYTES], when[TIME_BYTES];
    buf_printable(out, str_of(session->name));
    buf_format(out, ": %s, %s%s\n  ", snapshot_kind_name(session->kind), size_text(size, session->size_bytes),
               time_text(when, session->modified_at_ms));
    buf_printable(out, str_of(path));
    if (failure) {
        buf_text(out, "\n  out of memory: ");
        buf_printable(out, str_of(failure->title));
    }
    buf_char(out, '\n');
}

/* ---- the tool ------------------------------------------------------------------------------ */

static bool put(const struct buf *out, bool is_data)
{
    if (!out->failed)
        output_answer(out->data ? out->data : "", out->length, is_data);
    else
        fputs("there is no memory for the answer\n", stderr);
    return !out->failed;
}

int mcp_find(const struct mcp_tools *tools, const char *filter, bool is_failed, bool is_json)
{
    struct buf out = BUF_INIT;
    struct json json = JSON_INIT(&out);
    struct found found;
    size_t count = 0;
    found_open(&found, tools);
    if (is_json) {
        json_object_begin(&json);
        json_key_array(&json, "sessions");
    }
    for (size_t at = 0; at < found.snapshot->session_count; at++) {
        const struct snapshot_session *session = found.snapshot->sessions[at];
        char *path = path_of(session);
        bool is_wanted = is_chosen(session, path, filter, is_failed);
        if (is_wanted && is_json)
            write_session(&json, found.store, session, path);
        else if (is_wanted)
            add_session(&out, session, path);
        count += is_wanted;
        free(path);
    }
    if (is_json) {
        json_array_end(&json);
        api_write_not_read(&json, found.snapshot);
        json_object_end(&json);
    } else {
        buf_format(&out, "%zu of %zu sessions\n", count, found.snapshot->session_count);
    }
    bool is_good = put(&out, is_json);
    found_close(&found);
    buf_free(&out);
    return is_good ? COMMANDS_DONE : COMMANDS_UNUSABLE;
}

/* ---- resources ------------------------------------------------------------------------------ */

struct resource_question {
    const struct mcp_tools *tools;
    size_t from;
    char *id; /* NULL: the list */
};

static void question_free(void *context)
{
    struct resource_question *question = context;
    free(question->id);
    free(question);
}

static void write_resource(struct json *json, const struct snapshot_session *session, const char *path)
{
    struct buf uri = BUF_INIT, words = BUF_INIT;
    add_session(&words, session, path);
    buf_format(&uri, SESSIONS "%s", session->id);
    json_object_begin(json);
    json_key_string(json, "uri", (struct str){uri.data, uri.length});
    json_key_text(json, "name", session->name);
    json_key_string(json, "description", (struct str){words.data, words.length});
    json_key_text(json, "mimeType", "application/json");
    json_object_end(json);
    buf_fail_with(json->out, &words);
    buf_free(&uri);
    buf_free(&words);
}

static void write_list(struct json *json, const struct snapshot *snapshot, size_t from)
{
    json_key_array(json, "resources");
    size_t at = from;
    for (; at < snapshot->session_count && at - from < PAGE_COUNT; at++) {
        char *path = path_of(snapshot->sessions[at]);
        write_resource(json, snapshot->sessions[at], path);
        free(path);
    }
    json_array_end(json);
    if (at >= snapshot->session_count)
        return;
    char cursor[32];
    snprintf(cursor, sizeof(cursor), "%zu", at);
    json_key_text(json, "nextCursor", cursor);
}

static void write_contents(struct json *json, struct store *store, const struct snapshot_session *session)
{
    struct buf text = BUF_INIT, uri = BUF_INIT;
    struct json inner = JSON_INIT(&text);
    char *path = path_of(session);
    write_session(&inner, store, session, path);
    buf_format(&uri, SESSIONS "%s", session->id);
    json_key_array(json, "contents");
    json_object_begin(json);
    json_key_string(json, "uri", (struct str){uri.data, uri.length});
    json_key_text(json, "mimeType", "application/json");
    json_key_string(json, "text", (struct str){text.data, text.length});
    json_object_end(json);
    json_array_end(json);
    buf_fail_with(json->out, &text);
    buf_free(&text);
    buf_free(&uri);
    free(path);
}

static int question_run(void *context)
{
    const struct resource_question *question = context;
    const struct mcp_tools *tools = question->tools;
    struct buf out = BUF_INIT;
    struct json json = JSON_INIT(&out);
    struct found found;
    box_question(tools->options, (const char *const *)tools->roots.paths, tools->roots.count);
    found_open(&found, tools);
    const struct snapshot_session *session = question->id ? snapshot_session(found.snapshot, question->id) : NULL;
    json_object_begin(&json);
    if (session)
        write_contents(&json, found.store, session);
    else if (!question->id)
        write_list(&json, found.snapshot, question->from);
    json_object_end(&json);
    bool is_missing = question->id && !session, is_good = !is_missing && put(&out, true);
    if (is_missing)
        fputs("no such session", stderr);
    found_close(&found);
    buf_free(&out);
    return is_missing ? COMMANDS_FINDING : is_good ? COMMANDS_DONE : COMMANDS_UNUSABLE;
}

static void ask(struct mcp_task *task, const void *context, size_t from, char *id)
{
    struct resource_question *question = memory_new(sizeof(*question));
    *question = (struct resource_question){.tools = context, .from = from, .id = id};
    *task = (struct mcp_task){.run = question_run, .free = question_free, .context = question, .form = MCP_MEMBERS};
}

char *mcp_find_list_resources(const void *context, const char *cursor, struct mcp_task *task)
{
    size_t digits = cursor ? strspn(cursor, "0123456789") : 0;
    if (cursor && (digits == 0 || digits > CURSOR_DIGITS || cursor[digits] != '\0'))
        return memory_text("cursor is not one of ours");
    ask(task, context, cursor ? (size_t)strtoul(cursor, NULL, 10) : 0, NULL);
    return NULL;
}

char *mcp_find_read_resource(const void *context, const char *uri, struct mcp_task *task)
{
    bool is_ours = strncmp(uri, SESSIONS, strlen(SESSIONS)) == 0;
    ask(task, context, 0, memory_text(is_ours ? uri + strlen(SESSIONS) : ""));
    return NULL;
}
