/* SPDX-License-Identifier: Apache-2.0
 * whose.c: the view "whose": whose memory a space is: the program's arguments, what is live at the peak by category, and
 * the rules that decided. With format=text the same for a terminal. */
#include "base/map.h"
#include "base/nearest.h"
#include "base/size_text.h"
#include "base/sum.h"
#include "plan/group_key.h"
#include "plan/pattern.h"
#include "tool/memory_viewer/columns.h"

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

static void patterns_write(const struct tool_request *request, struct json *json, const struct plan_space *space)
{
    const struct plan *plan = request->model;
    json_key_text(json, "patterns_remark", pattern_remark(plan, space, request->arena));
    json_key_array(json, "patterns");
    for (uint32_t i = 0; i < space->pattern_count; i++) {
        const struct plan_pattern *pattern = &space->patterns[i];
        json_object_begin(json);
        json_key_text(json, "kind", pattern_name((enum pattern_kind)pattern->kind));
        json_key_int(json, "bytes", pattern->bytes);
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
    int64_t bytes;
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

/* What is live at the peak, by category, scope and shape. */
static struct groups groups_of(const struct tool_request *request, const struct plan_space *space)
{
    struct groups groups = {arena_array(request->arena, struct group, (size_t)space->live_at_peak_count + 1), 0};
    struct map map;
    map_init(&map, request->arena, space->live_at_peak_count);
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        char id[GROUP_KEY_TEXT_BYTES];
        bool is_new;
        if (!plan_row_is_alive(row, space->peak_step))
            continue;
        struct group_key key = group_key_of(request->model, row, request->scratch, request->arena);
        group_key_text(&key, id);
        uint32_t at = map_number(&map, hash_text(id, 0), is_group, (const void *[]){&groups, id}, &is_new);
        struct group *group = &groups.items[at];
        if (is_new) {
            *group = (struct group){.key = key, .first_row = i};
            memcpy(group->id, id, sizeof(id));
            groups.count++;
        }
        group->count++;
        group->bytes = sum_add(group->bytes, row->bytes);
        if (row->bytes > space->rows[group->first_row].bytes)
            group->first_row = i;
    }
    qsort(groups.items, groups.count, sizeof(*groups.items), by_bytes);
    return groups;
}

static struct str label_of(const struct tool_request *request, const struct group *group)
{
    return group_key_label(group->key.scope, request->arena);
}

static struct str source_of(const struct tool_request *request, const struct plan_space *space,
                            const struct group *group)
{
    const struct memory_viewer_columns_rows rows = {.request = request, .space = space};
    struct str line = memory_viewer_columns_source(&rows, group->first_row);
    return (struct str){arena_text(request->arena, line), line.length};
}

static void groups_write(const struct tool_request *request, struct json *json, const struct plan_space *space)
{
    const struct groups groups = groups_of(request, space);
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
        json_key_string(json, "source", source_of(request, space, group));
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- for a terminal ---- */

enum { TEXT_GROUPS_MAX = 12 };

/* Names come out of a file: what would move a terminal's cursor becomes '?'. */
static void name_write(struct buf *out, struct str name)
{
    for (size_t i = 0; i < name.length; i++)
        buf_char(out, (unsigned char)name.data[i] < ' ' || name.data[i] == 0x7f ? '?' : name.data[i]);
}

static void line_write(struct buf *out, int64_t bytes, int64_t whole, const char *words)
{
    char size[SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES];
    buf_format(out, "  %12s  %7s  %s", size_text(size, (uint64_t)bytes), size_text_share(share, bytes, whole), words);
}

static void text_write(const struct tool_request *request, const struct plan_space *space)
{
    const struct plan *plan = request->model;
    struct buf *out = request->out;
    char size[SIZE_TEXT_BYTES];
    const struct groups groups = groups_of(request, space);
    name_write(out, plan->hlo.name);
    buf_format(out, ", %s: %s at the peak\n", space->name, size_text(size, (uint64_t)space->peak_bytes));
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (space->category_bytes[i] > 0) {
            line_write(out, space->category_bytes[i], space->peak_bytes, category_words((enum category)i));
            buf_char(out, '\n');
        }
    for (uint32_t i = 0; i < space->pattern_count; i++) {
        buf_text(out, i == 0 ? "\nPatterns\n  " : "  ");
        name_write(out, str_of(space->patterns[i].sentence));
        buf_char(out, '\n');
    }
    for (uint32_t i = 0; i < groups.count && i < TEXT_GROUPS_MAX; i++) {
        const struct group *group = &groups.items[i];
        struct str label = label_of(request, group), source = source_of(request, space, group);
        if (i == 0)
            buf_text(out, "\nLargest groups\n");
        line_write(out, group->bytes, space->peak_bytes, "");
        buf_format(out, "%u × %.*s  ", group->count, (int)group->key.shape.length, group->key.shape.data);
        name_write(out, label);
        buf_format(out, " (%s)%s", category_words(group->key.category), source.length > 0 ? "  " : "");
        name_write(out, source);
        buf_char(out, '\n');
    }
    if (groups.count > TEXT_GROUPS_MAX)
        buf_format(out, "  and %u more groups; --json lists all\n", groups.count - TEXT_GROUPS_MAX);
}

static bool format_read(const struct tool_request *request, bool *is_text, struct err *err)
{
    static const char *const formats[] = {"json", "text"};
    const char *format = tool_param_text(request, "format");
    size_t at = 0;
    if (format != NULL && !nearest_choose("format", "format", str_of(format), formats, 2, &at, err))
        return false;
    *is_text = at == 1;
    return true;
}

bool memory_viewer_whose(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct plan *plan = request->model;
    const struct plan_space *space = views_space(request, err);
    bool is_text;
    if (space == NULL || !format_read(request, &is_text, err))
        return false;
    if (is_text) {
        text_write(request, space);
        return true;
    }
    json_object_begin(json);
    json_key_string(json, "name", plan->hlo.name);
    json_key_int(json, "space", space->space);
    arguments_write(json, plan);
    peak_write(json, space);
    patterns_write(request, json, space);
    groups_write(request, json, space);
    json_object_end(json);
    return true;
}
