/* SPDX-License-Identifier: Apache-2.0
 * compare.c: the table of views of the comparison. */
#include "views/compare/views.h"

#define SIDES "space_a", "step_a", "space_b", "step_b", "category_rules"

static const char *const summary_params[] = {SIDES, NULL};
static const char *const diff_params[] = {SIDES, "format", NULL};
static const char *const curve_params[] = {SIDES, "align", "width", NULL};
static const char *const groups_params[] = {SIDES,    "align", "state",  "sort",  "filter",
                                            "offset", "limit", "format", "paths", NULL};
static const char *const buffers_params[] = {SIDES,    "align", "state",  "group", "sort", "filter",
                                             "offset", "limit", "format", "paths", NULL};

static const struct tool_view views[] = {
    {"summary", summary_params, compare_summary, false, NULL},
    {"curve", curve_params, compare_curve, false, NULL},
    {"groups", groups_params, listing_groups, false, NULL},
    {"buffers", buffers_params, listing_buffers, false, NULL},
    {"diff", diff_params, compare_diff, true, NULL},
};

const struct tool tool_compare = {
    .name = "compare",
    .title = "Compare",
    .model = TOOL_OF_TWO_MODULES,
    .views = views,
    .view_count = sizeof(views) / sizeof(views[0]),
};
