/* SPDX-License-Identifier: Apache-2.0
 * profile_set.c: see profile_set.h. */
#include "tool/device_memory/profile_set.h"

uint32_t profile_set_type(const struct pprof *pprof, const char *name)
{
    for (uint32_t i = 0; i < pprof->type_count; i++)
        if (str_equal(pprof->types[i].name, str_of(name)))
            return i;
    return PPROF_NONE;
}

uint32_t profile_set_type_of_unit(const struct pprof *pprof, const char *unit)
{
    for (uint32_t i = 0; i < pprof->type_count; i++)
        if (str_equal(pprof->types[i].unit, str_of(unit)))
            return i;
    return PPROF_NONE;
}

bool profile_set_equal_types(const struct pprof *a, const struct pprof *b)
{
    bool is_equal = a->type_count == b->type_count;
    for (uint32_t i = 0; is_equal && i < a->type_count; i++)
        is_equal = str_equal(a->types[i].name, b->types[i].name) && str_equal(a->types[i].unit, b->types[i].unit);
    return is_equal;
}
