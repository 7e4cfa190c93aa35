/* SPDX-License-Identifier: Apache-2.0
 * whose.c: the view "whose": whose memory a space is: the program's arguments, what is live at the peak by category, and
 * the rules that decided. With format=text the same for a terminal. */
#include "base/map.h"
#include "base/nearest.h"
#include "base/size_text.h"
#include "base/sum.h"
#include "plan/group_key.h"
#include "plan/pattern.h"
#include "tool/memory_viewer/saving.h"

#include <stdlib.h>

static void verdict_write(struct json *json, struct category_verdict verdict)
{
    json_key_text(json, "category", category_name((enum category)verdict.category));
    json_key_text(json, "confidence",
                  category_confidence_name(category_rule_confidence((enum category_rule)verdict.rule)));
    json_key_text(json, "rule", category_rule_name((enum category_rule)verdict.rule));
}

static void arguments_write(struct json *json, const struct plan *plan)
{
    json_key_array(json, "arguments");
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        const struct plan_argument *argument = &plan->arguments[i];
        json_object_begin(json);
        json_key_int(json, "number", argument->number);
        json_key_string(json, "path", argument->path);
        json_key_int(json, "bytes", argument->bytes);
        verdict_write(json, argument->verdict);
        json_object_end(json);
    }
    json_array_end(json);
}

static void peak_write(struct json *json, const struct plan_space *space)
{
    json_key_object(json, "peak");
    json_key_int(json, "bytes", space->peak_bytes);
    json_key_array(json, "categories");
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        if (space->category_bytes[i] == 0)
            continue;
        json_object_begin(json);
        json_key_text(json, "category", category_name((enum category)i));
        json_key_int(json, "bytes", space->category_bytes[i]);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

/* Without the buffers of a pattern; of padding, which is a part of them, without that. */
static struct marginal_saving pattern_saving(const struct memory_viewer_columns_rows *rows,
                                             const struct plan_pattern *pattern)
{
    int64_t *padding = NULL;
    if (pattern->kind == PATTERN_PADDING)
        padding = arena_array(rows->request->arena, int64_t, (size_t)pattern->row_count + 1);
    for (uint32_t i = 0; padding != NULL && i < pattern->row_count; i++)
        padding[i] = views_padding(&rows->space->rows[pattern->rows[i]]);
    return marginal_of_rows(memory_viewer_columns_marginal(rows), pattern->rows, padding, pattern->row_count);
}

static void patterns_write(struct json *json, const struct memory_viewer_columns_rows *rows)
{
    const struct plan *plan = rows->request->model;
    const struct plan_space *space = rows->space;
    json_key_text(json, "patterns_remark", pattern_remark(plan, space, rows->request->arena));
    json_key_array(json, "patterns");
    for (uint32_t i = 0; i < space->pattern_count; i++) {
        const struct plan_pattern *pattern = &space->patterns[i];
        const struct marginal_saving saving = pattern_saving(rows, pattern);
        json_object_begin(json);
        json_key_text(json, "kind", pattern_name((enum pattern_kind)pattern->kind));
        json_key_int(json, "bytes", pattern->bytes);
        saving_write_figures(json, &saving);
        saving_write_sentence(json, rows, pattern->bytes, &saving);
        json_key_text(json, "confidence", category_confidence_name(CONFIDENCE_RULE));
        json_key_text(json, "sentence", pattern->sentence);
        json_key_text(json, "rule", pattern_rule((enum pattern_kind)pattern->kind));
        json_key_text(json, "when_gone", pattern_gone((enum pattern_kind)pattern->kind));
        json_key_array(json, "buffers");
        for (uint32_t j = 0; j < pattern->row_count; j++)
            views_row_id(json, plan, &space->rows[pattern->rows[j]]);
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- groups ---- */

struct group {
    struct group_key key;
    char id[GROUP_KEY_TEXT_BYTES];
    uint32_t first_row, count; /* first_row: of its largest buffer */
    uint32_t end;              /* in the rows of all groups, by group: where its own end */
    int64_t bytes;
    struct marginal_saving saving;
};

struct groups {
    struct group *items;
    uint32_t count;
};

static int by_bytes(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: strcmp(a->id, b->id);
}

static bool is_group(const void *context, uint64_t value)
{
    const struct groups *groups = ((const void *const *)context)[0];
    return strcmp(groups->items[value].id, ((const void *const *)context)[1]) == 0;
}

/* The group of each row, MAP_NONE where no member is live at the peak. */
static uint32_t *groups_collect(const struct memory_viewer_columns_rows *rows, struct groups *groups)
{
    const struct tool_request *request = rows->request;
    const struct plan_space *space = rows->space;
    uint32_t *group_of_row = arena_array(request->arena, uint32_t, (size_t)space->row_count + 1);
    struct map map;
    map_init(&map, request->arena, space->live_at_peak_count);
    for (int is_alive = 1; is_alive >= 0; is_alive--)
        for (uint32_t i = 0; i < space->row_count; i++) {
            const struct plan_row *row = &space->rows[i];
            char id[GROUP_KEY_TEXT_BYTES];
            bool is_new;
            if (plan_row_is_alive(row, space->peak_step) != (bool)is_alive)
                continue;
            struct group_key key = group_key_of(request->model, row, request->scratch, request->arena);
            group_key_text(&key, id);
            const void *const sought[] = {groups, id};
            uint64_t hash = hash_text(id, 0);
            uint64_t found =
                is_alive ? map_number(&map, hash, is_group, sought, &is_new) : map_find(&map, hash, is_group, sought);
            group_of_row[i] = found == MAP_FREE ? MAP_NONE : (uint32_t)found;
            if (!is_alive)
                continue;
            struct group *group = &groups->items[found];
            if (is_new) {
                *group = (struct group){.key = key, .first_row = i};
                memcpy(group->id, id, sizeof(id));
                groups->count++;
            }
            group->count++;
            group->bytes = sum_add(group->bytes, row->bytes);
            if (row->bytes > space->rows[group->first_row].bytes)
                group->first_row = i;
        }
    return group_of_row;
}

/* Of each group all rows that have its key, whenever they live. */
static void groups_save(const struct memory_viewer_columns_rows *rows, struct groups *groups,
                        const uint32_t *group_of_row)
{
    uint32_t count = rows->space->row_count, first = 0;
    uint32_t *members = arena_array(rows->request->arena, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (group_of_row[i] != MAP_NONE)
            groups->items[group_of_row[i]].end++;
    for (uint32_t i = 0; i < groups->count; i++) {
        uint32_t own = groups->items[i].end;
        groups->items[i].end = first;
        first += own;
    }
    for (uint32_t i = 0; i < count; i++)
        if (group_of_row[i] != MAP_NONE)
            members[groups->items[group_of_row[i]].end++] = i;
    first = 0;
    for (uint32_t i = 0; i < groups->count; i++) {
        struct group *group = &groups->items[i];
        group->saving =
            marginal_of_rows(memory_viewer_columns_marginal(rows), members + first, NULL, group->end - first);
        first = group->end;
    }
}

/* What is live at the peak, by category, scope and shape. */
static struct groups groups_of(const struct memory_viewer_columns_rows *rows)
{
    struct arena *arena = rows->request->arena;
    struct groups groups = {arena_array(arena, struct group, (size_t)rows->space->live_at_peak_count + 1), 0};
    groups_save(rows, &groups, groups_collect(rows, &groups));
    qsort(groups.items, groups.count, sizeof(*groups.items), by_bytes);
    return groups;
}

static struct str label_of(const struct tool_request *request, const struct group *group)
{
    return group_key_label(group->key.scope, request->arena);
}

static struct str source_of(const struct memory_viewer_columns_rows *rows, const struct group *group)
{
    struct str line = memory_viewer_columns_source(rows, group->first_row);
    return (struct str){arena_text(rows->request->arena, line), line.length};
}

static void groups_write(const struct memory_viewer_columns_rows *rows, struct json *json)
{
    const struct tool_request *request = rows->request;
    const struct groups groups = groups_of(rows);
    json_key_array(json, "groups");
    for (uint32_t i = 0; i < groups.count; i++) {
        const struct group *group = &groups.items[i];
        json_object_begin(json);
        json_key_text(json, "key", group->id);
        json_key_text(json, "category", category_name(group->key.category));
        json_key_string(json, "label", label_of(request, group));
        json_key_string(json, "scope", group->key.scope);
        json_key_string(json, "shape", group->key.shape);
        json_key_uint(json, "count", group->count);
        json_key_int(json, "bytes", group->bytes);
        saving_write_figures(json, &group->saving);
        json_key_string(json, "source", source_of(rows, group));
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- for a terminal ---- */

enum { TEXT_GROUPS_MAX = 12 };

static void line_write(struct buf *out, int64_t bytes, int64_t whole, const char *words)
{
    char size[SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES];
    buf_format(out, "  %12s  %7s  %s", size_text(size, (uint64_t)bytes), size_text_share(share, bytes, whole), words);
}

static void text_write(const struct memory_viewer_columns_rows *rows)
{
    const struct tool_request *request = rows->request;
    const struct plan_space *space = rows->space;
    const struct plan *plan = request->model;
    struct buf *out = request->out;
    char size[SIZE_TEXT_BYTES];
    const struct groups groups = groups_of(rows);
    buf_printable(out, plan->hlo.name);
    buf_format(out, ", %s: %s at the peak\n", space->name, size_text(size, (uint64_t)space->peak_bytes));
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (space->category_bytes[i] > 0) {
            line_write(out, space->category_bytes[i], space->peak_bytes, category_words((enum category)i));
            buf_char(out, '\n');
        }
    for (uint32_t i = 0; i < space->pattern_count; i++) {
        buf_text(out, i == 0 ? "\nPatterns\n  " : "  ");
        buf_printable(out, str_of(space->patterns[i].sentence));
        buf_char(out, '\n');
    }
    for (uint32_t i = 0; i < groups.count && i < TEXT_GROUPS_MAX; i++) {
        const struct group *group = &groups.items[i];
        struct str label = label_of(request, group), source = source_of(rows, group);
        if (i == 0)
            buf_text(out, "\nLargest groups\n");
        line_write(out, group->bytes, space->peak_bytes, "");
        buf_format(out, "%u × %.*s  ", group->count, (int)group->key.shape.length, group->key.shape.data);
        buf_printable(out, label);
        buf_format(out, " (%s)%s", category_words(group->key.category), source.length > 0 ? "  " : "");
        buf_printable(out, source);
        buf_char(out, '\n');
    }
    if (groups.count > TEXT_GROUPS_MAX)
        buf_format(out, "  and %u more groups; --json lists all\n", groups.count - TEXT_GROUPS_MAX);
}

bool memory_viewer_whose(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct plan *plan = request->model;
    const struct plan_space *space = views_space(request, err);
    const struct memory_viewer_columns_rows rows = memory_viewer_columns_of(request, space);
    bool is_text;
    if (space == NULL || !views_format(request, &is_text, err))
        return false;
    if (is_text) {
        text_write(&rows);
        return true;
    }
    json_object_begin(json);
    json_key_string(json, "name", plan->hlo.name);
    json_key_int(json, "space", space->space);
    arguments_write(json, plan);
    peak_write(json, space);
    patterns_write(json, &rows);
    groups_write(&rows, json);
    json_object_end(json);
    return true;
}
