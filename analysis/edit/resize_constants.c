/* SPDX-License-Identifier: Apache-2.0
 * Constants whose sizes change: one value everywhere stays that; others would need values that nobody knows. */
#include "edit/resize.h"
#include "edit/shapes.h"

/* A list of a literal, as protobuf-c lays out repeated numbers and bytes alike: how many, then where. */
struct list {
    size_t count; /* elements, of bytes: bytes */
    void *data;
};

static const struct held {
    Xla__PrimitiveType type;
    size_t offset; /* of its list in the literal */
    uint8_t width; /* bytes of an element in memory */
    bool is_bytes; /* the list is one of bytes */
} held_as[] = {
    {XLA__PRIMITIVE_TYPE__PRED, offsetof(Xla__LiteralProto, n_preds), sizeof(protobuf_c_boolean), false},
    {XLA__PRIMITIVE_TYPE__S8, offsetof(Xla__LiteralProto, s8s), 1, true},
    {XLA__PRIMITIVE_TYPE__U8, offsetof(Xla__LiteralProto, u8s), 1, true},
    {XLA__PRIMITIVE_TYPE__S16, offsetof(Xla__LiteralProto, s16s), 2, true},
    {XLA__PRIMITIVE_TYPE__U16, offsetof(Xla__LiteralProto, u16s), 2, true},
    {XLA__PRIMITIVE_TYPE__F16, offsetof(Xla__LiteralProto, f16s), 2, true},
    {XLA__PRIMITIVE_TYPE__BF16, offsetof(Xla__LiteralProto, bf16s), 2, true},
    {XLA__PRIMITIVE_TYPE__S32, offsetof(Xla__LiteralProto, n_s32s), 4, false},
    {XLA__PRIMITIVE_TYPE__U32, offsetof(Xla__LiteralProto, n_u32s), 4, false},
    {XLA__PRIMITIVE_TYPE__F32, offsetof(Xla__LiteralProto, n_f32s), 4, false},
    {XLA__PRIMITIVE_TYPE__S64, offsetof(Xla__LiteralProto, n_s64s), 8, false},
    {XLA__PRIMITIVE_TYPE__U64, offsetof(Xla__LiteralProto, n_u64s), 8, false},
    {XLA__PRIMITIVE_TYPE__F64, offsetof(Xla__LiteralProto, n_f64s), 8, false},
};

static const struct held *held_of(Xla__PrimitiveType type)
{
    for (size_t i = 0; i < sizeof held_as / sizeof *held_as; i++)
        if (held_as[i].type == type)
            return &held_as[i];
    return NULL;
}

static bool is_one_value(const char *data, size_t count, size_t width)
{
    return count <= 1 || memcmp(data, data + width, (count - 1) * width) == 0;
}

const char *resize_constants(const struct resize_asked *asked)
{
    Xla__LiteralProto *literal = asked->instruction->literal;
    if (!program_is(asked->instruction, "constant") || literal == NULL)
        return NULL;
    const struct held *held = shapes_is_array(asked->shape) ? held_of(asked->shape->element_type) : NULL;
    int64_t before = shapes_elements(asked->old_shape), after = shapes_elements(asked->shape);
    if (held == NULL || before < 1 || after < 1)
        return "a constant of this type cannot be resized";
    struct list list;
    memcpy(&list, (char *)literal + held->offset, sizeof list);
    size_t width = held->width;
    if (list.count != (size_t)before * (held->is_bytes ? width : 1) || !is_one_value(list.data, (size_t)before, width))
        return "the values of a resized constant are not known: it has not one value everywhere";
    char *data = arena_alloc(asked->program->arena, (size_t)after, width);
    for (size_t i = 0; i < (size_t)after; i++)
        memcpy(data + i * width, list.data, width);
    list = (struct list){(size_t)after * (held->is_bytes ? width : 1), data};
    memcpy((char *)literal + held->offset, &list, sizeof list);
    literal->shape = program_copy_shape(asked->program, asked->shape);
    return NULL;
}
