/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/hlo_shapes.h"

#include "hlo.fields.h"
#include "wire/wire.h"

/* A walk over the elements of one tuple shape. Buffers mostly come in the order
 * of their index, so it goes on where it stopped instead of beginning anew. */
struct tuple_walk {
    uint32_t instruction_at;
    int64_t at; /* the next element */
    struct wire wire;
    struct err err;
    struct arena *arena; /* its work is charged */
};

static bool element_find(struct tuple_walk *walk, const struct hlo *hlo, uint32_t instruction_at, int64_t wanted,
                         struct str *element)
{
    if (walk->instruction_at != instruction_at || wanted < walk->at) {
        walk->instruction_at = instruction_at;
        walk->at = 0;
        walk->err = (struct err)ERR_INIT;
        walk->wire = wire_open(hlo_instruction_shape(hlo, instruction_at), 0, &walk->err);
    }
    const uint8_t *begin = walk->wire.at;
    bool is_found = false;
    while (!is_found && wire_next(&walk->wire))
        if (walk->wire.number == SHAPE_PROTO_TUPLE_SHAPES)
            is_found = walk->at++ == wanted;
    arena_work(walk->arena, (uint64_t)(walk->wire.at - begin));
    if (is_found)
        *element = wire_text(&walk->wire);
    return is_found;
}

static struct str shape_of(struct tuple_walk *walk, const struct hlo *hlo, uint32_t buffer_at)
{
    const struct hlo_buffer *buffer = &hlo->buffers[buffer_at];
    struct str element;
    if (buffer->instruction_at == HLO_NONE)
        return (struct str){"", 0};
    if (buffer->index_count > 0 &&
        element_find(walk, hlo, buffer->instruction_at,
                     hlo->shape_indices[buffer->index_first + buffer->index_count - 1], &element))
        return element;
    return hlo_instruction_shape(hlo, buffer->instruction_at);
}

struct str *hlo_shapes_build(const struct hlo *hlo, struct arena *arena)
{
    struct tuple_walk walk = {.instruction_at = HLO_NONE, .arena = arena};
    struct str *shapes = arena_array(arena, struct str, (size_t)hlo->buffer_count + 1);
    for (uint32_t i = 0; i < hlo->buffer_count; i++)
        shapes[i] = shape_of(&walk, hlo, i);
    return shapes;
}

struct str hlo_shapes_element(const struct hlo *hlo, struct arena *arena, uint32_t instruction_at, uint32_t nth)
{
    struct tuple_walk walk = {.instruction_at = HLO_NONE, .arena = arena};
    struct str element = {"", 0};
    element_find(&walk, hlo, instruction_at, nth, &element);
    return element;
}

bool hlo_shapes_is_elsewhere(struct str shape)
{
    bool is_it = false;
    struct err err = ERR_INIT;
    for (struct wire wire = wire_open(shape, 0, &err); wire_next(&wire);)
        if (wire.number == SHAPE_PROTO_LAYOUT)
            for (struct wire layout = wire_message(&wire); wire_next(&layout);)
                is_it = is_it || (layout.number == LAYOUT_PROTO_MEMORY_SPACE && wire_uint(&layout) != 0);
    return is_it;
}

bool *hlo_shapes_elsewhere(const struct hlo *hlo, uint32_t count, struct arena *arena)
{
    bool *elsewhere = arena_array(arena, bool, (size_t)count + 1);
    struct err err = ERR_INIT;
    uint32_t number = 0;
    for (struct wire wire = wire_open(hlo->shape_bytes, 0, &err); number < count && wire_next(&wire);)
        if (wire.number == PROGRAM_SHAPE_PROTO_PARAMETERS)
            elsewhere[number++] = hlo_shapes_is_elsewhere(wire_text(&wire));
    return elsewhere;
}
