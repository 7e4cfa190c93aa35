/* SPDX-License-Identifier: Apache-2.0
 * whose.c: the view "whose": whose memory an allocator snapshot holds where it matters: when the last request failed,
 * else at the peak, or at the end of one without a history. By category, and by line of code. With format=text the same
 * for a terminal. */
#include "model/memory_profile/categories.h"
#include "model/memory_profile/lines.h"
#include "views/memory_profile/views.h"

#include "base/printable.h"
#include "base/size_text.h"

enum { TEXT_LINES_MAX = 12 };

struct whose {
    const struct memory_profile_pool *pool;
    enum memory_profile_moment_kind kind;
    struct memory_profile_moment moment;
    int64_t in_use_bytes;
    struct memory_profile_category_sum sums[CATEGORY_COUNT];
    struct memory_profile_lines lines;
};

static void whose_find(struct whose *whose, struct arena *arena)
{
    const struct memory_profile_pool *pool = whose->pool;
    const struct memory_profile_failure *failure =
        pool->failure_count > 0 ? &pool->failures[pool->failure_count - 1] : NULL;
    whose->kind = memory_profile_moment_that_matters(pool, failure, false, &whose->moment);
    whose->in_use_bytes = memory_profile_in_use_after(pool, whose->moment.count);
    memory_profile_categories_at(pool, whose->moment.count, whose->sums);
    memory_profile_lines_make(pool, whose->moment.count, arena, &whose->lines);
}

static const struct {
    const char *name, *words;
} moments[] = {[MOMENT_OF_FAILURE] = {"failure", "when the last request failed"},
               [MOMENT_OF_PEAK] = {"peak", "at the peak"},
               [MOMENT_OF_END] = {"end", "at the end"}};

static const char no_stacks[] = "Only allocator snapshots of PyTorch have the stacks that this needs.";

static bool has_stacks(const struct whose *whose) { return whose->pool->before != NULL; }

static void json_write(const struct whose *whose, struct json *json)
{
    json_object_begin(json);
    memory_profile_views_memory(json, whose->pool);
    json_key_text(json, "moment", moments[whose->kind].name);
    json_key_int(json, "time_ps", whose->moment.time_ps);
    json_key_int(json, "in_use_bytes", whose->in_use_bytes);
    json_key(json, "reason");
    memory_profile_views_reason(json, has_stacks(whose) ? NULL : "no_stacks", no_stacks);
    memory_profile_views_categories(json, "categories", has_stacks(whose) ? whose->sums : NULL);
    json_key_array(json, "groups");
    for (size_t i = 0; i < whose->lines.count; i++) {
        const struct memory_profile_line *line = &whose->lines.items[i];
        json_object_begin(json);
        json_key_text(json, "category", category_name(line->category));
        json_key_string(json, "source", line->words);
        json_key_uint(json, "count", line->count);
        json_key_int(json, "size_bytes", line->bytes);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void line_write(struct buf *out, int64_t bytes, int64_t whole, const char *words)
{
    char size[SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES];
    buf_format(out, "  %12s  %7s  %s", size_text(size, (uint64_t)(bytes > 0 ? bytes : 0)),
               size_text_share(share, bytes > 0 ? bytes : 0, whole > 0 ? whole : 0), words);
}

static void categories_write(const struct whose *whose, struct buf *out)
{
    enum category order[CATEGORY_COUNT];
    uint32_t count = memory_profile_categories_order(whose->sums, order);
    for (uint32_t i = 0; i < count; i++) {
        const struct memory_profile_category_sum *sum = &whose->sums[order[i]];
        line_write(out, sum->bytes, whose->in_use_bytes, category_words(order[i]));
        buf_format(out, "%s\n", memory_profile_categories_guess_words(order[i], sum));
    }
}

static void text_write(const struct whose *whose, struct buf *out)
{
    char size[SIZE_TEXT_BYTES];
    buf_printable(out, whose->pool->name);
    buf_format(out, ": %s in use %s\n", size_text(size, (uint64_t)(whose->in_use_bytes > 0 ? whose->in_use_bytes : 0)),
               moments[whose->kind].words);
    if (!has_stacks(whose))
        buf_format(out, "  %s\n", no_stacks);
    categories_write(whose, out);
    for (size_t i = 0; i < whose->lines.count && i < TEXT_LINES_MAX; i++) {
        const struct memory_profile_line *line = &whose->lines.items[i];
        buf_text(out, i == 0 ? "\nLargest groups\n" : "");
        line_write(out, line->bytes, whose->in_use_bytes, "");
        buf_format(out, "%u × %s%s", line->count, category_words(line->category), line->words.length > 0 ? "  " : "");
        buf_printable(out, line->words);
        buf_char(out, '\n');
    }
    if (whose->lines.count > TEXT_LINES_MAX)
        buf_format(out, "  and %zu more groups; --json lists all\n", whose->lines.count - TEXT_LINES_MAX);
}

bool memory_profile_whose(const struct tool_request *request, struct json *json, struct err *err)
{
    struct whose *whose = arena_array(request->arena, struct whose, 1);
    bool is_text;
    whose->pool = memory_profile_views_pool(request, err);
    if (whose->pool == NULL || !tool_param_format(request, &is_text, err))
        return false;
    whose_find(whose, request->arena);
    if (is_text)
        text_write(whose, request->out);
    else
        json_write(whose, json);
    return true;
}
