/* SPDX-License-Identifier: Apache-2.0
 * modules.c: all modules of a session: the table of views. */
#include "views/modules/views.h"

static const char *const summary_params[] = {"capacity_bytes", NULL};
static const char *const table_params[] = {"rows",   "space", "module", "hosts", "capacity_bytes", "sort", "filter",
                                           "offset", "limit", "format", NULL};

static const struct tool_view views[] = {
    {"summary", summary_params, modules_summary, false, NULL},
    {"table", table_params, modules_table, false, NULL},
};

const struct tool tool_modules = {
    .name = "modules",
    .title = "All modules",
    .model = TOOL_OF_MODULES,
    .views = views,
    .view_count = sizeof(views) / sizeof(views[0]),
};
