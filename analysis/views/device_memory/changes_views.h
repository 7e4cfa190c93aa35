/* SPDX-License-Identifier: Apache-2.0
 * changes_views.h: the tables of two profiles side by side; what each answers is documented in docs/openapi.yaml. */
#pragma once

#include "views/change_table.h"
#include "views/device_memory/changes.h"

bool changes_sites(const struct tool_request *request, struct json *json, struct err *err);
bool changes_stacks(const struct tool_request *request, struct json *json, struct err *err);
