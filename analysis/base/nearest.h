/* SPDX-License-Identifier: Apache-2.0
 * nearest.h: the known name that a mistyped one is nearest to. */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum { NEAREST_LENGTH_MAX = 64 };

/* How many letters must be put in, taken out or changed to make one of the other (Levenshtein), of the first
 * NEAREST_LENGTH_MAX bytes of each. */
size_t nearest_distance(struct str a, struct str b);

/* How far `known` is from what was typed: the distance; 0 where one begins with the other ("category" and "cat"). */
size_t nearest_name_distance(struct str typed, struct str known);

/* The place of `typed` among `count` names. Where it is none of them, false with an `argument` report:
 * `sort: no column "siez"; did you mean "size"? Known: size, name`. */
bool nearest_choose(const char *parameter, const char *what, struct str typed, const char *const *names, size_t count,
                    size_t *chosen, struct err *err);
