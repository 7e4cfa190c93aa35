/* SPDX-License-Identifier: Apache-2.0
 * api_profiles.c: device profiles: those of a session, and those that are uploaded. */
#include "server/api/api.h"

#include "server/store/subjects.h"

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

static void write_profiles(struct json *json, const struct api_subject *subject)
{
    const struct snapshot_session *session = subject->session;
    json_key_text(json, "session", session->id);
    json_key_array(json, "profiles");
    for (size_t at = 0; at < session->profile_count; at++)
        write_profile(json, &session->profiles[at]);
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
        response = response_failure(&err, one.hold.is_passing, name);
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
