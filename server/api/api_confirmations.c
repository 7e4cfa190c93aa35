/* SPDX-License-Identifier: Apache-2.0
 * api_confirmations.c: the compiler asked about changes to a program: begun, looked at, cancelled. */
#include "server/api/confirmations.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_MAX = 32 };

/* What a body says; texts are those of the tree. */
struct api_confirmations_asked {
    const char *session, *host, *module, *topology, *device;
    const char *changes[CHANGES_MAX];
    size_t change_count;
};

static bool take_text(const cJSON *member, const char **to)
{
    if (cJSON_IsNull(member))
        return true;
    *to = member->valuestring;
    return cJSON_IsString(member) && member->valuestring[0] != '\0';
}

static bool take_changes(const cJSON *list, struct api_confirmations_asked *asked)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item) || asked->change_count == CHANGES_MAX)
            return false;
        asked->changes[asked->change_count++] = item->valuestring;
    }
    return cJSON_IsArray(list) && asked->change_count > 0;
}

static struct response *refuse_body(void)
{
    return response_problem(
        400, "argument",
        "the body must be {\"session\": \"…\", \"change\": [\"batch=0.5\", …]}, with \"host\", \"module\", "
        "\"topology\" and \"device\" where they are wanted; at most %d changes",
        CHANGES_MAX);
}

static struct response *take_body(const cJSON *body, struct api_confirmations_asked *asked)
{
    const cJSON *member;
    bool is_good = true, has_changes = false;
    if (!cJSON_IsObject(body))
        return refuse_body();
    cJSON_ArrayForEach(member, body)
    {
        const char *name = member->string;
        const char **to = strcmp(name, "session") == 0    ? &asked->session
                          : strcmp(name, "host") == 0     ? &asked->host
                          : strcmp(name, "module") == 0   ? &asked->module
                          : strcmp(name, "topology") == 0 ? &asked->topology
                          : strcmp(name, "device") == 0   ? &asked->device
                                                          : NULL;
        bool is_change = strcmp(name, "change") == 0 && !has_changes;
        has_changes |= is_change;
        is_good &= to ? !*to && take_text(member, to) : is_change && take_changes(member, asked);
    }
    return is_good && asked->session && has_changes ? NULL : refuse_body();
}

static struct response *api_confirmations_begin(const struct server *server, struct api_subject *subject,
                                                const struct modules_entry *entry,
                                                const struct api_confirmations_asked *asked)
{
    char topology[ANALYSIS_TOPOLOGY_SIZE] = ""; /* for a dump that does not tell its chips */
    struct err err = ERR_INIT;
    if (asked->device && !analysis_device_topology(asked->device, topology, &err))
        return response_err(&err, NULL);
    const struct confirmations_asked wanted = {.subject = subject,
                                               .module = entry->file->file,
                                               .key = entry->program->key,
                                               .topology = asked->topology,
                                               .otherwise = topology[0] ? topology : NULL,
                                               .changes = asked->changes,
                                               .change_count = asked->change_count};
    char id[TASK_RING_ID_SIZE];
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    if (!confirmations_is_offered(server->confirmations, &err))
        return response_problem(409, "unsupported", "%s", err.text);
    if (!confirmations_begin(server->confirmations, &wanted, id, &err))
        return err.code == ERR_conflict ? response_problem(409, "busy", "%s", err.text) : response_err(&err, NULL);
    confirmations_write(server->confirmations, id, &json);
    struct response *response = response_of_buf(202, "application/json", &buf);
    response_add_header(response, "Location", "/api/v1/confirmations/%s", id);
    return response;
}

static struct response *find_and_begin(const struct server *server, const struct api_confirmations_asked *asked)
{
    struct api_subject subject = {0};
    struct modules modules = {0};
    struct err err = ERR_INIT;
    const char *file = NULL;
    struct response *response = api_open(server, asked->session, asked->host, &subject);
    if (!response && !modules_find(server->store, subject.session, subject.host, asked->module, &modules, &err, &file))
        response = response_err(&err, file);
    if (!response)
        response = api_confirmations_begin(server, &subject, &modules.entries[0], asked);
    modules_close(&modules);
    api_close(&subject);
    return response;
}

struct response *api_confirmations_add(const struct server *server, const struct request *request)
{
    static const char *const types[] = {"application/json", NULL};
    struct api_confirmations_asked asked = {0};
    struct response *response = api_check_type(request, types);
    if (response)
        return response;
    cJSON *body = cJSON_ParseWithLength(request->body->data ? request->body->data : "", request->body->size);
    response = take_body(body, &asked);
    if (!response)
        response = find_and_begin(server, &asked);
    cJSON_Delete(body);
    return response;
}

static struct response *none(void)
{
    return response_problem(404, "notfound", "there is no confirmation of that id, or not any more");
}

struct response *api_confirmations(const struct server *server, const struct request *request)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    (void)request;
    confirmations_write_offer(server->confirmations, &json);
    return response_json(&buf);
}

struct response *api_confirmation(const struct server *server, const struct request *request)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    if (!confirmations_write(server->confirmations, request->captures[0], &json)) {
        buf_free(&buf);
        return none();
    }
    return response_json(&buf);
}

struct response *api_confirmation_cancel(const struct server *server, const struct request *request)
{
    return confirmations_cancel(server->confirmations, request->captures[0]) ? response_empty(204) : none();
}
