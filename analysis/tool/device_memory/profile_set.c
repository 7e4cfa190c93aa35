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
