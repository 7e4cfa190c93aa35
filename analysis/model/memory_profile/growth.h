/* SPDX-License-Identifier: Apache-2.0
 * growth.h: live bytes at the end of each step by op, data type and shape, and what became of them.
 *
 * Values change at few boundaries, so each group is settled only when it changes: the cost is that of the events, not
 * of groups x steps. Memory: the arena. */
#pragma once

#include "base/chunks.h"
#include "base/table.h"
#include "model/memory_profile/model.h"

enum { GROWTH_SPARKS = 64 };

/* What became of a group over the boundaries, worst last. */
enum memory_profile_growth_course_kind {
    GROWTH_STEADY,
    GROWTH_SHRINKS,
    GROWTH_VARIES,
    GROWTH_STEPS_ONCE,
    GROWTH_GROWS,
    GROWTH_KINDS
};

/* A course over the boundaries, settled up to `next`. */
struct memory_profile_growth_course {
    uint32_t next;
    int64_t bytes, count;  /* now */
    int64_t settled_bytes; /* at the boundary before `next` */
    int64_t first_bytes, first_count, largest_bytes;
    uint32_t grown_count, shrunk_count;
    double sum, weighted_sum; /* of values, and of values times their boundary's number */
    int64_t sparks[GROWTH_SPARKS];
};

struct memory_profile_growth_group {
    uint32_t event; /* one of its allocations */
    struct memory_profile_growth_course course;
};

struct memory_profile_growth_boundary {
    int64_t time_ps, number;
};

enum memory_profile_growth_by { GROWTH_BY_ANY, GROWTH_BY_STEP, GROWTH_BY_LAUNCH };

struct memory_profile_growth {
    struct arena *arena;
    const struct memory_profile *profile;
    const struct memory_profile_pool *pool;
    const char *kind; /* "step", "launch"; static; NULL: there are fewer than two boundaries, and no courses */
    struct memory_profile_growth_boundary *boundaries; /* by time */
    uint32_t boundary_count;
    struct table keys;
    uint32_t *number_of;  /* group of each `what` of the trace; PROFILE_NONE before it is met */
    struct chunks groups; /* struct memory_profile_growth_group */
    struct memory_profile_growth_course whole;
};

/* Boundaries: the ends of steps where there are two of them, else of launches of the module that is launched most. */
void memory_profile_growth_make(struct memory_profile_growth *growth, const struct memory_profile_pool *pool,
                                enum memory_profile_growth_by by, struct arena *arena);
/* Bytes a boundary, by least squares. */
double memory_profile_growth_slope(const struct memory_profile_growth *growth,
                                   const struct memory_profile_growth_course *course);
enum memory_profile_growth_course_kind memory_profile_growth_kind(const struct memory_profile_growth *growth,
                                                                  const struct memory_profile_growth_course *course);
/* "steady" ... "grows"; NULL past them. */
const char *memory_profile_growth_word(uint8_t kind);
/* The kind of each `what` of the trace; UINT8_MAX of those that the pool has not. NULL where the trace tells of fewer
 * than two steps or launches. */
const uint8_t *memory_profile_growth_kinds(const struct memory_profile_pool *pool, struct arena *arena);

/* What grows most. */
struct memory_profile_growth_most {
    uint32_t event;                    /* one of its allocations */
    int64_t slope_bytes, change_bytes; /* a boundary; from the first to the last */
    uint32_t grown_count, interval_count;
    const char *boundary; /* "step", "launch"; static */
};
/* Finds the steepest growth among those of at least `min_bytes` in all; false when nothing grows so. */
bool memory_profile_growth_find_most(const struct memory_profile_pool *pool, int64_t min_bytes, struct arena *arena,
                                     struct memory_profile_growth_most *out);
