/* SPDX-License-Identifier: Apache-2.0
 * advice_parts.h: what need not be whole at any time, as advice: for advice_parts.c, advice_rows.c
 * and advice_blocks.c. */
#pragma once

#include "verdict/advice.h"
#include "verdict/cause_arrays.h"

/* Fills the figures, as a bound, for freeing all but `kept` of `of` parts of the arrays. False: that is less than one
 * per cent. */
bool advice_saving_set(const struct advice *advice, const struct cause_arrays *arrays, int64_t kept, int64_t of,
                       struct verdict_advice *item);
/* Adds the item. It counts as a remedy of the cause unless it does not suffice: then it must not come before items that
 * do. */
struct verdict_advice *advice_add_of_cause(struct advice *advice, struct verdict_advice item);

enum { ADVICE_PARTS = 32 }; /* enough for what is small beside the rest */
/* "Work on 8 of the 256 rows of f32[256,1024] at a time", with `whole` as what is named. */
struct verdict_advice *advice_parts_add(struct advice *advice, const struct cause_arrays *whole, int64_t at_once,
                                        struct verdict_advice item);
/* Where the rows of most of the program are worked on one by one (advice_rows.c). */
void advice_rows_find(struct advice *advice);
/* Where those of arrays of all pairs are, such as distances; false: they are not. */
bool advice_pairs_find(struct advice *advice);
