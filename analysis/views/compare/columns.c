/* SPDX-License-Identifier: Apache-2.0
 * columns.c: see columns.h. What a group shows of one buffer is of the pair in it that changed most. */
#include "views/compare/columns.h"

#include "plan/describe.h"
#include "views/compare/views.h"

#include <assert.h>

/* What a row is about. */
struct about {
    const struct columns_rows *rows;
    const struct compare *compare;
    const struct compare_group *group; /* NULL: a single pair */
    const struct compare_pair *pair;
    const struct compare_item *items[COMPARE_SIDE_COUNT]; /* NULL: not there */
    int shown;                                            /* the side whose item is there, B before A */
};

static struct about about_of(const void *context, uint32_t row)
{
    const struct columns_rows *rows = context;
    const struct compare *compare = rows->compare;
    struct about about = {.rows = rows, .compare = compare};
    about.group = rows->is_of_groups ? &compare->groups[row] : NULL;
    about.pair = &compare->pairs[about.group != NULL ? about.group->first_pair : row];
    for (int side = 0; side < COMPARE_SIDE_COUNT; side++)
        about.items[side] = compare_item_of(compare, about.pair, side);
    about.shown = about.items[COMPARE_B] != NULL ? COMPARE_B : COMPARE_A;
    assert(about.items[about.shown] != NULL); /* one of the two has it */
    return about;
}

/* ---- texts ---- */

static struct str name_of(const struct about *about, int side)
{
    return about->items[side] == NULL
               ? (struct str){"", 0}
               : views_item_name(about->compare, side, about->items[side], about->rows->request->scratch);
}

static struct str shape_of(const struct about *about, int side)
{
    return about->items[side] == NULL ? (struct str){"", 0} : about->compare->texts[about->items[side]->shape];
}

static struct str op_name_of(const struct about *about)
{
    return compare_name(about->compare, about->items[about->shown], about->group != NULL);
}

static struct str key_name(const struct about *about)
{
    return str_of(about->items[COMPARE_A] != NULL && about->items[COMPARE_B] != NULL
                      ? compare_key_name((enum compare_key)about->items[about->shown]->key)
                      : compare_state_name((enum compare_state)about->pair->state));
}

static struct str key_words(const struct about *about)
{
    return str_of(about->items[COMPARE_A] != NULL && about->items[COMPARE_B] != NULL
                      ? compare_key_words((enum compare_key)about->items[about->shown]->key)
                      : compare_state_name((enum compare_state)about->pair->state));
}

static struct str source_of(const struct about *about, int side)
{
    const struct compare_item *item = about->items[side];
    struct buf *scratch = about->rows->request->scratch;
    scratch->length = 0;
    if (item == NULL || item->row->named_by == HLO_NONE)
        return describe_str(scratch);
    const struct hlo *hlo = &about->compare->sides[side].plan->hlo;
    const struct hlo_detail detail = hlo_detail(hlo, item->row->named_by);
    struct describe_source source = describe_source(hlo, &detail);
    struct str file = about->rows->has_paths ? source.file : str_last_part(source.file);
    buf_add(scratch, file.data, file.length);
    if (source.file.length > 0 && source.line > 0)
        buf_format(scratch, ":%lld", (long long)source.line);
    return describe_str(scratch);
}

/* ---- numbers ---- */

static struct table_value bytes_of(const struct about *about, int side)
{
    if (about->group != NULL)
        return table_integer_if(about->items[side] != NULL, about->group->bytes[side]);
    return table_integer_if(about->items[side] != NULL,
                            about->items[side] == NULL ? 0 : about->items[side]->row->bytes);
}

static int64_t delta_of(const struct about *about)
{
    return about->group != NULL ? about->group->delta_bytes : about->pair->delta_bytes;
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct about about = about_of(context, row), expression)

VALUE(change, table_integer(delta_of(&about)))
VALUE(change_size, table_integer(delta_of(&about) < 0 ? -delta_of(&about) : delta_of(&about)))
VALUE(count, table_integer(about.group != NULL ? about.group->count : 1))
VALUE(bytes_a, bytes_of(&about, COMPARE_A))
VALUE(bytes_b, bytes_of(&about, COMPARE_B))
VALUE(state, table_text(str_of(compare_state_name((enum compare_state)about.pair->state))))
VALUE(key, table_text(key_name(&about)))
VALUE(key_word, table_text(key_words(&about)))
VALUE(category, table_text(str_of(category_name((enum category)about.pair->category))))
VALUE(category_word, table_text(str_of(category_words((enum category)about.pair->category))))
VALUE(name_a, table_text_if_any(name_of(&about, COMPARE_A)))
VALUE(name_b, table_text_if_any(name_of(&about, COMPARE_B)))
VALUE(shown_name, table_text(name_of(&about, about.shown)))
VALUE(op_name, table_text_if_any(op_name_of(&about)))
VALUE(place, table_text_if_any(compare_place(op_name_of(&about), about.rows->request->arena)))
VALUE(shape_a, table_text_if_any(shape_of(&about, COMPARE_A)))
VALUE(shape_b, table_text_if_any(shape_of(&about, COMPARE_B)))
VALUE(shown_shape, table_text(shape_of(&about, about.shown)))
VALUE(source, table_text_if_any(source_of(&about, about.shown)))
VALUE(group_number, table_integer(about.pair->group))

static void id_write(struct json *json, const void *context, uint32_t row, int side)
{
    const struct about about = about_of(context, row);
    const struct compare_item *item = about.items[side];
    if (item == NULL || item->row->buffer_at == PLAN_NONE)
        json_null(json);
    else
        json_id(json, about.compare->sides[side].plan->hlo.buffers[item->row->buffer_at].id);
}

static void id_a_write(struct json *json, const void *context, uint32_t row)
{
    id_write(json, context, row, COMPARE_A);
}
static void id_b_write(struct json *json, const void *context, uint32_t row)
{
    id_write(json, context, row, COMPARE_B);
}

/* From where to where on the common axis it lives: [from, to], or no member. */
static void span_write(struct json *json, const void *context, uint32_t row, int side)
{
    const struct about about = about_of(context, row);
    const struct compare_item *item = about.items[side];
    const struct alignment *alignment = about.rows->alignment;
    uint32_t step_count = about.compare->sides[side].space->step_count;
    if (item == NULL || alignment == NULL || step_count == 0) {
        json_null(json);
        return;
    }
    bool is_whole = item->row->is_indefinite;
    bool is_last = is_whole || item->row->dies >= step_count;
    json_array_begin(json);
    json_uint(json, is_whole ? 0 : alignment_of_step(alignment, side, item->row->born));
    json_uint(json, is_last ? alignment->length : alignment_of_step(alignment, side, item->row->dies));
    json_array_end(json);
}

static void span_a_write(struct json *json, const void *context, uint32_t row)
{
    span_write(json, context, row, COMPARE_A);
}

static void span_b_write(struct json *json, const void *context, uint32_t row)
{
    span_write(json, context, row, COMPARE_B);
}

/* In the order of a row's members. */
const struct table_column columns_all[] = {
    {COLUMN_NUMBER("change", change, "bytes"), .order = change_size, .is_main = true, .aliases = "delta",
     .json = "delta_bytes", .csv = "delta_bytes", .title = "Change", .help = "bytes of B less those of A, either way"},
    {COLUMN_NUMBER("count", count, "count"), .json = "count", .csv = "count", .title = "Count",
     .help = "buffers in the row"},
    {COLUMN_NUMBER("a", bytes_a, "bytes"), .json = "a_bytes", .csv = "a_bytes", .title = "A", .help = "bytes in A"},
    {COLUMN_NUMBER("b", bytes_b, "bytes"), .json = "b_bytes", .csv = "b_bytes", .title = "B", .help = "bytes in B"},
    {COLUMN_TEXT("state", state), .json = "state", .csv = "state", .title = "State",
     .help = "new, gone, grown, shrunk, same"},
    {COLUMN_TEXT("match", key), .aliases = "key", .word = key_word, .json = "key", .csv = "key", .title = "Match by",
     .help = "what the pair has in common besides its category"},
    {COLUMN_TEXT("", key_word), .json = "key_words"},
    {COLUMN_TEXT("name", shown_name), .is_searched = true, .help = "name of the buffer; * matches any text"},
    {COLUMN_TEXT("", name_a), .json = "a_name", .csv = "a_name"},
    {COLUMN_TEXT("", name_b), .json = "b_name", .csv = "b_name"},
    {COLUMN_TEXT("", NULL), .write = id_a_write, .json = "a_id"},
    {COLUMN_TEXT("", NULL), .write = id_b_write, .json = "b_id"},
    {COLUMN_TEXT("scope", op_name), .is_searched = true, .json = "op_name", .csv = "op_name", .title = "Name (scope)",
     .help = "op name of the framework"},
    {COLUMN_TEXT("", place), .json = "scope"},
    {COLUMN_SHAPE("shape", shown_shape), .is_searched = true, .title = "Shape A \xE2\x86\x92 B",
     .help = "shape:[*,2048] \xC2\xB7 bf16[\xE2\x80\xA6]"},
    {COLUMN_SHAPE("", shape_a), .json = "a_shape", .csv = "a_shape"},
    {COLUMN_SHAPE("", shape_b), .json = "b_shape", .csv = "b_shape"},
    {COLUMN_TEXT("cat", category), .aliases = "category kind", .word = category_word, .json = "category",
     .csv = "category", .title = "Category", .help = "whose memory it is: saved_activation, parameter, \xE2\x80\xA6"},
    {COLUMN_TEXT("line", source), .aliases = "source", .is_searched = true, .json = "source", .csv = "source",
     .title = "Source", .help = "source file and line"},
    {COLUMN_NUMBER("group", group_number, NULL), .json = "group"},
    {COLUMN_TEXT("", NULL), .write = span_a_write, .json = "a_span"},
    {COLUMN_TEXT("", NULL), .write = span_b_write, .json = "b_span"},
    {.name = NULL},
};
