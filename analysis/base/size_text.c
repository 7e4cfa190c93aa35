/* SPDX-License-Identifier: Apache-2.0
 * size_text.c: see size_text.h. */
#include "base/size_text.h"

#include <stddef.h>
#include <stdio.h>

const char *size_text(char text[SIZE_TEXT_BYTES], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        value /= 1024;
    snprintf(text, SIZE_TEXT_BYTES, "%.*f %s", unit == 0 ? 0 : unit == 1 ? 1 : 2, value, units[unit]);
    return text;
}
