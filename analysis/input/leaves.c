/* SPDX-License-Identifier: Apache-2.0 */
#include "input/leaves.h"

#include "hlo.fields.h"
#include "input/shape_layout.h"
#include "wire/wire.h"

/* Real results nest two or three deep. */
enum { DEPTH_MAX = 16 };

struct builder {
    struct leaves *leaves;
    struct column items, sizes, physical, elements;
    uint32_t element_count;
};

static void *column_room(struct column *column, uint32_t count, uint32_t more)
{
    if (count + more > column->capacity)
        column_resize(column, column->capacity * 2 > count + more ? column->capacity * 2 : count + more + 1024);
    return column->items + (size_t)count * column->width;
}

static bool is_tuple(struct str shape)
{
    struct err err = ERR_INIT;
    for (struct wire wire = wire_open(shape, 0, &err); wire_next(&wire);)
        if (wire.number == SHAPE_PROTO_ELEMENT_TYPE)
            return wire_uint(&wire) == PRIMITIVE_TYPE_TUPLE;
    return false;
}

static void leaf_add(struct builder *builder, struct str shape)
{
    struct leaves *leaves = builder->leaves;
    struct shape_array array;
    struct shape_layout layout;
    struct leaf *leaf = column_room(&builder->items, leaves->count++, 1);
    *leaf = (struct leaf){.first = leaves->dimension_count};
    if (!shape_array_read(shape, &array)) {
        leaves->unknown_count += array.type != PRIMITIVE_TYPE_TOKEN && array.type != PRIMITIVE_TYPE_OPAQUE_TYPE;
        return;
    }
    bool has_layout = shape_layout_read(shape, &layout);
    leaf->rank = (uint8_t)array.rank;
    leaf->type = (uint8_t)array.type;
    int64_t *sizes = column_room(&builder->sizes, leaves->dimension_count, array.rank);
    uint8_t *physical = column_room(&builder->physical, leaves->dimension_count, array.rank);
    for (uint32_t i = 0; i < array.rank; i++) {
        sizes[i] = array.dimensions[i];
        physical[i] = has_layout ? layout.physical[i] : (uint8_t)i;
    }
    leaves->dimension_count += array.rank;
}

static void shape_add(struct builder *builder, struct str shape, unsigned depth)
{
    if (!is_tuple(shape)) {
        leaf_add(builder, shape);
        return;
    }
    struct err err = ERR_INIT;
    for (struct wire wire = wire_open(shape, 0, &err); wire_next(&wire);) {
        if (wire.number != SHAPE_PROTO_TUPLE_SHAPES)
            continue;
        if (depth == 0) {
            *(uint32_t *)column_room(&builder->elements, builder->element_count, 1) = builder->leaves->count;
            builder->element_count++;
        }
        if (depth < DEPTH_MAX)
            shape_add(builder, wire_text(&wire), depth + 1);
    }
}

void leaves_build(const struct hlo *hlo, struct arena *arena, struct leaves *out)
{
    struct builder builder = {.leaves = out};
    *out = (struct leaves){.hlo = hlo};
    out->first = arena_array(arena, uint32_t, (size_t)hlo->instruction_count + 1);
    out->element_first = arena_array(arena, uint32_t, (size_t)hlo->instruction_count + 1);
    column_init(&builder.items, arena, sizeof(struct leaf));
    column_init(&builder.sizes, arena, sizeof(int64_t));
    column_init(&builder.physical, arena, sizeof(uint8_t));
    column_init(&builder.elements, arena, sizeof(uint32_t));
    for (uint32_t at = 0; at < hlo->instruction_count; at++) {
        shape_add(&builder, hlo_instruction_shape(hlo, at), 0);
        out->first[at + 1] = out->count;
        out->element_first[at + 1] = builder.element_count;
    }
    column_room(&builder.items, out->count, 1);
    column_room(&builder.sizes, out->dimension_count, 1);
    column_room(&builder.physical, out->dimension_count, 1);
    column_room(&builder.elements, builder.element_count, 1);
    out->items = (struct leaf *)(void *)builder.items.items;
    out->sizes = (int64_t *)(void *)builder.sizes.items;
    out->physical = (uint8_t *)builder.physical.items;
    out->elements = (uint32_t *)(void *)builder.elements.items;
}

uint32_t leaves_element(const struct leaves *leaves, uint32_t at, uint32_t nth, uint32_t *count)
{
    uint32_t first = leaves->element_first[at], elements = leaves->element_first[at + 1] - first;
    *count = 0;
    if (elements == 0) {
        *count = leaves_count(leaves, at);
        return leaves->first[at];
    }
    if (nth >= elements)
        return leaves->first[at];
    uint32_t limit = nth + 1 < elements ? leaves->elements[first + nth + 1] : leaves->first[at + 1];
    *count = limit - leaves->elements[first + nth];
    return leaves->elements[first + nth];
}

/* How many leaves a shape has. */
static uint32_t shape_count(struct str shape, unsigned depth)
{
    uint32_t count = 0;
    struct err err = ERR_INIT;
    if (!is_tuple(shape))
        return 1;
    for (struct wire wire = wire_open(shape, 0, &err); wire_next(&wire);)
        if (wire.number == SHAPE_PROTO_TUPLE_SHAPES && depth < DEPTH_MAX)
            count += shape_count(wire_text(&wire), depth + 1);
    return count;
}

uint32_t leaves_at(const struct leaves *leaves, uint32_t at, const int64_t *index, uint32_t index_count)
{
    struct str shape = hlo_instruction_shape(leaves->hlo, at);
    uint32_t leaf = leaves->first[at];
    for (uint32_t i = 0; i < index_count; i++) {
        struct str inner = {"", 0};
        int64_t nth = 0;
        struct err err = ERR_INIT;
        if (!is_tuple(shape) || i >= DEPTH_MAX)
            return HLO_NONE;
        if (i == 0 && index_count == 1) {
            uint32_t count;
            leaf = leaves_element(leaves, at, (uint32_t)index[0], &count);
            return count == 1 && index[0] >= 0 && index[0] < UINT32_MAX ? leaf : HLO_NONE;
        }
        for (struct wire wire = wire_open(shape, 0, &err); wire_next(&wire) && nth <= index[i];)
            if (wire.number == SHAPE_PROTO_TUPLE_SHAPES && nth++ < index[i])
                leaf += shape_count(wire_text(&wire), i + 1);
            else if (wire.number == SHAPE_PROTO_TUPLE_SHAPES)
                inner = wire_text(&wire);
        if (nth <= index[i])
            return HLO_NONE;
        shape = inner;
    }
    return is_tuple(shape) || leaf >= leaves->first[at + 1] ? HLO_NONE : leaf;
}
