/* SPDX-License-Identifier: Apache-2.0
 * leaves.h: every array that the instructions of a program give, with its dimensions: tuples taken apart.
 *
 * In:     a decoded program.
 * Out:    leaves (arrays; tokens and opaque values are leaves without dimensions) in the order in which they stand in
 *         each result, and their dimensions one after the other. A dimension is named by its place in `sizes`.
 * Memory: the arena; about 10 bytes a dimension and 8 a leaf. Immutable once built.
 * Source: ShapeProto and LayoutProto of xla_data.proto. */
#pragma once

#include "base/column.h"
#include "read/hlo/hlo.h"
#include "read/hlo/shape.h"

struct leaf {
    uint32_t first; /* its first dimension, in `sizes` */
    uint8_t rank, type;
};

struct leaves {
    const struct hlo *hlo;
    uint32_t *first;         /* by instruction: its leaves are first[i] … first[i + 1] − 1 */
    uint32_t *element_first; /* by instruction: where its elements begin, in `elements`; see leaves_element */
    struct leaf *items;
    int64_t *sizes;    /* by dimension */
    uint8_t *physical; /* by dimension: which of the array's dimensions is at that place in memory, the one whose
                          elements lie farthest apart first */
    uint32_t *elements;
    uint32_t count, dimension_count, unknown_count; /* unknown: arrays of more dimensions than SHAPE_RANK_MAX */
};

void leaves_build(const struct hlo *hlo, struct arena *arena, struct leaves *out);

/* Leaves of element `nth` of an instruction's tuple, `*count` of them; of the whole result where it is no tuple. */
uint32_t leaves_element(const struct leaves *leaves, uint32_t at, uint32_t nth, uint32_t *count);
/* The leaf at a shape index of an instruction's result, or HLO_NONE: none, or no array. */
uint32_t leaves_at(const struct leaves *leaves, uint32_t at, const int64_t *index, uint32_t index_count);
static inline uint32_t leaves_count(const struct leaves *leaves, uint32_t at)
{
    return leaves->first[at + 1] - leaves->first[at];
}
/* The one array that an instruction gives; NULL: it gives several, or none, or is HLO_NONE. */
static inline const struct leaf *leaves_array(const struct leaves *leaves, uint32_t at)
{
    return at != HLO_NONE && leaves_count(leaves, at) == 1 ? &leaves->items[leaves->first[at]] : NULL;
}
