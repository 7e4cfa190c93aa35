/* SPDX-License-Identifier: Apache-2.0
 * regex_set.h: the characters of a class while it is read; of regex_parse.c alone. */
#pragma once

#include "base/regex_parse.h"

enum { REGEX_SET_MAX = 512 };

struct regex_set {
    struct regex_parse_range ranges[REGEX_SET_MAX];
    uint32_t count;
    bool is_full; /* something did not fit */
};

/* A class with a name: \d is "digit", [:alpha:] is "alpha". */
struct regex_set_class {
    char letter; /* of \d; 0: only by its name */
    const char *name;
    struct regex_parse_range ranges[4];
    uint32_t count;
};
/* NULL past the end. */
const struct regex_set_class *regex_set_class_at(size_t at);

void regex_set_add(struct regex_set *set, uint32_t first, uint32_t last);
void regex_set_add_class(struct regex_set *set, const struct regex_set_class *class, bool is_negated);
/* Adds what `ranges` (ascending, apart) leave out. */
void regex_set_add_others(struct regex_set *set, const struct regex_parse_range *ranges, uint32_t count);
/* Adds the other case of each ASCII letter. */
void regex_set_add_other_case(struct regex_set *set);
/* Makes the ranges ascending and apart. */
void regex_set_sort(struct regex_set *set);
