/* SPDX-License-Identifier: Apache-2.0 */
#include "input/oom/oom.h"

const char *oom_family_name(enum oom_family family)
{
    static const char *const names[] = {
#define FAMILY(name, phase, title, heading, who) #name,
#include "input/oom/families.def"
    };
    return names[family];
}

const char *oom_looked_for(size_t at)
{
    static const char *const kinds[] = {
#define LOOKED_FOR(text) text,
#include "input/oom/families.def"
    };
    return at < sizeof(kinds) / sizeof(kinds[0]) ? kinds[at] : NULL;
}
