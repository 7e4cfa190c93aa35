/* SPDX-License-Identifier: Apache-2.0
 * compare_profiles.c: two device profiles side by side: the table of views, and those that say it all at once:
 * "summary" (what either holds, the sentence, the way from A to B by call site, kinds) and "diff" (all of it, as JSON,
 * text or Markdown). */
#include "base/nearest.h"
#include "views/device_memory/changes_views.h"

enum { FORMAT_JSON, FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_COUNT };
/* Rows that a person is shown, and columns that a kind and a state take. */
enum { SHOWN_ROWS = 20, KIND_WIDTH = 10, STATE_WIDTH = 6 };

/* ---- JSON ---- */

static void side_write(const struct changes *changes, int at, struct json *json)
{
    const struct profile_set *set = changes->model.request->model;
    const struct profile_set_item *item = &set->items[at];
    int64_t many = 0;
    json_key_object(json, at == 0 ? "a" : "b");
    json_key_text(json, "name", item->name);
    json_key_int(json, "total", at == 0 ? changes->before : changes->after);
    for (uint32_t i = 0; i < changes->kind_names.map.count; i++)
        many = pprof_add(many, at == 0 ? changes->kinds[i].before_count : changes->kinds[i].after_count);
    json_key_int(json, "count", many);
    json_key_uint(json, "sample_count", item->pprof->sample_count);
    json_key_known(json, "captured_at_ms", item->captured_at_ms > 0 ? item->captured_at_ms : -1);
    json_object_end(json);
}

static void kinds_write(const struct changes *changes, struct json *json)
{
    json_key_array(json, "kinds");
    for (uint32_t i = 0; i < changes->kind_names.map.count; i++) {
        const struct changes_kind *kind = &changes->kinds[i];
        json_object_begin(json);
        json_key_string_if_any(json, "kind", kind->name);
        json_key_int(json, "a_bytes", kind->before);
        json_key_int(json, "b_bytes", kind->after);
        json_key_int(json, "a_count", kind->before_count);
        json_key_int(json, "b_count", kind->after_count);
        json_object_end(json);
    }
    json_array_end(json);
}

static void waterfall_write(const struct changes *changes, struct json *json)
{
    struct changes_part parts[CHANGES_PARTS_MAX];
    uint32_t count = changes_parts(changes, parts);
    json_key_array(json, "waterfall");
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(json);
        json_key_text(json, "label", changes_part_name(changes, &parts[i]));
        json_key_string(json, "category",
                        parts[i].row != NULL ? changes->kind_names.items[parts[i].row->kind] : STR(""));
        json_key_int(json, "bytes", parts[i].change);
        if (parts[i].row != NULL)
            json_key_uint(json, "group", parts[i].row->group);
        json_object_end(json);
    }
    json_array_end(json);
}

static void head_write(const struct changes *changes, struct json *json)
{
    struct buf *scratch = changes->model.request->scratch;
    const struct pprof_type *type = &changes->model.pprof->types[changes->model.metric];
    json_key_int(json, "total_before", changes->before);
    json_key_int(json, "total_after", changes->after);
    scratch->length = 0;
    changes_sentence(changes, scratch);
    json_key_string(json, "sentence", (struct str){scratch->data, scratch->length});
    json_key_object(json, "metric");
    json_key_string(json, "name", type->name);
    json_key_string(json, "unit", type->unit);
    json_object_end(json);
    waterfall_write(changes, json);
    side_write(changes, 0, json);
    side_write(changes, 1, json);
    kinds_write(changes, json);
    json_key_object(json, "counts");
    for (int i = 0; i < CHANGES_STATE_COUNT; i++)
        json_key_uint(json, changes_state_name((enum changes_state)i), changes->of_sites.counts[i]);
    json_object_end(json);
    json_key_uint(json, "site_count", changes->of_sites.count);
    json_key_uint(json, "stack_count", changes->of_stacks.count);
}

static bool compare_profiles_summary(const struct tool_request *request, struct json *json, struct err *err)
{
    struct changes changes;
    if (!changes_make(request, &changes, err))
        return false;
    json_object_begin(json);
    head_write(&changes, json);
    return model_end(&changes.model, json);
}

/* null if a side does not have it. */
static void name_write(const struct changes *changes, const struct changes_row *row, const char *key, bool is_there,
                       struct json *json)
{
    json_key(json, key);
    if (is_there)
        json_string(json, row->frame_count > 0 ? changes_stack_name(changes, row, UINT32_MAX)
                                               : changes_site_name(changes, row));
    else
        json_null(json);
}

static void match_write(const struct changes *changes, const struct changes_row *row, struct json *json)
{
    const char *by = tool_param_text(changes->model.request, "by");
    const char *key = row->frame_count > 0 ? "stack" : by != NULL && by[0] != '\0' ? by : "line";
    bool is_new = row->state == CHANGES_NEW, is_gone = row->state == CHANGES_GONE;
    json_object_begin(json);
    name_write(changes, row, "a", !is_new, json);
    name_write(changes, row, "b", !is_gone, json);
    json_key_int(json, "delta_bytes", changes_of(row));
    json_key_string(json, "category", changes->kind_names.items[row->kind]);
    json_key_text(json, "key", is_new || is_gone ? changes_state_name((enum changes_state)row->state) : key);
    json_key_int(json, "a_bytes", row->before);
    json_key_int(json, "b_bytes", row->after);
    json_key_int(json, "a_count", row->before_count);
    json_key_int(json, "b_count", row->after_count);
    json_object_end(json);
}

static void json_answer(const struct changes *changes, struct json *json)
{
    json_object_begin(json);
    head_write(changes, json);
    json_key_array(json, "matches");
    for (uint32_t i = 0; i < changes->of_sites.count; i++)
        match_write(changes, &changes->of_sites.items[changes->ranked[i]], json);
    json_array_end(json);
    json_key_array(json, "stacks");
    for (uint32_t i = 0; i < changes->of_stacks.count; i++)
        match_write(changes, &changes->of_stacks.items[i], json);
    json_array_end(json);
    json_object_end(json);
}

/* ---- text and Markdown ---- */

static const char *signed_text(const struct changes *changes, int64_t change)
{
    struct buf *scratch = changes->model.request->scratch;
    scratch->length = 0;
    changes_signed(changes, change, scratch);
    return arena_text(changes->model.arena, (struct str){scratch->data, scratch->length});
}

static void kinds_print(const struct changes *changes, const struct change_table *table)
{
    struct arena *arena = changes->model.arena;
    change_table_begin(table, "By kind", "Change | Kind | A to B");
    for (uint32_t i = 0; i < changes->kind_names.map.count; i++) {
        const struct changes_kind *kind = &changes->kinds[i];
        const char *name = kind->name.length > 0 ? change_table_safe(table, kind->name) : "no kind";
        const char *counts =
            arena_format(arena, "%lld to %lld", (long long)kind->before_count, (long long)kind->after_count);
        change_table_row(table, signed_text(changes, pprof_add(kind->after, pprof_negated(kind->before))),
                         change_table_padded(table, name, KIND_WIDTH), counts);
    }
}

static void sites_print(const struct changes *changes, const struct change_table *table)
{
    const struct changes_rows *rows = &changes->of_sites;
    for (uint32_t i = 0; i < rows->count && i < SHOWN_ROWS; i++) {
        const struct changes_row *row = &rows->items[changes->ranked[i]];
        if (changes_of(row) == 0 && row->state == CHANGES_SAME)
            break;
        if (i == 0)
            change_table_begin(table, "Largest changes", "Change | | Call site");
        struct str kind = changes->kind_names.items[row->kind];
        const char *name = change_table_safe(table, changes_site_name(changes, row));
        if (kind.length > 0 && !str_equal(kind, STR("buffer")))
            name = arena_format(changes->model.arena, "%s (%s)", name, change_table_safe(table, kind));
        change_table_row(table, signed_text(changes, changes_of(row)),
                         change_table_padded(table, changes_state_name((enum changes_state)row->state), STATE_WIDTH),
                         name);
    }
}

static void side_print(const struct changes *changes, int at, const struct change_table *table)
{
    const struct profile_set *set = changes->model.request->model;
    struct buf *scratch = changes->model.request->scratch;
    scratch->length = 0;
    changes_amount(changes, at == 0 ? changes->before : changes->after, scratch);
    const char *total = arena_text(changes->model.arena, (struct str){scratch->data, scratch->length});
    change_table_side(table, at == 0 ? "A" : "B", change_table_safe(table, str_of(set->items[at].name)), "", total);
}

static void text_answer(const struct changes *changes, bool is_markdown)
{
    const struct tool_request *request = changes->model.request;
    const struct change_table table = {request, is_markdown};
    struct changes_part parts[CHANGES_PARTS_MAX];
    uint32_t count = changes_parts(changes, parts);
    request->scratch->length = 0;
    changes_sentence(changes, request->scratch);
    buf_format(request->out, "%s\n\n",
               change_table_safe(&table, (struct str){request->scratch->data, request->scratch->length}));
    side_print(changes, 0, &table);
    side_print(changes, 1, &table);
    if (changes->model.unknown_count > 0)
        buf_format(request->out, "%s%lld executables of unknown size are not in these sums\n", is_markdown ? "\n" : "",
                   (long long)changes->model.unknown_count);
    change_table_begin(&table, "From A to B", "Change | From A to B");
    for (uint32_t i = 0; i < count; i++)
        change_table_row(&table, signed_text(changes, parts[i].change),
                         change_table_safe(&table, str_of(changes_part_name(changes, &parts[i]))), NULL);
    change_table_row(&table, signed_text(changes, pprof_add(changes->after, pprof_negated(changes->before))), "in all",
                     NULL);
    kinds_print(changes, &table);
    sites_print(changes, &table);
}

static bool diff(const struct tool_request *request, struct json *json, struct err *err)
{
    static const char *const formats[FORMAT_COUNT] = {"json", "text", "markdown"};
    struct changes changes;
    const char *text = tool_param_text(request, "format");
    size_t format = FORMAT_JSON;
    if ((text != NULL && text[0] != '\0' &&
         !nearest_choose("format", "format", str_of(text), formats, FORMAT_COUNT, &format, err)) ||
        !changes_make(request, &changes, err))
        return false;
    if (format == FORMAT_JSON)
        json_answer(&changes, json);
    else
        text_answer(&changes, format == FORMAT_MARKDOWN);
    return true;
}

/* ---- the table of views ---- */

#define NARROWING "metric", "machinery", "by", "focus", "ignore", "hide", "show", "show_from", "tag"

static const char *const repeatable[] = {"focus", "ignore", "hide", "show", "show_from", "tag", NULL};
static const char *const summary_params[] = {NARROWING, NULL};
static const char *const diff_params[] = {NARROWING, "format", NULL};
static const char *const sites_params[] = {NARROWING, "state", "sort", "filter", "offset", "limit", "format", NULL};
static const char *const stacks_params[] = {NARROWING, "state", "group",  "sort", "filter",
                                            "offset",  "limit", "format", NULL};

static const struct tool_view views[] = {
    {"summary", summary_params, compare_profiles_summary, false, repeatable},
    {"sites", sites_params, changes_sites, false, repeatable},
    {"stacks", stacks_params, changes_stacks, false, repeatable},
    {"diff", diff_params, diff, true, repeatable},
};

const struct tool tool_compare_profiles = {
    .name = "compare_profiles",
    .title = "Compare",
    .model = TOOL_OF_TWO_PROFILES,
    .views = views,
    .view_count = sizeof(views) / sizeof(views[0]),
};
