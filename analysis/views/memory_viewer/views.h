/* SPDX-License-Identifier: Apache-2.0
 * views.h: the views of the memory viewer; what each answers is documented in
 * docs/openapi.yaml and at the top of its file. */
#pragma once

#include "plan/plan.h"
#include "views/tool.h"

bool memory_viewer_summary(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_curve(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_strips(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_buffers(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_buffer(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_groups(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_window(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_map(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_tree(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_live_range(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_whose(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_whatif(const struct tool_request *request, struct json *json, struct err *err);
bool memory_viewer_xprof(const struct tool_request *request, struct json *json, struct err *err);
