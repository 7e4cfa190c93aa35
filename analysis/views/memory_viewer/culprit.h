/* SPDX-License-Identifier: Apache-2.0
 * culprit.h: what fills a memory space most at its peak: the equal buffers of one group of the table "whose memory"
 * with the largest sum, found over all buffers that are live there. Command line and pages print what is here. */
#pragma once

#include "base/json.h"
#include "plan/plan.h"
#include "views/tool.h"

/* The largest group by size and shape alone, as error texts list them, of `count` buffers that take `each_bytes`; false
 * where it is not known. */
bool culprit_largest(const struct tool_request *request, const struct plan_space *space, uint32_t *count,
                     int64_t *each_bytes, struct str *shape);

/* Writes "culprit": as docs/openapi.yaml describes it (Culprit); json_null() where nothing is live, or where the heap
 * trace does not replay, so that the peak is not known. */
void culprit_write(const struct tool_request *request, struct json *json, const struct plan_space *space);
