/* SPDX-License-Identifier: Apache-2.0
 * api_profiles.c: device profiles: those of a session, those that a reader gave, and what views say of them. */
#include "server/api/api.h"

#include "server/api/listing.h"
#include "server/store/profile_series.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1000 };

/* The profiles that a request is about. */
struct asked {
    const struct server *server;
    struct api_subject subject; /* without a session when none was named */
    struct profiles_one *ones;
    struct analysis_profile_use *uses;
    struct err *errs;
    size_t count, capacity;
    struct analysis_param *params; /* those of the core */
    size_t param_count;
};

static bool is_given_id(const char *text)
{
    return strlen(text) == PROFILES_ID_SIZE - 1 && strspn(text, "0123456789abcdef") == PROFILES_ID_SIZE - 1;
}

static const struct snapshot_profile *find_profile(const struct snapshot_session *session, const char *id)
{
    for (size_t at = 0; session && at < session->profile_count; at++) {
        if (strcmp(session->profiles[at].id, id) == 0)
            return &session->profiles[at];
    }
    return NULL;
}

/* ---- what is asked ------------------------------------------------------------------ */

static void make_room(struct asked *asked)
{
    size_t capacity = asked->capacity, needed = asked->count + 1;
    asked->ones = memory_grow(asked->ones, &asked->capacity, needed, sizeof(*asked->ones));
    if (asked->capacity == capacity)
        return;
    asked->uses = realloc(asked->uses, asked->capacity * sizeof(*asked->uses));
    asked->errs = realloc(asked->errs, asked->capacity * sizeof(*asked->errs));
    if (!asked->uses || !asked->errs)
        memory_out();
}

/* Opens one; what cannot be read stays with its reason. */
static void add(struct asked *asked, const char *id, const struct snapshot_profile *profile, bool is_base)
{
    struct profiles *profiles = asked->server->profiles;
    make_room(asked);
    size_t at = asked->count++;
    asked->errs[at] = (struct err)ERR_INIT;
    if (profile)
        profiles_of_file(profiles, &profile->file->place, &asked->ones[at], &asked->errs[at]);
    else
        profiles_find(profiles, id, &asked->ones[at], &asked->errs[at]);
    const struct profiles_one *one = &asked->ones[at];
    asked->uses[at] = (struct analysis_profile_use){
        .profile = one->profile,
        .id = id,
        .name = profile     ? profile->file->name
                : one->name ? one->name
                            : id,
        .size_bytes = one->profile ? one->size_bytes
                      : profile    ? profile->file->identity.size_bytes
                                   : 0,
        .modified_at_ms = one->modified_at_ms,
        .is_base = is_base,
        .code = asked->errs[at].code,
    };
}

/* Opens what profile= and base= name. NULL, or the refusal. */
static struct response *add_named(struct asked *asked, const struct request *request)
{
    for (size_t at = 0; at < request->param_count; at++) {
        const struct request_param *param = &request->params[at];
        bool is_base = strcmp(param->name, "base") == 0;
        if ((!is_base && strcmp(param->name, "profile") != 0) || param->value[0] == '\0')
            continue;
        const struct snapshot_profile *profile = find_profile(asked->subject.session, param->value);
        if (!profile && !is_given_id(param->value))
            return asked->subject.session ? response_problem(404, "notfound", "the session has no profile of that id")
                                          : response_problem(400, "argument", "the parameter session is missing");
        add(asked, param->value, profile, is_base);
    }
    return NULL;
}

/* Names one that is beside a series: it can be asked for. */
static void add_other(struct asked *asked, const struct snapshot_profile *profile)
{
    make_room(asked);
    size_t at = asked->count++;
    asked->ones[at] = (struct profiles_one){0};
    asked->errs[at] = (struct err)ERR_INIT;
    asked->uses[at] = (struct analysis_profile_use){.id = profile->id, .name = profile->file->name};
}

static void add_series(struct asked *asked)
{
    const struct snapshot_session *session = asked->subject.session;
    bool *is_chosen = memory_new(session->profile_count * sizeof(*is_chosen));
    profile_series_choose(session, is_chosen);
    for (size_t at = 0; at < session->profile_count; at++) {
        if (is_chosen[at])
            add(asked, session->profiles[at].id, &session->profiles[at], false);
    }
    for (size_t at = 0; at < session->profile_count; at++) {
        if (!is_chosen[at])
            add_other(asked, &session->profiles[at]);
    }
    free(is_chosen);
}

/* Without profile=: those of a series, else the last one. */
static struct response *add_usual(struct asked *asked, bool is_series)
{
    const struct snapshot_session *session = asked->subject.session;
    for (size_t at = 0; at < asked->count; at++) {
        if (!asked->uses[at].is_base)
            return NULL;
    }
    if (!session)
        return response_problem(400, "argument", "name a session, or a profile by its hash");
    if (session->profile_count == 0)
        return response_problem(404, "notfound", "the session has no device profile");
    const struct snapshot_profile *last = &session->profiles[session->profile_count - 1];
    if (is_series)
        add_series(asked);
    else
        add(asked, last->id, last, false);
    return NULL;
}

/* A view of one profile that cannot be read says why; a series goes on without it. */
static struct response *check_read(struct asked *asked)
{
    size_t read_count = 0;
    for (size_t at = 0; at < asked->count; at++) {
        asked->uses[at].reason = asked->errs[at].text;
        read_count += asked->uses[at].profile && !asked->uses[at].is_base;
    }
    for (size_t at = 0; at < asked->count; at++) {
        bool is_needed = asked->uses[at].is_base || read_count == 0;
        if (!asked->uses[at].profile && is_needed)
            return (asked->ones[at].hold.is_passing ? response_passing_err : response_err)(&asked->errs[at],
                                                                                           asked->uses[at].name);
    }
    return NULL;
}

static struct response *open_all(struct asked *asked, const struct request *request)
{
    const char *id = request_param(request, "session", NULL);
    struct response *response = NULL;
    size_t id_count = 0;
    for (size_t at = 0; at < request->param_count; at++)
        id_count += strcmp(request->params[at].name, "session") == 0;
    if (id_count > 1)
        return response_problem(400, "argument", "the parameter \"session\" is given more than once");
    if (id && id[0])
        response = api_open(asked->server, id, NULL, &asked->subject);
    if (!response)
        response = add_named(asked, request);
    if (!response)
        response = add_usual(asked, strcmp(request->captures[0], "series") == 0);
    return response ? response : check_read(asked);
}

static void close_all(struct asked *asked)
{
    for (size_t at = 0; at < asked->count; at++)
        profiles_close(&asked->ones[at]);
    free(asked->ones);
    free(asked->uses);
    free(asked->errs);
    free(asked->params);
    api_close(&asked->subject);
}

/* ---- views -------------------------------------------------------------------------- */

static char *keys_of(const struct asked *asked)
{
    struct buf keys = BUF_INIT;
    for (size_t at = 0; at < asked->count; at++) {
        const struct analysis_profile_use *use = &asked->uses[at];
        buf_format(&keys, "%s%s=%s:%zu:%s,", use->is_base ? "-" : "+", use->id, use->profile ? asked->ones[at].key : "",
                   strlen(use->name), use->name);
    }
    buf_char(&keys, '\0');
    if (keys.failed)
        memory_out();
    return keys.data;
}

static struct response *response_in(const struct request *request, struct body *body)
{
    const char *format = request_param(request, "format", "json"), *view = request->captures[0];
    if (strcmp(view, "profile") == 0) {
        struct body *file = body_of_gzip(body);
        body_release(body);
        if (!file)
            return response_problem(503, "limit", "no memory to write the profile");
        struct response *packed = response_of_body(200, "application/vnd.google.protobuf+gzip", file);
        response_add_header(packed, "Content-Disposition", "attachment; filename=\"memory.pb.gz\"");
        return packed;
    }
    if (strcmp(format, "json") == 0 || format[0] == '\0')
        return response_of_body(200, "application/json", body);
    bool is_csv = strcmp(format, "csv") == 0;
    struct response *response =
        response_of_body(200, is_csv ? "text/csv; charset=utf-8" : "text/plain; charset=utf-8", body);
    response_add_header(response, "Content-Disposition", "attachment; filename=\"device-%.40s.%s\"", view,
                        is_csv ? "csv" : "txt");
    return response;
}

static struct response *answer(const struct asked *asked, const struct request *request)
{
    const struct analysis_profile_question core = {asked->uses, asked->count, asked->server->source_root_count > 0};
    struct err err = ERR_INIT;
    char *keys = keys_of(asked);
    const struct profiles_question question = {&core, keys, request->captures[0], asked->params, asked->param_count};
    struct body *body = profiles_answer(asked->server->profiles, &question, &err);
    free(keys);
    return body ? response_in(request, body) : response_err(&err, asked->count == 1 ? asked->uses[0].name : NULL);
}

struct response *api_device_view(const struct server *server, const struct request *request)
{
    static const char *const OWN_NAMES[] = {"session", "profile", "base", NULL};
    struct asked asked = {.server = server};
    const char *limit = request_param(request, "limit", "0"), *format = request_param(request, "format", "json");
    if (strcmp(format, "json") == 0 && strtol(limit, NULL, 10) > MOST_ROWS)
        return response_problem(400, "argument", "limit must be a whole number up to %d", MOST_ROWS);
    if (!api_is_view("device_memory", request->captures[0]))
        return response_problem(404, "notfound", "there is no such tool or view");
    struct response *response = open_all(&asked, request);
    if (!response) {
        asked.params = api_core_params(request, OWN_NAMES, &asked.param_count);
        response = answer(&asked, request);
    }
    close_all(&asked);
    return response;
}

/* ---- lists -------------------------------------------------------------------------- */

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
    json_key(json, "profiles");
    json_array_begin(json);
    for (size_t at = 0; at < session->profile_count; at++)
        write_profile(json, &session->profiles[at]);
    json_array_end(json);
}

struct response *api_profiles(const struct server *server, const struct request *request)
{
    return api_of_session(server, request, write_profiles);
}

/* ---- given ones --------------------------------------------------------------------- */

struct response *api_profile_give(const struct server *server, const struct request *request)
{
    static const char *const NAMES[] = {"name", NULL}, *const TYPES[] = {"application/octet-stream", NULL};
    struct profiles_one one = {0};
    struct err err = ERR_INIT;
    const char *name = request_param(request, "name", "profile");
    struct response *response = listing_check_names(request, NAMES);
    if (!response)
        response = api_check_type(request, TYPES);
    if (!response && strlen(name) > 255)
        response = response_problem(400, "argument", "the name is longer than 255 bytes");
    if (!response && !profiles_give(server->profiles, request->body, name, &one, &err))
        response = (one.hold.is_passing ? response_passing_err : response_err)(&err, name);
    if (!response) {
        struct buf buf = BUF_INIT;
        struct json json = JSON_INIT(&buf);
        struct str type, unit;
        json_object_begin(&json);
        json_key_text(&json, "id", one.key);
        json_key_text(&json, "name", name);
        json_key_uint(&json, "size_bytes", one.size_bytes);
        json_key_uint(&json, "sample_count", analysis_profile_sample_count(one.profile));
        json_key(&json, "sample_types");
        json_array_begin(&json);
        for (size_t at = 0; analysis_profile_type_at(one.profile, at, &type, &unit); at++) {
            json_object_begin(&json);
            json_key_string(&json, "name", type);
            json_key_string(&json, "unit", unit);
            json_object_end(&json);
        }
        json_array_end(&json);
        json_object_end(&json);
        response = response_of_buf(201, "application/json", &buf);
    }
    profiles_close(&one);
    return response;
}
