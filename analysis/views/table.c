/* SPDX-License-Identifier: Apache-2.0
 * table.c: see table.h. Here rows are sorted, filtered and paged; table_write.c writes them. */
#include "views/table.h"

#include "base/nearest.h"
#include "base/select.h"
#include "base/sort.h"

#include <stdlib.h>

enum { COLUMNS_MAX = 64, SPARE_MIN = 1024 };

const char *const table_formats[] = {"json", "csv", "ndjson", NULL};

/* Numbers in an order of whole numbers; of a text its first bytes, which decide nearly always. */
struct table_item {
    uint32_t row;
    uint64_t keys[];
};

/* ---- columns ---- */

bool table_word_next(const char **words, struct str *word)
{
    if (*words == NULL)
        return false;
    *words += strspn(*words, " ");
    *word = (struct str){*words, strcspn(*words, " ")};
    *words += word->length;
    return word->length > 0;
}

const struct table_column *table_column_find(const struct table_column *columns, struct str name)
{
    for (; columns->name != NULL; columns++) {
        const char *aliases = columns->aliases;
        if (name.length > 0 && str_equal_any_case(name, str_of(columns->name)))
            return columns;
        for (struct str alias; table_word_next(&aliases, &alias);)
            if (str_equal_any_case(name, alias))
                return columns;
    }
    return NULL;
}

bool table_number_of(const struct table_column *column, const void *context, uint32_t row, double *number)
{
    struct table_value value = (column->order != NULL ? column->order : column->value)(context, row);
    *number = value.kind == TABLE_INTEGER ? (double)value.integer : value.real;
    return value.kind == TABLE_INTEGER || value.kind == TABLE_REAL;
}

struct str table_text_of(const struct table_column *column, const void *context, uint32_t row)
{
    struct table_value value = column->value(context, row);
    return value.kind == TABLE_STRING ? value.text : (struct str){"", 0};
}

static bool is_text(const struct table_column *column)
{
    return column->order == NULL && (column->type == TABLE_TEXT || column->type == TABLE_SHAPE);
}

/* ---- what is asked ---- */

static bool column_refuse(const struct table_column *columns, struct str typed, struct err *err)
{
    const char *names[COLUMNS_MAX];
    size_t count = 0, chosen;
    for (; columns->name != NULL && count < COLUMNS_MAX; columns++)
        if (columns->type != TABLE_SPAN && columns->name[0] != '\0' && strchr(columns->name, '%') == NULL)
            names[count++] = columns->name;
    return nearest_choose("sort", "column", typed, names, count, &chosen, err);
}

/* "-size,name" */
static bool sort_read(struct table_rows *rows, const char *text, struct err *err)
{
    while (*text != '\0') {
        bool is_descending = *text == '-';
        text += is_descending;
        struct str name = {text, strcspn(text, ",")};
        const struct table_column *column = table_column_find(rows->spec->columns, name);
        if (column == NULL || column->type == TABLE_SPAN)
            return column_refuse(rows->spec->columns, name, err);
        if (rows->key_count == TABLE_KEYS_MAX)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "sort: more than %d columns", TABLE_KEYS_MAX);
        rows->keys[rows->key_count++] = (struct table_order){column, is_descending};
        text += name.length + (text[name.length] == ',');
    }
    return true;
}

static bool format_read(struct table_rows *rows, struct err *err)
{
    const char *const *names = rows->spec->formats != NULL ? rows->spec->formats : table_formats;
    const char *format = tool_param_text(rows->request, "format");
    size_t count = 0;
    while (names[count] != NULL)
        count++;
    return format == NULL || format[0] == '\0' ||
           nearest_choose("format", "format", str_of(format), names, count, &rows->format, err);
}

bool table_is_format(const struct table_rows *rows, const char *name)
{
    return strcmp((rows->spec->formats != NULL ? rows->spec->formats : table_formats)[rows->format], name) == 0;
}

bool table_read(struct table_rows *rows, const struct tool_request *request, const struct table_spec *spec,
                const void *context, struct err *err)
{
    const char *sort = tool_param_text(request, "sort"), *filter = tool_param_text(request, "filter");
    const struct table_column *filtered = spec->filtered != NULL ? spec->filtered : spec->columns;
    *rows = (struct table_rows){.request = request, .spec = spec, .context = context};
    if (!format_read(rows, err))
        return false;
    int64_t limit_max = spec->limit_max > 0 ? spec->limit_max : TABLE_LIMIT_MAX;
    int64_t limit = rows->format == 0 ? TABLE_LIMIT_DEFAULT : UINT32_MAX;
    return sort_read(rows, sort != NULL && sort[0] != '\0' ? sort : spec->sort, err) &&
           tool_param_number(request, "offset", 0, UINT32_MAX, 0, &rows->offset, err) &&
           tool_param_number(request, "limit", 0, limit_max, limit, &rows->limit, err) &&
           filter_read(filter != NULL ? filter : "", filtered, context, request->arena, &rows->filter, err);
}

/* ---- order ---- */

static struct table_item *item_at(const struct table_rows *rows, uint32_t at)
{
    return (struct table_item *)(void *)(rows->items + (size_t)at * rows->item_size);
}

/* A text that does not last is kept once it is asked for. */
static struct str text_at(struct table_rows *rows, uint32_t row, uint32_t key)
{
    if (rows->texts[key] != NULL && rows->texts[key][row].data != NULL)
        return rows->texts[key][row];
    struct str text = table_text_of(rows->keys[key].column, rows->context, row);
    if (text.length == 0 || text.data != rows->request->scratch->data)
        return text;
    if (rows->texts[key] == NULL)
        rows->texts[key] = arena_array(rows->request->arena, struct str, rows->row_count);
    return rows->texts[key][row] = (struct str){arena_text(rows->request->arena, text), text.length};
}

/* What has no number comes before all. */
static uint64_t number_key(const struct table_column *column, const void *context, uint32_t row)
{
    double number;
    uint64_t bits;
    if (!table_number_of(column, context, row, &number))
        return 0;
    number += 0.0; /* −0 is 0 */
    memcpy(&bits, &number, sizeof(bits));
    return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint64_t text_key(struct str text)
{
    uint64_t key = 0;
    for (size_t i = 0; i < sizeof(key); i++)
        key = key << 8 | (i < text.length ? (unsigned char)text.data[i] : 0);
    return key;
}

/* Texts behind the first key are asked for only where the keys before are equal. */
static void item_fill(struct table_rows *rows, struct table_item *item, uint32_t row)
{
    item->row = row;
    for (uint32_t i = 0; i < rows->key_count; i++) {
        const struct table_order *key = &rows->keys[i];
        uint64_t value = !is_text(key->column) ? number_key(key->column, rows->context, row)
                         : i == 0              ? text_key(table_text_of(key->column, rows->context, row))
                                               : 0;
        item->keys[i] = key->is_descending ? ~value : value;
    }
}

static int table_compare(const void *left, const void *right, void *context)
{
    const struct table_item *a = left, *b = right;
    struct table_rows *rows = context;
    for (uint32_t i = 0; i < rows->key_count && a->row != b->row; i++) {
        if (a->keys[i] != b->keys[i])
            return a->keys[i] < b->keys[i] ? -1 : 1;
        int order = is_text(rows->keys[i].column) ? str_compare(text_at(rows, a->row, i), text_at(rows, b->row, i)) : 0;
        if (order != 0)
            return rows->keys[i].is_descending ? -order : order;
    }
    return (a->row > b->row) - (a->row < b->row);
}

/* ---- rows ---- */

void table_begin(struct table_rows *rows, uint32_t row_count)
{
    int64_t end = rows->offset + rows->limit;
    rows->row_count = row_count;
    rows->item_size = sizeof(struct table_item) + rows->key_count * sizeof(uint64_t);
    rows->needed = end < row_count ? (uint32_t)end : row_count;
    rows->capacity = row_count;
    if (rows->needed <= row_count / 4) /* else all are kept */
        rows->capacity = rows->needed * 2 > SPARE_MIN ? rows->needed * 2 : SPARE_MIN;
    rows->memory = arena_child(rows->request->arena);
    rows->items = arena_resize(rows->memory, ((size_t)rows->capacity + 2) * rows->item_size);
}

/* Makes room: the least that are needed stay. */
static void min_keep(struct table_rows *rows)
{
    select_smallest(rows->request->arena, rows->items, rows->kept, rows->item_size, rows->needed, table_compare, rows);
    rows->kept = rows->needed;
    rows->bound = item_at(rows, rows->capacity + 1);
    for (uint32_t i = 0; i < rows->kept; i++)
        if (i == 0 || table_compare(item_at(rows, i), rows->bound, rows) > 0)
            memcpy(rows->bound, item_at(rows, i), rows->item_size);
}

bool table_take(struct table_rows *rows, uint32_t row)
{
    rows->taken++;
    if (rows->filter.term_count > 0 && !filter_matches(&rows->filter, row))
        return false;
    rows->matched++;
    if (rows->needed == 0)
        return true;
    struct table_item *item = item_at(rows, rows->capacity);
    item_fill(rows, item, row);
    if (rows->bound != NULL && table_compare(item, rows->bound, rows) >= 0)
        return true;
    if (rows->kept == rows->capacity)
        min_keep(rows);
    memcpy(item_at(rows, rows->kept++), item, rows->item_size);
    return true;
}

void table_sort(struct table_rows *rows)
{
    rows->first = rows->offset < rows->matched ? (uint32_t)rows->offset : rows->matched;
    rows->end = rows->limit < rows->matched - rows->first ? rows->first + (uint32_t)rows->limit : rows->matched;
    if (rows->first == rows->end) /* behind the last row: what was kept is not asked for */
        return;
    select_smallest(rows->request->arena, rows->items, rows->kept, rows->item_size, rows->end, table_compare, rows);
    arena_work(rows->request->arena, select_work(rows->end));
    /* Before qsort: it holds memory of its own while it compares, which an arena that is full would not give back. */
    for (uint32_t key = 0; key < rows->key_count; key++)
        for (uint32_t i = 0; is_text(rows->keys[key].column) && i < rows->end; i++)
            text_at(rows, item_at(rows, i)->row, key);
    sort_items(rows->items, rows->end, rows->item_size, table_compare, rows);
}

uint32_t table_row_at(const struct table_rows *rows, uint32_t at)
{
    return rows->order != NULL ? rows->order[at - rows->first] : item_at(rows, at)->row;
}

void table_keep_order(struct table_rows *rows)
{
    uint32_t *order = (uint32_t *)(void *)rows->items;
    for (uint32_t at = rows->first; at < rows->end; at++)
        order[at - rows->first] = table_row_at(rows, at); /* what is written over was read before */
    rows->order = arena_resize(rows->memory, (size_t)(rows->end - rows->first) * sizeof(*order));
    rows->items = NULL;
}

void table_take_all(struct table_rows *rows, uint32_t row_count)
{
    table_begin(rows, row_count);
    for (uint32_t row = 0; row < row_count; row++)
        table_take(rows, row);
    table_sort(rows);
}
