/* SPDX-License-Identifier: Apache-2.0
 * device_memory.c: the table of views of device profiles. */
#include "tool/device_memory/device_views.h"

/* Parameters of every view. */
#define COMMON                                                                                                                   \
    "subtract", "normalize", "metric", "by", "machinery", "focus", "ignore", "hide", "show", "show_from", "tag", "tagfocus", "tagignore", \
    "strict"

static const char *const repeatable[] = {"focus", "ignore", "hide", "show", "show_from", "tag", NULL};
static const char *const common_params[] = {COMMON, NULL};
static const char *const top_params[] = {COMMON, "zeros", "sort", "filter", "offset", "limit", "format", NULL};

static const struct tool_view views[] = {
    {"summary", common_params, device_summary, false, repeatable},
    {"top", top_params, device_top, false, repeatable},
};

const struct tool tool_device_memory = {
    .name = "device_memory",
    .title = "Device Memory",
    .views = views,
    .view_count = sizeof views / sizeof views[0],
};
