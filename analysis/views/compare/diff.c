/* SPDX-License-Identifier: Apache-2.0
 * diff.c: the view "diff": the whole comparison in one answer, for the command line: every pair as JSON, or the
 * sentence, the waterfall and the groups that changed most as text or Markdown. */
#include "base/nearest.h"
#include "base/size_text.h"
#include "model/compare/sentence.h"
#include "plan/describe.h"
#include "views/change_table.h"
#include "views/compare/views.h"

enum { FORMAT_JSON, FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_COUNT };
/* Groups of changes that a person is shown; columns that their state takes. */
enum { SHOWN_GROUPS = 20, STATE_WIDTH = 6 };

/* ---- JSON ---- */

static void name_write(const struct tool_request *request, const struct compare *compare,
                       const struct compare_pair *pair, int side, struct json *json)
{
    const struct compare_item *item = compare_item_of(compare, pair, side);
    json_key(json, side == COMPARE_A ? "a" : "b");
    if (item != NULL)
        json_string(json, views_item_name(compare, side, item, request->scratch));
    else
        json_null(json);
}

static void match_write(const struct tool_request *request, const struct compare *compare,
                        const struct compare_pair *pair, struct json *json)
{
    const struct compare_item *a = compare_item_of(compare, pair, COMPARE_A),
                              *b = compare_item_of(compare, pair, COMPARE_B);
    json_object_begin(json);
    name_write(request, compare, pair, COMPARE_A, json);
    name_write(request, compare, pair, COMPARE_B, json);
    json_key_int(json, "delta_bytes", pair->delta_bytes);
    json_key_text(json, "category", category_name((enum category)pair->category));
    json_key_text(json, "key",
                  a != NULL && b != NULL ? compare_key_name((enum compare_key)b->key)
                                         : compare_state_name((enum compare_state)pair->state));
    json_key_int(json, "a_bytes", a != NULL ? a->row->bytes : 0);
    json_key_int(json, "b_bytes", b != NULL ? b->row->bytes : 0);
    json_object_end(json);
}

static void json_answer(const struct tool_request *request, const struct compare *compare, struct json *json)
{
    json_object_begin(json);
    summary_head_write(request, compare, json);
    json_key_array(json, "matches");
    for (uint32_t i = 0; i < compare->pair_count; i++)
        match_write(request, compare, &compare->pairs[i], json);
    json_array_end(json);
    json_object_end(json);
}

/* ---- text and Markdown ---- */

static const char *change_text(const struct tool_request *request, int64_t delta_bytes)
{
    request->scratch->length = 0;
    sentence_change(delta_bytes, request->scratch);
    return arena_text(request->arena, describe_str(request->scratch));
}

static void group_print(const struct change_table *table, const struct compare *compare,
                        const struct compare_group *group)
{
    enum compare_state state = (enum compare_state)compare->pairs[group->first_pair].state;
    const struct tool_request *request = table->request;
    const char *word = change_table_padded(table, compare_state_name(state), STATE_WIDTH);
    request->scratch->length = 0;
    sentence_group(compare, group, request->scratch);
    const char *what = change_table_safe(table, describe_str(request->scratch));
    change_table_row(table, change_text(request, group->delta_bytes), word, what);
}

static void side_print(const struct change_table *table, const struct compare_side *side, const char *name)
{
    char size[SIZE_TEXT_BYTES];
    change_table_side(table, name, change_table_safe(table, side->plan->hlo.name), side->space->name,
                      size_text(size, (uint64_t)side->needed_bytes));
}

static void text_answer(const struct tool_request *request, const struct compare *compare, bool is_markdown)
{
    const struct change_table table = {request, is_markdown};
    struct alignment alignment;
    const struct compare_side *a = &compare->sides[COMPARE_A], *b = &compare->sides[COMPARE_B];
    alignment_make(compare, ALIGNMENT_SCOPE, request->arena, &alignment);
    struct sentence_peaks peaks = sentence_peaks_find(compare, &alignment);
    request->scratch->length = 0;
    sentence_write(compare, &peaks, request->scratch);
    buf_format(request->out, "%s\n\n", change_table_safe(&table, describe_str(request->scratch)));
    side_print(&table, a, "A");
    side_print(&table, b, "B");
    change_table_begin(&table, "From A to B", "Change | From A to B");
    for (uint32_t i = 0; i < compare->part_count; i++)
        change_table_row(&table, change_text(request, compare->parts[i].delta_bytes), compare->parts[i].label, NULL);
    change_table_row(&table, change_text(request, b->needed_bytes - a->needed_bytes), "in all", NULL);
    for (uint32_t i = 0; i < compare->group_count && i < SHOWN_GROUPS && compare->groups[i].delta_bytes != 0; i++) {
        if (i == 0)
            change_table_begin(&table, "Largest changes", "Change | | Buffers");
        group_print(&table, compare, &compare->groups[i]);
    }
}

bool compare_diff(const struct tool_request *request, struct json *json, struct err *err)
{
    static const char *const formats[FORMAT_COUNT] = {"json", "text", "markdown"};
    struct compare *compare = arena_array(request->arena, struct compare, 1);
    const char *text = tool_param_text(request, "format");
    size_t format = FORMAT_JSON;
    if ((text != NULL && !nearest_choose("format", "format", str_of(text), formats, FORMAT_COUNT, &format, err)) ||
        !views_compare(request, compare, err))
        return false;
    if (format == FORMAT_JSON)
        json_answer(request, compare, json);
    else
        text_answer(request, compare, format == FORMAT_MARKDOWN);
    return true;
}
