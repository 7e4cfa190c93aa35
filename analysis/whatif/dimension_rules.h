/* SPDX-License-Identifier: Apache-2.0
 * dimension_rules.h: what each operation says of dimensions; inside of dimensions.c alone. */
#pragma once

#include "base/map.h"
#include "read/hlo/hlo_attributes.h"
#include "whatif/dimensions.h"

/* What the body of a loop reads along a dimension by an index of its own. */
struct own_read {
    uint32_t body, dimension;
};

struct dimension_builder {
    struct dimensions *dimensions;
    struct arena *arena;
    size_t relation_capacity, member_capacity, own_read_capacity, pointing_capacity;
    struct map rules;   /* by the hash of an opcode */
    uint32_t *trips_of; /* by the body of a loop: a dimension that it goes through, or HLO_NONE */
    struct own_read *own_reads;
    uint32_t own_read_count;
};

/* The two are one, where they have the same size: others are the file's contradiction, or a broadcast of size 1. */
void dimensions_join(struct dimension_builder *builder, uint32_t a, uint32_t b);
void dimensions_relate(struct dimension_builder *builder, enum relation_kind kind, const uint32_t *left,
                       uint32_t left_count, const uint32_t *right, uint32_t right_count);
/* The two leaves are one array. */
void dimensions_hand_on(struct dimension_builder *builder, uint32_t a, uint32_t b);
/* Before the first instruction. */
void dimension_rules_begin(struct dimension_builder *builder);
/* Joins and relations of one instruction. */
void dimension_rules_apply(struct dimension_builder *builder, uint32_t at);
/* Behind the last instruction. */
void dimension_rules_end(struct dimension_builder *builder);

/* An instruction that is looked at. */
struct looked_at {
    struct dimension_builder *builder;
    const struct graph *graph;
    const struct leaves *leaves;
    uint32_t at, operand_count;
    const uint32_t *operands;
    struct hlo_attributes attributes; /* where the table says that the rule looks at them */
};

/* The leaf of what gives one array, else HLO_NONE. */
uint32_t dimension_rules_leaf(const struct looked_at *look, uint32_t at);
uint32_t dimension_rules_operand(const struct looked_at *look, uint32_t nth);
/* Joins two arrays, dimension by dimension, where they have as many; runs of arrays; all that two instructions give. */
void dimension_rules_join_leaves(struct looked_at *look, uint32_t a, uint32_t b);
void dimension_rules_join_ranges(struct looked_at *look, uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_count);
void dimension_rules_join_values(struct looked_at *look, uint32_t a, uint32_t b);

/* Joins and relations of a bitcast between two arrays, by the pieces that their tiles cut them into
 * (dimension_rules_tiles.c). False: the pieces are not the same, and nothing was related. */
bool dimension_rules_tiles(struct looked_at *look, uint32_t in_leaf, uint32_t out_leaf);

/* Rules of what runs computations, starts and ends in the background, or puts tuples together
 * (dimension_rules_run.c). */
void dimension_rules_run(struct looked_at *look);
void dimension_rules_while(struct looked_at *look);
/* A loop goes through the dimension, one at a time: as often as through all others that it does that with. What the
 * person's function reads by an index of its own says how long the loop is only where nothing else does. */
void dimension_rules_scanned(struct looked_at *look, uint32_t whole, bool is_read);
/* Of what no rule is for: dimensions of equal place and size are one. */
void dimension_rules_unknown(struct looked_at *look);
void dimension_rules_custom_call(struct looked_at *look);
void dimension_rules_conditional(struct looked_at *look);
void dimension_rules_async_start(struct looked_at *look);
void dimension_rules_async_done(struct looked_at *look);
void dimension_rules_copy_start(struct looked_at *look);
void dimension_rules_copy_done(struct looked_at *look);
void dimension_rules_tuple(struct looked_at *look);
void dimension_rules_element(struct looked_at *look);
