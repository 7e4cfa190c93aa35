/* SPDX-License-Identifier: Apache-2.0
 * columns.h: the columns of one profile beside those of others: the same type in another place or unit. */
#pragma once

#include "base/arena.h"
#include "model/device_memory/profile_set.h"

/* The column of `pprof` with the type types[at]: the same name, and a unit that converts into the other. Among several
 * equal types the first matches the first of `types`, the second the second. PPROF_NONE when it has none. */
uint32_t columns_find(const struct pprof *pprof, const struct pprof_type *types, uint32_t at);

/* The finest unit in which any of `count` profiles (NULL: left out) has types[at]. */
struct str columns_finest_unit(const struct pprof *const *profiles, uint32_t count, const struct pprof_type *types,
                               uint32_t at);

/* How many of `type`'s unit one of column `at` of `pprof` is; `type` has no coarser unit. */
int64_t columns_factor(const struct pprof *pprof, uint32_t at, const struct pprof_type *type);
/* `value` times `factor`; what would be too large is the largest. */
int64_t columns_in_unit(int64_t value, int64_t factor);

/* `pprof` with the columns `types`, all of which it has; itself when they are its own. */
const struct pprof *columns_as(const struct pprof *pprof, const struct pprof_type *types, uint32_t type_count,
                               struct arena *arena);

/* A type's place in a profile, or PPROF_NONE. */
uint32_t columns_named(const struct pprof *pprof, const char *name);
/* The first type of this unit, or PPROF_NONE. */
uint32_t columns_of_unit(const struct pprof *pprof, const char *unit);
