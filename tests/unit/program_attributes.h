/* SPDX-License-Identifier: Apache-2.0
 * program_attributes.h: what an operation of program.h says of dimensions, in any order behind its operands:
 *
 *     dimensions={0,2}                          of broadcast, transpose, reduce, concatenate
 *     lhs={1} rhs={0} lhs_batch={} rhs_batch={} of dot, contracting first
 *     slice={0:8:1,2:6:1}                       start:limit:stride
 *     pad={1:1:0}                               low:high:interior
 *     offset={1} collapsed={0} vector=1         of gather; operand_batching={}, indices_batching={}
 *     window={1} inserted={0} vector=1          of scatter
 *     windows={size:stride:base_dilation}       of convolution, and its dimensions as input/kernel/output:
 *     conv={b,f,s/i,o,s/b,f,s}                  places of batch, feature, spatial ones / input feature, output feature,
 * … */
#pragma once

#include "program_text.h"

/* "{1,2}" into a field of a message. */
static inline void program_list(struct program_writing *writing, struct buf *out, unsigned field)
{
    for (program_want(writing, "{"); !program_is(writing, "}");)
        put_number(out, field, program_number(writing));
}

/* "{1:2:3,…}": a message of fields for each. */
static inline void program_triples(struct program_writing *writing, struct buf *out, unsigned field,
                                   const unsigned fields[3])
{
    for (program_want(writing, "{"); !program_is(writing, "}");) {
        struct buf one = BUF_INIT;
        for (int i = 0; i < 3; i++) {
            if (i > 0)
                program_want(writing, ":");
            put_number(&one, fields[i], program_number(writing));
        }
        put_message(out, field, &one);
    }
}

static inline void program_convolution(struct program_writing *writing, struct buf *out)
{
    static const unsigned fields[3][3] = {
        {CONVOLUTION_DIMENSION_NUMBERS_INPUT_BATCH_DIMENSION, CONVOLUTION_DIMENSION_NUMBERS_INPUT_FEATURE_DIMENSION,
         CONVOLUTION_DIMENSION_NUMBERS_INPUT_SPATIAL_DIMENSIONS},
        {CONVOLUTION_DIMENSION_NUMBERS_KERNEL_INPUT_FEATURE_DIMENSION,
         CONVOLUTION_DIMENSION_NUMBERS_KERNEL_OUTPUT_FEATURE_DIMENSION,
         CONVOLUTION_DIMENSION_NUMBERS_KERNEL_SPATIAL_DIMENSIONS},
        {CONVOLUTION_DIMENSION_NUMBERS_OUTPUT_BATCH_DIMENSION, CONVOLUTION_DIMENSION_NUMBERS_OUTPUT_FEATURE_DIMENSION,
         CONVOLUTION_DIMENSION_NUMBERS_OUTPUT_SPATIAL_DIMENSIONS}};
    int side = 0, place = 0;
    for (program_want(writing, "{"); !program_is(writing, "}"); place++) {
        if (program_is(writing, "/")) {
            side++;
            place = 0;
        }
        put_number(out, fields[side][place < 2 ? place : 2], program_number(writing));
    }
}

/* One attribute, if there is one. */
static inline bool program_attribute(struct program_writing *writing, struct buf *one, struct buf *dot,
                                     struct buf *gather, struct buf *scatter)
{
    static const unsigned slice[3] = {HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS_START,
                                      HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS_LIMIT,
                                      HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS_STRIDE};
    static const unsigned pad[3] = {PADDING_CONFIG_PADDING_CONFIG_DIMENSION_EDGE_PADDING_LOW,
                                    PADDING_CONFIG_PADDING_CONFIG_DIMENSION_EDGE_PADDING_HIGH,
                                    PADDING_CONFIG_PADDING_CONFIG_DIMENSION_INTERIOR_PADDING};
    static const unsigned window[3] = {WINDOW_DIMENSION_SIZE, WINDOW_DIMENSION_STRIDE, WINDOW_DIMENSION_BASE_DILATION};
    const struct {
        const char *name;
        struct buf *message;
        unsigned field;
    } lists[] = {
        {"dimensions=", one, HLO_INSTRUCTION_PROTO_DIMENSIONS},
        {"lhs=", dot, DOT_DIMENSION_NUMBERS_LHS_CONTRACTING_DIMENSIONS},
        {"rhs=", dot, DOT_DIMENSION_NUMBERS_RHS_CONTRACTING_DIMENSIONS},
        {"lhs_batch=", dot, DOT_DIMENSION_NUMBERS_LHS_BATCH_DIMENSIONS},
        {"rhs_batch=", dot, DOT_DIMENSION_NUMBERS_RHS_BATCH_DIMENSIONS},
        {"offset=", gather, GATHER_DIMENSION_NUMBERS_OFFSET_DIMS},
        {"collapsed=", gather, GATHER_DIMENSION_NUMBERS_COLLAPSED_SLICE_DIMS},
        {"operand_batching=", gather, GATHER_DIMENSION_NUMBERS_OPERAND_BATCHING_DIMS},
        {"indices_batching=", gather, GATHER_DIMENSION_NUMBERS_START_INDICES_BATCHING_DIMS},
        {"window=", scatter, SCATTER_DIMENSION_NUMBERS_UPDATE_WINDOW_DIMS},
        {"inserted=", scatter, SCATTER_DIMENSION_NUMBERS_INSERTED_WINDOW_DIMS},
    };
    struct buf inner = BUF_INIT;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (program_is(writing, lists[i].name)) {
            program_list(writing, lists[i].message, lists[i].field);
            return true;
        }
    if (program_is(writing, "vector=")) { /* behind offset= or window= */
        uint64_t place = program_number(writing);
        put_number(scatter->length > 0 ? scatter : gather,
                   scatter->length > 0 ? SCATTER_DIMENSION_NUMBERS_INDEX_VECTOR_DIM
                                       : GATHER_DIMENSION_NUMBERS_INDEX_VECTOR_DIM,
                   place);
        return true;
    }
    if (program_is(writing, "slice=")) {
        program_triples(writing, one, HLO_INSTRUCTION_PROTO_SLICE_DIMENSIONS, slice);
        return true;
    }
    if (program_is(writing, "pad=")) {
        program_triples(writing, &inner, PADDING_CONFIG_DIMENSIONS, pad);
        put_message(one, HLO_INSTRUCTION_PROTO_PADDING_CONFIG, &inner);
        return true;
    }
    if (program_is(writing, "windows=")) {
        program_triples(writing, &inner, WINDOW_DIMENSIONS, window);
        put_message(one, HLO_INSTRUCTION_PROTO_WINDOW, &inner);
        return true;
    }
    if (program_is(writing, "conv=")) {
        program_convolution(writing, &inner);
        put_message(one, HLO_INSTRUCTION_PROTO_CONVOLUTION_DIMENSION_NUMBERS, &inner);
        return true;
    }
    return false;
}

static inline void program_attributes(struct program_writing *writing, struct buf *one)
{
    struct buf dot = BUF_INIT, gather = BUF_INIT, scatter = BUF_INIT;
    while (program_attribute(writing, one, &dot, &gather, &scatter))
        ;
    if (dot.length > 0)
        put_message(one, HLO_INSTRUCTION_PROTO_DOT_DIMENSION_NUMBERS, &dot);
    if (gather.length > 0)
        put_message(one, HLO_INSTRUCTION_PROTO_GATHER_DIMENSION_NUMBERS, &gather);
    if (scatter.length > 0)
        put_message(one, HLO_INSTRUCTION_PROTO_SCATTER_DIMENSION_NUMBERS, &scatter);
}
