/* SPDX-License-Identifier: Apache-2.0
 * groups.c: the view "groups": what is live at a step, summed by shape, dtype,
 * opcode, category, source line, layer, or scope of the framework's op name. */
#include "base/csv.h"
#include "base/sum.h"
#include "tool/memory_viewer/row_groups.h"

#include <stdlib.h>

enum { LIMIT_MOST = 1000, LIMIT_USUAL = 100 };

/* What groups are sorted by: a name, "-" in front turns it round. */
enum order { ORDER_SIZE, ORDER_COUNT, ORDER_PADDING, ORDER_LARGEST, ORDER_KEY };
static const char *const orders[] = {"size", "count", "padding", "largest", "key"};

struct member {
    struct str key;
    uint32_t row;
};

struct group {
    enum order order; /* of all groups alike */
    bool is_descending;
    struct str key;
    uint32_t first_row, count; /* first_row: of the largest buffer */
    int64_t bytes, padding_bytes, largest_bytes;
};

static int by_key(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    int order = str_compare(a->key, b->key);
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

static int64_t weight_of(const struct group *group)
{
    switch (group->order) {
    case ORDER_SIZE: return group->bytes;
    case ORDER_COUNT: return group->count;
    case ORDER_PADDING: return group->padding_bytes;
    case ORDER_LARGEST: return group->largest_bytes;
    case ORDER_KEY: break;
    }
    return 0;
}

static int by_order(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    int keys = str_compare(a->key, b->key);
    int order = a->order == ORDER_KEY ? keys : (weight_of(a) > weight_of(b)) - (weight_of(a) < weight_of(b));
    if (order == 0)
        return keys;
    return a->is_descending ? -order : order;
}

static bool order_read(const struct tool_request *request, enum order *order, bool *is_descending, struct err *err)
{
    const char *sort = tool_param_text(request, "sort");
    const char *name = sort == NULL ? "-size" : sort;
    *is_descending = *name == '-';
    name += *is_descending;
    for (*order = ORDER_SIZE; *order <= ORDER_KEY; ++*order)
        if (strcmp(name, orders[*order]) == 0)
            return true;
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "sort: \"%.40s\" is none of size, count, padding, largest, key", name);
}

/* What is alive, and of it what the filter keeps. */
struct collected {
    struct member *members;
    uint32_t count, total_count;
    int64_t bytes, total_bytes;
};

static struct collected collect(const struct row_fields_context *row, const struct filter *filter, uint32_t step, bool is_all,
                                size_t way)
{
    struct collected all = {arena_array(row->request->arena, struct member, (size_t)row->space->row_count + 1), 0, 0, 0, 0};
    for (uint32_t i = 0; i < row->space->row_count; i++) {
        const struct plan_row *each = &row->space->rows[i];
        if (!is_all && !plan_row_is_alive(each, step))
            continue;
        all.total_count++;
        all.total_bytes = sum_add(all.total_bytes, each->bytes);
        if (!filter_matches(filter, i))
            continue;
        all.members[all.count++] = (struct member){row_groups_key(row, i, way), i};
        all.bytes = sum_add(all.bytes, each->bytes);
    }
    qsort(all.members, all.count, sizeof *all.members, by_key);
    return all;
}

static uint32_t groups_sum(const struct plan_space *space, const struct member *members, uint32_t count, enum order order,
                           bool is_descending, struct group *groups)
{
    uint32_t group_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_row *row = &space->rows[members[i].row];
        if (i == 0 || !str_equal(members[i].key, members[i - 1].key))
            groups[group_count++] = (struct group){
                .order = order, .is_descending = is_descending, .key = members[i].key, .first_row = members[i].row};
        struct group *group = &groups[group_count - 1];
        group->count++;
        group->bytes = sum_add(group->bytes, row->bytes);
        group->padding_bytes = sum_add(group->padding_bytes, views_padding(row));
        if (row->bytes > group->largest_bytes) {
            group->largest_bytes = row->bytes;
            group->first_row = members[i].row;
        }
    }
    qsort(groups, group_count, sizeof *groups, by_order);
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

/* "models.py:11" of "training/models.py:11". */
static struct str without_folder(struct str line)
{
    size_t from = line.length;
    while (from > 0 && line.data[from - 1] != '/')
        from--;
    return (struct str){line.data + from, line.length - from};
}

static void csv_write(const struct tool_request *request, const char *way, bool has_paths, const struct group *groups,
                      uint32_t count)
{
    bool is_cut = !has_paths && strcmp(way, "line") == 0;
    struct csv csv = CSV_INIT(request->out);
    buf_format(csv.out, "%s,count,size_bytes,padding_bytes,largest_bytes\r\n", way);
    for (uint32_t i = 0; i < count; i++) {
        csv_text(&csv, is_cut ? without_folder(groups[i].key) : groups[i].key);
        csv_int(&csv, groups[i].count);
        csv_int(&csv, groups[i].bytes);
        csv_int(&csv, groups[i].padding_bytes);
        csv_int(&csv, groups[i].largest_bytes);
        csv_row_end(&csv);
    }
}

/* What is asked for. */
struct question {
    struct filter filter;
    int64_t offset, limit;
    uint32_t step;
    size_t way;
    enum order order;
    bool is_all, is_csv, has_paths, is_descending;
};

static bool question_read(const struct row_fields_context *row, const struct filter_table *table, struct question *question,
                          struct err *err)
{
    const struct tool_request *request = row->request;
    const char *filter = tool_param_text(request, "filter");
    return row->space != NULL && views_step(request, row->space, true, &question->step, &question->is_all, err) &&
           row_groups_way(request, 0, &question->way, err) && views_format(request, &question->is_csv, err) &&
           views_paths(request, &question->has_paths, err) &&
           order_read(request, &question->order, &question->is_descending, err) &&
           tool_param_number(request, "offset", 0, UINT32_MAX, 0, &question->offset, err) &&
           tool_param_number(request, "limit", 0, LIMIT_MOST, LIMIT_USUAL, &question->limit, err) &&
           filter_read(filter != NULL ? filter : "", table, request->arena, &question->filter, err);
}

bool memory_viewer_groups(const struct tool_request *request, struct json *json, struct err *err)
{
    struct row_fields_context row = {request, views_space(request, err)};
    struct filter_table table = {row_fields, row_fields_text, row_fields_number, &row};
    struct question question;
    if (!question_read(&row, &table, &question, err))
        return false;
    struct collected all = collect(&row, &question.filter, question.step, question.is_all, question.way);
    struct group *groups = arena_array(request->arena, struct group, (size_t)all.count + 1);
    uint32_t group_count = groups_sum(row.space, all.members, all.count, question.order, question.is_descending, groups);
    if (question.is_csv) {
        csv_write(request, row_groups_name(question.way), question.has_paths, groups, group_count);
        return true;
    }
    int64_t largest = 0;
    for (uint32_t i = 0; i < group_count; i++)
        largest = groups[i].bytes > largest ? groups[i].bytes : largest;
    json_object_begin(json);
    json_key_int(json, "space", row.space->space);
    json_key_known(json, "step", question.is_all ? -1 : (int64_t)question.step);
    json_key_text(json, "by", row_groups_name(question.way));
    json_key_uint(json, "total_count", all.total_count);
    json_key_int(json, "total_bytes", all.total_bytes);
    json_key_uint(json, "matched_count", all.count);
    json_key_int(json, "matched_bytes", all.bytes);
    json_key_int(json, "largest_bytes", largest);
    json_key_uint(json, "group_count", group_count);
    json_key_int(json, "offset", question.offset);
    json_key(json, "groups");
    json_array_begin(json);
    for (int64_t i = question.offset; i < question.offset + question.limit && i < group_count; i++)
        group_write(&row, json, &groups[i]);
    json_array_end(json);
    json_object_end(json);
    return true;
}
