/* SPDX-License-Identifier: Apache-2.0
 * device_views.h: the views of device profiles; docs/openapi.yaml says what each answers. */
#ifndef ANALYSIS_TOOL_DEVICE_MEMORY_DEVICE_VIEWS_H
#define ANALYSIS_TOOL_DEVICE_MEMORY_DEVICE_VIEWS_H

#include "tool/device_memory/study.h"
#include "tool/tool.h"

bool device_summary(const struct tool_request *request, struct json *json, struct err *err);
bool device_flame(const struct tool_request *request, struct json *json, struct err *err);
bool device_graph(const struct tool_request *request, struct json *json, struct err *err);
bool device_top(const struct tool_request *request, struct json *json, struct err *err);
bool device_callers(const struct tool_request *request, struct json *json, struct err *err);
bool device_source(const struct tool_request *request, struct json *json, struct err *err);
bool device_buffers(const struct tool_request *request, struct json *json, struct err *err);
bool device_traces(const struct tool_request *request, struct json *json, struct err *err);
bool device_tags(const struct tool_request *request, struct json *json, struct err *err);
bool device_series(const struct tool_request *request, struct json *json, struct err *err);

#endif
