/* SPDX-License-Identifier: Apache-2.0
 * advice_parts.h: what need not be whole at any time, as advice: for advice_parts.c and advice_blocks.c. */
#pragma once

#include "verdict/advice.h"
#include "verdict/cause_arrays.h"

/* Of the arrays all but `kept` of `of` parts go: fills the figures, as a bound. False: that is less than one per cent.
 */
bool advice_saving_set(const struct advice *advice, const struct cause_arrays *arrays, int64_t kept, int64_t of,
                       struct verdict_advice *item);
/* Adds it as what takes the cause away; what does not suffice does not stand before what does. */
struct verdict_advice *advice_add_of_cause(struct advice *advice, struct verdict_advice item);
