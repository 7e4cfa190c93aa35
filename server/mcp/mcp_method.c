/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/mcp_method.h"

#include "server/base/memory.h"
#include "server/base/version.h"
#include "server/mcp/mcp_answer.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN_VERSION = -32022, WORD_MAX = 60 };
#define REVISION_MEMBER "io.modelcontextprotocol/protocolVersion"
#define STATELESS "2026-07-28"
/* The newest comes last: what a client that names another one is offered. */
static const char *const WITH_HANDSHAKE[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
enum { HANDSHAKE_COUNT = sizeof(WITH_HANDSHAKE) / sizeof(WITH_HANDSHAKE[0]) };

static const char *member_text(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static const cJSON *revision_of(const struct rpc_message *message)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(message->params, "_meta"),
                                            REVISION_MEMBER);
}

bool mcp_method_is_stateless(const struct rpc_message *message) { return revision_of(message) != NULL; }

void mcp_method_write_stateless(struct json *json, bool is_list)
{
    json_key_text(json, "resultType", "complete");
    if (!is_list)
        return;
    json_key_int(json, "ttlMs", 0);
    json_key_text(json, "cacheScope", "private");
}

static void write_revisions(struct json *json)
{
    json_array_begin(json);
    for (size_t at = 0; at < HANDSHAKE_COUNT; at++)
        json_text(json, WITH_HANDSHAKE[at]);
    json_text(json, STATELESS);
    json_array_end(json);
}

static void write_server(struct json *json, const struct mcp_server *server)
{
    json_key_object(json, "capabilities");
    json_key_object(json, "tools");
    json_object_end(json);
    json_key_object(json, "resources");
    json_object_end(json);
    json_object_end(json);
    json_key_object(json, "serverInfo");
    json_key_text(json, "name", "memviewd");
    json_key_text(json, "version", version_number);
    json_object_end(json);
    json_key_text(json, "instructions", server->instructions);
}

/* ---- methods: each writes the members of the result, or fills the task --------------------- */

struct method_call {
    const struct mcp_server *server;
    const struct rpc_message *message;
    struct json *json;
    struct mcp_task *task;
    char *fault; /* of its params */
};

static void initialize(struct method_call *call)
{
    const char *wanted = member_text(call->message->params, "protocolVersion");
    size_t chosen = HANDSHAKE_COUNT - 1;
    for (size_t at = 0; wanted && at < HANDSHAKE_COUNT; at++)
        if (strcmp(wanted, WITH_HANDSHAKE[at]) == 0)
            chosen = at;
    json_key_text(call->json, "protocolVersion", WITH_HANDSHAKE[chosen]);
    write_server(call->json, call->server);
}

static void discover(struct method_call *call)
{
    json_key(call->json, "supportedVersions");
    write_revisions(call->json);
    write_server(call->json, call->server);
}

static void ping(struct method_call *call) { (void)call; }

static void list_tools(struct method_call *call)
{
    json_key_array(call->json, "tools");
    call->server->write_tools(call->json);
    json_array_end(call->json);
}

static void call_tool(struct method_call *call)
{
    const char *name = member_text(call->message->params, "name");
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(call->message->params, "arguments");
    if (!name) {
        call->fault = memory_text("name must be the name of a tool");
    } else if (!call->server->has_tool(name)) {
        call->fault = memory_format("unknown tool \"%.*s\"", (int)str_cut(str_of(name), WORD_MAX), name);
    } else if (arguments && !cJSON_IsObject(arguments) && !cJSON_IsNull(arguments)) {
        call->fault = memory_text("arguments must be an object");
    } else {
        char *fault =
            call->server->call(call->server->context, name, cJSON_IsObject(arguments) ? arguments : NULL, call->task);
        if (fault) /* for the model, which can call again */
            mcp_answer_write_fault(call->json, fault);
        free(fault);
    }
}

static void list_resources(struct method_call *call)
{
    const cJSON *cursor = cJSON_GetObjectItemCaseSensitive(call->message->params, "cursor");
    if (cursor && !cJSON_IsString(cursor))
        call->fault = memory_text("cursor must be a string");
    else
        call->fault = call->server->list_resources(call->server->context, cJSON_GetStringValue(cursor), call->task);
}

static void list_templates(struct method_call *call)
{
    json_key_array(call->json, "resourceTemplates");
    json_array_end(call->json);
}

static void read_resource(struct method_call *call)
{
    const char *uri = member_text(call->message->params, "uri");
    call->fault =
        uri ? call->server->read_resource(call->server->context, uri, call->task) : memory_text("uri must be a string");
}

static const struct {
    const char *name;
    void (*answer)(struct method_call *call);
    bool is_list; /* clients may keep its result */
} METHODS[] = {
    {"initialize", initialize, false},
    {"server/discover", discover, true},
    {"ping", ping, false},
    {"tools/list", list_tools, true},
    {"tools/call", call_tool, false},
    {"resources/list", list_resources, true},
    {"resources/templates/list", list_templates, true},
    {"resources/read", read_resource, true},
};
enum { METHOD_COUNT = sizeof(METHODS) / sizeof(METHODS[0]) };

/* Refuses a revision that is not known. */
static bool check_revision(const struct rpc_message *message, struct json *json)
{
    const cJSON *revision = revision_of(message);
    struct buf data = BUF_INIT;
    struct json members = JSON_INIT(&data);
    if (!revision || (cJSON_IsString(revision) && strcmp(revision->valuestring, STATELESS) == 0))
        return true;
    json_object_begin(&members);
    json_key(&members, "supported");
    write_revisions(&members);
    json_key_text(&members, "requested", cJSON_IsString(revision) ? revision->valuestring : "");
    json_object_end(&members);
    buf_char(&data, '\0');
    rpc_write_error(json, message->id, UNKNOWN_VERSION, "unsupported protocol version", data.failed ? NULL : data.data);
    buf_free(&data);
    return false;
}

bool mcp_method(const struct mcp_server *server, const struct rpc_message *message, struct json *json,
                struct mcp_task *task)
{
    struct buf members = BUF_INIT;
    struct json inner = JSON_INIT(&members);
    struct method_call call = {.server = server, .message = message, .json = &inner, .task = task};
    size_t at = 0;
    while (at < METHOD_COUNT && strcmp(METHODS[at].name, message->method) != 0)
        at++;
    *task = (struct mcp_task){0};
    if (at == METHOD_COUNT) {
        char *fault =
            memory_format("unknown method \"%.*s\"", (int)str_cut(str_of(message->method), WORD_MAX), message->method);
        rpc_write_error(json, message->id, RPC_NO_METHOD, fault, NULL);
        free(fault);
        return false;
    }
    if (!check_revision(message, json))
        return false;
    METHODS[at].answer(&call);
    if (call.fault) {
        rpc_write_error(json, message->id, RPC_INVALID_PARAMS, call.fault, NULL);
    } else if (!task->run) {
        if (mcp_method_is_stateless(message))
            mcp_method_write_stateless(&inner, METHODS[at].is_list);
        rpc_begin_result(json, message->id);
        if (members.length > 0)
            json_written(json, (struct str){members.data, members.length});
        rpc_end_result(json);
        buf_fail_with(json->out, &members);
    }
    free(call.fault);
    buf_free(&members);
    return task->run != NULL;
}
