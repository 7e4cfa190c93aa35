/* SPDX-License-Identifier: Apache-2.0
 * groups.c: the view "groups": what is live at a step, summed by whose memory it is (plan/group_key.h), category,
 * kind, shape, dtype, opcode, source line, layer, or scope of the framework's op name. */
#include "base/intern.h"
#include "base/sort.h"
#include "base/sum.h"
#include "plan/group_key.h"
#include "views/memory_viewer/row_groups.h"
#include "views/memory_viewer/saving.h"

#include <stdlib.h>

struct member {
    uint32_t key; /* in the listing's keys */
    uint32_t row;
    bool is_listed; /* alive at the step; the others only go when the group does */
};

struct group {
    struct str key;
    uint32_t first_row, count; /* first_row: of the largest buffer */
    uint32_t member_first;     /* in the listing's members */
    int64_t bytes, padding_bytes, smallest_bytes, largest_bytes;
    struct memory_viewer_columns_whose whose; /* where they agree */
    uint32_t patterns;                        /* that all of them belong to */
    struct marginal_saving saving;            /* of the whole group, whenever it lives */
};

/* `context` first, so that it serves the columns of buffers, by which groups are filtered. Groups are ordered by
 * key. */
struct groups_listing {
    struct memory_viewer_columns_rows context;
    struct table_rows rows;
    struct intern keys;
    struct member *members; /* by key, those that are listed first, then by row */
    struct group *groups;
    size_t way;
    uint32_t step, group_count, count, total_count, member_count;
    bool is_all, has_paths;
    int64_t bytes, total_bytes;
};

/* ---- columns ---- */

static const struct group *group_at(const void *context, uint32_t at)
{
    return &((const struct groups_listing *)context)->groups[at];
}

/* "models.py:11" of "training/models.py:11", where folders stay here. */
static struct str shown_key(const struct groups_listing *listing, uint32_t at)
{
    struct str key = listing->groups[at].key;
    bool is_line = strcmp(row_groups_name(listing->way), "line") == 0;
    return is_line && !listing->has_paths ? str_last_part(key) : key;
}

/* The share of all that is alive, whatever the filter keeps; buffers of different steps are no parts of one whole. */
static struct table_value share_of(const struct groups_listing *listing, const struct group *group)
{
    if (listing->is_all || listing->total_bytes <= 0)
        return table_unknown();
    return table_real(100.0 * (double)group->bytes / (double)listing->total_bytes);
}

static struct table_value text_if_agreed(const char *text)
{
    return text == NULL ? table_unknown() : table_text(str_of(text));
}

/* What a person reads of a group by whose memory it is; the keys of other groups are words themselves. */

static struct group_key key_of(const struct groups_listing *listing, const struct group *group)
{
    const struct tool_request *request = listing->context.request;
    return group_key_of(request->model, &listing->context.space->rows[group->first_row], request->scratch,
                        request->arena);
}

static uint32_t layer_count(const struct groups_listing *listing, const struct group *group)
{
    struct arena *arena = listing->context.request->arena;
    struct str *op_names = arena_array(arena, struct str, group->count);
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t row = listing->members[group->member_first + i].row;
        op_names[i] = group_key_op_name(listing->context.request->model, &listing->context.space->rows[row]);
    }
    return group_key_layer_count(op_names, group->count, arena);
}

static struct table_value layers_of(const struct groups_listing *listing, const struct group *group)
{
    uint32_t count = layer_count(listing, group);
    return table_integer_if(count > 0, count);
}

/* Numbers stay where no member has others; of what nothing names, the opcode. */
static struct table_value label_of(const struct groups_listing *listing, const struct group *group)
{
    const struct tool_request *request = listing->context.request;
    const struct plan_row *row = &listing->context.space->rows[group->first_row];
    const struct table_column *opcode = table_column_find(memory_viewer_columns, STR("op"));
    struct str scope =
        layer_count(listing, group) > 0 ? key_of(listing, group).scope : group_key_op_name(request->model, row);
    struct str label = group_key_label(scope, request->arena);
    return label.length > 0 ? table_text(label) : opcode->value(listing, group->first_row);
}

#define IF_WHOSE(value) (((const struct groups_listing *)context)->way == ROW_GROUPS_WHOSE ? (value) : table_unknown())

#define VALUE(name, expression) TABLE_VALUE(name, const struct group *group = group_at(context, row), expression)

VALUE(key, table_text(group->key))
TABLE_VALUE(key_cell, , table_text(shown_key(context, row)))
VALUE(count, table_integer(group->count))
VALUE(size, table_integer(group->bytes))
VALUE(saves, table_integer(group->saving.bytes))
VALUE(next_peak, table_integer_if(group->saving.next_peak_step != PLAN_NONE, group->saving.next_peak_step))
VALUE(padding, table_integer(group->padding_bytes))
VALUE(largest, table_integer(group->largest_bytes))
VALUE(smallest, table_integer(group->smallest_bytes))
VALUE(share, share_of(context, group))
VALUE(category, text_if_agreed(group->whose.category))
VALUE(confidence, text_if_agreed(group->whose.confidence))
VALUE(rule, text_if_agreed(group->whose.rule))
VALUE(kind, text_if_agreed(group->whose.kind))
VALUE(patterns,
      table_text(memory_viewer_columns_patterns(group->patterns,
                                                ((const struct groups_listing *)context)->context.request->scratch)))
VALUE(label, IF_WHOSE(label_of(context, group)))
/* What people sort by: a key that is a number says nothing. */
VALUE(name, ((const struct groups_listing *)context)->way == ROW_GROUPS_WHOSE ? label_of(context, group)
                                                                              : table_text(group->key))
VALUE(scope, IF_WHOSE(table_text(key_of(context, group).scope)))
VALUE(shape, IF_WHOSE(table_text_if_any(key_of(context, group).shape)))
VALUE(layers, IF_WHOSE(layers_of(context, group)))
VALUE(source, table_text(memory_viewer_columns_source(context, group->first_row)))

static void largest_id_write(struct json *json, const void *context, uint32_t at)
{
    const struct memory_viewer_columns_rows *rows = context;
    views_row_id(json, rows->request->model, &rows->space->rows[group_at(context, at)->first_row]);
}

/* clang-format off */
static const struct table_column columns[] = {
    {.name = "key", .type = TABLE_TEXT, .value = key, .json = "key"},
    {.name = "", .type = TABLE_TEXT, .value = key_cell, .csv = "key"},
    {.name = "count", .type = TABLE_NUMBER, .value = count, .unit = "count", .json = "count", .csv = "count",
     .title = "Count × each", .help = "≤: they differ, and no one is larger."},
    {.name = "size", .type = TABLE_NUMBER, .value = size, .unit = "bytes", .json = "bytes", .csv = "size_bytes",
     .title = "Total"},
    {.name = "share", .type = TABLE_NUMBER, .value = share, .unit = "percent", .json = "share_percent",
     .csv = "share_percent", .title = "Share"},
    {.name = "saves", .type = TABLE_NUMBER, .value = saves, .unit = "bytes", .json = "saves_bytes",
     .csv = "saves_bytes",
     .title = "Saves"},
    {.name = "next_peak", .aliases = "next_peak_step", .type = TABLE_NUMBER, .value = next_peak, .unit = "step",
     .json = "next_peak_step", .csv = "next_peak_step", .title = "Next peak"},
    {.name = "pad", .aliases = "padding", .type = TABLE_NUMBER, .value = padding, .unit = "bytes",
     .json = "padding_bytes", .csv = "padding_bytes", .title = "Padding"},
    {.name = "largest", .type = TABLE_NUMBER, .value = largest, .unit = "bytes", .json = "largest_bytes",
     .csv = "largest_bytes"},
    {.name = "", .type = TABLE_NUMBER, .value = smallest, .unit = "bytes", .json = "smallest_bytes",
     .csv = "smallest_bytes"},
    {.name = "", .type = TABLE_TEXT, .write = largest_id_write, .json = "largest_id"},
    {.name = "", .type = TABLE_TEXT, .value = category, .json = "category", .csv = "category"},
    {.name = "", .type = TABLE_TEXT, .value = confidence, .json = "confidence", .csv = "confidence"},
    {.name = "", .type = TABLE_TEXT, .value = rule, .json = "rule", .csv = "rule"},
    {.name = "", .type = TABLE_TEXT, .value = kind, .json = "kind", .csv = "kind"},
    {.name = "", .type = TABLE_TEXT, .value = patterns, .json = "patterns", .csv = "patterns"},
    {.name = "", .type = TABLE_TEXT, .value = label, .json = "label", .csv = "label"},
    {.name = "name", .aliases = "label", .type = TABLE_TEXT, .value = name},
    {.name = "", .type = TABLE_TEXT, .value = scope, .json = "scope", .csv = "scope"},
    {.name = "", .type = TABLE_TEXT, .value = shape, .json = "shape", .csv = "shape"},
    {.name = "layers", .type = TABLE_NUMBER, .value = layers, .unit = "count", .json = "layer_count", .csv = "layers"},
    {.name = "", .type = TABLE_TEXT, .value = source, .json = "source"},
    {.name = NULL},
};
/* clang-format on */
enum { CSV_KEY = 1, COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]) };

/* ---- sums ---- */

static int by_text(const void *left, const void *right, void *context)
{
    const struct str *texts = context;
    return str_compare(texts[*(const uint32_t *)left], texts[*(const uint32_t *)right]);
}

/* Few keys are put in order, and many members after them. */
static void members_sort(struct groups_listing *listing, struct member *found)
{
    struct arena *arena = listing->context.request->arena;
    uint32_t key_count = (uint32_t)listing->keys.map.count, first = 0;
    uint32_t *order = arena_array(arena, uint32_t, (size_t)key_count + 1);
    uint32_t *places = arena_array(arena, uint32_t, 2 * (size_t)key_count + 1); /* of a key: listed, then the others */
    for (uint32_t i = 0; i < key_count; i++)
        order[i] = i;
    sort_items(order, key_count, sizeof(*order), by_text, listing->keys.items);
    for (uint32_t i = 0; i < listing->member_count; i++)
        places[2 * found[i].key + !found[i].is_listed]++;
    for (uint32_t i = 0; i < 2 * key_count; i++) {
        uint32_t *place = &places[2 * order[i / 2] + i % 2], own = *place;
        *place = first;
        first += own;
    }
    for (uint32_t i = 0; i < listing->member_count; i++)
        listing->members[places[2 * found[i].key + !found[i].is_listed]++] = found[i];
}

/* What the filter keeps, of what is alive and of the rest. */
static void members_find(struct groups_listing *listing)
{
    const struct memory_viewer_columns_rows *context = &listing->context;
    struct arena *arena = context->request->arena;
    struct member *found = arena_array(arena, struct member, (size_t)context->space->row_count + 1);
    listing->members = arena_array(arena, struct member, (size_t)context->space->row_count + 1);
    intern_init(&listing->keys, arena);
    for (uint32_t i = 0; i < context->space->row_count; i++) {
        const struct plan_row *row = &context->space->rows[i];
        bool is_listed = listing->is_all || plan_row_is_alive(row, listing->step);
        listing->total_count += is_listed;
        listing->total_bytes = sum_add(listing->total_bytes, is_listed ? row->bytes : 0);
        if (!filter_matches(&listing->rows.filter, i))
            continue;
        uint32_t key = intern_number(&listing->keys, row_groups_key(context, i, listing->way));
        found[listing->member_count++] = (struct member){key, i, is_listed};
        listing->count += is_listed;
        listing->bytes = sum_add(listing->bytes, is_listed ? row->bytes : 0);
    }
    members_sort(listing, found);
}

/* Computes the saving of all members of each group; they follow its first member. */
static void groups_save(struct groups_listing *listing)
{
    struct marginal *marginal = memory_viewer_columns_marginal(&listing->context);
    uint32_t *rows = arena_array(listing->context.request->arena, uint32_t, (size_t)listing->member_count + 1);
    for (uint32_t i = 0; i < listing->group_count; i++) {
        struct group *group = &listing->groups[i];
        uint32_t count = 0;
        for (uint32_t j = group->member_first;
             j < listing->member_count && listing->members[j].key == listing->members[group->member_first].key; j++)
            rows[count++] = listing->members[j].row;
        group->saving = marginal_of_rows(marginal, rows, NULL, count);
    }
}

static void groups_sum(struct groups_listing *listing)
{
    const struct member *members = listing->members;
    listing->groups = arena_array(listing->context.request->arena, struct group, (size_t)listing->count + 1);
    for (uint32_t i = 0; i < listing->member_count; i++) {
        const struct plan_row *row = &listing->context.space->rows[members[i].row];
        if (!members[i].is_listed)
            continue;
        if (i == 0 || members[i].key != members[i - 1].key)
            listing->groups[listing->group_count++] =
                (struct group){.key = listing->keys.items[members[i].key],
                               .first_row = members[i].row,
                               .member_first = i,
                               .smallest_bytes = row->bytes,
                               .patterns = row->patterns,
                               .whose = memory_viewer_columns_whose_of(&listing->context, members[i].row)};
        struct group *group = &listing->groups[listing->group_count - 1];
        group->count++;
        group->bytes = sum_add(group->bytes, row->bytes);
        group->smallest_bytes = row->bytes < group->smallest_bytes ? row->bytes : group->smallest_bytes;
        const struct memory_viewer_columns_whose own =
            memory_viewer_columns_whose_of(&listing->context, members[i].row);
        memory_viewer_columns_whose_join(&group->whose, &own);
        group->patterns &= row->patterns;
        group->padding_bytes = sum_add(group->padding_bytes, views_padding(row));
        if (row->bytes > group->largest_bytes) {
            group->largest_bytes = row->bytes;
            group->first_row = members[i].row;
        }
    }
}

static void json_write(const struct groups_listing *listing, struct json *json)
{
    const struct table_rows *rows = &listing->rows;
    int64_t largest = 0;
    for (uint32_t i = 0; i < listing->group_count; i++)
        largest = listing->groups[i].bytes > largest ? listing->groups[i].bytes : largest;
    json_object_begin(json);
    json_key_int(json, "space", listing->context.space->space);
    json_key_known(json, "step", listing->is_all ? -1 : (int64_t)listing->step);
    json_key_text(json, "by", row_groups_name(listing->way));
    json_key_uint(json, "total_count", listing->total_count);
    json_key_int(json, "total_bytes", listing->total_bytes);
    json_key_uint(json, "matched_count", listing->count);
    json_key_int(json, "matched_bytes", listing->bytes);
    json_key_int(json, "largest_bytes", largest);
    json_key_uint(json, "group_count", listing->group_count);
    json_key_int(json, "offset", rows->offset);
    table_columns_write(columns, "columns", json);
    table_columns_write(memory_viewer_columns, "member_columns", json);
    table_rows_write(rows, "groups", json);
    json_object_end(json);
}

bool memory_viewer_groups(const struct tool_request *request, struct json *json, struct err *err)
{
    struct groups_listing *listing = arena_array(request->arena, struct groups_listing, 1);
    struct table_column *own = arena_array(request->arena, struct table_column, COLUMN_COUNT);
    struct table_spec *spec = arena_array(request->arena, struct table_spec, 1); /* a long CSV is written after this */
    *spec = (struct table_spec){.columns = own, .filtered = memory_viewer_columns, .sort = "-saves,-size"};
    listing->context = memory_viewer_columns_of(request, views_space(request, err));
    memcpy(own, columns, sizeof(columns));
    if (listing->context.space == NULL ||
        !views_step(request, listing->context.space, true, &listing->step, &listing->is_all, err) ||
        !row_groups_way(request, &listing->way, err) || !views_paths(request, &listing->has_paths, err) ||
        !table_read(&listing->rows, request, spec, &listing->context, err))
        return false;
    own[CSV_KEY].csv = row_groups_name(listing->way);
    members_find(listing);
    groups_sum(listing);
    groups_save(listing);
    listing->rows.filter.term_count = 0; /* it was for the buffers */
    table_take_all(&listing->rows, listing->group_count);
    if (table_is_lines(&listing->rows))
        table_lines_write(&listing->rows, NULL);
    else
        json_write(listing, json);
    return true;
}
