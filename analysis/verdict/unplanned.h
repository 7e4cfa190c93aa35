/* SPDX-License-Identifier: Apache-2.0
 * unplanned.h: of a program without a buffer assignment what its own arrays tell; for analysis/verdict alone. */
#pragma once

#include "plan/program_arrays.h"
#include "verdict/facts.h"

/* The arrays of the verdict's program; NULL: it has a plan, or nothing is known about it. */
const struct program_arrays *unplanned_arrays(const struct verdict_facts *facts);
/* How much more arguments and results alone take than the device has; 0: not more, or not known. */
int64_t unplanned_over_bytes(const struct verdict_facts *facts);
bool unplanned_is_over(const struct verdict_facts *facts);
/* An array that alone is larger than the device; NULL: none is. */
const struct program_array *unplanned_too_large(const struct verdict_facts *facts);

/* The list, and the sentence above it. */
void unplanned_make(const struct verdict_facts *facts);
/* Did it fit, where nothing failed that is known of. */
void unplanned_judge(const struct verdict_facts *facts);
/* False: the arrays tell no cause. */
bool unplanned_cause(const struct verdict_facts *facts);
/* Is the cause that was found one of theirs? */
bool unplanned_is_cause(const struct verdict_facts *facts);
/* A sentence for a program without a known failure. */
const char *unplanned_sentence(const struct verdict_facts *facts);
