/* SPDX-License-Identifier: Apache-2.0
 * views.h: the views of device profiles; docs/openapi.yaml says what each answers. */
#pragma once

#include "views/device_memory/model.h"
#include "views/tool.h"

bool device_memory_summary(const struct tool_request *request, struct json *json, struct err *err);
bool device_memory_flame(const struct tool_request *request, struct json *json, struct err *err);
bool device_memory_graph(const struct tool_request *request, struct json *json, struct err *err);
bool device_memory_top(const struct tool_request *request, struct json *json, struct err *err);
bool device_memory_callers(const struct tool_request *request, struct json *json, struct err *err);
bool device_memory_source(const struct tool_request *request, struct json *json, struct err *err);
bool device_memory_buffers(const struct tool_request *request, struct json *json, struct err *err);
bool device_memory_traces(const struct tool_request *request, struct json *json, struct err *err);
bool device_memory_tags(const struct tool_request *request, struct json *json, struct err *err);
bool device_memory_profile(const struct tool_request *request, struct json *json, struct err *err);
bool device_memory_series(const struct tool_request *request, struct json *json, struct err *err);
