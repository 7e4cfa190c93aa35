/* SPDX-License-Identifier: Apache-2.0
 * order.c: see order.h. */
#include "tool/device_memory/order.h"

#include "base/select.h"

#include <stdlib.h>

struct sorting {
    const struct tool_request *request;
    const struct order *order;
    struct str *texts; /* of each row and key, made when two rows are told apart by it; data NULL before */
};

struct item {
    struct sorting *sorting;
    uint32_t row;
    double numbers[ORDER_KEYS_MOST];
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

static struct str text_of(const struct item *item, uint32_t key)
{
    struct sorting *sorting = item->sorting;
    const struct filter_table *table = sorting->order->table;
    struct str *known = &sorting->texts[(size_t)item->row * sorting->order->key_count + key];
    if (known->data == NULL) {
        struct str text = table->text(table->context, item->row, sorting->order->keys[key].field);
        *known = (struct str){arena_text(sorting->request->arena, text), text.length};
    }
    return *known;
}

static int by_keys(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    const struct order *of = a->sorting->order;
    for (uint32_t i = 0; i < of->key_count && a->row != b->row; i++) {
        bool is_number = of->table->fields[of->keys[i].field].kind == FILTER_NUMBER;
        int order = is_number ? (a->numbers[i] > b->numbers[i]) - (a->numbers[i] < b->numbers[i]) : str_compare(text_of(a, i), text_of(b, i));
        if (order != 0)
            return of->keys[i].is_descending ? -order : order;
    }
    return (a->row > b->row) - (a->row < b->row);
}

static void take_numbers(const struct order *order, struct item *item)
{
    const struct filter_table *table = order->table;
    for (uint32_t i = 0; i < order->key_count; i++) {
        size_t field = order->keys[i].field;
        item->numbers[i] = -1e300; /* what has no number comes before all */
        if (table->fields[field].kind == FILTER_NUMBER)
            table->number(table->context, item->row, field, &item->numbers[i]);
    }
}

/* Before qsort: it holds memory of its own while it compares, which an arena that is full would not give back. */
static void take_texts(const struct item *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct order *of = items[i].sorting->order;
        for (uint32_t key = 0; key < of->key_count; key++)
            if (of->table->fields[of->keys[key].field].kind != FILTER_NUMBER)
                text_of(&items[i], key);
    }
}

struct order_rows order_rows(const struct tool_request *request, const struct order *order, uint32_t row_count)
{
    struct arena *arena = request->arena;
    struct sorting sorting = {request, order, arena_array(arena, struct str, (size_t)row_count * order->key_count + 1)};
    struct item *items = arena_array(arena, struct item, (size_t)row_count + 1);
    struct order_rows rows = {arena_array(arena, uint32_t, (size_t)row_count + 1), 0};
    for (uint32_t i = 0; i < row_count; i++) {
        if (order->filter.term_count > 0 && !filter_matches(&order->filter, i))
            continue;
        items[rows.count] = (struct item){.sorting = &sorting, .row = i};
        take_numbers(order, &items[rows.count++]);
    }
    uint64_t end = (uint64_t)order->offset + (uint64_t)order->limit;
    uint32_t need = end < rows.count ? (uint32_t)end : rows.count;
    select_least(arena, items, rows.count, sizeof *items, need, by_keys);
    arena_work(arena, select_work(need));
    take_texts(items, need);
    qsort(items, need, sizeof *items, by_keys);
    for (uint32_t i = 0; i < rows.count; i++)
        rows.rows[i] = items[i].row;
    return rows;
}
