/* SPDX-License-Identifier: Apache-2.0
 * intern.h: texts that are kept once, and numbered from 0 in the order of their first coming. */
#pragma once

#include "base/map.h"

struct intern {
    struct map map;    /* .count: how many texts */
    struct str *items; /* by number: copies, each with a NUL behind it */
    size_t capacity;
};

void intern_init(struct intern *intern, struct arena *arena);
/* The number of a text, new or not. */
uint32_t intern_number(struct intern *intern, struct str text);
/* The number of a text, or MAP_NONE. */
uint32_t intern_find(const struct intern *intern, struct str text);
