/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/shape_read.h"

#include "hlo.fields.h"
#include "read/hlo/shape.h"
#include "wire/wire_write.h"

enum { DEPTH_MAX = 32 };

static bool fields_read(struct text_cursor *cursor, struct buf *out, unsigned depth);

static bool element_read(struct text_cursor *cursor, struct buf *out, uint32_t field, unsigned depth)
{
    if (depth == DEPTH_MAX)
        return text_cursor_fail(cursor, "shapes are nested more than %d deep", DEPTH_MAX);
    size_t begin = wire_write_begin(out, field);
    bool is_read = fields_read(cursor, out, depth);
    wire_write_end(out, begin);
    return is_read;
}

static bool tuple_read(struct text_cursor *cursor, struct buf *out, unsigned depth)
{
    wire_write_number(out, SHAPE_PROTO_ELEMENT_TYPE, PRIMITIVE_TYPE_TUPLE);
    text_cursor_blanks(cursor);
    if (text_cursor_take(cursor, ")"))
        return true;
    do {
        text_cursor_blanks(cursor);
        if (!element_read(cursor, out, SHAPE_PROTO_TUPLE_SHAPES, depth + 1))
            return false;
        text_cursor_blanks(cursor);
    } while (text_cursor_take(cursor, ","));
    return text_cursor_want(cursor, ")");
}

/* Numbers with commas between; '*', as a dimension of a tile may be, is INT64_MIN. */
static void numbers_write(struct text_cursor *cursor, struct buf *out, uint32_t field)
{
    int64_t number;
    size_t begin = wire_write_begin(out, field);
    for (;;) {
        if (text_cursor_take(cursor, "*"))
            number = INT64_MIN;
        else if (!text_cursor_number(cursor, &number))
            break;
        wire_write_varint(out, (uint64_t)number);
        if (!text_cursor_take(cursor, ","))
            break;
    }
    wire_write_end(out, begin);
}

static bool number_in_brackets(struct text_cursor *cursor, struct buf *out, uint32_t field)
{
    int64_t number;
    if (!text_cursor_number(cursor, &number))
        return text_cursor_fail(cursor, "a number of a layout is missing");
    wire_write_number(out, field, (uint64_t)number);
    return text_cursor_want(cursor, ")");
}

static bool tiles_read(struct text_cursor *cursor, struct buf *out)
{
    while (text_cursor_take(cursor, "(")) {
        size_t begin = wire_write_begin(out, LAYOUT_PROTO_TILES);
        numbers_write(cursor, out, TILE_PROTO_DIMENSIONS);
        wire_write_end(out, begin);
        if (!text_cursor_want(cursor, ")"))
            return false;
    }
    return true;
}

/* A part that says nothing of sizes: index types, splits, physical shapes, sparse dimensions. */
static bool part_pass(struct text_cursor *cursor)
{
    struct str passed;
    text_cursor_until(cursor, "(}");
    return text_cursor_peek(cursor) != '(' ||
           (cursor->at++, text_cursor_balanced(cursor, "", &passed) && text_cursor_want(cursor, ")"));
}

static bool layout_parts_read(struct text_cursor *cursor, struct buf *out)
{
    bool is_good = true;
    while (is_good && !text_cursor_take(cursor, "}")) {
        if (text_cursor_peek(cursor) == '\n')
            return text_cursor_fail(cursor, "a layout is not closed");
        if (text_cursor_take(cursor, "T"))
            is_good = tiles_read(cursor, out);
        else if (text_cursor_take(cursor, "L("))
            is_good = number_in_brackets(cursor, out, LAYOUT_PROTO_TAIL_PADDING_ALIGNMENT_IN_ELEMENTS);
        else if (text_cursor_take(cursor, "E("))
            is_good = number_in_brackets(cursor, out, LAYOUT_PROTO_ELEMENT_SIZE_IN_BITS);
        else if (text_cursor_take(cursor, "S("))
            is_good = number_in_brackets(cursor, out, LAYOUT_PROTO_MEMORY_SPACE);
        else if (text_cursor_take(cursor, "M("))
            is_good = number_in_brackets(cursor, out, LAYOUT_PROTO_DYNAMIC_SHAPE_METADATA_PREFIX_BYTES);
        else
            is_good = part_pass(cursor);
    }
    return is_good;
}

static bool layout_read(struct text_cursor *cursor, struct buf *out)
{
    size_t begin = wire_write_begin(out, SHAPE_PROTO_LAYOUT);
    numbers_write(cursor, out, LAYOUT_PROTO_MINOR_TO_MAJOR);
    bool is_read = text_cursor_take(cursor, ":") ? layout_parts_read(cursor, out) : text_cursor_want(cursor, "}");
    wire_write_end(out, begin);
    return is_read;
}

/* "[8,<=128,?]"; which ones are dynamic comes behind them. */
static bool dimensions_read(struct text_cursor *cursor, struct buf *out)
{
    uint64_t dynamic = 0;
    unsigned count = 0;
    size_t begin = wire_write_begin(out, SHAPE_PROTO_DIMENSIONS);
    do {
        int64_t number = INT64_MIN;
        bool is_dynamic = text_cursor_take(cursor, "<=");
        if (!text_cursor_number(cursor, &number)) {
            if (!text_cursor_take(cursor, "?"))
                break;
            is_dynamic = true;
        }
        dynamic |= is_dynamic && count < 64 ? UINT64_C(1) << count : 0;
        count++;
        wire_write_varint(out, (uint64_t)number);
    } while (text_cursor_take(cursor, ","));
    wire_write_end(out, begin);
    if (dynamic != 0) {
        begin = wire_write_begin(out, SHAPE_PROTO_IS_DYNAMIC_DIMENSION);
        for (unsigned at = 0; at < count; at++)
            wire_write_varint(out, at < 64 ? dynamic >> at & 1 : 0);
        wire_write_end(out, begin);
    }
    return text_cursor_want(cursor, "]");
}

static uint64_t type_of(struct str name)
{
    if (str_equal(name, STR("token")))
        return PRIMITIVE_TYPE_TOKEN;
    if (str_equal(name, STR("opaque")) || str_equal(name, STR("opaque_type")))
        return PRIMITIVE_TYPE_OPAQUE_TYPE;
    return shape_type_find(name);
}

static bool array_read(struct text_cursor *cursor, struct buf *out)
{
    const struct text_cursor first = *cursor;
    struct str name = text_cursor_until(cursor, "[](){}<> ,=:|%\"");
    uint64_t type = type_of(name);
    if (type == 0)
        return text_cursor_fail(&first, "\"%.*s\" is no type of a shape", name.length < 24 ? (int)name.length : 24,
                                name.data);
    wire_write_number(out, SHAPE_PROTO_ELEMENT_TYPE, type);
    if (!text_cursor_want(cursor, "[") || !dimensions_read(cursor, out))
        return false;
    return !text_cursor_take(cursor, "{") || layout_read(cursor, out);
}

static bool fields_read(struct text_cursor *cursor, struct buf *out, unsigned depth)
{
    if (text_cursor_take(cursor, "("))
        return tuple_read(cursor, out, depth);
    if (!text_cursor_take(cursor, "b("))
        return array_read(cursor, out);
    wire_write_number(out, SHAPE_PROTO_ELEMENT_TYPE, PRIMITIVE_TYPE_BUFFER);
    return element_read(cursor, out, SHAPE_PROTO_TUPLE_SHAPES, depth + 1) && text_cursor_want(cursor, ")");
}

bool shape_read(struct text_cursor *cursor, struct buf *out, uint32_t field, bool *is_tuple)
{
    if (is_tuple != NULL)
        *is_tuple = text_cursor_peek(cursor) == '(';
    return element_read(cursor, out, field, 0);
}
