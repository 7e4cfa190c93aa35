/* SPDX-License-Identifier: Apache-2.0
 * mcp_tools.h: the tools of `memviewd mcp` (mcp_tools.def): their schemas, and a call as the command line that it
 * is. */
#pragma once

#include "server/cmd/mcp_roots.h"
#include "server/cmd/options.h"
#include "server/mcp/mcp.h"

struct mcp_tools {
    const struct options *options; /* of `mcp` itself */
    struct mcp_roots roots;
};

void mcp_tools_write(struct json *json);
bool mcp_tools_has(const char *name);
/* As mcp_server.call; `context` is a struct mcp_tools. */
char *mcp_tools_call(const void *context, const char *name, const cJSON *arguments, struct mcp_task *task);
