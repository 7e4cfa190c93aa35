/* SPDX-License-Identifier: Apache-2.0
 * order.h: what tables of profiles share: sorting, filtering, paging, formats. */
#ifndef ANALYSIS_TOOL_DEVICE_MEMORY_ORDER_H
#define ANALYSIS_TOOL_DEVICE_MEMORY_ORDER_H

#include "tool/filter.h"
#include "tool/tool.h"

enum { ORDER_KEYS_MOST = 4, ORDER_LIMIT_USUAL = 100 };

enum order_format { ORDER_JSON, ORDER_CSV, ORDER_TEXT, ORDER_COLLAPSED };

struct order_key {
    size_t field; /* of the table's fields */
    bool is_descending;
};

struct order {
    struct order_key keys[ORDER_KEYS_MOST];
    uint32_t key_count;
    int64_t offset, limit;
    enum order_format format;
    struct filter filter;
    const struct filter_table *table;
};

/* The rows that match the filter: in order up to the last that is asked for, the others behind them. */
struct order_rows {
    uint32_t *rows; /* numbers of the table's */
    uint32_t count;
};

/* Reads sort ("-total,file": fields of the table), filter, offset, limit and format. All rows are
 * usual in every format but JSON. */
bool order_read(const struct tool_request *request, const struct filter_table *table, const char *usual_sort, struct order *order,
                struct err *err);
/* Those of `row_count` rows that match, sorted; equal ones stay in their order. */
struct order_rows order_rows(const struct tool_request *request, const struct order *order, uint32_t row_count);

#endif
