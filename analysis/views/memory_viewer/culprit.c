/* SPDX-License-Identifier: Apache-2.0
 * culprit.c: see culprit.h. Buffers are equal when they have the same size and the same shape, layout included; those
 * of one group of the table "whose memory" belong together. */
#include "views/memory_viewer/culprit.h"

#include "base/size_text.h"
#include "base/sum.h"
#include "plan/describe.h"
#include "plan/pattern.h"
#include "views/memory_viewer/row_groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Padding is mentioned from this share on. */
enum { SAID_PADDING_PERCENT = 10 };

struct member {
    int64_t bytes;
    uint32_t row;
    struct str shape, whose; /* set only where the size may hold the largest group; whose: only where it is asked for */
};

struct culprit {
    const struct member *members; /* by row */
    uint32_t count;
    int64_t bytes, padding_bytes;
};

/* The text that most members have, how many have that one, and how many have any. */
struct common {
    struct str text;
    uint32_t count, member_count;
};

static int by_size(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

static int by_shape(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    return str_compare(a->shape, b->shape) ?: str_compare(a->whose, b->whose) ?: ORDER(a->row, b->row);
}

static int by_text(const void *left, const void *right)
{
    return str_compare(*(const struct str *)left, *(const struct str *)right);
}

static uint32_t members_collect(const struct plan_space *space, struct member *members)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < space->row_count; i++)
        if (plan_row_is_alive(&space->rows[i], space->peak_step))
            members[count++] = (struct member){space->rows[i].bytes, i, {"", 0}, {"", 0}};
    qsort(members, count, sizeof(*members), by_size);
    return count;
}

/* is_by_whose: as the table groups them; else by size and shape alone, which an error text lists. */
static bool culprit_find(const struct memory_viewer_columns_rows *row, bool is_by_whose, struct culprit *best)
{
    struct arena *arena = row->request->arena;
    struct member *members = arena_array(arena, struct member, (size_t)row->space->row_count + 1);
    uint32_t count = members_collect(row->space, members), end;
    *best = (struct culprit){0};
    if (row->space->heap.failure != HEAP_FINE && row->space->trace_at != PLAN_NONE)
        return false;
    for (uint32_t first = 0; first < count; first = end) {
        int64_t each = members[first].bytes, sum = 0;
        for (end = first; end < count && members[end].bytes == each; end++)
            sum = sum_add(sum, each);
        if (sum <= best->bytes)
            continue; /* all of this size together are less than one group */
        for (uint32_t i = first; i < end; i++) {
            members[i].shape = row_groups_key(row, members[i].row, ROW_GROUPS_SHAPE);
            if (is_by_whose)
                members[i].whose = row_groups_key(row, members[i].row, ROW_GROUPS_WHOSE);
        }
        qsort(members + first, end - first, sizeof(*members), by_shape);
        for (uint32_t from = first, to; from < end; from = to) {
            sum = each;
            for (to = from + 1; to < end && str_equal(members[to].shape, members[from].shape) &&
                                str_equal(members[to].whose, members[from].whose);
                 to++)
                sum = sum_add(sum, each);
            if (sum > best->bytes)
                *best = (struct culprit){members + from, to - from, sum, 0};
        }
    }
    for (uint32_t i = 0; i < best->count; i++)
        best->padding_bytes = sum_add(best->padding_bytes, views_padding(&row->space->rows[best->members[i].row]));
    return best->bytes > 0;
}

static struct common common_of(const struct memory_viewer_columns_rows *row, const struct culprit *culprit, size_t way)
{
    struct str *texts = arena_array(row->request->arena, struct str, culprit->count);
    struct common common = {{"", 0}, 0, 0};
    uint32_t max = 0;
    for (uint32_t i = 0; i < culprit->count; i++)
        texts[i] = row_groups_key(row, culprit->members[i].row, way);
    qsort(texts, culprit->count, sizeof(*texts), by_text);
    for (uint32_t from = 0, to; from < culprit->count; from = to) {
        for (to = from + 1; to < culprit->count && str_equal(texts[to], texts[from]);)
            to++;
        if (texts[from].length == 0)
            continue;
        common.count++;
        common.member_count += to - from;
        if (to - from > max) {
            max = to - from;
            common.text = texts[from];
        }
    }
    return common;
}

/* ---- the sentence ---- */

static void culprit_words(struct json *json, const char *text) { json_text(json, text); }

static void name(struct json *json, struct str text)
{
    json_object_begin(json);
    json_key_string(json, "name", text);
    json_object_end(json);
}

static void figure(struct json *json, int64_t bytes, const char *text)
{
    json_object_begin(json);
    json_key_int(json, "bytes", bytes);
    json_key_text(json, "text", text);
    json_object_end(json);
}

/* "bf16[16,2048]" of "bf16[16,2048]{1,0:T(8,128)}"; tuples stay whole. */
static struct str without_layout(struct str shape)
{
    const char *brace = shape.length > 0 && shape.data[0] != '(' ? memchr(shape.data, '{', shape.length) : NULL;
    return brace == NULL ? shape : (struct str){shape.data, (size_t)(brace - shape.data)};
}

/* ", made at ", or ", 72 of them made at " where that holds for some only. */
static void words_of(struct json *json, uint32_t some, uint32_t all, const char *what)
{
    char text[96], number[COUNT_TEXT_BYTES];
    if (some == all)
        snprintf(text, sizeof(text), ", %s", what);
    else
        snprintf(text, sizeof(text), ", %s of them %s", size_text_count(number, some), what);
    culprit_words(json, text);
}

/* ---- whose memory it mostly is ---- */

/* A pattern is named from this share of the peak on; in its stead of its category from that share of the category
 * on. */
enum { NAMED_PERCENT = 10, INSTEAD_PERCENT = 95, INSTEAD_OF_VAGUE_PERCENT = 50 };

struct main_use {
    enum category category; /* the largest at the peak */
    int64_t bytes;
    const struct plan_pattern *pattern; /* the largest that says more than a category does; or NULL */
    int64_t common_bytes;               /* of the pattern, in that category */
};

static bool is_vague(enum category category)
{
    return category == CATEGORY_WORKSPACE || category == CATEGORY_OUTPUT || category == CATEGORY_UNKNOWN;
}

static struct main_use main_use_of(const struct plan_space *space)
{
    struct main_use use = {CATEGORY_UNKNOWN, 0, NULL, 0};
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (space->category_bytes[i] > use.bytes) {
            use.category = (enum category)i;
            use.bytes = space->category_bytes[i];
        }
    for (uint32_t i = 0; i < space->pattern_count && use.pattern == NULL; i++)
        if (space->patterns[i].kind != PATTERN_SAVED_ACTIVATIONS && space->patterns[i].kind != PATTERN_SCAN_RESIDUALS &&
            space->patterns[i].bytes / NAMED_PERCENT >= space->peak_bytes / 100)
            use.pattern = &space->patterns[i];
    for (uint32_t i = 0; use.pattern != NULL && i < use.pattern->row_count; i++) {
        const struct plan_row *row = &space->rows[use.pattern->rows[i]];
        if (row->choice.category == use.category)
            use.common_bytes = sum_add(use.common_bytes, row->bytes);
    }
    return use;
}

static bool is_instead(const struct main_use *use)
{
    int percent = is_vague(use->category) ? INSTEAD_OF_VAGUE_PERCENT : INSTEAD_PERCENT;
    return use->pattern != NULL && use->pattern->bytes / percent >= use->bytes / 100;
}

/* "Saved activations: 27.80 GiB (83 % of the peak), of it 26.00 GiB attention scores. " */
static void main_use_write(const struct tool_request *request, struct json *json, const struct plan_space *space,
                           const struct main_use *use)
{
    char size[SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES];
    bool has_instead = is_instead(use);
    int64_t bytes = has_instead ? use->pattern->bytes : use->bytes;
    const char *what =
        has_instead ? pattern_words((enum pattern_kind)use->pattern->kind) : category_words(use->category);
    culprit_words(json, describe_capital(what, request->arena));
    culprit_words(json, ": ");
    figure(json, bytes, size_text(size, (uint64_t)bytes));
    culprit_words(json, " (");
    figure(json, bytes, size_text_share(share, bytes, space->peak_bytes));
    culprit_words(json, " of the peak)");
    if (!has_instead && use->pattern != NULL && use->common_bytes > 0) {
        culprit_words(json, ", of it ");
        figure(json, use->common_bytes, size_text(size, (uint64_t)use->common_bytes));
        culprit_words(json, " ");
        culprit_words(json, pattern_words((enum pattern_kind)use->pattern->kind));
    }
    culprit_words(json, ". ");
}

/* "144 × 36.00 MiB f32[1536,6144] are 29 % of the peak, 72 of them made at models.py:17, in 24 layers." */
static void sentence_write(const struct memory_viewer_columns_rows *row, struct json *json,
                           const struct culprit *culprit, const struct main_use *use, struct common line,
                           struct common layer)
{
    char text[64], size[SIZE_TEXT_BYTES], share[SHARE_TEXT_BYTES];
    const struct member *first = &culprit->members[0];
    struct str shape = without_layout(first->shape);
    json_key_array(json, "sentence");
    if (use->bytes > 0)
        main_use_write(row->request, json, row->space, use);
    if (culprit->count == 1) {
        culprit_words(json, "Largest: ");
        name(json, memory_viewer_columns_name(row, first->row));
        culprit_words(json, " ");
    } else {
        char number[COUNT_TEXT_BYTES];
        snprintf(text, sizeof(text), "%s × ", size_text_count(number, culprit->count));
        culprit_words(json, text);
    }
    figure(json, first->bytes, size_text(size, (uint64_t)first->bytes));
    if (shape.length > 0) {
        culprit_words(json, " ");
        name(json, shape);
    }
    culprit_words(json, culprit->count == 1 ? " is " : " are ");
    figure(json, culprit->bytes, size_text_share(share, culprit->bytes, row->space->peak_bytes));
    culprit_words(json, " of the peak");
    if (culprit->padding_bytes > 0 && culprit->padding_bytes >= culprit->bytes / 100 * SAID_PADDING_PERCENT) {
        snprintf(text, sizeof(text), ", %s of it padding",
                 size_text_share(share, culprit->padding_bytes, culprit->bytes));
        culprit_words(json, text);
    }
    if (line.count > 0) {
        words_of(json, line.member_count, culprit->count, "made at ");
        name(json, str_last_part(line.text));
    }
    if (line.count > 1) {
        snprintf(text, sizeof(text), " and %" PRIu32 " other line%s", line.count - 1, line.count == 2 ? "" : "s");
        culprit_words(json, text);
    }
    uint32_t all = layer.member_count == line.member_count ? line.member_count : culprit->count;
    if (layer.count == 1) {
        words_of(json, layer.member_count, all, "in ");
        name(json, layer.text);
    } else if (layer.count > 1) {
        snprintf(text, sizeof(text), "in %" PRIu32 " layers", layer.count);
        words_of(json, layer.member_count, all, text);
    }
    culprit_words(json, ".");
    json_array_end(json);
}

bool culprit_largest(const struct tool_request *request, const struct plan_space *space, uint32_t *count,
                     int64_t *each_bytes, struct str *shape)
{
    const struct memory_viewer_columns_rows row = memory_viewer_columns_of(request, space);
    struct culprit culprit;
    if (!culprit_find(&row, false, &culprit))
        return false;
    *count = culprit.count;
    *each_bytes = culprit.members[0].bytes;
    *shape = culprit.members[0].shape;
    return true;
}

void culprit_write(const struct tool_request *request, struct json *json, const struct plan_space *space)
{
    struct memory_viewer_columns_rows row = memory_viewer_columns_of(request, space);
    struct culprit culprit;
    json_key(json, "culprit");
    if (!culprit_find(&row, true, &culprit)) {
        json_null(json);
        return;
    }
    struct common line = common_of(&row, &culprit, ROW_GROUPS_LINE);
    struct common layer = common_of(&row, &culprit, ROW_GROUPS_LAYER);
    json_object_begin(json);
    json_key_uint(json, "count", culprit.count);
    json_key_int(json, "each_bytes", culprit.members[0].bytes);
    json_key_int(json, "bytes", culprit.bytes);
    json_key_int(json, "padding_bytes", culprit.padding_bytes);
    json_key_double(json, "share_of_peak",
                    space->peak_bytes > 0 ? (double)culprit.bytes / (double)space->peak_bytes : 0);
    json_key_string(json, "shape", culprit.members[0].shape);
    json_key(json, "first_id");
    views_row_id(json, request->model, &space->rows[culprit.members[0].row]);
    const struct main_use use = main_use_of(space);
    json_key_text(json, "category", category_name(use.category));
    json_key_int(json, "category_bytes", use.bytes);
    json_key_text(json, "pattern", use.pattern == NULL ? NULL : pattern_name((enum pattern_kind)use.pattern->kind));
    json_key_int(json, "pattern_bytes", use.pattern == NULL ? 0 : use.pattern->bytes);
    json_key_string(json, "line", line.text);
    json_key_uint(json, "line_count", line.count);
    json_key_string(json, "layer", layer.text);
    json_key_uint(json, "layer_count", layer.count);
    sentence_write(&row, json, &culprit, &use, line, layer);
    json_object_end(json);
}
