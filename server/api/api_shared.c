/* SPDX-License-Identifier: Apache-2.0
 * api_shared.c: what several groups of handlers do alike: the session that a request is about, the
 * parameters that are the core's, the type of a body, times. */
#include "server/api/api.h"

#include <string.h>
#include <strings.h>

/* What pages of programs show where no session is named. NULL: none has, or may have, a program. */
static const struct snapshot_session *newest_with_programs(struct store *store, const struct snapshot *snapshot)
{
    for (size_t at = 0; snapshot && at < snapshot->session_count; at++)
        if (modules_known_count(store, snapshot->sessions[at]) != 0)
            return snapshot->sessions[at];
    return NULL;
}

static struct response *find_session(struct api_subject *subject, const struct server *server, const char *id)
{
    struct err err = ERR_INIT;
    subject->server = server;
    if (!id)
        return response_problem(400, "argument", "the parameter session is missing");
    if (!upload_set_is_id(id)) {
        subject->indexed = index_hold(server->index);
        subject->snapshot = subject->indexed;
    } else if (upload_set_find(server->store, id, &subject->uploaded, &err)) {
        subject->snapshot = upload_set_snapshot(&subject->uploaded);
    } else {
        return response_err(&err, NULL);
    }
    subject->session = strcmp(id, "newest") == 0 ? newest_with_programs(server->store, subject->snapshot)
                                                 : snapshot_session(subject->snapshot, id);
    return subject->session ? NULL : response_problem(404, "notfound", "there is no session of that id");
}

struct response *api_open(const struct server *server, const char *id, const char *host_id, struct api_subject *subject)
{
    struct response *refusal = find_session(subject, server, id);
    if (refusal || !host_id || host_id[0] == '\0')
        return refusal;
    subject->host = snapshot_host(subject->session, host_id);
    return subject->host ? NULL : response_problem(404, "notfound", "the session has no host of that id");
}

void api_close(struct api_subject *subject)
{
    if (subject->indexed)
        index_release(subject->server->index, subject->indexed);
    upload_set_close(&subject->uploaded);
    *subject = (struct api_subject){0};
}

struct response *api_of_session(const struct server *server, const struct request *request,
                                void (*write)(struct json *json, const struct api_subject *subject))
{
    struct api_subject subject = {0};
    struct response *response = api_open(server, request->captures[0], NULL, &subject);
    if (!response) {
        struct buf buf = BUF_INIT;
        struct json json = JSON_INIT(&buf);
        json_object_begin(&json);
        write(&json, &subject);
        json_object_end(&json);
        response = response_json(&buf);
    }
    api_close(&subject);
    return response;
}

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

struct analysis_param *api_core_params(const struct request *request, const char *const *own_names, size_t *count)
{
    struct analysis_param *params = memory_new((request->param_count + 1) * sizeof(*params));
    *count = 0;
    for (size_t at = 0; at < request->param_count; at++) {
        const struct request_param *param = &request->params[at];
        if (!is_among(own_names, param->name))
            params[(*count)++] = (struct analysis_param){param->name, param->value};
    }
    return params;
}

static bool is_of_type(const char *type, const char *wanted)
{
    size_t length = strlen(wanted);
    return strncasecmp(type, wanted, length) == 0 &&
           (type[length] == '\0' || type[length] == ';' || type[length] == ' ');
}

struct response *api_check_type(const struct request *request, const char *const *types)
{
    struct buf wanted = BUF_INIT;
    for (size_t at = 0; types[at]; at++) {
        if (request->content_type && is_of_type(request->content_type, types[at])) {
            buf_free(&wanted);
            return NULL;
        }
        buf_format(&wanted, "%s%s", at ? " or " : "", types[at]);
    }
    struct response *refusal =
        response_problem(415, "argument", "send the bytes as %.*s", (int)wanted.length, wanted.data);
    buf_free(&wanted);
    return refusal;
}

struct response *api_keep_body(const struct request *request, uint64_t extra_bytes)
{
    return upload_keep(request->body, extra_bytes)
               ? NULL
               : response_problem(503, "busy", "there is no memory to keep more files now; ask again");
}

void api_write_error(struct json *json, const struct err *err)
{
    if (!json_key_object_if(json, "error", err && err_is_set(err)))
        return;
    json_keys_of_err(json, NULL, err);
    json_object_end(json);
}

void api_write_modified(struct json *json, int64_t modified_at_ms)
{
    json_key_known(json, "modified_at_ms", modified_at_ms > 0 ? modified_at_ms : -1);
}
