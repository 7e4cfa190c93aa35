/* SPDX-License-Identifier: Apache-2.0
 * mcp_find.h: the sessions below the roots of `memviewd mcp`, as a tool and as resources. */
#pragma once

#include "server/cmd/mcp_tools.h"

/* `find`: text or JSON on stdout. `filter` may be NULL. The exit status. */
int mcp_find(const struct mcp_tools *tools, const char *filter, bool is_failed, bool is_json);

/* As those of mcp_server; `context` is a struct mcp_tools. */
char *mcp_find_list_resources(const void *context, const char *cursor, struct mcp_task *task);
char *mcp_find_read_resource(const void *context, const char *uri, struct mcp_task *task);
