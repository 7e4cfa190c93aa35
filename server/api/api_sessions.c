/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/api.h"

#include "server/api/listing.h"

#include <stdlib.h>
#include <string.h>

/* Failures found within this time of each other are one event: a job whose ranks fail, a folder that was copied. */
enum { AT_ONCE_MS = 60 * 1000 };
enum { ERROR_TEXT_BYTES = 64 * 1024, MAX_ERROR_TEXTS = 32, MAX_PROBLEMS = 1000 };

static void write_problem(struct json *json, const char *file, const struct err *why)
{
    json_object_begin(json);
    json_keys_of_err(json, file, why);
    json_object_end(json);
}

static void write_hosts(struct json *json, const struct snapshot_session *session, bool with_file)
{
    json_key_array(json, "hosts");
    for (size_t at = 0; at < session->host_count; at++) {
        const struct snapshot_host *host = &session->hosts[at];
        json_object_begin(json);
        json_key_text(json, "id", host->id);
        json_key_text(json, "name", host->name);
        if (with_file) {
            json_key_text(json, "file", host->file->path);
            json_key_uint(json, "size_bytes", host->file->identity.size_bytes);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- the list ------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
    const struct snapshot_session *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static int by_size(const void *a, const void *b)
{
    const struct snapshot_session *const *x = a, *const *y = b;
    return ORDER((*y)->size_bytes, (*x)->size_bytes) ?: by_name(a, b);
}

/* A session in the order "failed". */
struct standing {
    const struct snapshot_session *session;
    size_t event, at; /* of the failures, the newest first; SIZE_MAX: it did not fail. Where it stands by its time */
    int64_t over_bytes;
};

static int by_failure(const void *a, const void *b)
{
    const struct standing *x = a, *y = b;
    return ORDER(x->event, y->event) ?: ORDER(y->over_bytes, x->over_bytes) ?: ORDER(x->at, y->at);
}

/* What failed before all others, newest first; of one event that which is most over. `sessions`: newest first, and all
 * there are, so that an event does not depend on what is asked for. */
static void failed_first(const struct snapshot_session **sessions, size_t count)
{
    struct standing *all = memory_new((count + 1) * sizeof(*all));
    const struct snapshot_session *first = NULL; /* of the event */
    size_t event = 0;
    for (size_t at = 0; at < count; at++) {
        const struct log_text_failure *failure = snapshot_failure(sessions[at]);
        all[at] = (struct standing){sessions[at], SIZE_MAX, at, failure != NULL ? failure->over_bytes : 0};
        if (failure == NULL)
            continue;
        if (first == NULL || first->modified_at_ms - sessions[at]->modified_at_ms > AT_ONCE_MS) {
            first = sessions[at];
            event++;
        }
        all[at].event = event;
    }
    qsort(all, count, sizeof(*all), by_failure);
    for (size_t at = 0; at < count; at++)
        sessions[at] = all[at].session;
    free(all);
}

/* The sessions that match, in the order asked for; free() the list. is_failed: only those with a failure. */
static const struct snapshot_session **api_sessions_choose(const struct snapshot *snapshot,
                                                           const struct listing *listing, bool is_failed, size_t *count)
{
    const size_t size = snapshot->session_count * sizeof(struct snapshot_session *);
    const struct snapshot_session **chosen = memory_new(size + sizeof(struct snapshot_session *));
    const char *sort = listing->sort;
    if (size > 0)
        memcpy(chosen, snapshot->sessions, size);
    if (strcmp(sort, "failed") == 0)
        failed_first(chosen, snapshot->session_count);
    *count = 0;
    for (size_t at = 0; at < snapshot->session_count; at++)
        if (listing_matches(listing, chosen[at]->name) && (!is_failed || snapshot_failure(chosen[at])))
            chosen[(*count)++] = chosen[at];
    if (strcmp(sort, "name") == 0 || strcmp(sort, "largest") == 0)
        qsort(chosen, *count, sizeof(struct snapshot_session *), strcmp(sort, "name") == 0 ? by_name : by_size);
    return chosen;
}

void api_write_failure(struct json *json, const struct log_text_failure *failure)
{
    if (!json_key_object_if(json, "failure", failure != NULL))
        return;
    json_key_uint(json, "count", failure->failure_count);
    json_key_text(json, "family", failure->family);
    json_key_text(json, "memory_class", failure->memory_class[0] ? failure->memory_class : NULL);
    json_key_text(json, "phase", failure->phase[0] ? failure->phase : NULL);
    json_key_text(json, "memory_space", failure->memory_space[0] ? failure->memory_space : NULL);
    json_key_text(json, "module", failure->module[0] ? failure->module : NULL);
    json_key_known(json, "needed_bytes", failure->needed_bytes);
    json_key_known(json, "capacity_bytes", failure->capacity_bytes);
    json_key_known(json, "exceeded_bytes", failure->exceeded_bytes);
    json_key_known(json, "free_bytes", failure->free_bytes);
    json_key_known(json, "largest_free_bytes", failure->largest_free_bytes);
    json_key_text(json, "title", failure->title);
    json_key_known(json, "limit_bytes", failure->limit_bytes);
    json_key_text(json, "limit_phrase", failure->limit_phrase[0] ? failure->limit_phrase : NULL);
    json_key_known(json, "over_bytes", failure->over_bytes);
    json_key_text(json, "over_text", failure->over_text[0] ? failure->over_text : NULL);
    json_object_end(json);
}

void api_write_session(struct json *json, struct store *store, const struct snapshot_session *session, bool is_whole)
{
    json_key_text(json, "id", session->id);
    json_key_text(json, "name", session->name);
    json_key_text(json, "kind", snapshot_kind_name(session->kind));
    api_write_modified(json, session->modified_at_ms);
    json_key_uint(json, "size_bytes", session->size_bytes);
    json_key_uint(json, "host_count", session->host_count);
    write_hosts(json, session, is_whole);
    json_key_known(json, "module_count", modules_known_count(store, session));
    json_key_known(json, "largest_total_bytes", atomic_load(&session->known->largest_total_bytes));
    api_write_worst(json, session);
    json_key_uint(json, "profile_count", session->profile_count);
    json_key_uint(json, "snapshot_count", session->allocator_count);
    json_key_bool(json, "has_error_text", session->text_count > 0);
    api_write_failure(json, snapshot_failure(session));
}

void api_write_sessions(struct json *json, struct store *store, const struct snapshot *snapshot)
{
    json_array_begin(json);
    for (size_t at = 0; at < snapshot->session_count; at++) {
        json_object_begin(json);
        api_write_session(json, store, snapshot->sessions[at], false);
        json_object_end(json);
    }
    json_array_end(json);
}

void api_write_not_read(struct json *json, const struct snapshot *snapshot)
{
    json_key_array(json, "not_read");
    for (size_t at = 0; at < snapshot->problem_count && at < MAX_PROBLEMS; at++) {
        const struct snapshot_problem *problem = &snapshot->problems[at];
        write_problem(json, problem->file, &problem->why);
    }
    json_array_end(json);
}

static size_t failed_count(const struct snapshot *snapshot)
{
    size_t count = 0;
    for (size_t at = 0; at < snapshot->session_count; at++)
        count += snapshot_failure(snapshot->sessions[at]) != NULL;
    return count;
}

struct response *api_sessions(const struct server *server, const struct request *request)
{
    static const char *const SORTS[] = {"newest", "name", "largest", "failed", NULL};
    struct listing listing;
    struct response *refusal = listing_read(request, SORTS, &listing);
    const char *verdict = request_param(request, "verdict", "");
    if (refusal)
        return refusal;
    if (verdict[0] && strcmp(verdict, "failed") != 0)
        return response_problem(400, "argument", "verdict: \"%.40s\" is none; it is failed", verdict);
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    struct snapshot *snapshot = index_hold(server->index);
    size_t count;
    const struct snapshot_session **chosen = api_sessions_choose(snapshot, &listing, verdict[0] != '\0', &count);
    json_object_begin(&json);
    listing_write_head(&json, &listing, snapshot->session_count, count);
    json_key_uint(&json, "failed_count", failed_count(snapshot));
    json_key_array(&json, "sessions");
    for (size_t at = listing.offset; at < count && at - listing.offset < listing.limit; at++) {
        json_object_begin(&json);
        api_write_session(&json, server->store, chosen[at], false);
        json_object_end(&json);
    }
    json_array_end(&json);
    api_write_not_read(&json, snapshot);
    json_key_uint(&json, "scan_generation", snapshot->generation);
    json_object_end(&json);
    free(chosen);
    index_release(server->index, snapshot);
    return response_json(&buf);
}

/* ---- one session ------------------------------------------------------------------ */

static void write_files(struct json *json, const struct snapshot_session *session)
{
    json_key_array(json, "files");
    for (size_t at = 0; at < session->file_count; at++) {
        const struct snapshot_file *file = session->files[at];
        json_object_begin(json);
        json_key_text(json, "name", file->name);
        json_key_uint(json, "size_bytes", file->identity.size_bytes);
        json_key_text(json, "kind", names_word(file->name));
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_error_texts(struct json *json, const struct snapshot_session *session)
{
    json_key_array(json, "error_texts");
    for (size_t at = 0; at < session->text_count && at < MAX_ERROR_TEXTS; at++) {
        struct buf text = BUF_INIT;
        struct err err = ERR_INIT;
        const struct snapshot_file *file = session->texts[at].file;
        if (files_read_text(&file->place, ERROR_TEXT_BYTES, &text, &err)) {
            json_object_begin(json);
            json_key_text(json, "file", file->path);
            json_key_string(json, "text", (struct str){text.data ? text.data : "", text.length});
            api_write_capacity(json, text.data ? text.data : "", text.length);
            json_object_end(json);
        }
        buf_free(&text);
    }
    json_array_end(json);
}

static void write_session_problems(struct json *json, const struct snapshot *snapshot,
                                   const struct snapshot_session *session, const struct modules *modules)
{
    json_key_array(json, "not_read");
    for (size_t at = 0; at < modules->file_count; at++) {
        const struct modules_file *file = &modules->files[at];
        if (err_is_set(&file->err))
            write_problem(json, file->file->path, &file->err);
    }
    for (size_t at = 0; at < snapshot->problem_count; at++) {
        const struct snapshot_problem *problem = &snapshot->problems[at];
        bool is_known = false; /* reading it has said so already */
        for (size_t file = 0; file < modules->file_count; file++)
            is_known |=
                err_is_set(&modules->files[file].err) && strcmp(modules->files[file].file->path, problem->file) == 0;
        if (problem->session == session && !is_known)
            write_problem(json, problem->file, &problem->why);
    }
    json_array_end(json);
}

static void write_session(struct json *json, const struct api_subject *subject)
{
    const struct snapshot_session *session = subject->session;
    struct store *store = subject->server->store;
    struct modules modules = {0};
    if (session->kind == SNAPSHOT_TRACE)
        modules_open(store, session, NULL, &modules);
    api_write_session(json, store, session, true);
    write_files(json, session);
    api_write_notes(json, session, &modules);
    write_error_texts(json, session);
    write_session_problems(json, subject->snapshot, session, &modules);
    modules_close(&modules);
}

struct response *api_session(const struct server *server, const struct request *request)
{
    return api_of_session(server, request, write_session);
}
