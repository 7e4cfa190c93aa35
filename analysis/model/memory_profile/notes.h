/* SPDX-License-Identifier: Apache-2.0
 * notes.h: what the reader should know about a trace's memory events, and
 * why there is nothing to show. */
#pragma once

#include "model/memory_profile/model.h"

/* Notes of a pool whose figures are complete, and of the file once the model is. */
void memory_profile_notes_pool(struct memory_profile_pool *pool);
void memory_profile_notes_file(struct memory_profile *profile, struct arena *arena);

struct memory_profile_reason {
    const char *code, *text; /* NULL: there is nothing to explain */
};
/* Why the file has no curve. */
struct memory_profile_reason memory_profile_notes_reason(const struct memory_profile *profile);
/* What is odd about a pool's curve as a whole. */
struct memory_profile_reason memory_profile_notes_finding(const struct memory_profile_pool *pool);
