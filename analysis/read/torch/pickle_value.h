/* SPDX-License-Identifier: Apache-2.0
 * pickle_value.h: the things of a pickle that pickle.h reads, as takers and whoever has the result see them. */
#pragma once

#include "base/str.h"

#include <stdint.h>

enum pickle_kind {
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INT,
    PICKLE_REAL,
    PICKLE_TEXT,
    PICKLE_BYTES, /* only their number is kept, not their values */
    PICKLE_LIST,
    PICKLE_TUPLE,
    PICKLE_DICT,
    PICKLE_TAKEN, /* the taker's number */
};

struct pickle_value {
    uint64_t bits; /* equal values have equal bits, but for lists, dicts, tuples, reals, bytes and wide numbers */
};

struct pickle;

enum pickle_kind pickle_value_kind(const struct pickle *pickle, struct pickle_value value);
/* False: it is none. */
bool pickle_value_int(const struct pickle *pickle, struct pickle_value value, int64_t *number);
bool pickle_value_real(const struct pickle *pickle, struct pickle_value value, double *number); /* whole numbers too */
bool pickle_value_bool(struct pickle_value value, bool *is_true);
/* A whole number from `min` to `max`, which may be written as a double. `default_value` if it is None or anything else;
 * the latter is counted in `odd_count`. */
int64_t pickle_value_whole(const struct pickle *pickle, struct pickle_value value, int64_t min, int64_t max,
                           int64_t default_value, uint64_t *odd_count);
/* Empty for what is no text; with a NUL behind it. */
struct str pickle_value_text(const struct pickle *pickle, struct pickle_value value);
/* Items of a list or tuple; NULL, 0 otherwise. Good until the next opcode. */
const struct pickle_value *pickle_value_items(const struct pickle *pickle, struct pickle_value value, size_t *count);
/* A text as a value: a key to look for. */
struct pickle_value pickle_value_key(struct pickle *pickle, const char *text);
struct pickle_value pickle_value_none(void);
/* The value of a key in a dict; None if it has none, or is no dict. If several keys are equal, the last one counts. */
struct pickle_value pickle_value_get(const struct pickle *pickle, struct pickle_value dict, struct pickle_value key);
/* Keys and values of a dict, one after the other. */
const struct pickle_value *pickle_value_pairs(const struct pickle *pickle, struct pickle_value dict,
                                              size_t *pair_count);
/* The number that the taker returned for it; UINT32_MAX if it was not taken. */
uint32_t pickle_value_taken(const struct pickle *pickle, struct pickle_value value);
/* A number of the list, from 0; the same list has the same one wherever it is named. UINT32_MAX: it is none. */
uint32_t pickle_value_list_number(struct pickle_value list);
