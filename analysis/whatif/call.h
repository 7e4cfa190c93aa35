/* SPDX-License-Identifier: Apache-2.0
 * call.h: the line of JAX that makes a change, with the user's own names. */
#pragma once

#include "whatif/change.h"

/* What to write for a change that applies to `variant`, as it is before the change; in the arena, never NULL. "" of a
 * batch and a sequence, whose line needs the sizes behind the change (call_resize). */
const char *call_text(const struct variant *variant, const struct change *change);
/* Attention in blocks of this many queries whose scores are computed again going backward; masked like a causal mask if
 * `is_masked`. In the arena. */
enum { CALL_QUERIES = 128 };
const char *call_attention(bool is_masked, bool has_backward, struct arena *arena);
/* "jax.jit(train_step, donate_argnames=("params",))": what donates those of plan->arguments that are flagged, by number
 * where they have no names; in the arena. */
const char *call_donation(const struct plan *plan, const bool *flags, struct arena *arena);
/* Flags, as in plan->arguments, those that the change donates and that get a result for their memory. */
void call_donated(const struct variant *variant, const struct change *change, bool *flags);
/* The name of the jitted function: "train_step" of the module "jit_train_step"; "step" where it has none. Borrowed. */
struct str call_function(const struct plan *plan);
/* Was it jitted by Equinox's filter_jit? That passes all arrays in lists of its own, for which the user has no
 * names. */
bool call_is_of_equinox(const struct plan *plan);
/* The first name in an argument's path, "state" in "state.params['w']": the function's own argument; "" without one. */
struct str call_argument(struct str path);
/* Which of the function's arguments each of plan->arguments belongs to, counted as donate_argnums does, by names in the
 * order of the parameters; arguments that jit dropped for not being used are not seen. −1 where paths are not recorded.
 * In the arena. */
const int64_t *call_argument_numbers(const struct plan *plan, struct arena *arena);
/* That of an entry parameter; −1: none. */
int64_t call_argument_number(const struct plan *plan, const int64_t *numbers, int64_t parameter_number);
