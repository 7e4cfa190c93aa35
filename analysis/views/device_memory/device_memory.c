/* SPDX-License-Identifier: Apache-2.0
 * device_memory.c: the table of views of device profiles. */
#include "views/device_memory/views.h"

/* Parameters of every view; "by" of those that sum. */
#define NARROWING                                                                                                      \
    "subtract", "normalize", "metric", "machinery", "noinlines", "focus", "ignore", "hide", "show", "show_from",       \
        "tag", "tagfocus", "tagignore", "strict"
#define COMMON NARROWING, "by"

static const char *const repeatable[] = {"focus", "ignore", "hide", "show", "show_from", "tag", NULL};
static const char *const common_params[] = {COMMON, NULL};
static const char *const flame_params[] = {COMMON, "invert", "at", "pivot", "search", "nodes", NULL};
static const char *const graph_params[] = {COMMON, "nodes", "node_fraction", "edge_fraction", "trim", NULL};
static const char *const top_params[] = {COMMON, "zeros", "sort", "filter", "offset", "limit", "format", NULL};
static const char *const callers_params[] = {COMMON, "frame", "match", NULL};
static const char *const source_params[] = {COMMON, "frame", "file", NULL};
static const char *const buffers_params[] = {COMMON, "sort", "filter", "offset", "limit", "format", NULL};
static const char *const traces_params[] = {COMMON, "frame", "offset", "limit", "format", NULL};
static const char *const tags_params[] = {COMMON, "rows", "columns", NULL};
static const char *const series_params[] = {COMMON, "order", "sort", "filter", "offset", "limit", "format", NULL};
static const char *const profile_params[] = {NARROWING, NULL};

static const struct tool_view views[] = {
    {"summary", common_params, device_memory_summary, false, repeatable},
    {"flame", flame_params, device_memory_flame, false, repeatable},
    {"graph", graph_params, device_memory_graph, false, repeatable},
    {"top", top_params, device_memory_top, false, repeatable},
    {"callers", callers_params, device_memory_callers, false, repeatable},
    {"source", source_params, device_memory_source, false, repeatable},
    {"buffers", buffers_params, device_memory_buffers, false, repeatable},
    {"traces", traces_params, device_memory_traces, false, repeatable},
    {"tags", tags_params, device_memory_tags, false, repeatable},
    {"series", series_params, device_memory_series, false, repeatable},
    {"profile", profile_params, device_memory_profile, true, repeatable},
};

const struct tool tool_device_memory = {
    .name = "device_memory",
    .title = "Device Memory",
    .model = TOOL_OF_PROFILES,
    .views = views,
    .view_count = sizeof(views) / sizeof(views[0]),
};
