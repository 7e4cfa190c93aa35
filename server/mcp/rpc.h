/* SPDX-License-Identifier: Apache-2.0
 * rpc.h: messages of JSON-RPC 2.0: reading one, and writing its response.
 *
 * All input is hostile. A message is valid UTF-8 without NUL and at most as deep as cJSON reads (1000). An id is a
 * string or a number; it goes back as it came, every digit of it. */
#pragma once

#include "base/buf.h"
#include "base/json.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum rpc_code {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_NO_METHOD = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
};

enum rpc_kind {
    RPC_REQUEST,
    RPC_NOTIFICATION, /* no response */
    RPC_RESPONSE,     /* to what we never asked: ignored */
    RPC_BATCH,        /* an array: rpc_each reads its messages */
    RPC_REFUSED,      /* `code` and `fault` say why */
};

struct rpc_message {
    enum rpc_kind kind;
    cJSON *root;
    char *id; /* as JSON; "null" where it is not known; NULL of a notification */
    const char *method;
    const cJSON *params; /* an object, or NULL */
    enum rpc_code code;
    const char *fault;
};

/* One whole value of JSON with nothing but blanks behind it; NULL. cJSON_Delete(). */
cJSON *rpc_read_value(struct str text);

/* A whole number that a double holds without loss: at most 2^53 from 0. */
bool rpc_is_whole(const cJSON *value);

/* rpc_free in any case. */
void rpc_read(struct str text, struct rpc_message *message);
void rpc_free(struct rpc_message *message);

/* Calls `each` with the text of each element of an array that rpc_read has read. */
void rpc_each(struct str array, void (*each)(void *context, struct str element), void *context);

/* The id of another request that a notification names (`requestId`), as JSON, to compare with the id of a message;
 * free(). NULL: there is none. `text`: of the message, which rpc_read has read. */
char *rpc_request_id(const struct rpc_message *message, struct str text);

/* A response, without the end of its line. Between begin and end the members of the result are written. */
void rpc_begin_result(struct json *json, const char *id);
void rpc_end_result(struct json *json);
/* `data`: JSON, or NULL. */
void rpc_write_error(struct json *json, const char *id, int code, const char *message, const char *data);
