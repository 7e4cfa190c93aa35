/* SPDX-License-Identifier: Apache-2.0
 * regions.h: the layers of a program: scopes of its op names that repeat with other numbers.
 *
 * In:     a program.
 * Out:    for each instruction, inside of fusions too, the outermost scope around it that also occurs elsewhere with
 *         another number ("layer_3", "dense_8"): its region. Forward, backward and recomputed instructions of a layer
 *         are of one region.
 *         Where the user named no scopes, layers are recognised by the parameters that they read
 *         ("params['layers'][3]['w']"), and what reads none is of the layer that was read last.
 * Memory: the arena; 4 bytes an instruction.
 * Source: op names as JAX writes them: "jit(step)/transpose(jvp(layer_3))/mlp/dot_general". */
#pragma once

#include "whatif/variant.h"

struct region {
    struct str name; /* "layer_3"; borrowed */
    uint64_t kind;   /* a hash of it without its numbers, of a parameter also of what its path has before it */
};

struct regions {
    uint32_t *of; /* by instruction: a region, or HLO_NONE */
    struct region *items;
    uint32_t count;
};

/* By scopes. */
void regions_build(const struct graph *graph, struct arena *arena, struct regions *out);
/* Those of a variant's program, found once: by scopes; or by scopes, and where these tell no layer that has a backward
 * pass, by parameters. */
const struct regions *regions_by_scopes(const struct variant *variant);
const struct regions *regions_by_any(const struct variant *variant);
/* What the latter are recognised by (regions_read.h), where it is not scopes; else NULL. */
const struct regions_parameters *regions_parameters(const struct variant *variant);
