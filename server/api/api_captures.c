/* SPDX-License-Identifier: Apache-2.0
 * api_captures.c: running jobs asked for traces: begun, looked at, cancelled. */
#include "server/api/api.h"
#include "server/api/captures.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

/* What a body says; texts are those of the tree. */
struct api_captures_asked {
    const char *addresses[CAPTURE_HOSTS_MAX];
    size_t count; /* 0: all */
    int64_t seconds;
};

static bool take_addresses(const cJSON *list, struct api_captures_asked *asked)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item) || asked->count == CAPTURE_HOSTS_MAX)
            return false;
        asked->addresses[asked->count++] = item->valuestring;
    }
    return cJSON_IsArray(list) && asked->count > 0;
}

static bool take_seconds(const cJSON *member, struct api_captures_asked *asked)
{
    double value = cJSON_IsNumber(member) ? member->valuedouble : 0;
    bool is_good = value >= 1 && value <= CAPTURE_SECONDS_MAX && value == floor(value);
    asked->seconds = is_good ? (int64_t)value : 0;
    return is_good;
}

/* False: it is none of the kind. */
static bool api_captures_take(const cJSON *body, struct api_captures_asked *asked)
{
    const cJSON *member;
    bool is_good = true;
    if (!cJSON_IsObject(body))
        return false; /* places of an array have no names */
    cJSON_ArrayForEach(member, body)
    {
        if (strcmp(member->string, "addresses") == 0 && asked->count == 0)
            is_good &= cJSON_IsNull(member) || take_addresses(member, asked);
        else
            is_good &= strcmp(member->string, "seconds") == 0 && asked->seconds == 0 && take_seconds(member, asked);
    }
    return is_good && asked->seconds > 0;
}

static struct response *api_captures_begin(const struct server *server, const struct api_captures_asked *asked)
{
    char id[TASK_RING_ID_SIZE];
    struct err err = ERR_INIT;
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    if (!captures_begin(server->captures, asked->addresses, asked->count, asked->seconds, id, &err))
        return err.code == ERR_conflict      ? response_problem(409, "busy", "%s", err.text)
               : err.code == ERR_unsupported ? response_problem(409, "unsupported", "%s", err.text)
                                             : response_err(&err, NULL);
    captures_write(server->captures, id, &json);
    struct response *response = response_of_buf(202, "application/json", &buf);
    response_add_header(response, "Location", "/api/v1/captures/%s", id);
    return response;
}

struct response *api_captures_add(const struct server *server, const struct request *request)
{
    static const char *const types[] = {"application/json", NULL};
    struct api_captures_asked asked = {.count = 0};
    struct response *response = api_check_type(request, types);
    if (response)
        return response;
    cJSON *body = cJSON_ParseWithLength(request->body->data ? request->body->data : "", request->body->size);
    response = api_captures_take(body, &asked)
                   ? api_captures_begin(server, &asked)
                   : response_problem(400, "argument",
                                      "the body must be {\"seconds\": 3}, with \"addresses\": [\"HOST:PORT\", …] "
                                      "where not all of them are meant; seconds are a number from 1 to %d",
                                      CAPTURE_SECONDS_MAX);
    cJSON_Delete(body);
    return response;
}

static struct response *no_capture(void)
{
    return response_problem(404, "notfound", "there is no capture of that id, or not any more");
}

struct response *api_captures(const struct server *server, const struct request *request)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    (void)request;
    captures_write_offer(server->captures, &json);
    return response_json(&buf);
}

struct response *api_capture(const struct server *server, const struct request *request)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    if (captures_write(server->captures, request->captures[0], &json))
        return response_json(&buf);
    buf_free(&buf);
    return no_capture();
}

struct response *api_capture_cancel(const struct server *server, const struct request *request)
{
    return captures_cancel(server->captures, request->captures[0]) ? response_empty(204) : no_capture();
}
