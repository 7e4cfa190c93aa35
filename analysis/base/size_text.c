/* SPDX-License-Identifier: Apache-2.0
 * size_text.c: see size_text.h. */
#include "base/size_text.h"

#include <stddef.h>
#include <stdio.h>

const char *size_text(char text[SIZE_TEXT_BYTES], uint64_t bytes)
{
    return size_text_rounded(text, (double)bytes, 1);
}

const char *size_text_rounded(char text[SIZE_TEXT_BYTES], double bytes, int kib_decimals)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    for (; (bytes >= 1024 || bytes <= -1024) && unit + 1 < sizeof units / sizeof units[0]; unit++)
        bytes /= 1024;
    snprintf(text, SIZE_TEXT_BYTES, "%.*f %s", unit == 0 ? 0 : unit == 1 ? kib_decimals : 2, bytes, units[unit]);
    return text;
}
