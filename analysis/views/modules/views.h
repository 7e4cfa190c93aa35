/* SPDX-License-Identifier: Apache-2.0
 * views.h: the views of the tool "modules". */
#pragma once

#include "model/modules/overview.h"
#include "views/tool.h"

bool modules_summary(const struct tool_request *request, struct json *json, struct err *err);
bool modules_table(const struct tool_request *request, struct json *json, struct err *err);

/* The overview that a question of any of them is about; false with an `argument` report about `capacity_bytes`. */
bool modules_overview(const struct tool_request *request, struct overview *overview, struct err *err);
/* "reading": how far it has come, and what was read once for several hosts. */
void modules_summary_reading(const struct overview *overview, struct json *json);
