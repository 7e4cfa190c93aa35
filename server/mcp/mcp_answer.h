/* SPDX-License-Identifier: Apache-2.0
 * mcp_answer.h: what a finished task says, and a part of it as a result. */
#pragma once

#include "server/mcp/mcp.h"
#include "server/mcp/work.h"

struct mcp_answer {
    char *key;
    enum mcp_form form;
    struct buf text, notes; /* notes: what was said beside JSON */
    bool is_failure, is_missing;
};

/* Takes `task->key` and what `work` wrote. `wait_status`: of wait(2). */
void mcp_answer_take(struct mcp_answer *answer, struct mcp_task *task, struct work *work, int wait_status);
void mcp_answer_free(struct mcp_answer *answer);

/* Members of the result of tools/call: at most `limit_bytes` of text from `from_bytes` on, cut at the end of a line. */
void mcp_answer_write(struct json *json, const struct mcp_answer *answer, size_t from_bytes, size_t limit_bytes);
/* The same of a tool that was not run. */
void mcp_answer_write_fault(struct json *json, const char *fault);
/* Members of the result of MCP_MEMBERS, which is no failure. */
void mcp_answer_write_members(struct json *json, const struct mcp_answer *answer);
