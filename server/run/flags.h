/* SPDX-License-Identifier: Apache-2.0
 * flags.h: what makes XLA leave its plan: the variable XLA_FLAGS, with ours behind what the person has there.
 *
 * XLA_FLAGS alone is read by all: jaxlib for CPU and GPU, libtpu itself (also for PyTorch/XLA), TensorFlow. A flag that
 * a release does not know ends the process, so only flags are used that all of them know; LIBTPU_INIT_ARGS knows none
 * of them, and TF_XLA_FLAGS says only what is compiled. JAX leaves them out of the keys of its compilation cache, but
 * for
 * --xla_dump_include_timestamp (0.10.2).
 * Source: xla/parse_flags_from_env.cc, xla/debug_options_flags.cc; libtpu 0.0.52 and jax 0.10.2 as they run. */
#pragma once

#include <stdbool.h>

struct flags {
    char *value; /* for the child's XLA_FLAGS; NULL: it stays as it is */
    bool is_own; /* the person has an --xla_dump_to already… */
    char *own;   /* …which is this folder; NULL when it is none, as "-" */
};

/* `before`: the user's XLA_FLAGS, which may name a file of flags; NULL: not set. `folder`: where XLA shall leave what
 * it compiled, unless they say it. `has_cache`: programs come from a cache whose keys have to stay as they are.
 * flags_free afterwards. */
void flags_make(const char *before, const char *folder, bool has_cache, struct flags *flags);
void flags_free(struct flags *flags);
