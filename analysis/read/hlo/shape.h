/* SPDX-License-Identifier: Apache-2.0
 * shape.h: ShapeProto as text and as a size, straight from its bytes.
 *
 * Texts are XLA's HumanString and HumanStringWithLayout; sizes its ByteSizeOf
 * with 8-byte pointers: unpadded, a tuple counting its table of pointers only.
 * Source: shape_util.cc, layout.cc, primitive_util.cc. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

#define SHAPE_UNKNOWN_SIZE INT64_C(-1)

/* Appends e.g. "bf16[16,2048]{1,0:T(8,128)(2,1)}". Damage ends the text early. */
void shape_text(struct str shape, bool with_layout, struct buf *out);
/* Appends the layout alone, "{1,0:T(8,128)}"; nothing if the shape has none. */
void shape_layout_text(struct str shape, struct buf *out);
/* Unpadded size in bytes, or SHAPE_UNKNOWN_SIZE (unbounded, past 64 bits, an unknown type). */
int64_t shape_bytes(struct str shape);
/* An array's element type (PrimitiveType of xla_data.proto) and dimensions, without its layout. */
enum { SHAPE_RANK_MAX = 12 };
struct shape_array {
    uint64_t type;
    uint32_t rank;
    int64_t dimensions[SHAPE_RANK_MAX];
};
/* False for tuples, tokens, damage and more dimensions than SHAPE_RANK_MAX. */
bool shape_array_read(struct str shape, struct shape_array *out);
/* The same of a tuple's first element, if the shape is a tuple. */
bool shape_array_read_first(struct str shape, struct shape_array *out);
/* Equal arrays have equal hashes. shape_array_hash_any_order uses only the dimensions, in any order and without
 * ones. */
uint64_t shape_array_hash(const struct shape_array *array);
uint64_t shape_array_hash_any_order(const struct shape_array *array);
/* Whole numbers of any width and sign, truth values included. */
bool shape_array_is_integer(const struct shape_array *array);
int64_t shape_array_elements(const struct shape_array *array);
/* Size of an element on its own, in bytes; 0 for what is in no array. */
unsigned shape_type_bytes(uint64_t type);
/* Floating-point numbers that are no complex ones. */
bool shape_type_is_float(uint64_t type);
/* The type of an array's elements with this name, "bf16"; 0: none. */
uint64_t shape_type_find(struct str name);
/* Lower-case name of the element type: "bf16", "tuple"; "type 99" has no name and gives "". Static storage. */
const char *shape_element_type(struct str shape);
/* True if the shape's layout, or one inside it, has tiles: as TPU programs do. */
bool shape_has_tiles(struct str shape);
