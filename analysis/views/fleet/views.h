/* SPDX-License-Identifier: Apache-2.0
 * views.h: the views of the tool "fleet", and what their tables share. The model is a struct fleet
 * (model/fleet/fleet.h). */
#pragma once

#include "model/fleet/fleet.h"
#include "views/table.h"

bool fleet_summary(const struct tool_request *request, struct json *json, struct err *err);
bool fleet_chart(const struct tool_request *request, struct json *json, struct err *err);
bool fleet_series(const struct tool_request *request, struct json *json, struct err *err);
bool fleet_points(const struct tool_request *request, struct json *json, struct err *err);
bool fleet_regressions(const struct tool_request *request, struct json *json, struct err *err);
bool fleet_hosts(const struct tool_request *request, struct json *json, struct err *err);

/* Writes one step as a row of "regressions", for notices. */
void fleet_regression_write(const struct fleet *fleet, uint32_t step, struct arena *arena, struct buf *scratch,
                            struct json *json);

/* What the columns of a table look at. */
struct views_listing {
    const struct fleet *fleet;
    const struct tool_request *request;
    struct table_rows rows;
};

/* Reads the question, takes the rows for which `is_wanted` is true (NULL: all), and writes the table. */
bool views_table(const struct tool_request *request, const struct table_spec *spec, uint32_t row_count,
                 bool (*is_wanted)(const struct fleet *fleet, uint32_t row), struct json *json, struct err *err);

static inline struct table_value views_text(const char *text)
{
    return text != NULL ? table_text_if_any(str_of(text)) : table_unknown();
}
static inline struct table_value views_known(int64_t number) { return table_integer_if(number >= 0, number); }
/* Files that do not name their host have none: how many there were is not known. */
static inline struct table_value views_hosts(const struct fleet_point *point)
{
    return table_integer_if(point->host_count > 0, point->host_count);
}
static inline struct table_value views_percent(int64_t part, int64_t whole)
{
    return whole > 0 && part >= 0 ? table_real(100 * (double)part / (double)whole) : table_unknown();
}
static inline struct table_value views_yes(bool is_so) { return table_text(is_so ? STR("yes") : STR("no")); }
