/* SPDX-License-Identifier: Apache-2.0 */
#include "input/oom/oom.h"

const char *oom_family_name(enum oom_family family)
{
    static const char *const names[] = {
#define FAMILY(name, framework, memory, phase, title, heading, who) #name,
#include "input/oom/families.def"
    };
    return names[family];
}

const char *oom_framework_name(enum oom_framework framework)
{
    static const char *const names[] = {
#define FRAMEWORK(name) #name,
#include "input/oom/families.def"
    };
    return framework == OOM_FRAMEWORK_not_known ? NULL : names[framework];
}

const char *oom_memory_name(enum oom_memory memory)
{
    static const char *const names[] = {
#define MEMORY(name) #name,
#include "input/oom/families.def"
    };
    return memory == OOM_MEMORY_not_known ? NULL : names[memory];
}

enum oom_memory oom_family_memory(enum oom_family family)
{
    static const enum oom_memory memories[] = {
#define FAMILY(name, framework, memory, phase, title, heading, who) OOM_MEMORY_##memory,
#include "input/oom/families.def"
    };
    return memories[family];
}

const char *oom_looked_for(size_t at)
{
    static const char *const kinds[] = {
#define LOOKED_FOR(text) text,
#include "input/oom/families.def"
    };
    return at < sizeof(kinds) / sizeof(kinds[0]) ? kinds[at] : NULL;
}
