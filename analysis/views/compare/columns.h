/* SPDX-License-Identifier: Apache-2.0
 * columns.h: the columns of the comparison's tables, of pairs and of groups of them. */
#pragma once

#include "model/compare/alignment.h"
#include "views/table.h"

/* The context of the columns' values; rows are places in compare->pairs, or in compare->groups. */
struct columns_rows {
    const struct tool_request *request;
    const struct compare *compare;
    const struct alignment *alignment; /* NULL until rows are written */
    bool is_of_groups, has_paths;
};

extern const struct table_column columns_all[];
