/* SPDX-License-Identifier: Apache-2.0
 * api_profiles.c: device profiles: those of a session, moments of its allocator snapshots, and those that are uploaded.
 */
#include "server/api/api.h"

#include "server/store/subjects.h"

#include <stdlib.h>
#include <string.h>

static void write_profile(struct json *json, const struct snapshot_profile *profile)
{
    json_object_begin(json);
    json_key_text(json, "id", profile->id);
    json_key_text(json, "name", profile->file->name);
    json_key_text(json, "file", profile->file->path);
    json_key_uint(json, "size_bytes", profile->file->identity.size_bytes);
    api_write_modified(json, profile->file->identity.modified_at_ns / 1000000);
    json_object_end(json);
}

/* ---- moments of allocator snapshots -------------------------------------------------- */

/* memory: NULL of the worst of several, which is `worst`, or of the only one, then `worst` is NULL. */
static void write_moment(struct json *json, const struct snapshot_host *host, const char *worst, const char *memory,
                         const struct analysis_moment *moment)
{
    const char *shown = memory ? memory : worst;
    char *id = memory ? memory_format("%s@%s@%s", host->id, moment->text, memory)
                      : memory_format("%s@%s", host->id, moment->text);
    char *name = memory_format("%s%s%s, %s", host->name, shown ? " " : "", shown ? shown : "", moment->words);
    json_object_begin(json);
    json_key_text(json, "id", id);
    json_key_text(json, "name", name);
    json_key_text(json, "file", host->file->path);
    json_key_uint(json, "size_bytes", host->file->identity.size_bytes);
    api_write_modified(json, host->file->identity.modified_at_ns / 1000000);
    json_key_text(json, "host", host->id);
    json_key_text(json, "memory", memory);
    json_key_text(json, "moment", moment->text);
    json_key_text(json, "words", moment->words);
    json_key_int(json, "time_ps", moment->time_ps);
    json_key_int(json, "in_use_bytes", moment->in_use_bytes);
    json_object_end(json);
    free(id);
    free(name);
}

/* Those of one snapshot; one that cannot be read has none: the views say why. */
static void write_moments(struct json *json, const struct api_subject *subject, const struct snapshot_host *host)
{
    const struct subjects_place place = subjects_trace(subject->session, host);
    struct subject trace = {0};
    struct err err = ERR_INIT;
    struct analysis_trace_pool pool, second;
    struct analysis_moment moment;
    bool is_open = subjects_open(subject->server->store, &place, &trace, &err);
    bool has_several = is_open && analysis_trace_pool_at(trace.core, 1, &second);
    for (size_t at = 0; is_open && analysis_trace_pool_at(trace.core, at, &pool); at++)
        for (size_t i = 0; analysis_trace_moment_at(trace.core, at, i, &moment); i++)
            write_moment(json, host, has_several ? pool.name : NULL, at > 0 ? pool.name : NULL, &moment);
    subjects_close(&trace);
}

static void write_profiles(struct json *json, const struct api_subject *subject)
{
    const struct snapshot_session *session = subject->session;
    json_key_text(json, "session", session->id);
    json_key_array(json, "profiles");
    for (size_t at = 0; at < session->profile_count; at++)
        write_profile(json, &session->profiles[at]);
    for (size_t at = 0; at < session->host_count; at++)
        if (session->hosts[at].is_allocator)
            write_moments(json, subject, &session->hosts[at]);
    json_array_end(json);
}

struct response *api_profiles(const struct server *server, const struct request *request)
{
    return api_of_session(server, request, write_profiles);
}

struct response *api_profiles_add(const struct server *server, const struct request *request)
{
    struct subject one = {0};
    struct err err = ERR_INIT;
    const char *name = request_param(request, "name", "profile");
    struct response *response = NULL;
    if (strlen(name) > 255)
        response = response_problem(400, "argument", "the name is longer than 255 bytes");
    if (!response && !subjects_add(server->store, ANALYSIS_PROFILE, request->body, name, &one, &err))
        response = response_failure(&err, one.hold.is_transient, name);
    if (!response) {
        struct buf buf = BUF_INIT;
        struct json json = JSON_INIT(&buf);
        struct str type, unit;
        json_object_begin(&json);
        json_key_text(&json, "id", one.key);
        json_key_text(&json, "name", name);
        json_key_uint(&json, "size_bytes", one.size_bytes);
        json_key_uint(&json, "sample_count", analysis_profile_sample_count(one.core));
        json_key_array(&json, "sample_types");
        for (size_t at = 0; analysis_profile_type_at(one.core, at, &type, &unit); at++) {
            json_object_begin(&json);
            json_key_string(&json, "name", type);
            json_key_string(&json, "unit", unit);
            json_object_end(&json);
        }
        json_array_end(&json);
        json_object_end(&json);
        response = response_of_buf(201, "application/json", &buf);
    }
    subjects_close(&one);
    return response;
}
