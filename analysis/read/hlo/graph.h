/* SPDX-License-Identifier: Apache-2.0
 * graph.h: which instruction reads what, and where a value comes from and goes to.
 *
 * In:     a decoded program.
 * Out:    operands, readers and called computations of every instruction as flat arrays, and what its op_name says.
 * Memory: the arena; about 50 bytes an instruction. Immutable once built.
 * Cost:   one pass over the instructions.
 * Source: operand semantics of XLA's opcodes (hlo_dataflow_analysis.cc); hlo.proto. */
#pragma once

#include "base/arena.h"
#include "read/hlo/hlo.h"

/* What an opcode does, as far as values pass through it. */
enum graph_op {
    GRAPH_COMPUTE, /* makes a new value */
    GRAPH_PARAMETER,
    GRAPH_CONSTANT,
    GRAPH_TUPLE,
    GRAPH_ELEMENT, /* get-tuple-element */
    GRAPH_SAME,    /* the result is the operand */
    GRAPH_COPY,
    GRAPH_COPY_START, /* copies its operand in the background */
    GRAPH_DONE,       /* ends what its operand started */
    GRAPH_RESHAPE,
    GRAPH_SLICE,
    GRAPH_GATHER,
    GRAPH_CONVERT,
    GRAPH_ASYNC_START,
    GRAPH_FUSION,
    GRAPH_CALL,
    GRAPH_WHILE,
    GRAPH_CONDITIONAL,
    GRAPH_CUSTOM_CALL,
    GRAPH_ALLOCATE, /* the custom call AllocateBuffer: room that others write */
    GRAPH_DOT,
    GRAPH_EXPONENTIAL,
    GRAPH_REDUCE,
    GRAPH_ADD,
    GRAPH_BROADCAST,
    GRAPH_CONCATENATE,
    GRAPH_UPDATE, /* writes into its first operand: dynamic-update-slice, scatter */
    GRAPH_COLLECTIVE,
    GRAPH_COLLECTIVE_DONE,
};

/* Part of the program that an instruction's op_name puts it in. JAX writes the transformations of a function into
 * it. */
enum graph_phase {
    GRAPH_NAMELESS,  /* no op_name, or that of an argument: made by the compiler */
    GRAPH_PLAIN,     /* named, and none of the others: inference, the optimizer */
    GRAPH_FORWARD,   /* "jvp(" */
    GRAPH_BACKWARD,  /* "transpose(" with "jvp(", TensorFlow's "gradient_tape/", "gradients/" */
    GRAPH_RECOMPUTE, /* "rematted_computation": of jax.checkpoint */
};

/* Operand `operand` of an instruction. */
struct graph_use {
    uint32_t reader_at, operand;
};

struct graph {
    const struct hlo *hlo;
    uint8_t *ops, *phases;              /* enum graph_op, enum graph_phase; by instruction, like the arrays below */
    struct hlo_part *op_names;          /* in the instruction's bytes */
    int32_t *numbers;                   /* of a parameter its number, of a get-tuple-element its index */
    uint32_t *operand_first, *operands; /* operands of i: from operand_first[i] to [i + 1]; HLO_NONE: no such id */
    uint32_t *reader_first;             /* readers of i, as its operands */
    struct graph_use *readers;
    uint32_t *called_first, *called; /* computations, in the order of the file */
    uint32_t *caller_of, *root_of;   /* by computation: the first instruction that runs it, its root; HLO_NONE */
    uint32_t *called_as;             /* by computation: its place among those that its caller runs */
    struct map parameter_of;         /* computation << 32 | number: the parameter */
    bool has_backward;               /* some value is part of a backward pass */
};

/* `scratch`: an arena for what is not kept; may be the same. */
void graph_build(const struct hlo *hlo, struct arena *arena, struct arena *scratch, struct graph *out);

static inline enum graph_op graph_op(const struct graph *graph, uint32_t at) { return graph->ops[at]; }
static inline enum graph_phase graph_phase(const struct graph *graph, uint32_t at) { return graph->phases[at]; }
static inline struct str graph_op_name(const struct graph *graph, uint32_t at)
{
    return (struct str){graph->hlo->instructions[at].bytes + graph->op_names[at].at, graph->op_names[at].length};
}
/* Its end, where the operation is named: what rules look for a word in, so that a long name costs no more than
 * others. */
enum { GRAPH_OP_NAME_MAX = 4096 };
static inline struct str graph_op_name_end(const struct graph *graph, uint32_t at)
{
    struct str name = graph_op_name(graph, at);
    size_t cut = name.length > GRAPH_OP_NAME_MAX ? name.length - GRAPH_OP_NAME_MAX : 0;
    return (struct str){name.data + cut, name.length - cut};
}
/* Operand `nth`, or HLO_NONE. */
static inline uint32_t graph_operand(const struct graph *graph, uint32_t at, uint32_t nth)
{
    uint32_t first = graph->operand_first[at];
    return nth < graph->operand_first[at + 1] - first ? graph->operands[first + nth] : HLO_NONE;
}
/* Computation `nth` that an instruction runs, or HLO_NONE. A loop's body is the first, its condition the second. */
static inline uint32_t graph_called(const struct graph *graph, uint32_t at, uint32_t nth)
{
    uint32_t first = graph->called_first[at];
    return nth < graph->called_first[at + 1] - first ? graph->called[first + nth] : HLO_NONE;
}
/* The parameter of a computation with that number, or HLO_NONE. */
uint32_t graph_parameter(const struct graph *graph, uint32_t computation_at, uint32_t number);

/* The fusion that an instruction is part of, or HLO_NONE. */
uint32_t graph_fusion_around(const struct graph *graph, uint32_t at);

/* What a value was before it was broadcast, a few times at most; HLO_NONE of HLO_NONE. */
uint32_t graph_behind_broadcasts(const struct graph *graph, uint32_t at);

/* The body of the innermost loop that an instruction is part of, fusions and calls around it left; HLO_NONE without. */
uint32_t graph_loop_body_around(const struct graph *graph, uint32_t at);

/* Does it compute nothing itself, but names values (tuples) or runs other computations on them (calls, loops,
 * fusions)? */
static inline bool graph_hands_on(const struct graph *graph, uint32_t at)
{
    static const uint64_t ops = UINT64_C(1) << GRAPH_PARAMETER | UINT64_C(1) << GRAPH_CONSTANT |
                                UINT64_C(1) << GRAPH_TUPLE | UINT64_C(1) << GRAPH_ELEMENT |
                                UINT64_C(1) << GRAPH_FUSION | UINT64_C(1) << GRAPH_CALL | UINT64_C(1) << GRAPH_WHILE |
                                UINT64_C(1) << GRAPH_CONDITIONAL | UINT64_C(1) << GRAPH_COPY_START |
                                UINT64_C(1) << GRAPH_DONE | UINT64_C(1) << GRAPH_ASYNC_START;
    return (ops >> graph_op(graph, at) & 1) != 0;
}

static inline bool graph_is_argument(const struct graph *graph, uint32_t at)
{
    return at != HLO_NONE && graph->ops[at] == GRAPH_PARAMETER &&
           graph->hlo->instructions[at].computation_at == graph->hlo->entry_at;
}
