/* SPDX-License-Identifier: Apache-2.0
 * mcp.h: the Model Context Protocol over stdin and stdout: one JSON-RPC message per line. Only messages go to stdout.
 *
 * Revisions 2024-11-05 to 2025-11-25 begin with initialize; of 2026-07-28 each request names its revision. The caller
 * of mcp_serve has the tools and resources. What takes long is done by a process of its own, one after the other;
 * meanwhile requests that need none are answered, and notifications/cancelled ends it. Every request gets a response,
 * but for a cancelled one. */
#pragma once

#include "base/json.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

enum mcp_form {
    MCP_TEXT,
    MCP_DATA,    /* JSON */
    MCP_MEMBERS, /* a JSON object, whose members are those of the result */
};

/* What a process of its own does for a request. */
struct mcp_task {
    /* Writes the answer to stdout. 0, 1: it is one (MCP_MEMBERS 1: there is no such resource); more: stderr says why
     * the answer is missing or incomplete. */
    int (*run)(void *context);
    void (*free)(void *context);
    void *context;
    enum mcp_form form;
    char *key;                      /* tasks of the same key have the same answer; free() */
    size_t from_bytes, limit_bytes; /* the part of the answer that is asked for */
};

struct mcp_server {
    const char *instructions;
    const void *context;
    /* The elements of the list of tools. */
    void (*write_tools)(struct json *json);
    bool (*has_tool)(const char *name);
    /* Each fills `task`, or returns why not: free(). `arguments` may be NULL. */
    char *(*call)(const void *context, const char *name, const cJSON *arguments, struct mcp_task *task);
    char *(*list_resources)(const void *context, const char *cursor, struct mcp_task *task);
    char *(*read_resource)(const void *context, const char *uri, struct mcp_task *task);
};

/* Until stdin ends and all is answered, or stdout is closed. The exit status: 0, or 2 where stdout failed. */
int mcp_serve(const struct mcp_server *server);
