/* SPDX-License-Identifier: Apache-2.0
 * naming.h: what allocations of GPUs are that nobody named, as far as the programs in the trace tell.
 *
 * JAX on GPUs records no op. But a launch of a program allocates what its buffer assignment says, to the byte, on the
 * thread that launches it; arguments are brought to the device in the call of the function. So sizes, threads and
 * launches are held against the figures of the programs. What comes out is a guess, and says by which rule; where
 * several programs fit and nothing decides, that is all that is said.
 * Memory: some bytes a kind of allocation; a copy of the table of kinds (struct memory_what). Time: a few steps an
 * allocation; there is a limit on it, past which the rest stays without a name. */
#pragma once

#include "model/memory_profile/model.h"
#include "read/trace/program_figures.h"

enum naming_rule {
#define NAMING_RULE(constant, name, text) NAMING_##constant,
#include "model/memory_profile/naming_rules.def"
#undef NAMING_RULE
    NAMING_RULES
};

/* Does the trace hold allocations on a GPU that no op names? */
bool memory_profile_naming_is_wanted(const struct memory_profile *profile);
/* Fills `guesses` of the model, and `guess` of what its allocations are. */
void memory_profile_naming_make(struct memory_profile *profile, const struct program_figures *figures,
                                struct arena *arena);

/* "launch", and the sentence that says what was looked at. */
const char *memory_profile_naming_rule(const struct memory_profile_guess *guess);
const char *memory_profile_naming_rule_text(const struct memory_profile_guess *guess);
/* How sure it is: "guess", or "unknown" where several programs fit. */
const char *memory_profile_naming_confidence(const struct memory_profile_guess *guess);

/* After the first `count` events of the pool. */
struct memory_profile_tally memory_profile_naming_tally(const struct memory_profile_pool *pool, uint32_t count,
                                                        struct arena *arena);
/* Writes "1.20 of 1.61 GiB named from the plan of jit_conv (guess)"; empty where all is named by its op. */
enum { NAMING_SENTENCE_BYTES = 320 };
void memory_profile_naming_sentence(const struct memory_profile *profile, const struct memory_profile_tally *tally,
                                    int64_t in_use_bytes, char text[NAMING_SENTENCE_BYTES]);
