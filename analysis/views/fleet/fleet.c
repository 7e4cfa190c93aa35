/* SPDX-License-Identifier: Apache-2.0
 * fleet.c: what many jobs took over their commits: the table of views. */
#include "views/fleet/views.h"

static const char *const no_params[] = {NULL};
static const char *const chart_params[] = {"rows", "lines", "categories", NULL};
static const char *const series_params[] = {"rows", "sort", "filter", "offset", "limit", "format", NULL};
static const char *const table_params[] = {"sort", "filter", "offset", "limit", "format", NULL};

static const struct tool_view views[] = {
    {"summary", no_params, fleet_summary, false, NULL},
    {"chart", chart_params, fleet_chart, false, NULL},
    {"series", series_params, fleet_series, false, NULL},
    {"points", table_params, fleet_points, false, NULL},
    {"regressions", table_params, fleet_regressions, false, NULL},
    {"hosts", table_params, fleet_hosts, false, NULL},
};

const struct tool tool_fleet = {
    .name = "fleet",
    .title = "Fleet",
    .model = TOOL_OF_FLEET,
    .views = views,
    .view_count = sizeof(views) / sizeof(views[0]),
};
