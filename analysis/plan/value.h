/* SPDX-License-Identifier: Apache-2.0
 * value.h: where a value was made and what reads it, through everything that only hands it on.
 *
 * In:   the graph of a program.
 * Out:  steps from a value to what it is a view or a copy of, and to what reads it, into and out of fusions, calls,
 *       loops and branches.
 * Cost: a walk back is bounded; all walks share an allotment of steps, past which they are cut short: a tangled program
 *       costs no more than another of its size.
 * Source: operand semantics of XLA's opcodes (hlo_dataflow_analysis.cc). */
#pragma once

#include "read/hlo/graph.h"

/* A value: what an instruction gives, or an element of the tuple that it gives. */
struct value {
    uint32_t at;      /* instruction; HLO_NONE: none */
    uint32_t element; /* VALUE_WHOLE, or an index */
};
#define VALUE_WHOLE UINT32_MAX

/* The value that a logical buffer holds. */
struct value value_of_buffer(const struct hlo *hlo, uint32_t buffer_at);

/* How far a walk goes back: through copies and nameless views (ORIGIN), or through named views, casts, slices and
 * gathers of the user's code too (BASE); or only as far as the buffer that holds the value: through tuples, bitcasts,
 * calls, loops and branches, past no copy and into no fusion (BUFFER). */
enum value_reach { VALUE_ORIGIN, VALUE_BASE, VALUE_BUFFER };

/* Room for walks, one at a time; what the last one met. */
enum { VALUE_PLACES_MAX = 4096 };
struct value_walk {
    const struct graph *graph;
    uint64_t steps_left;  /* of all walks together, back and forward */
    struct value *places; /* where the value was met: itself, and what it is under other names */
    uint32_t place_count, place_room;
    bool is_cut;     /* it is at more places than are followed, or the steps are used up: some readers were left out */
    bool of_buffers; /* what copies a value or computes with it reads it: copies and fusions are not gone into */
    struct value loop; /* the element of a loop's state that it began and that the loop's body changes */
    struct value_visited *visited;
    uint32_t visited_mark;
    uint8_t *phases; /* by instruction: value_phases, once it was asked for; 0: not yet */
    struct arena *arena;
};
/* `arena` outlives the walk, which takes more memory from it if a value is at many places. */
void value_walk_init(struct value_walk *walk, const struct graph *graph, uint64_t steps, struct arena *arena);

/* Where a value was made. Fusions are opened, so the result may be inside one. The origin of a loop's element is what
 * its body computes for it, or its initial value if the body passes it on. `is_gathered` (may be NULL): a gather is on
 * the way. Uses only the graph and the steps of the walk; a walk back takes at most VALUE_BACK_STEPS_MAX. */
enum { VALUE_BACK_STEPS_MAX = 400 };
struct value value_origin(struct value_walk *walk, struct value value, enum value_reach reach, bool *is_gathered);

/* The operation that computes an operand: behind copies, views and casts, into and out of fusions; HLO_NONE: it is not
 * known. Uses only the graph and the steps of the walk. */
uint32_t value_maker(struct value_walk *walk, uint32_t at);

/* The instruction whose op_name says what the value is: of its origin, else of the nearest named one behind it;
 * HLO_NONE without one. `origin` (may be NULL): its origin, from which a walk to its base can go on. */
uint32_t value_namer(struct value_walk *walk, struct value value, struct value *origin);

/* What reads a value, through views and copies and into fusions, calls and loops: calls back for each instruction that
 * makes something new of it, `operand` telling as which; with HLO_NONE for "it is (part of) the result of the program".
 * What runs a computation that is not there reads it itself. False ends the walk. */
typedef bool value_reader(void *context, uint32_t reader_at, uint32_t operand);
void value_each_reader(struct value_walk *walk, struct value value, value_reader *visit, void *context);

/* Phases, as bits 1 << enum graph_phase, that a reader is part of: its own, and those of what the fusion around it
 * gives. XLA repeats forward instructions in fusions that compute a gradient. */
unsigned value_phases(struct value_walk *walk, uint32_t reader_at);

/* Room that others write: zeros, a buffer without content. */
bool value_is_blank(const struct graph *graph, struct value origin);
