/* SPDX-License-Identifier: Apache-2.0
 * strips.c: the view "strips": what is live at a step as three rows of bars, in
 * program order, by size and by padding.
 *
 * A bar is as wide as its bytes. Bars narrower than MIN_PIXELS at the asked
 * width are merged with their neighbours until together they are not: so an
 * answer has at most width / MIN_PIXELS merged bars beside the wide ones.
 * `first` and `count` open a part of one order, as of a merged bar. `mark`, a
 * filter of its own, says of each bar how many of its buffers pass it. */
#include "base/sum.h"
#include "plan/describe.h"
#include "read/hlo/shape.h"
#include "views/memory_viewer/columns.h"

#include <stdlib.h>

enum { MIN_PIXELS = 2, WIDTH_MAX = 16384 };

struct item {
    const struct plan_row *row;
    int64_t weight; /* what its width represents */
    uint32_t rank;  /* place in program order */
    bool is_marked;
};

static int heavier_first(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* The part of an order to show: the whole order if `order` is another one. */
struct part {
    const char *order; /* NULL: none is opened */
    int64_t first, count;
};

struct strip {
    const struct tool_request *request;
    struct json *json;
    const struct plan_space *space;
    const struct item *items;
    uint32_t count;
    double width_pixels;
    struct part part;
};

static struct memory_viewer_columns_whose whose_of(const struct strip *strip, uint32_t at)
{
    const struct memory_viewer_columns_rows rows = {.request = strip->request, .space = strip->space};
    return memory_viewer_columns_whose_of(&rows, (uint32_t)(strip->items[at].row - strip->space->rows));
}

/* What a tooltip needs, so that hovering asks nothing more. */
static void single_write(const struct strip *strip, const struct plan_row *row)
{
    const struct plan *plan = strip->request->model;
    struct buf *scratch = strip->request->scratch;
    struct hlo_detail detail = {.frame_at = HLO_NONE};
    if (row->buffer_at != PLAN_NONE)
        detail = hlo_detail(&plan->hlo, plan->hlo.buffers[row->buffer_at].instruction_at);
    struct describe_source source = describe_source(&plan->hlo, &detail);
    bool is_cut = describe_short(strip->json, "name", views_row_name(plan, row, scratch));
    scratch->length = 0;
    if (row->buffer_at != PLAN_NONE)
        shape_text(plan->shapes[row->buffer_at], true, scratch);
    is_cut |= describe_short(strip->json, "shape", describe_str(scratch));
    is_cut |= describe_short(strip->json, "source_file", source.file);
    json_key_bool(strip->json, "is_cut", is_cut);
    json_key_known(strip->json, "source_line", source.file.length > 0 && source.line > 0 ? source.line : -1);
    json_key_known(strip->json, "born_step", row->is_indefinite ? -1 : (int64_t)row->born);
    json_key_known(strip->json, "dies_step",
                   row->is_indefinite || row->dies >= strip->space->step_count ? -1 : (int64_t)row->dies);
}

static void bar_write(const struct strip *strip, uint32_t first, uint32_t end)
{
    struct json *json = strip->json;
    int64_t bytes = 0, padding = 0, largest = 0;
    uint32_t marked = 0;
    struct memory_viewer_columns_whose whose = whose_of(strip, first);
    for (uint32_t i = first; i < end; i++) {
        const struct plan_row *row = strip->items[i].row;
        bytes += row->bytes;
        padding += views_padding(row);
        marked += strip->items[i].is_marked;
        if (row->bytes > largest)
            largest = row->bytes;
        struct memory_viewer_columns_whose own = whose_of(strip, i);
        memory_viewer_columns_whose_join(&whose, &own);
    }
    const struct plan_row *row = strip->items[first].row;
    json_object_begin(json);
    json_key(json, "id");
    if (end - first == 1)
        views_row_id(json, strip->request->model, row);
    else
        json_null(json);
    json_key_uint(json, "count", end - first);
    json_key_uint(json, "marked_count", marked);
    json_key_uint(json, "first_rank", first);
    json_key_int(json, "bytes", bytes);
    json_key_int(json, "padding_bytes", padding);
    json_key_int(json, "largest_bytes", largest);
    memory_viewer_columns_whose_write(json, &whose);
    if (end - first == 1)
        single_write(strip, row);
    else
        json_key_bool(json, "is_cut", false); /* what several are of has no name */
    json_object_end(json);
}

static void strip_write(struct strip *strip, const char *name)
{
    int64_t total = 0;
    bool is_part = strip->part.order != NULL && strcmp(strip->part.order, name) == 0;
    uint32_t begin = is_part && strip->part.first < strip->count ? (uint32_t)strip->part.first : 0;
    uint32_t last =
        is_part && strip->part.count < strip->count - begin ? begin + (uint32_t)strip->part.count : strip->count;
    for (uint32_t i = begin; i < last; i++)
        total += strip->items[i].weight;
    json_key_array(strip->json, name);
    for (uint32_t first = begin, end; first < last; first = end) {
        double pixels = 0;
        for (end = first; end < last && pixels < (double)MIN_PIXELS; end++) {
            double own = total > 0 ? (double)strip->items[end].weight / (double)total * strip->width_pixels : 0;
            if (end > first && own >= (double)MIN_PIXELS)
                break;
            pixels += own;
        }
        bar_write(strip, first, end);
    }
    json_array_end(strip->json);
}

/* mark: NULL marks none. */
static uint32_t items_collect(const struct plan_space *space, const struct filter *filter, const struct filter *mark,
                              uint32_t step, bool by_padding, struct item *items)
{
    uint32_t count = 0, rank = 0;
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        if (!plan_row_is_alive(row, step) || !filter_matches(filter, i))
            continue;
        int64_t weight = by_padding ? views_padding(row) : row->bytes;
        if (weight > 0 || !by_padding)
            items[count++] = (struct item){row, weight, rank, mark != NULL && filter_matches(mark, i)};
        rank++;
    }
    return count;
}

static bool part_read(const struct tool_request *request, struct part *part, struct err *err)
{
    static const char *const orders[] = {"program", "size", "padding"};
    part->order = tool_param_text(request, "order");
    bool is_known = part->order == NULL;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]) && !is_known; i++)
        is_known = strcmp(part->order, orders[i]) == 0;
    if (!is_known)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "order: \"%.40s\" is none of program, size, padding",
                       part->order);
    return tool_param_number(request, "first", 0, UINT32_MAX, 0, &part->first, err) &&
           tool_param_number(request, "count", 1, UINT32_MAX, UINT32_MAX, &part->count, err);
}

/* Whose memory is live at the step, whatever the filter keeps; of each category what is only guessed. */
static void categories_write(struct json *json, const struct plan_space *space, uint32_t step)
{
    struct sum {
        int64_t bytes, guessed_bytes;
        uint32_t count;
    } sums[CATEGORY_COUNT] = {0};
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        struct sum *sum = &sums[row->choice.category];
        if (!plan_row_is_alive(row, step))
            continue;
        bool is_guess = category_rule_confidence((enum category_rule)row->choice.rule) == CONFIDENCE_GUESS;
        sum->bytes = sum_add(sum->bytes, row->bytes);
        sum->guessed_bytes = sum_add(sum->guessed_bytes, is_guess ? row->bytes : 0);
        sum->count++;
    }
    json_key_array(json, "categories");
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        if (sums[i].count == 0)
            continue;
        json_object_begin(json);
        json_key_text(json, "category", category_name((enum category)i));
        json_key_uint(json, "count", sums[i].count);
        json_key_int(json, "bytes", sums[i].bytes);
        json_key_int(json, "guessed_bytes", sums[i].guessed_bytes);
        json_object_end(json);
    }
    json_array_end(json);
}

bool memory_viewer_strips(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct plan_space *space = views_space(request, err);
    struct memory_viewer_columns_rows row = memory_viewer_columns_of(request, space);
    struct filter filter, mark;
    struct part part;
    const char *filter_text = tool_param_text(request, "filter"), *mark_text = tool_param_text(request, "mark");
    int64_t width, matched_bytes = 0;
    uint32_t step;
    bool is_all;
    if (space == NULL || !tool_param_number(request, "width", 1, WIDTH_MAX, 1024, &width, err) ||
        !views_step(request, space, false, &step, &is_all, err) || !part_read(request, &part, err) ||
        !filter_read(filter_text != NULL ? filter_text : "", memory_viewer_columns, &row, request->arena, &filter,
                     err) ||
        !filter_read(mark_text != NULL ? mark_text : "", memory_viewer_columns, &row, request->arena, &mark, err))
        return false;
    const struct filter *marks = mark_text != NULL ? &mark : NULL;
    uint32_t alive_count = views_alive_count(space, step);
    struct item *items = arena_array(request->arena, struct item, (size_t)alive_count + 1);
    struct strip strip = {request, json, space, items, 0, (double)width, part};
    json_object_begin(json);
    json_key_int(json, "space", space->space);
    json_key_uint(json, "step", step);
    json_key_int(json, "bytes", plan_bytes_at(space, step));
    json_key_uint(json, "buffer_count", alive_count);
    strip.count = items_collect(space, &filter, marks, step, false, items);
    for (uint32_t i = 0; i < strip.count; i++)
        matched_bytes = sum_add(matched_bytes, items[i].weight);
    json_key_uint(json, "matched_count", strip.count);
    json_key_int(json, "matched_bytes", matched_bytes);
    categories_write(json, space, step);
    json_key_object(json, "orders");
    strip_write(&strip, "program");
    qsort(items, strip.count, sizeof(*items), heavier_first);
    strip_write(&strip, "size");
    strip.count = items_collect(space, &filter, marks, step, true, items);
    qsort(items, strip.count, sizeof(*items), heavier_first);
    strip_write(&strip, "padding");
    json_object_end(json);
    json_object_end(json);
    return true;
}
