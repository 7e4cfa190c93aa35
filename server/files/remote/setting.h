/* SPDX-License-Identifier: Apache-2.0
 * setting.h: variables of the environment by which credentials and servers are named. */
#pragma once

#include <stdlib.h>

/* Borrowed; NULL for what is not set, or empty. */
static inline const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}
