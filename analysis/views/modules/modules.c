/* SPDX-License-Identifier: Apache-2.0
 * modules.c: all modules of a session: the table of views. */
#include "views/modules/views.h"

#include "base/sum.h"

bool modules_overview(const struct tool_request *request, struct overview *overview, struct err *err)
{
    int64_t capacity_bytes;
    if (!tool_param_number(request, "capacity_bytes", 1, SUM_MAX_BYTES, 0, &capacity_bytes, err))
        return false;
    overview_build(request->model, capacity_bytes, request->arena, request->scratch, overview);
    return true;
}

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
