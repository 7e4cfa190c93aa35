/* SPDX-License-Identifier: Apache-2.0
 * checkpoint.h: what the parts of jax.checkpoint's model share; for change_checkpoint.c and checkpoint_*.c;
 * groundwork.c finds checkpoint_values. */
#pragma once

#include "plan/value.h"
#include "whatif/recompute.h"
#include "whatif/variant.h"

struct checkpoint_layer {
    bool is_chosen, has_policy; /* the program checkpoints the layer already, and keeps some of its values */
    uint32_t forward, backward, backward_end; /* steps; HLO_NONE: the layer was not seen there */
    int64_t dropped_bytes;                    /* values of the layer that are no longer kept */
};

struct checkpoint {
    struct variant *variant;
    const struct plan *plan;
    const struct graph *graph;
    const struct regions *regions;
    struct checkpoint_layer *layers;
    struct value_walk walk;
    struct recompute recompute;
    uint32_t flag_count; /* rows that there were when flags by row were set: what is added later has none */
    int64_t dropped_bytes, astray_bytes; /* of what is kept of layers: all, and what only other layers read */
    const bool *only;                    /* by row: what is computed again of the layers (a policy); NULL: all */
    uint32_t first_backward;             /* step */
    const uint8_t *checkpointed;         /* by region: checkpointed_layers; NULL: the program checkpoints nothing */
};

/* The instruction that computes what a row holds, or HLO_NONE. */
static inline uint32_t checkpoint_maker(const struct checkpoint *work, const struct variant_row *row)
{
    uint32_t made_by = row->plan_row == PLAN_NONE ? HLO_NONE : work->variant->space->rows[row->plan_row].made_by;
    return made_by != HLO_NONE ? made_by : row->instruction_at;
}

/* The earlier of two steps. */
static inline void checkpoint_earlier(uint32_t *step, uint32_t found)
{
    if (found < *step)
        *step = found;
}

/* Values that several kernels read are put into memory again. A value that only one kernel reads is computed inside
 * that kernel. */
struct checkpoint_reading {
    struct checkpoint *work;
    uint32_t layer;     /* its own, or HLO_NONE: one of a scan */
    uint32_t kernel_at; /* the last one met that reads it, going backward in its own layer; or HLO_NONE */
    uint32_t count;     /* of kernels */
};

/* A value_reader that counts into a checkpoint_reading. */
bool checkpoint_reader_note(void *context, uint32_t reader_at, uint32_t operand);

/* What goes into the layers stays: rows for it that are not there already (checkpoint_inputs.c). In two steps: what
 * that is, before anything is dropped; and once it is known what is dropped. */
struct checkpoint_inputs;
/* By instruction: a hash of its op name and dimensions, which recognises a value where another instruction makes it; 0:
 * it makes no array with dimensions. For the program before any change, found once for all its variants. */
const uint64_t *checkpoint_values(const struct variant *variant);
struct checkpoint_inputs *checkpoint_inputs_find(struct checkpoint *work);
/* Is what the layer gives kept while `row`, a value of its inside of the same dimensions, would be put back? Of the two
 * the compiler keeps one. */
bool checkpoint_inputs_stand_for(struct checkpoint *work, const struct checkpoint_inputs *inputs, uint32_t layer,
                                 const struct variant_row *row);
/* Does the value that the instruction makes go into a layer, or out of the last? */
bool checkpoint_inputs_has(const struct checkpoint_inputs *inputs, uint32_t made_by);
void checkpoint_inputs_keep(struct checkpoint *work, const struct checkpoint_inputs *inputs);
/* Stacks that the forward loop of a scan writes go (checkpoint_stacks.c): how many. `flags` by row: those that are
 * meant; NULL: all. */
bool checkpoint_is_stack(const struct checkpoint *work, const struct variant_row *row);
uint32_t checkpoint_stacks_drop(struct checkpoint *work, const bool *flags);
/* What waits for the gradient of weights waits no longer than until that can be computed (checkpoint_late.c). */
void checkpoint_late_end(struct checkpoint *work);
