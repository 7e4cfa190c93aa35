/* SPDX-License-Identifier: Apache-2.0
 * whose.c: the view "whose": whose memory a space is: the program's arguments, what is live at the peak by category,
 * and the rules that decided. With format=text the same for a terminal. */
#include "base/map.h"
#include "base/nearest.h"
#include "base/size_text.h"
#include "plan/pattern.h"
#include "plan/peak_groups.h"
#include "views/memory_viewer/saving.h"

static void verdict_write(struct json *json, struct category_choice choice)
{
    json_key_text(json, "category", category_name((enum category)choice.category));
    json_key_text(json, "confidence",
                  category_confidence_name(category_rule_confidence((enum category_rule)choice.rule)));
    json_key_text(json, "rule", category_rule_name((enum category_rule)choice.rule));
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
        verdict_write(json, argument->choice);
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

/* What is live at the peak, by category, scope and shape, and what the peak falls by without each. */
struct groups {
    struct peak_groups of_peak;
    struct marginal_saving *savings; /* by group */
};

/* Computes the saving of all rows of each group, whenever they live. */
static void groups_save(const struct memory_viewer_columns_rows *rows, struct groups *groups)
{
    const struct peak_groups *of = &groups->of_peak;
    struct arena *arena = rows->request->arena;
    uint32_t count = rows->space->row_count, first = 0;
    uint32_t *members = arena_array(arena, uint32_t, (size_t)count + 1);
    uint32_t *ends = arena_array(arena, uint32_t, (size_t)of->count + 1); /* in `members`, by group */
    for (uint32_t i = 0; i < count; i++)
        if (of->of_row[i] != MAP_NONE)
            ends[of->of_row[i]]++;
    for (uint32_t i = 0; i < of->count; i++) {
        uint32_t own = ends[i];
        ends[i] = first;
        first += own;
    }
    for (uint32_t i = 0; i < count; i++)
        if (of->of_row[i] != MAP_NONE)
            members[ends[of->of_row[i]]++] = i;
    for (uint32_t i = 0; i < of->count; i++) {
        first = i == 0 ? 0 : ends[i - 1];
        groups->savings[i] =
            marginal_of_rows(memory_viewer_columns_marginal(rows), members + first, NULL, ends[i] - first);
    }
}

static struct groups groups_of(const struct memory_viewer_columns_rows *rows)
{
    const struct tool_request *request = rows->request;
    struct groups groups;
    peak_groups_build(request->model, rows->space, request->scratch, request->arena, &groups.of_peak);
    groups.savings = arena_array(request->arena, struct marginal_saving, (size_t)groups.of_peak.count + 1);
    groups_save(rows, &groups);
    return groups;
}

static struct str label_of(const struct tool_request *request, const struct peak_group *group)
{
    return group_key_label(group->key.scope, request->arena);
}

static struct str source_of(const struct memory_viewer_columns_rows *rows, const struct peak_group *group)
{
    struct str line = memory_viewer_columns_source(rows, group->first_row);
    return (struct str){arena_text(rows->request->arena, line), line.length};
}

static void groups_write(const struct memory_viewer_columns_rows *rows, struct json *json)
{
    const struct tool_request *request = rows->request;
    const struct groups groups = groups_of(rows);
    json_key_array(json, "groups");
    for (uint32_t i = 0; i < groups.of_peak.count; i++) {
        uint32_t at = groups.of_peak.by_bytes[i];
        const struct peak_group *group = &groups.of_peak.items[at];
        json_object_begin(json);
        json_key_text(json, "key", group->id);
        json_key_text(json, "category", category_name(group->key.category));
        json_key_string(json, "label", label_of(request, group));
        json_key_string(json, "scope", group->key.scope);
        json_key_string(json, "shape", group->key.shape);
        json_key_uint(json, "count", group->count);
        json_key_int(json, "bytes", group->bytes);
        saving_write_figures(json, &groups.savings[at]);
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
    for (uint32_t i = 0; i < groups.of_peak.count && i < TEXT_GROUPS_MAX; i++) {
        const struct peak_group *group = &groups.of_peak.items[groups.of_peak.by_bytes[i]];
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
    if (groups.of_peak.count > TEXT_GROUPS_MAX)
        buf_format(out, "  and %u more groups; --json lists all\n", groups.of_peak.count - TEXT_GROUPS_MAX);
}

bool memory_viewer_whose(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct plan *plan = request->model;
    const struct plan_space *space = views_space(request, err);
    const struct memory_viewer_columns_rows rows = memory_viewer_columns_of(request, space);
    bool is_text;
    if (space == NULL || !tool_param_format(request, &is_text, err))
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
