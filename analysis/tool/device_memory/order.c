/* SPDX-License-Identifier: Apache-2.0
 * order.c: see order.h. */
#include "tool/device_memory/order.h"

#include <stdlib.h>

struct item {
    uint32_t row;
    uint32_t key_count;
    const struct order *order;
    double numbers[ORDER_KEYS_MOST];
    struct str texts[ORDER_KEYS_MOST];
};

static bool read_sort(const char *text, struct order *order, struct err *err)
{
    while (*text != '\0') {
        bool is_descending = *text == '-';
        text += is_descending;
        size_t length = strcspn(text, ","), field = 0;
        const struct filter_field *fields = order->table->fields;
        while (fields[field].name != NULL && !str_equal((struct str){text, length}, str_of(fields[field].name)))
            field++;
        if (fields[field].name == NULL)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "sort: unknown column \"%.*s\"", length > 40 ? 40 : (int)length, text);
        if (order->key_count == ORDER_KEYS_MOST)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "sort: more than %d columns", ORDER_KEYS_MOST);
        order->keys[order->key_count++] = (struct order_key){field, is_descending};
        text += length + (text[length] == ',');
    }
    return true;
}

static bool read_format(const struct tool_request *request, enum order_format *format, struct err *err)
{
    static const char *const names[] = {"json", "csv", "text", "collapsed"};
    const char *text = tool_param_text(request, "format");
    *format = ORDER_JSON;
    if (text == NULL || text[0] == '\0')
        return true;
    for (int i = ORDER_JSON; i <= ORDER_COLLAPSED; i++)
        if (strcmp(names[i], text) == 0) {
            *format = (enum order_format)i;
            return true;
        }
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "format: \"%.40s\" is none of json, csv, text, collapsed", text);
}

bool order_read(const struct tool_request *request, const struct filter_table *table, const char *usual_sort, struct order *order,
                struct err *err)
{
    const char *sort = tool_param_text(request, "sort"), *filter = tool_param_text(request, "filter");
    *order = (struct order){.table = table};
    if (!read_format(request, &order->format, err))
        return false;
    int64_t usual = order->format == ORDER_JSON ? ORDER_LIMIT_USUAL : UINT32_MAX;
    return read_sort(sort != NULL && sort[0] != '\0' ? sort : usual_sort, order, err) &&
           tool_param_number(request, "offset", 0, UINT32_MAX, 0, &order->offset, err) &&
           tool_param_number(request, "limit", 0, UINT32_MAX, usual, &order->limit, err) &&
           filter_read(filter != NULL ? filter : "", table, request->arena, &order->filter, err);
}

static int by_keys(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    for (uint32_t i = 0; i < a->key_count; i++) {
        const struct order_key *key = &a->order->keys[i];
        bool is_number = a->order->table->fields[key->field].kind == FILTER_NUMBER;
        int order = is_number ? (a->numbers[i] > b->numbers[i]) - (a->numbers[i] < b->numbers[i]) : str_compare(a->texts[i], b->texts[i]);
        if (order != 0)
            return key->is_descending ? -order : order;
    }
    return (a->row > b->row) - (a->row < b->row);
}

static void take_keys(const struct tool_request *request, const struct order *order, struct item *item)
{
    const struct filter_table *table = order->table;
    for (uint32_t i = 0; i < order->key_count; i++) {
        size_t field = order->keys[i].field;
        item->numbers[i] = -1e300; /* what has no number comes before all */
        if (table->fields[field].kind == FILTER_NUMBER) {
            table->number(table->context, item->row, field, &item->numbers[i]);
        } else {
            struct str text = table->text(table->context, item->row, field);
            item->texts[i] = (struct str){arena_text(request->arena, text), text.length};
        }
    }
}

struct order_rows order_rows(const struct tool_request *request, const struct order *order, uint32_t row_count)
{
    struct item *items = arena_array(request->arena, struct item, (size_t)row_count + 1);
    struct order_rows rows = {arena_array(request->arena, uint32_t, (size_t)row_count + 1), 0};
    for (uint32_t i = 0; i < row_count; i++) {
        if (!filter_matches(&order->filter, i))
            continue;
        items[rows.count] = (struct item){.row = i, .key_count = order->key_count, .order = order};
        take_keys(request, order, &items[rows.count++]);
    }
    qsort(items, rows.count, sizeof *items, by_keys);
    for (uint32_t i = 0; i < rows.count; i++)
        rows.rows[i] = items[i].row;
    return rows;
}
