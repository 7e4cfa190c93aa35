/* SPDX-License-Identifier: Apache-2.0
 * diff.c: the view "diff": the whole comparison in one answer, for the command line: every pair as JSON, or the sentence,
 * the waterfall and the groups that changed most as text or Markdown. */
#include "base/nearest.h"
#include "base/size_text.h"
#include "plan/describe.h"
#include "tool/compare/sentence.h"
#include "tool/compare/views.h"

enum { FORMAT_JSON, FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_COUNT };
/* Groups of changes that a person is shown. */
enum { SHOWN_GROUPS = 20 };

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

/* A line of a table: two cells, or three. */
static void row_print(const struct tool_request *request, bool is_markdown, const char *change, const char *second,
                      const char *third)
{
    struct buf *out = request->out;
    buf_format(out, is_markdown ? "| %s | %s" : "  %s  %s", change, second);
    if (third != NULL)
        buf_format(out, is_markdown ? " | %s" : "  %s", third);
    buf_text(out, is_markdown ? " |\n" : "\n");
}

/* Bytes of a file that would end a cell or a line. */
static const char *safe(const struct tool_request *request, struct str text)
{
    char *copy = arena_text(request->arena, text);
    for (size_t i = 0; i < text.length; i++)
        if (str_is_control(copy[i]) || copy[i] == '|' || copy[i] == '`')
            copy[i] = '?';
    return copy;
}

/* Columns of a terminal count characters: the sign is one of three bytes. */
static const char *change_text(const struct tool_request *request, int64_t delta_bytes, bool is_markdown)
{
    const size_t width = is_markdown ? 0 : 12;
    struct buf *scratch = request->scratch;
    scratch->length = 0;
    sentence_change(delta_bytes, scratch);
    size_t shown = scratch->length - (delta_bytes < 0 ? 2 : 0);
    return arena_format(request->arena, "%*s%.*s", (int)(shown < width ? width - shown : 0), "", (int)scratch->length,
                        scratch->data);
}

static void group_print(const struct tool_request *request, const struct compare *compare,
                        const struct compare_group *group, bool is_markdown)
{
    enum compare_state state = (enum compare_state)compare->pairs[group->first_pair].state;
    request->scratch->length = 0;
    sentence_group(compare, group, request->scratch);
    const char *what = safe(request, describe_str(request->scratch));
    row_print(request, is_markdown, change_text(request, group->delta_bytes, is_markdown),
              arena_format(request->arena, is_markdown ? "%s" : "%-6s", compare_state_name(state)), what);
}

static void side_print(const struct tool_request *request, const struct compare_side *side, const char *name,
                       bool is_markdown)
{
    char size[SIZE_TEXT_BYTES];
    const char *module = safe(request, side->plan->hlo.name);
    buf_format(request->out, is_markdown ? "- %s: `%s` %s, %s\n" : "%s  %s %s, %s\n", name, module, side->space->name,
               size_text(size, (uint64_t)side->needed_bytes));
}

static void text_answer(const struct tool_request *request, const struct compare *compare, bool is_markdown)
{
    struct buf *out = request->out;
    struct alignment alignment;
    const struct compare_side *a = &compare->sides[COMPARE_A], *b = &compare->sides[COMPARE_B];
    alignment_make(compare, ALIGNMENT_SCOPE, request->arena, &alignment);
    struct sentence_peaks peaks = sentence_peaks_find(compare, &alignment);
    request->scratch->length = 0;
    sentence_write(compare, &peaks, request->scratch);
    buf_format(out, "%s\n\n", safe(request, describe_str(request->scratch)));
    side_print(request, a, "A", is_markdown);
    side_print(request, b, "B", is_markdown);
    buf_text(out, is_markdown ? "\n| Change | From A to B |\n|---:|---|\n" : "\nFrom A to B\n");
    for (uint32_t i = 0; i < compare->part_count; i++)
        row_print(request, is_markdown, change_text(request, compare->parts[i].delta_bytes, is_markdown),
                  compare->parts[i].label, NULL);
    row_print(request, is_markdown, change_text(request, b->needed_bytes - a->needed_bytes, is_markdown), "in all",
              NULL);
    for (uint32_t i = 0; i < compare->group_count && i < SHOWN_GROUPS && compare->groups[i].delta_bytes != 0; i++) {
        if (i == 0)
            buf_text(out, is_markdown ? "\n| Change | | Buffers |\n|---:|---|---|\n" : "\nLargest changes\n");
        group_print(request, compare, &compare->groups[i], is_markdown);
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
