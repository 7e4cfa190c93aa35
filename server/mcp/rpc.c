/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/rpc.h"

#include "server/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole numbers up to here are doubles without loss. */
static const double EXACT = 9007199254740992.0;

static bool is_text(struct str text)
{
    for (size_t at = 0; at < text.length;) {
        size_t length = (unsigned char)text.data[at] < 0x80 ? 1 : str_utf8_length(text.data + at, text.length - at);
        if (length == 0 || text.data[at] == '\0')
            return false;
        at += length;
    }
    return true;
}

/* places of values in a text that was read */

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.length && text.data[at] && strchr(" \t\r\n", text.data[at]))
        at++;
    return at;
}

static size_t skip_string(struct str text, size_t at)
{
    for (at++; at < text.length && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.length ? at + 1 : text.length;
}

/* Behind the value at `at`; of a valid text. */
static size_t skip_value(struct str text, size_t at)
{
    size_t depth = 0;
    while (at < text.length) {
        char c = text.data[at];
        if (c == '"') {
            at = skip_string(text, at);
        } else {
            if (depth == 0 && strchr(",]}", c))
                break;
            depth += c == '[' || c == '{';
            depth -= c == ']' || c == '}';
            at++;
        }
        if (depth == 0 && at < text.length && strchr(",]} \t\r\n", text.data[at]))
            break;
    }
    return at;
}

/* The value of the first member `quoted` ("\"id\"") of an object; empty where it is written with escapes. */
static struct str raw_member(struct str object, const char *quoted)
{
    size_t at = skip_blanks(object, 0) + 1;
    while (at < object.length && object.data[at = skip_blanks(object, at)] == '"') {
        size_t end = skip_string(object, at), value = skip_blanks(object, end) + 1;
        bool is_wanted = str_equal((struct str){object.data + at, end - at}, str_of(quoted));
        value = skip_blanks(object, value);
        at = value < object.length ? skip_value(object, value) : object.length;
        if (is_wanted && value < object.length)
            return (struct str){object.data + value, at - value};
        at = skip_blanks(object, at) + 1;
        if (at >= object.length)
            break;
    }
    return (struct str){"", 0};
}

void rpc_each(struct str array, void (*each)(void *context, struct str element), void *context)
{
    size_t at = skip_blanks(array, skip_blanks(array, 0) + 1);
    while (at < array.length && array.data[at] != ']') {
        size_t end = skip_value(array, at);
        each(context, (struct str){array.data + at, end - at});
        at = skip_blanks(array, skip_blanks(array, end) + 1);
    }
}

/* ---- ids -------------------------------------------------------------------------------- */

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?; cJSON takes more. */
static bool is_number(struct str text)
{
    size_t at = text.length > 0 && text.data[0] == '-', digits = str_digits(text, at);
    if (digits == 0 || (digits > 1 && text.data[at] == '0'))
        return false;
    at += digits;
    if (at < text.length && text.data[at] == '.') {
        digits = str_digits(text, at + 1);
        if (digits == 0)
            return false;
        at += 1 + digits;
    }
    if (at < text.length && (text.data[at] == 'e' || text.data[at] == 'E')) {
        at++;
        at += at < text.length && (text.data[at] == '+' || text.data[at] == '-');
        digits = str_digits(text, at);
        if (digits == 0)
            return false;
        at += digits;
    }
    return at == text.length;
}

bool rpc_is_whole(const cJSON *value)
{
    return cJSON_IsNumber(value) && fabs(value->valuedouble) <= EXACT &&
           value->valuedouble == floor(value->valuedouble);
}

static char *id_by_value(const cJSON *value)
{
    struct buf out = BUF_INIT;
    struct json json = JSON_INIT(&out);
    if (cJSON_IsString(value))
        json_text(&json, value->valuestring);
    else if (rpc_is_whole(value))
        json_int(&json, (int64_t)value->valuedouble);
    else if (cJSON_IsNumber(value) && isfinite(value->valuedouble))
        json_double(&json, value->valuedouble);
    char *id = out.length > 0 && !out.failed ? memory_format("%.*s", (int)out.length, out.data) : NULL;
    buf_free(&out);
    return id;
}

/* `value`: the member `quoted` of `object`. */
static char *id_of(const cJSON *value, struct str object, const char *quoted)
{
    struct str raw = cJSON_IsNumber(value) ? raw_member(object, quoted) : (struct str){"", 0};
    return raw.length > 0 && is_number(raw) ? memory_format("%.*s", (int)raw.length, raw.data) : id_by_value(value);
}

char *rpc_request_id(const struct rpc_message *message, struct str text)
{
    return id_of(cJSON_GetObjectItemCaseSensitive(message->params, "requestId"), raw_member(text, "\"params\""),
                 "\"requestId\"");
}

/* ---- messages --------------------------------------------------------------------------- */

static void rpc_refuse(struct rpc_message *message, enum rpc_code code, const char *fault)
{
    message->kind = RPC_REFUSED;
    message->code = code;
    message->fault = fault;
    if (!message->id)
        message->id = memory_text("null");
}

static void read_object(struct str text, struct rpc_message *message)
{
    const cJSON *root = message->root, *id = cJSON_GetObjectItemCaseSensitive(root, "id");
    const cJSON *method = cJSON_GetObjectItemCaseSensitive(root, "method");
    const cJSON *params = cJSON_GetObjectItemCaseSensitive(root, "params");
    const char *version = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "jsonrpc"));
    bool is_response =
        cJSON_GetObjectItemCaseSensitive(root, "result") || cJSON_GetObjectItemCaseSensitive(root, "error");
    message->id = id ? id_of(id, text, "\"id\"") : NULL;
    message->method = cJSON_GetStringValue(method);
    message->params = cJSON_IsObject(params) ? params : NULL;
    message->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
    if (!method && is_response)
        message->kind = RPC_RESPONSE;
    else if (id && !message->id)
        rpc_refuse(message, RPC_INVALID_REQUEST, "id must be a string or a number");
    else if (!version || strcmp(version, "2.0") != 0)
        rpc_refuse(message, RPC_INVALID_REQUEST, "jsonrpc must be \"2.0\"");
    else if (!message->method)
        rpc_refuse(message, RPC_INVALID_REQUEST, "method must be a string");
    else if (id && params && !cJSON_IsObject(params))
        rpc_refuse(message, RPC_INVALID_PARAMS, "params must be an object");
}

cJSON *rpc_read_value(struct str text)
{
    const char *end = NULL;
    cJSON *value = cJSON_ParseWithLengthOpts(text.data, text.length, &end, false);
    if (value && skip_blanks(text, (size_t)(end - text.data)) == text.length)
        return value;
    cJSON_Delete(value);
    return NULL;
}

void rpc_read(struct str text, struct rpc_message *message)
{
    *message = (struct rpc_message){.kind = RPC_REFUSED};
    if (!is_text(text)) {
        rpc_refuse(message, RPC_PARSE_ERROR, "the line is not UTF-8");
        return;
    }
    message->root = rpc_read_value(text);
    if (!message->root)
        rpc_refuse(message, RPC_PARSE_ERROR, "the line is not one JSON value, or is nested too deeply");
    else if (cJSON_IsArray(message->root) && message->root->child)
        message->kind = RPC_BATCH;
    else if (!cJSON_IsObject(message->root))
        rpc_refuse(message, RPC_INVALID_REQUEST, "a message is an object");
    else
        read_object(text, message);
}

void rpc_free(struct rpc_message *message)
{
    cJSON_Delete(message->root);
    free(message->id);
    *message = (struct rpc_message){.kind = RPC_REFUSED};
}

/* ---- responses -------------------------------------------------------------------------- */

static void begin_response(struct json *json, const char *id)
{
    json_object_begin(json);
    json_key_text(json, "jsonrpc", "2.0");
    json_key(json, "id");
    json_written(json, str_of(id));
}

void rpc_begin_result(struct json *json, const char *id)
{
    begin_response(json, id);
    json_key_object(json, "result");
}

void rpc_end_result(struct json *json)
{
    json_object_end(json);
    json_object_end(json);
}

void rpc_write_error(struct json *json, const char *id, int code, const char *message, const char *data)
{
    begin_response(json, id);
    json_key_object(json, "error");
    json_key_int(json, "code", code);
    json_key_text(json, "message", message);
    if (data) {
        json_key(json, "data");
        json_written(json, str_of(data));
    }
    json_object_end(json);
    json_object_end(json);
}
