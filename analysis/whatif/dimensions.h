/* SPDX-License-Identifier: Apache-2.0
 * dimensions.h: which dimensions of a program's arrays are one: what becomes of all others when some get another size.
 *
 * In:     the graph of a program, before or after the compiler's work.
 * Out:    classes of dimensions that have the same size by the meaning of the operations between them, and relations
 *         between classes: products (reshape), sums (concatenate), parts (slice, pad). dimensions_resize solves them.
 * Limits: an operation whose meaning is not known (a custom call) relates dimensions of equal place and size; a loop's
 *         number of trips is not looked at. Sizes that contradict each other are counted, the first one counts.
 * Memory: the arena; about 40 bytes a dimension. Immutable once built.
 * Cost:   a few passes over instructions and relations.
 * Source: the semantics of XLA's operations (shape_inference.cc). */
#pragma once

#include "read/hlo/graph.h"
#include "read/hlo/leaves.h"

enum relation_kind {
    RELATION_PRODUCT, /* the left ones' product is the right ones' */
    RELATION_SUM,     /* the left one is the sum of the right ones */
    RELATION_PART,    /* the right one is a part of the left one: all but a fixed rest, or a fixed share */
};

struct relation {
    enum relation_kind kind;
    uint32_t first, left_count, right_count; /* dimensions, in `members`: those on the left, then those on the right */
};

/* Indices along one dimension say which rows of another one are read or written: edges, and their nodes. */
struct dimension_pointing {
    uint32_t from, to;
};

struct dimensions {
    const struct graph *graph;
    struct leaves leaves;
    uint32_t *parents; /* by dimension: union-find; read through dimensions_class */
    uint32_t
        *arrays; /* by leaf: the first leaf that is the same array, handed on by tuples, calls, fusions and loops */
    struct relation *relations;
    uint32_t *members;
    bool *is_scanned;   /* by dimension: a loop goes through it, one at a time */
    bool *is_cut;       /* by dimension: parts are read or written at an index that is computed */
    bool *is_side;      /* by dimension: a convolution's window slides over it and over another one: a picture's side */
    uint32_t *trips_of; /* by computation, the body of a loop: a dimension that it goes through, or HLO_NONE */
    struct dimension_pointing *pointings;
    uint32_t relation_count, member_count, pointing_count;
    uint32_t unfollowed_count; /* instructions that relate nothing for want of knowledge */
};

void dimensions_build(const struct graph *graph, struct arena *arena, struct dimensions *out);

/* The class of a dimension: one of its dimensions that represents all. */
static inline uint32_t dimensions_class(const struct dimensions *dimensions, uint32_t dimension)
{
    while (dimensions->parents[dimension] != dimension)
        dimension = dimensions->parents[dimension];
    return dimension;
}
/* Dimension `nth` of the (only) array that an instruction gives, or HLO_NONE. */
uint32_t dimensions_of(const struct dimensions *dimensions, uint32_t at, uint32_t nth);

struct dimensions_change {
    uint32_t dimension;
    int64_t size; /* the new one */
};

struct dimensions_sizes {
    int64_t *sizes;          /* by dimension: the new size */
    uint32_t changed_count;  /* dimensions */
    uint32_t conflict_count; /* classes for which two sizes were requested */
};
/* The sizes of all dimensions, which are `sizes` now, once these have changed. */
void dimensions_resize(const struct dimensions *dimensions, const int64_t *sizes,
                       const struct dimensions_change *changes, uint32_t count, struct arena *arena,
                       struct dimensions_sizes *out);
