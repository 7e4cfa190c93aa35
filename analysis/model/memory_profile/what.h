/* SPDX-License-Identifier: Apache-2.0
 * what.h: what an allocation of a trace or a snapshot is: its data type, and the program, role and category it may
 * have. Texts lie in the profile, or are static. */
#pragma once

#include "model/memory_profile/model.h"

/* What an event is of; where `event` is PROFILE_NONE, the snapshot's block `kept`. */
const struct memory_what *memory_profile_what_at(const struct memory_profile *profile, uint32_t event, uint32_t kept);
/* The data type's name in `scratch`-free storage: a TensorFlow name, or the type that the shape begins with; empty. */
struct str memory_profile_what_data_type(const struct memory_profile *profile, const struct memory_what *what);
/* What it may be that no op names, by the programs of the trace; empty where nothing is guessed. The confidence is
 * "guess", "unknown" where several programs fit (then `program` is empty). */
struct str memory_profile_what_program(const struct memory_profile *profile, const struct memory_what *what);
struct str memory_profile_what_role(const struct memory_profile *profile, const struct memory_what *what);
struct str memory_profile_what_confidence(const struct memory_profile *profile, const struct memory_what *what);
/* Whose memory it is, of a snapshot: "saved_activation", "saved activations"; empty of a trace. */
struct str memory_profile_what_category(const struct memory_profile *profile, const struct memory_what *what);
struct str memory_profile_what_category_word(const struct memory_profile *profile, const struct memory_what *what);
