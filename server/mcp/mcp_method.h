/* SPDX-License-Identifier: Apache-2.0
 * mcp_method.h: what a request gets at once, or which task answers it. */
#pragma once

#include "server/mcp/mcp.h"
#include "server/mcp/rpc.h"

/* True: `task` has to be done. False: the whole response is in `json`. */
bool mcp_method(const struct mcp_server *server, const struct rpc_message *message, struct json *json,
                struct mcp_task *task);

/* Does the request name its revision itself? Then results say what revision 2026-07-28 wants to know of them. */
bool mcp_method_is_stateless(const struct rpc_message *message);
/* Members of the result of such a request. */
void mcp_method_write_stateless(struct json *json, bool is_list);
/* The error of a resource that is not there. */
enum { MCP_METHOD_NO_RESOURCE = -32002 };
