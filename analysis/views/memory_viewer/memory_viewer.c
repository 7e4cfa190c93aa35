/* SPDX-License-Identifier: Apache-2.0
 * memory_viewer.c: the memory viewer's table of views. */
#include "views/memory_viewer/views.h"

/* Every view takes the user's own rules for the owners of buffers: door/analysis_answer.c applies them. */
#define EVERY "category_rules", NULL

static const char *const no_params[] = {EVERY};
static const char *const whose_params[] = {"space", "format", EVERY};
static const char *const space_params[] = {"space", EVERY};
static const char *const curve_params[] = {"space", "width", "from", "to", "stack", EVERY};
static const char *const strips_params[] = {"space", "width", "step",  "filter", "mark",
                                            "order", "first", "count", EVERY};
static const char *const buffers_params[] = {"space",  "step",  "sort",   "filter", "by", "key",
                                             "offset", "limit", "format", "paths",  EVERY};
static const char *const groups_params[] = {"space",  "step",  "by",     "sort",  "filter",
                                            "offset", "limit", "format", "paths", EVERY};
static const char *const window_params[] = {"space", "from", "to", "filter", "limit", EVERY};
static const char *const map_params[] = {"space", "width", "from", "to", "low", "high", "filter", EVERY};
static const char *const tree_params[] = {"space", "step", "by",     "metric", "filter",
                                          "at",    "open", "offset", "nodes",  EVERY};
static const char *const buffer_params[] = {"space", "id", "step", "offset", "limit", "operand_offset", EVERY};

static const char *const whatif_params[] = {"change", "capacity_bytes", "fit",    "alone", "glob", "width", "from",
                                            "to",     "rows",           "format", EVERY};
static const char *const whatif_repeatable[] = {"change", NULL};

static const struct tool_view views[] = {
    {"summary", no_params, memory_viewer_summary, false, NULL},
    {"curve", curve_params, memory_viewer_curve, false, NULL},
    {"strips", strips_params, memory_viewer_strips, false, NULL},
    {"buffers", buffers_params, memory_viewer_buffers, false, NULL},
    {"buffer", buffer_params, memory_viewer_buffer, false, NULL},
    {"groups", groups_params, memory_viewer_groups, false, NULL},
    {"window", window_params, memory_viewer_window, false, NULL},
    {"map", map_params, memory_viewer_map, false, NULL},
    {"tree", tree_params, memory_viewer_tree, false, NULL},
    {"live_range", no_params, memory_viewer_live_range, false, NULL},
    {"whose", whose_params, memory_viewer_whose, false, NULL},
    {"whatif", whatif_params, memory_viewer_whatif, false, whatif_repeatable},
    {"xprof", space_params, memory_viewer_xprof, true, NULL},
};

const struct tool tool_memory_viewer = {
    .name = "memory_viewer",
    .title = "Memory Viewer",
    .views = views,
    .view_count = sizeof(views) / sizeof(views[0]),
};
