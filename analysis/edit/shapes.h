/* SPDX-License-Identifier: Apache-2.0
 * shapes.h: ShapeProto as protobuf-c has it: compared, and walked leaf by leaf. */
#pragma once

#include "base/buf.h"

#include "xla_data.pb-c.h"

enum { SHAPES_DEPTH_MAX = 48 }; /* of tuples in tuples */

/* Equal element types and dimensions, of tuples at every leaf; layouts do not count. */
bool shapes_equal(const Xla__ShapeProto *a, const Xla__ShapeProto *b);
/* Equal dimensions of two arrays. */
bool shapes_same_dimensions(const Xla__ShapeProto *a, const Xla__ShapeProto *b);
bool shapes_is_tuple(const Xla__ShapeProto *shape);
/* An array: no tuple, token, opaque or buffer. */
bool shapes_is_array(const Xla__ShapeProto *shape);
/* The part of a tuple at `path`, the shape itself for none; NULL where there is none. */
Xla__ShapeProto *shapes_at(Xla__ShapeProto *shape, const int64_t *path, size_t count);
/* What is wrong with a shape whatever it is of: a negative dimension, more than SHAPES_RANK_MAX of them, an array with
 * elements of its own. NULL: nothing. `parts`: tuples and arrays in it, itself included. */
enum { SHAPES_RANK_MAX = 64 };
const char *shapes_fault(const Xla__ShapeProto *shape, uint64_t *parts);
/* The parts of a shape that are no tuples, in their order in the shape (that of read/hlo/leaves.h). */
struct shapes_walk {
    struct {
        Xla__ShapeProto *shape;
        size_t next;
    } stack[SHAPES_DEPTH_MAX];
    size_t depth;
};
struct shapes_walk shapes_walk_begin(Xla__ShapeProto *shape);
/* NULL at the end. */
Xla__ShapeProto *shapes_walk_next(struct shapes_walk *walk);
/* Product of the dimensions, or -1 past 62 bits. */
int64_t shapes_elements(const Xla__ShapeProto *shape);
/* Bits of an element, 0 for an unknown type. */
unsigned shapes_element_bits(Xla__PrimitiveType type);
/* Floating-point types, of any width. */
bool shapes_is_float(Xla__PrimitiveType type);
/* "f32[8,128]", for reports; a tuple as "(f32[8,128], …)". At most `size` bytes with the NUL. */
const char *shapes_text(const Xla__ShapeProto *shape, char *text, size_t size);
