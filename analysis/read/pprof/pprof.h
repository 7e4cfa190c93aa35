/* SPDX-License-Identifier: Apache-2.0
 * pprof.h: a profile (profile.proto, ../proto/profile.proto) as columns.
 *
 * Ids of the file become places in the arrays here. What pprof's own checks
 * refuse is refused (`malformed`, `truncated`) with the place in the file: ids
 * that are 0, double or point nowhere, samples with too few or too many values,
 * texts past the table. Strings are borrowed from the bytes that were read. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define PPROF_NONE UINT32_MAX
enum { PPROF_TYPES_MAX = 64 }; /* sample types of one profile; real ones have one to four */

struct pprof_type {
    struct str name, unit; /* "space", "bytes" */
};

struct pprof_function {
    struct str name, system_name, file; /* as the file spells them */
    int64_t start_line;
};

struct pprof_mapping {
    struct str file, build_id;
    uint64_t begin, end, offset;
    bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct pprof_line {
    uint32_t function; /* or PPROF_NONE */
    int64_t line, column;
};

struct pprof_location {
    uint32_t mapping;                /* or PPROF_NONE */
    uint32_t first_line, line_count; /* in lines; the innermost first */
    uint64_t address;
    bool is_folded;
};

/* A label has a text, or a number with or without a unit. */
struct pprof_label {
    struct str key, text, unit;
    int64_t number;
    bool is_number;
};

/* What samples have in common: equal lists of labels are kept once. */
struct pprof_label_set {
    uint32_t first, count; /* in labels */
};

struct pprof {
    struct pprof_type *types;
    uint32_t type_count;
    uint32_t default_type; /* a place in types; 0 without any */

    /* Samples, as columns. */
    uint32_t sample_count;
    uint32_t *stack_starts; /* sample_count + 1 places in stacks */
    uint32_t *stacks;       /* locations, leaf first */
    uint32_t *label_sets;   /* of each sample */
    int64_t *values;        /* type_count for each sample */
    bool *is_base;          /* NULL: none was subtracted */
    int64_t *base_values;   /* like values: what was subtracted of each sample; NULL: the sides were not paired */
    bool *is_unknown;       /* NULL: all sizes are known; where true the bytes are 0, not measured */
    uint32_t depth_max;     /* locations of the deepest stack */

    struct pprof_location *locations;
    struct pprof_line *lines;
    struct pprof_function *functions;
    struct pprof_mapping *mappings;
    struct pprof_label_set *sets;
    struct pprof_label *labels;
    uint32_t location_count, line_count, function_count, mapping_count, set_count, label_count;

    int64_t time_ns, duration_ns;  /* Unix time; 0: not recorded */
    struct pprof_type period_type; /* of what is measured now and then; empty: not recorded */
    int64_t period;
    struct str drop_frames, keep_frames, doc_url;
    struct str *comments;
    uint32_t comment_count;
    /* numbers that point at nothing, ids that are 0 or taken, values that are missing or too many, counts below 0 */
    uint64_t odd_count;
};

/* JAX writes a size of -1 for an executable whose size it does not know: bytes that
 * are minus the count. They become 0 and are marked in is_unknown. */
/* A number that cannot be costs what it represents alone: a text that is not in the table is empty, a frame that is
 * not in the file is left out of its stack, a value that is missing is 0; odd_count has how many. */
/* Decodes the plain bytes of a profile, which must outlive `out`. */
bool pprof_read(struct str bytes, struct arena *arena, struct pprof *out, struct err *err);

/* The sum of two values, stopping at the ends of the range. */
static inline int64_t pprof_add(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : b > 0 ? INT64_MAX : INT64_MIN;
}

static inline int64_t pprof_negated(int64_t value) { return value == INT64_MIN ? INT64_MAX : -value; }

/* Its size without the sign. */
static inline int64_t pprof_size(int64_t value) { return value == INT64_MIN ? INT64_MAX : value < 0 ? -value : value; }

/* pprof_write.c: a profile as profile.proto, for pprof and whatever else reads it. */
/* Appends the plain (not gzipped) message to `out`. Ids are places in the arrays of `pprof` plus 1; functions,
 * locations and mappings that no sample reaches are left out, and so are samples whose values are all 0. A
 * sample of a base gets the label pprof::base=true, with which pprof takes the profile for a difference. */
void pprof_write(const struct pprof *pprof, struct arena *arena, struct buf *out);
