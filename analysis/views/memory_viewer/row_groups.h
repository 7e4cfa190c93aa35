/* SPDX-License-Identifier: Apache-2.0
 * row_groups.h: what buffers have in common: the key of a row for each way of grouping. */
#pragma once

#include "views/memory_viewer/columns.h"

/* Ways of grouping; names in row_groups.c. */
enum {
    ROW_GROUPS_SHAPE,
    ROW_GROUPS_DTYPE,
    ROW_GROUPS_OPCODE,
    ROW_GROUPS_CATEGORY,
    ROW_GROUPS_KIND,
    ROW_GROUPS_LINE,
    ROW_GROUPS_SCOPE,
    ROW_GROUPS_LAYER,
    ROW_GROUPS_WHOSE
};

/* The way that the parameter `by` names, by shape without it; false with an `argument` report. */
bool row_groups_way(const struct tool_request *request, size_t *way, struct err *err);
const char *row_groups_name(size_t way);
/* The key of row `at`, in the request's arena: for "scope" the op name without its last part and with a star for
 * each number; for "whose" what plan/group_key.h makes of category, scope and shape; for "layer" the first word like
 * "layer_12" of the op name, a guess; "" where there is none. */
struct str row_groups_key(const struct memory_viewer_columns_rows *rows, uint32_t at, size_t way);
