/* SPDX-License-Identifier: Apache-2.0
 * views.h: the views of the memory viewer; what each answers is documented in
 * docs/openapi.yaml and at the top of its file. */
#ifndef ANALYSIS_TOOL_MEMORY_VIEWER_VIEWS_H
#define ANALYSIS_TOOL_MEMORY_VIEWER_VIEWS_H

#include "tool/memory_viewer/plan.h"
#include "tool/tool.h"

bool view_summary(const struct tool_request *request, struct json *json, struct err *err);
bool view_curve(const struct tool_request *request, struct json *json, struct err *err);
bool view_strips(const struct tool_request *request, struct json *json, struct err *err);
bool view_buffers(const struct tool_request *request, struct json *json, struct err *err);
bool view_buffer(const struct tool_request *request, struct json *json, struct err *err);
bool view_groups(const struct tool_request *request, struct json *json, struct err *err);
bool view_window(const struct tool_request *request, struct json *json, struct err *err);
bool view_map(const struct tool_request *request, struct json *json, struct err *err);
bool view_live_range(const struct tool_request *request, struct json *json, struct err *err);
bool view_xprof(const struct tool_request *request, struct json *json, struct err *err);

#endif
