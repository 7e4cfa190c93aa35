/* SPDX-License-Identifier: Apache-2.0
 * size_option.c: see size_option.h. */
#include "server/cmd/size_option.h"

#include "server/base/log.h"

#include <stdlib.h>
#include <string.h>

static bool size_read(const char *text, int64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    double size = strtod(text, &end);
    if (end == text || !(size >= 0))
        return false;
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (const char *at = units; unit && at <= unit; at++)
        size *= 1024;
    end += unit != NULL;
    if ((*end && strcmp(end, "iB") != 0 && strcmp(end, "B") != 0) || size > 0x1p48)
        return false;
    *bytes = (int64_t)size;
    return true;
}

bool size_option_read(const char *option, const char *text, int64_t *bytes)
{
    if (size_read(text, bytes))
        return true;
    log_line("--%s: \"%s\" is no size: 15.75GiB, 16G or a number of bytes", option, text);
    return false;
}
