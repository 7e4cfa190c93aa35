/* SPDX-License-Identifier: Apache-2.0
 * views.h: the views of the comparison; what each answers is documented in docs/openapi.yaml and at the top of its
 * file. All take the space and the step of either side. */
#pragma once

#include "model/compare/alignment.h"
#include "views/tool.h"

bool compare_summary(const struct tool_request *request, struct json *json, struct err *err);
bool listing_buffers(const struct tool_request *request, struct json *json, struct err *err);
bool listing_groups(const struct tool_request *request, struct json *json, struct err *err);
bool compare_curve(const struct tool_request *request, struct json *json, struct err *err);
bool compare_diff(const struct tool_request *request, struct json *json, struct err *err);

/* What the parameters of a request name on both sides, compared. False with `argument` or `notfound` and why the two
 * cannot be compared. */
bool views_compare(const struct tool_request *request, struct compare *compare, struct err *err);
/* Name of what an item is: its buffer's, or its allocation's; in `scratch` until it is next used. */
struct str views_item_name(const struct compare *compare, int side, const struct compare_item *item,
                           struct buf *scratch);

/* The parameter `align`: "scope", as when it is absent, or "position". */
bool views_align(const struct tool_request *request, enum alignment_way *way, struct err *err);
/* What every answer begins with: both sides, totals, sentence and waterfall, as members of an open object. */
void summary_head_write(const struct tool_request *request, const struct compare *compare, struct json *json);
