/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/leaves.h"

#include "base/map.h"
#include "hlo.fields.h"
#include "read/hlo/shape_layout.h"
#include "wire/wire.h"

/* Real results nest two or three deep. */
enum { DEPTH_MAX = 16 };

/* Most arrays of a program have a shape that others have too, byte for byte: it is decoded once. */
enum { KNOWN_BYTES_MAX = 256 };
struct leaves_known {
    struct str shape;
    uint32_t leaf;
};

struct builder {
    struct leaves *leaves;
    struct arena *arena;
    struct column items, sizes, physical, elements;
    uint32_t element_count, known_count;
    struct leaves_known *known;
    size_t known_capacity;
    struct map known_of;
};

static void *column_room(struct column *column, uint32_t count, uint32_t more)
{
    if (column->items == NULL || count + more > column->capacity)
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

/* Another leaf like `of`. */
static void leaf_repeat(struct builder *builder, uint32_t of)
{
    struct leaves *leaves = builder->leaves;
    struct leaf *leaf = column_room(&builder->items, leaves->count++, 1);
    *leaf = COLUMN_AT(&builder->items, struct leaf, of);
    uint32_t first = leaf->first;
    leaf->first = leaves->dimension_count;
    int64_t *sizes = column_room(&builder->sizes, leaves->dimension_count, leaf->rank);
    uint8_t *physical = column_room(&builder->physical, leaves->dimension_count, leaf->rank);
    memcpy(sizes, &COLUMN_AT(&builder->sizes, int64_t, first), leaf->rank * sizeof(*sizes));
    memcpy(physical, &COLUMN_AT(&builder->physical, uint8_t, first), leaf->rank);
    leaves->dimension_count += leaf->rank;
}

struct known_question {
    const struct builder *builder;
    struct str shape;
};

static bool is_known(const void *context, uint64_t value)
{
    const struct known_question *question = context;
    return str_equal(question->builder->known[value].shape, question->shape);
}

static void known_add(struct builder *builder, uint64_t hash, struct str shape, uint32_t leaf)
{
    builder->known = arena_grown(builder->arena, builder->known, (size_t)builder->known_count + 1,
                                 &builder->known_capacity, sizeof(*builder->known));
    builder->known[builder->known_count] = (struct leaves_known){shape, leaf};
    map_add(&builder->known_of, hash, builder->known_count++);
}

/* An array whose shape was met before. */
static bool shape_is_known(struct builder *builder, uint64_t hash, struct str shape)
{
    struct known_question question = {builder, shape};
    uint64_t found = map_find(&builder->known_of, hash, is_known, &question);
    if (found != MAP_FREE)
        leaf_repeat(builder, builder->known[found].leaf);
    return found != MAP_FREE;
}

static void shape_add(struct builder *builder, struct str shape, unsigned depth)
{
    bool is_short = shape.length <= KNOWN_BYTES_MAX;
    uint64_t hash = is_short ? hash_bytes(shape.data, shape.length, 0) : 0;
    if (is_short && shape_is_known(builder, hash, shape))
        return;
    if (!is_tuple(shape)) {
        uint32_t before = builder->leaves->unknown_count;
        leaf_add(builder, shape);
        if (is_short && builder->leaves->unknown_count == before)
            known_add(builder, hash, shape, builder->leaves->count - 1);
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
    struct builder builder = {.leaves = out, .arena = arena};
    *out = (struct leaves){.hlo = hlo};
    out->first = arena_array(arena, uint32_t, (size_t)hlo->instruction_count + 1);
    out->element_first = arena_array(arena, uint32_t, (size_t)hlo->instruction_count + 1);
    column_init(&builder.items, arena, sizeof(struct leaf));
    column_init(&builder.sizes, arena, sizeof(int64_t));
    column_init(&builder.physical, arena, sizeof(uint8_t));
    column_init(&builder.elements, arena, sizeof(uint32_t));
    map_init(&builder.known_of, arena, 64);
    for (uint32_t at = 0; at < hlo->instruction_count; at++) {
        shape_add(&builder, hlo_instruction_shape(hlo, at), 0);
        out->first[at + 1] = out->count;
        out->element_first[at + 1] = builder.element_count;
    }
    column_resize(&builder.items, (size_t)out->count + 1);
    column_resize(&builder.sizes, (size_t)out->dimension_count + 1);
    column_resize(&builder.physical, (size_t)out->dimension_count + 1);
    column_resize(&builder.elements, (size_t)builder.element_count + 1);
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
