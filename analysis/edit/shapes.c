/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/shapes.h"

#include <stdio.h>

bool shapes_is_tuple(const Xla__ShapeProto *shape)
{
    return shape != NULL && shape->element_type == XLA__PRIMITIVE_TYPE__TUPLE;
}

bool shapes_is_array(const Xla__ShapeProto *shape)
{
    if (shape == NULL)
        return false;
    switch (shape->element_type) {
    case XLA__PRIMITIVE_TYPE__PRIMITIVE_TYPE_INVALID:
    case XLA__PRIMITIVE_TYPE__TUPLE:
    case XLA__PRIMITIVE_TYPE__OPAQUE_TYPE:
    case XLA__PRIMITIVE_TYPE__TOKEN:
    case XLA__PRIMITIVE_TYPE__BUFFER: return false;
    default: return true;
    }
}

bool shapes_same_dimensions(const Xla__ShapeProto *a, const Xla__ShapeProto *b)
{
    return a->n_dimensions == b->n_dimensions &&
           (a->n_dimensions == 0 || memcmp(a->dimensions, b->dimensions, a->n_dimensions * sizeof *a->dimensions) == 0);
}

static bool is_same_level(const Xla__ShapeProto *a, const Xla__ShapeProto *b)
{
    return a != NULL && b != NULL && a->element_type == b->element_type && shapes_same_dimensions(a, b) &&
           a->n_tuple_shapes == b->n_tuple_shapes;
}

bool shapes_equal(const Xla__ShapeProto *a, const Xla__ShapeProto *b)
{
    struct {
        const Xla__ShapeProto *a, *b;
        size_t next;
    } stack[SHAPES_DEPTH_MAX];
    size_t depth = 1;
    if (!is_same_level(a, b))
        return false;
    stack[0].a = a, stack[0].b = b, stack[0].next = 0;
    while (depth > 0) {
        size_t top = depth - 1, next = stack[top].next++;
        if (next == stack[top].a->n_tuple_shapes) {
            depth--;
            continue;
        }
        const Xla__ShapeProto *x = stack[top].a->tuple_shapes[next], *y = stack[top].b->tuple_shapes[next];
        if (!is_same_level(x, y) || (x->n_tuple_shapes > 0 && depth == SHAPES_DEPTH_MAX))
            return false;
        if (x->n_tuple_shapes > 0)
            stack[depth].a = x, stack[depth].b = y, stack[depth].next = 0, depth++;
    }
    return true;
}

static const char *fault_of(const Xla__ShapeProto *part)
{
    if (part->n_dimensions > SHAPES_RANK_MAX)
        return "it has more dimensions than arrays have";
    for (size_t i = 0; i < part->n_dimensions; i++)
        if (part->dimensions[i] < 0)
            return "it has a negative dimension";
    return part->n_tuple_shapes > 0 && !shapes_is_tuple(part) ? "an array has elements like a tuple" : NULL;
}

const char *shapes_fault(const Xla__ShapeProto *shape, uint64_t *parts)
{
    struct {
        const Xla__ShapeProto *shape;
        size_t next;
    } stack[SHAPES_DEPTH_MAX];
    size_t depth = 1;
    const char *fault = fault_of(shape);
    *parts = 1;
    stack[0].shape = shape, stack[0].next = 0;
    while (depth > 0 && fault == NULL) {
        const Xla__ShapeProto *top = stack[depth - 1].shape;
        size_t next = stack[depth - 1].next++;
        if (next == top->n_tuple_shapes) {
            depth--;
            continue;
        }
        const Xla__ShapeProto *part = top->tuple_shapes[next];
        fault = fault_of(part);
        ++*parts;
        if (depth == SHAPES_DEPTH_MAX && part->n_tuple_shapes > 0)
            return "tuples stand too deep in each other";
        if (part->n_tuple_shapes > 0)
            stack[depth].shape = part, stack[depth].next = 0, depth++;
    }
    return fault;
}

Xla__ShapeProto *shapes_at(Xla__ShapeProto *shape, const int64_t *path, size_t count)
{
    for (size_t i = 0; i < count && shape != NULL; i++)
        shape = path[i] >= 0 && (uint64_t)path[i] < shape->n_tuple_shapes ? shape->tuple_shapes[path[i]] : NULL;
    return shape;
}

struct shapes_walk shapes_walk_begin(Xla__ShapeProto *shape)
{
    struct shapes_walk walk = {.depth = 1};
    walk.stack[0].shape = shape;
    return walk;
}

Xla__ShapeProto *shapes_walk_next(struct shapes_walk *walk)
{
    while (walk->depth > 0) {
        Xla__ShapeProto *top = walk->stack[walk->depth - 1].shape;
        size_t next = walk->stack[walk->depth - 1].next++;
        if (!shapes_is_tuple(top) || next == top->n_tuple_shapes) {
            walk->depth--;
            if (!shapes_is_tuple(top))
                return top;
            continue;
        }
        if (walk->depth == SHAPES_DEPTH_MAX)
            return NULL;
        walk->stack[walk->depth].shape = top->tuple_shapes[next];
        walk->stack[walk->depth++].next = 0;
    }
    return NULL;
}

int64_t shapes_elements(const Xla__ShapeProto *shape)
{
    int64_t product = 1;
    for (size_t i = 0; i < shape->n_dimensions; i++)
        if (shape->dimensions[i] < 0 || __builtin_mul_overflow(product, shape->dimensions[i], &product) ||
            product > INT64_MAX / 2)
            return -1;
    return product;
}

static const struct {
    const char *name;
    unsigned bits;
    bool is_float;
} types[] = {
    [XLA__PRIMITIVE_TYPE__PRED] = {"pred", 8, false},
    [XLA__PRIMITIVE_TYPE__S8] = {"s8", 8, false},
    [XLA__PRIMITIVE_TYPE__S16] = {"s16", 16, false},
    [XLA__PRIMITIVE_TYPE__S32] = {"s32", 32, false},
    [XLA__PRIMITIVE_TYPE__S64] = {"s64", 64, false},
    [XLA__PRIMITIVE_TYPE__U8] = {"u8", 8, false},
    [XLA__PRIMITIVE_TYPE__U16] = {"u16", 16, false},
    [XLA__PRIMITIVE_TYPE__U32] = {"u32", 32, false},
    [XLA__PRIMITIVE_TYPE__U64] = {"u64", 64, false},
    [XLA__PRIMITIVE_TYPE__F16] = {"f16", 16, true},
    [XLA__PRIMITIVE_TYPE__F32] = {"f32", 32, true},
    [XLA__PRIMITIVE_TYPE__F64] = {"f64", 64, true},
    [XLA__PRIMITIVE_TYPE__C64] = {"c64", 64, false},
    [XLA__PRIMITIVE_TYPE__C128] = {"c128", 128, false},
    [XLA__PRIMITIVE_TYPE__BF16] = {"bf16", 16, true},
    [XLA__PRIMITIVE_TYPE__F8E5M2] = {"f8e5m2", 8, true},
    [XLA__PRIMITIVE_TYPE__F8E4M3FN] = {"f8e4m3fn", 8, true},
    [XLA__PRIMITIVE_TYPE__S4] = {"s4", 4, false},
    [XLA__PRIMITIVE_TYPE__U4] = {"u4", 4, false},
    [XLA__PRIMITIVE_TYPE__TOKEN] = {"token", 0, false},
};

static bool is_known(Xla__PrimitiveType type)
{
    return (unsigned)type < sizeof types / sizeof *types && types[type].name != NULL;
}

unsigned shapes_element_bits(Xla__PrimitiveType type) { return is_known(type) ? types[type].bits : 0; }

bool shapes_is_float(Xla__PrimitiveType type) { return is_known(type) && types[type].is_float; }

const char *shapes_text(const Xla__ShapeProto *shape, char *text, size_t size)
{
    bool is_tuple = shapes_is_tuple(shape);
    const Xla__ShapeProto *first = is_tuple && shape->n_tuple_shapes > 0 ? shape->tuple_shapes[0] : shape;
    if (first == NULL || shapes_is_tuple(first)) {
        snprintf(text, size, "%s", first == NULL ? "no shape" : "(…)");
        return text;
    }
    char dimensions[96] = "";
    for (size_t i = 0, at = 0; i < first->n_dimensions && at < sizeof dimensions - 1; i++)
        at += (size_t)snprintf(dimensions + at, sizeof dimensions - at, i > 0 ? ",%lld" : "%lld",
                               (long long)first->dimensions[i]);
    snprintf(text, size, "%s%s[%s]%s", is_tuple ? "(" : "",
             is_known(first->element_type) ? types[first->element_type].name : "?", dimensions,
             !is_tuple                   ? ""
             : shape->n_tuple_shapes > 1 ? ", …)"
                                         : ")");
    return text;
}
