/* SPDX-License-Identifier: Apache-2.0
 * split.h: along which dimension devices share an argument: the first that divides, but none that loops go through one
 * by one, and none of which parts or rows are read or written at computed places: for these every device needs all of
 * it, and the compiler gathers it.
 *
 * Told by sizes, so that one line of Python can say it of all arguments: what has the size of such a dimension is not
 * taken either.
 * Source: dynamic-slice, dynamic-update-slice and gather in XLA's spmd_partitioner.cc; programs compiled for v5e. */
#pragma once

#include "whatif/variant.h"

/* Small arrays split, such as weights along what a product sums over, make the compiler gather large ones. */
enum { SPLIT_SIZES_MAX = 16, SPLIT_ELEMENTS_LEAST = 131072 };

struct split {
    int64_t devices;
    int64_t whole_sizes[SPLIT_SIZES_MAX]; /* of dimensions that stay whole and would divide, each once */
    uint32_t whole_count;
    int64_t least; /* elements of an array that is worth splitting: others are on every device */
};

/* Reads the program as it is resized now, over so many devices. */
void split_read(const struct variant *variant, int64_t devices, struct split *out);
/* Has an array of so many elements, or more than can be counted (negative), to be split? */
static inline bool split_is_large(const struct split *split, int64_t elements)
{
    return elements < 0 || elements >= split->least;
}
/* Does a dimension of this size divide, and may devices share it? */
bool split_takes(const struct split *split, int64_t size);
/* "24, 1000000"; "" where there are none; in the arena. */
const char *split_whole_text(const struct split *split, struct arena *arena);
/* What of the program's operations on arrays of at least so many bytes the partitioner may do on every device with all
 * of them: "a lookup by index", and its first instruction; NULL (HLO_NONE): there is none. Static storage. */
const char *split_obstacle(const struct variant *variant, int64_t least_bytes, uint32_t *at);
