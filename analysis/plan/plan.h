/* SPDX-License-Identifier: Apache-2.0
 * plan.h: the compiler's memory plan of one program, ready for questions.
 *
 * In:     a decoded program (read/hlo/hlo.h).
 * Out:    per memory space (colour): sums of its allocations, the replay of its
 *         heap trace, and rows: everything that takes memory there, with the
 *         steps from which and to which it does. At every step the rows that
 *         are alive add up to the curve.
 * Units:  bytes. A step is an index into the heap trace; where there is none,
 *         a position in the schedule (unit says which).
 * Memory: the arena; immutable afterwards, but that a plan that was laid out may be completed.
 * Source: XLA's buffer_assignment.cc for sums; XProf 2.24.2 for the choice of
 *         the trace and for leaving thread-local allocations out of totals. */
#pragma once

#include "base/note.h"
#include "memory/heap.h"
#include "plan/category.h"
#include "plan/value.h"
#include "read/hlo/hlo.h"
#include "read/hlo/hlo_ranges.h"
#include "read/space.h"

#define PLAN_NONE UINT32_MAX

/* What the buffer assignment says of an allocation. */
enum plan_kind { PLAN_PARAMETER, PLAN_OUTPUT, PLAN_THREAD_LOCAL, PLAN_CONSTANT, PLAN_TEMPORARY, PLAN_KIND_COUNT };

enum plan_unit {
    PLAN_UNIT_NONE,       /* nothing moves: what there is lives from begin to end */
    PLAN_UNIT_HEAP_TRACE, /* steps are events of the heap simulator's trace */
    PLAN_UNIT_SCHEDULE,   /* steps are positions in the schedule; liveness is ours */
};

struct plan_row {
    uint32_t buffer_at;            /* in hlo.buffers; PLAN_NONE: an allocation that names no buffer */
    uint32_t allocation_at;        /* in hlo.allocations */
    int64_t bytes;                 /* what it adds to the curve */
    int64_t unpadded_bytes;        /* SHAPE_UNKNOWN_SIZE when not known */
    int64_t offset_bytes;          /* in its allocation */
    uint32_t born, dies;           /* alive in steps born … dies − 1; dies == step_count: to the end */
    bool is_indefinite;            /* lives from begin to end, outside of the trace */
    struct category_choice choice; /* whose memory it is; plan/whose.h */
    uint32_t patterns;             /* bits 1 << enum pattern_kind: the patterns of its space that it belongs to */
    uint32_t named_by;             /* instruction whose op_name says what the value is, or HLO_NONE */
    uint32_t made_by;              /* instruction that computes it, inside of fusions and loops, or HLO_NONE */
};

/* An argument of the program: a leaf of what the jitted function takes. */
struct plan_argument {
    int64_t number;   /* of the entry parameter */
    struct str path;  /* "state.params['embed']", as JAX names it; may be empty. Borrowed */
    struct str shape; /* ShapeProto. Borrowed */
    int64_t bytes;    /* with padding, all elements of a tuple; on one device */
    uint32_t instruction_at;
    struct category_choice choice;
};

struct plan_pattern;   /* plan/pattern.h */
struct program_arrays; /* plan/program_arrays.h */

struct plan_space {
    int64_t space;
    const char *name;
    bool name_is_known;
    enum plan_unit unit;
    uint32_t trace_at; /* in hlo.traces, or PLAN_NONE */
    uint32_t step_count;
    struct heap heap;            /* without the indefinite part */
    uint64_t mended_event_count; /* of its trace: whose kind was lost, and is known by the others */

    /* sums over allocations; those without "thread_local" leave such allocations out */
    int64_t total_bytes, indefinite_bytes, parameter_bytes, output_bytes, output_reused_bytes, constant_bytes;
    int64_t thread_local_bytes;
    int64_t non_reusable_bytes;        /* thread-local or tuple */
    int64_t indefinite_in_curve_bytes; /* of `indefinite_bytes` what has a buffer: XProf adds only that to its series */
    int64_t untraced_bytes;            /* temporary allocations that no trace moves */
    uint32_t allocation_count, buffer_count;

    int64_t indefinite_unpadded_bytes;
    int64_t peak_bytes, peak_unpadded_bytes; /* live, indefinite part included */
    uint32_t peak_step;
    bool has_peak_step;
    uint32_t live_at_peak_count;
    int64_t category_bytes[CATEGORY_COUNT]; /* live at the peak; their sum is what the rows there add up to */
    struct plan_pattern *patterns;          /* most bytes first */
    uint32_t pattern_count;

    struct plan_row *rows; /* indefinite ones by allocation, then the others by birth */
    uint32_t row_count, indefinite_row_count;
};

struct plan {
    struct hlo hlo;
    struct hlo_schedule schedule;
    struct hlo_ranges ranges; /* only where a space has no heap trace */
    enum space_platform platform;
    int64_t *bytes, *unpadded_bytes; /* of each logical buffer; unpadded: SHAPE_UNKNOWN_SIZE when not known */
    struct str *shapes;              /* of each logical buffer: ShapeProto of its value; the last number of
                                        its shape index picks the element of a tuple, as in XLA */
    struct plan_space *spaces;       /* by total, largest first */
    uint32_t space_count;
    uint32_t hidden_space_count;     /* spaces that are not shown: more than any platform has */
    int64_t peak_memory_bytes;       /* XLA's rule: static memory of all spaces + the largest trace */
    struct plan_argument *arguments; /* by number */
    uint32_t argument_count;
    struct graph *graph;              /* what reads what; NULL without a module */
    struct program_arrays *unplanned; /* arrays of a module without a buffer assignment; else NULL */
    uint64_t untold_count;            /* rows whose readers were not all looked at: the program is too tangled */
    struct note *notes;
    uint32_t note_count;
    uint64_t insane_size_count, unknown_size_count, mended_size_count; /* sizes that could not be used as they are */
};

/* Builds `out->…` around `out->hlo`, which is already read: lays it out and completes it. */
void plan_build(struct plan *out, struct arena *arena);
/* Everything but who owns the memory: choices, patterns, arguments, the graph and the notes. XProf's answer needs no
 * more, and that is half of the time. */
void plan_lay_out(struct plan *out, struct arena *arena);
/* Adds the rest. Writes nothing that plan_lay_out wrote, so other threads may read that meanwhile. */
void plan_complete(struct plan *plan, struct arena *arena);
/* Undoes a plan_complete whose arena gave up; its memory may be freed then. */
void plan_forget_owners(struct plan *plan);

/* NULL if the program has no allocation in that space. */
const struct plan_space *plan_space_find(const struct plan *plan, int64_t space);
/* A space without anything, for questions about one that the program does not use. */
struct plan_space plan_space_empty(int64_t space);

enum plan_kind plan_kind_of(const struct hlo_allocation *allocation);
bool plan_is_indefinite(const struct hlo_allocation *allocation);
/* The largest allocation of a space for outputs alone; 0: there is none. */
uint64_t plan_output_largest_bytes(const struct plan *plan, const struct plan_space *space);
/* "parameter", "output", "thread_local", "constant", "temporary". */
const char *plan_kind_name(enum plan_kind category);
/* What pages call it: "argument", "thread-local", …. */
const char *plan_kind_word(enum plan_kind category);
/* For each allocation the last trace whose first event's buffer lies in it, or PLAN_NONE. */
uint32_t *plan_traces_owned(const struct hlo *hlo, struct arena *arena);
/* A buffer that takes part in a replay: known, with an allocation and an instruction. */
bool plan_buffer_is_usable(const struct hlo *hlo, uint32_t buffer_at);
/* Bytes live during `step`, indefinite part included. */
int64_t plan_bytes_at(const struct plan_space *space, uint32_t step);
int64_t plan_unpadded_bytes_at(const struct plan_space *space, uint32_t step);
/* Total less peak; 0 where the replay passes the total. */
int64_t plan_fragmentation_bytes(const struct plan_space *space);
/* What is no argument, output or constant. */
static inline uint64_t plan_temporary_bytes(const struct plan_space *space)
{
    return space->total_bytes > space->indefinite_bytes ? (uint64_t)(space->total_bytes - space->indefinite_bytes) : 0;
}
static inline bool plan_row_is_alive(const struct plan_row *row, uint32_t step)
{
    return row->is_indefinite || (row->born <= step && step < row->dies);
}
