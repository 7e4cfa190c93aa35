/* SPDX-License-Identifier: Apache-2.0
 * checkpointed.h: which layers the program's own source has put into jax.checkpoint already.
 *
 * In:     a program and its layers.
 * Out:    a layer is checkpointed if every product of its backward pass is inside of a jax.checkpoint. One more around
 *         it saves nothing, unless a policy keeps values of the layer.
 * Memory: the arena of the findings; one byte a layer.
 * Source: op names as JAX writes them: "jit(f)/transpose(jvp())/checkpoint/rematted_computation/dot_general" of what is
 *         computed again, ".../checkpoint/dot_general" of the gradients beside it. */
#pragma once

#include "whatif/regions.h"

/* Does the instruction belong to the backward pass of a jax.checkpoint: is it computed again, or a gradient? */
bool checkpointed_holds(const struct graph *graph, uint32_t at);
/* Where what reads a value is. */
struct checkpointed_readers {
    bool are_inside, are_outside; /* of a jax.checkpoint of the program */
};
/* One reader more; HLO_NONE: the end of the program. False: one is outside, and no further one matters. */
bool checkpointed_reader_note(const struct graph *graph, uint32_t reader_at, struct arena *arena,
                              struct checkpointed_readers *readers);
/* Only inside: layers that are checkpointed already go on needing it. */
static inline bool checkpointed_needs(const struct checkpointed_readers *readers)
{
    return readers->are_inside && !readers->are_outside;
}

/* Is the value of the forward pass one that a policy may keep: a product, or one whose precision JAX wrote down, as it
 * does of all that policies keep? */
bool checkpointed_may_be_kept(const struct graph *graph, uint32_t at);
enum checkpointed { CHECKPOINTED_NO, CHECKPOINTED_PARTLY, CHECKPOINTED_ALL };
/* enum checkpointed by region of regions_by_any; NULL: the program checkpoints nothing. For the program before any
 * change, found once for all its variants. */
const uint8_t *checkpointed_layers(const struct variant *variant);
