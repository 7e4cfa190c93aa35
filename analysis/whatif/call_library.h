/* SPDX-License-Identifier: Apache-2.0
 * call_library.h: whose checkpoint is put around a layer: JAX's, or that of the library that the layer is written with.
 * What a person is shown and what a patch writes come from here.
 *
 * In:     the stack frames of a program.
 * Out:    the library of its modules, by the files of its frames; names and lines to write.
 * Source: flax.linen.remat, flax.nnx.remat, equinox.filter_checkpoint, haiku.remat in their documentation; each line
 *         was pasted and compiled. */
#pragma once

#include "plan/plan.h"

enum call_library { CALL_JAX, CALL_LINEN, CALL_NNX, CALL_EQUINOX, CALL_HAIKU, CALL_LIBRARY_COUNT };

struct call_library_names {
    const char *module;            /* the class that its layers are, "flax.linen.Module"; NULL: they are functions */
    const char *remat;             /* "flax.linen.remat" */
    const char *import, *imported; /* where a file has no name for it: "import haiku as hk", "hk.remat"; may be NULL */
    const char *line;              /* to write where the source is not known */
};

const struct call_library_names *call_library_names(enum call_library library);
enum call_library call_library_of(const struct plan *plan, struct arena *arena);
