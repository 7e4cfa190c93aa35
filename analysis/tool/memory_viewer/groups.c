/* SPDX-License-Identifier: Apache-2.0
 * groups.c: the view "groups": what is live at a step, summed by shape, dtype,
 * opcode, category, source line, or scope of the framework's op name. */
#include "tool/memory_viewer/row_fields.h"

#include <stdlib.h>

enum { LIMIT_MOST = 1000, LIMIT_USUAL = 100 };

struct member {
    struct str key;
    uint32_t row;
};

struct group {
    struct str key;
    uint32_t first_row, count; /* first_row: of the largest buffer */
    int64_t bytes, padding_bytes, largest_bytes;
};

static const struct {
    const char *name;
    enum row_field field;
    bool is_scope; /* without the op itself, and with every number as a star: "layer_3" is "layer_*" */
} ways[] = {
    {"shape", ROW_SHAPE, false},   {"dtype", ROW_DTYPE, false}, {"opcode", ROW_OPCODE, false},
    {"category", ROW_CATEGORY, false}, {"line", ROW_LINE, false},   {"scope", ROW_SCOPE, true},
};

/* "jit(f)/layer_12/dot_general" to "jit(f)/layer_*", copied. */
static struct str scope_of(struct str op_name, struct arena *arena)
{
    char *copy = arena_text(arena, op_name);
    size_t length = op_name.length, kept = 0;
    while (length > 0 && copy[length - 1] != '/')
        length--;
    if (length > 0)
        length--;
    for (size_t i = 0; i < length; i++) {
        bool is_digit = copy[i] >= '0' && copy[i] <= '9';
        if (!is_digit)
            copy[kept++] = copy[i];
        else if (kept == 0 || copy[kept - 1] != '*')
            copy[kept++] = '*';
    }
    return (struct str){copy, kept};
}

static int by_key(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    int order = str_compare(a->key, b->key);
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

static int larger_first(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return str_compare(a->key, b->key);
}

static uint32_t members_collect(const struct row_fields_context *row, const struct filter *filter, uint32_t step, size_t way,
                                struct member *members)
{
    struct arena *arena = row->request->arena;
    uint32_t count = 0;
    for (uint32_t i = 0; i < row->space->row_count; i++) {
        if (!plan_row_is_alive(&row->space->rows[i], step) || !filter_matches(filter, i))
            continue;
        struct str text = row_fields_text(row, i, ways[way].field);
        struct str key = ways[way].is_scope ? scope_of(text, arena) : (struct str){arena_text(arena, text), text.length};
        members[count++] = (struct member){key, i};
    }
    qsort(members, count, sizeof *members, by_key);
    return count;
}

static uint32_t groups_sum(const struct plan_space *space, const struct member *members, uint32_t count, struct group *groups)
{
    uint32_t group_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_row *row = &space->rows[members[i].row];
        if (i == 0 || !str_equal(members[i].key, members[i - 1].key))
            groups[group_count++] = (struct group){.key = members[i].key, .first_row = members[i].row};
        struct group *group = &groups[group_count - 1];
        group->count++;
        group->bytes += row->bytes;
        group->padding_bytes += views_padding(row);
        if (row->bytes > group->largest_bytes) {
            group->largest_bytes = row->bytes;
            group->first_row = members[i].row;
        }
    }
    qsort(groups, group_count, sizeof *groups, larger_first);
    return group_count;
}

static void group_write(const struct row_fields_context *row, struct json *json, const struct group *group)
{
    json_object_begin(json);
    json_key_string(json, "key", group->key);
    json_key_uint(json, "count", group->count);
    json_key_int(json, "bytes", group->bytes);
    json_key_int(json, "padding_bytes", group->padding_bytes);
    json_key_int(json, "largest_bytes", group->largest_bytes);
    json_key(json, "largest_id");
    views_row_id(json, row->request->plan, &row->space->rows[group->first_row]);
    json_key_string(json, "category", row_fields_text(row, group->first_row, ROW_CATEGORY));
    json_key_string(json, "source", row_fields_text(row, group->first_row, ROW_LINE));
    json_object_end(json);
}

static bool way_read(const struct tool_request *request, size_t *way, struct err *err)
{
    const char *by = tool_param_text(request, "by");
    for (*way = 0; *way < sizeof ways / sizeof ways[0]; ++*way)
        if (strcmp(by != NULL ? by : "shape", ways[*way].name) == 0)
            return true;
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "by: \"%.40s\" is none of shape, dtype, opcode, category, line, scope", by);
}

bool view_groups(const struct tool_request *request, struct json *json, struct err *err)
{
    struct row_fields_context row = {request, views_space(request, err)};
    struct filter_table table = {row_fields, row_fields_text, row_fields_number, &row};
    struct filter filter;
    const char *filter_text = tool_param_text(request, "filter");
    int64_t offset, limit;
    uint32_t step;
    size_t way;
    bool is_all;
    if (row.space == NULL || !views_step(request, row.space, false, &step, &is_all, err) || !way_read(request, &way, err) ||
        !tool_param_number(request, "offset", 0, UINT32_MAX, 0, &offset, err) ||
        !tool_param_number(request, "limit", 0, LIMIT_MOST, LIMIT_USUAL, &limit, err) ||
        !filter_read(filter_text != NULL ? filter_text : "", &table, request->arena, &filter, err))
        return false;
    struct member *members = arena_array(request->arena, struct member, (size_t)row.space->row_count + 1);
    uint32_t count = members_collect(&row, &filter, step, way, members);
    struct group *groups = arena_array(request->arena, struct group, (size_t)count + 1);
    uint32_t group_count = groups_sum(row.space, members, count, groups);
    json_object_begin(json);
    json_key_int(json, "space", row.space->space);
    json_key_uint(json, "step", step);
    json_key_text(json, "by", ways[way].name);
    json_key_int(json, "total_bytes", plan_bytes_at(row.space, step));
    json_key_uint(json, "matched_count", count);
    json_key_uint(json, "group_count", group_count);
    json_key_int(json, "offset", offset);
    json_key(json, "groups");
    json_array_begin(json);
    for (int64_t i = offset; i < offset + limit && i < group_count; i++)
        group_write(&row, json, &groups[i]);
    json_array_end(json);
    json_object_end(json);
    return true;
}
