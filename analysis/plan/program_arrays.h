/* SPDX-License-Identifier: Apache-2.0
 * program_arrays.h: the arrays of a program that has no buffer assignment: what XLA dumps before it optimizes, where
 * compiling or autotuning failed.
 *
 * In:     a decoded program and its graph.
 * Out:    its largest arrays, and the least that it takes at one time: arguments are held while it runs and results are
 *         whole when it ends. Arrays that are computed element by element are left out, but for operands of products
 *         and the like: the compiler usually fuses these and never stores them.
 * Units:  bytes without padding. Of a program that is not split over its devices yet, bytes of all devices together.
 * Memory: the arena. */
#pragma once

#include "plan/plan.h"

enum program_array_role { PROGRAM_ARRAY_ARGUMENT, PROGRAM_ARRAY_RESULT, PROGRAM_ARRAY_BETWEEN };

/* Equal arrays: same role, shape, operation and line. */
struct program_array {
    enum program_array_role role;
    int64_t bytes; /* of one */
    uint32_t count;
    const char *shape;  /* "bf16[16,2048]" */
    const char *name;   /* "dot_general"; of an argument its name; may be "" */
    const char *source; /* "models.py:11"; "": not recorded */
};

enum { PROGRAM_ARRAYS_MAX = 12 };

#define PROGRAM_ARRAYS_NOTHING "No buffer assignment: what the compiler would have placed is not known."

struct program_arrays {
    struct program_array items[PROGRAM_ARRAYS_MAX]; /* the largest first */
    uint32_t count, total_count;                    /* total: of all such groups */
    int64_t listed_bytes;                           /* of the items together */
    uint32_t fused_count;                           /* arrays left out: computed element by element */
    int64_t fused_largest_bytes;
    int64_t argument_bytes, result_bytes; /* of all of them, but for those that may lie in the host's memory */
    int64_t shared_bytes;                 /* at most this much of the results lives in memory of donated arguments */
    int64_t least_bytes;                  /* at one time, on each device */
    int64_t donatable_bytes;              /* of results with shapes of arguments that are not donated */
    int64_t batch_bytes;                  /* of arguments that may grow with a batch */
    uint64_t device_count; /* that sizes are of together: its partitions, not its replicas; 1: of one device */
    const char *sentence;  /* that nothing was planned, the largest arrays and the least */
};

/* "argument", "result", "between". */
const char *program_arrays_role_name(enum program_array_role role);
/* "argument", "result", "computed on the way". */
const char *program_arrays_role_words(enum program_array_role role);

/* NULL: there is no module. `scratch`: an arena for what is not kept. */
struct program_arrays *program_arrays_find(const struct plan *plan, struct arena *arena, struct arena *scratch);
