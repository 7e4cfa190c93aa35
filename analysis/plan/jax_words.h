/* SPDX-License-Identifier: Apache-2.0
 * jax_words.h: words of op names that JAX and XLA put there.
 *
 * Source: the op names of recorded programs. */
#pragma once

#include "base/str.h"

enum jax_words {
    JAX_PROGRAM = 1,    /* around the name of the whole program: "jit(step)" */
    JAX_WRAPPER = 2,    /* around any name: "transpose(jvp(layer_3))" */
    JAX_BODY = 4,       /* the body that is made of a user's function, as a part of a path */
    JAX_UNLABELLED = 8, /* what the label of a group leaves out of its folded scope */
};

/* Is the text one of the words of that kind? */
bool jax_words_has(enum jax_words kind, struct str text);
