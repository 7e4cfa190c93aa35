/* SPDX-License-Identifier: Apache-2.0
 * edit.h: changes of a program as its author could have made them, for the compiler to judge.
 *
 * In goes a program as it was before optimizations (…before_optimizations.hlo.pb), out comes the bytes of a
 * HloModuleProto that PJRT_Compile takes. What a person wrote (globs, names of arguments) is resolved by the caller:
 * parameters are those of the entry computation, by number. Edits are done in the order given, each on what the one
 * before it left; afterwards the program is verified (verify.h). */
#pragma once

#include "base/arena.h"
#include "read/kind.h"
#include "whatif/split.h"

enum edit_kind {
    EDIT_DONATE,     /* parameters give their memory to results: entries of input_output_alias */
    EDIT_RESIZE,     /* dimensions of parameters × factor, and whatever follows from it */
    EDIT_CHECKPOINT, /* layers are computed again for the backward pass instead of kept (jax.checkpoint) */
    EDIT_SHARD,      /* parameters are split over devices, the rest by propagation (GSPMD) */
    EDIT_CAST,       /* parameters get another element type, and so do the results that replace them */
    EDIT_UNPAD,      /* short dimensions outward in all arrays that have them */
};

struct edit_dimension {
    int64_t parameter; /* number */
    int64_t dimension; /* from 0 */
};

struct edit_shape {
    const int64_t *dimensions;
    uint32_t rank;
};

struct edit_fraction {
    int64_t numerator, denominator;
};

struct regions_parameters;

struct edit {
    enum edit_kind kind;
    /* Donate, shard, cast: which parameters. */
    const int64_t *parameters;
    size_t parameter_count;
    /* The parameters are a user's "all": those which the edit cannot change are left as they are, and it is refused
     * only where none is left. */
    bool is_every;
    /* Resize: what becomes `numerator`/`denominator` of its size, or of each its own fraction. */
    const struct edit_dimension *dimensions;
    size_t dimension_count;
    int64_t numerator, denominator;
    const struct edit_fraction *fractions; /* by dimension; NULL: all alike */
    /* Checkpoint: a glob over scopes, such as "layer_*" or "*". */
    struct str scopes;
    /* If scopes do not show layers: the parameters that do (whatif/regions_read.h), by numbers that the program has
     * too; `scopes` then holds the names of these layers. NULL: scopes, or loops, show them. */
    const struct regions_parameters *layers;
    /* Shard: over how many devices, and which sizes stay whole. */
    struct split split;
    /* Cast: a PrimitiveType of xla_data.proto. */
    int element_type;
    /* Unpad: arrays that have such dimensions last, as the compiler padded them; those of size 1 do not count. */
    const struct edit_shape *shapes;
    size_t shape_count;
};

struct edit_outcome {
    struct str module;  /* bytes of a HloModuleProto, in the arena */
    int64_t partitions; /* what the compile options must say: num_partitions */
    /* What was changed: donated, sharded or cast parameters, resized shapes, checkpointed regions. */
    uint64_t changed_count;
    uint64_t left_count; /* parameters or regions that were asked for and left as they are */
    /* Why what the author would write may be another program than this one ("…, because" goes before it): then what it
     * takes is a bound, which confirms and refutes nothing. Static storage; NULL: it is that program. */
    const char *partial;
};

/* Does `count` edits on `program`, of KIND_HLO_PROTO or KIND_HLO_MODULE. False with a report: `malformed` or
 * `unsupported` where the bytes are no program that can be edited without loss, `conflict` or `argument` where an edit
 * does not apply, `unsupported` too where the program does not follow a change, for it holds what the rules do not
 * know. All memory is the arena's, which jumps at its limit; it takes about 10 to 30 times the size of the program. No
 * edits: the program as it is written back. For `partitions` above 1 the compile options say so, leave Shardy off and
 * let shardings propagate to the results (allow_spmd_sharding_propagation_to_output). */
bool edit_apply(struct str program, enum kind kind, const struct edit *edits, size_t count, struct arena *arena,
                struct edit_outcome *outcome, struct err *err);
