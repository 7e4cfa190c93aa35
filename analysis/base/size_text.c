/* SPDX-License-Identifier: Apache-2.0
 * size_text.c: see size_text.h. */
#include "base/size_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { UNIT_COUNT = 7 };

static int decimals_of(size_t unit, int kib_decimals) { return unit == 0 ? 0 : unit == 1 ? kib_decimals : 2; }

/* Writes `bytes` in a unit of at least `min_unit`. What rounds to 1024 of a unit is 1 of the next. */
static const char *write_size(char text[SIZE_TEXT_BYTES], double bytes, int kib_decimals, size_t min_unit)
{
    static const char *const units[UNIT_COUNT] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    static const double halves[] = {0.5, 0.05, 0.005}; /* of the last digit, by the number of decimals */
    size_t unit = 0;
    for (; unit + 1 < UNIT_COUNT; unit++) {
        double size = bytes < 0 ? -bytes : bytes;
        if (unit >= min_unit && size < 1024 - halves[decimals_of(unit, kib_decimals)])
            break;
        bytes /= 1024;
    }
    snprintf(text, SIZE_TEXT_BYTES, "%.*f %s", decimals_of(unit, kib_decimals), bytes, units[unit]);
    return text;
}

const char *size_text(char text[SIZE_TEXT_BYTES], uint64_t bytes) { return write_size(text, (double)bytes, 1, 0); }

const char *size_text_rounded(char text[SIZE_TEXT_BYTES], double bytes, int kib_decimals)
{
    return write_size(text, bytes, kib_decimals, 0);
}

const char *size_text_coarse(char text[SIZE_TEXT_BYTES], uint64_t bytes, uint64_t resolution_bytes)
{
    size_t unit = 0;
    while (unit + 1 < UNIT_COUNT && ((uint64_t)1 << 10 * (unit + 1)) / 100 <= resolution_bytes)
        unit++;
    return write_size(text, (double)bytes, 1, resolution_bytes == 0 ? 0 : unit);
}

const char *size_text_share(char text[SHARE_TEXT_BYTES], int64_t part, int64_t whole)
{
    double share = whole > 0 ? 100.0 * (double)part / (double)whole : 0;
    bool is_near = share >= 99.5 && part < whole;
    if (whole <= 0)
        return strcpy(text, "\xE2\x80\x93");
    if (share > 0 && share < 0.1)
        return strcpy(text, "< 0.1 %");
    if (is_near && share >= 99.95)
        return strcpy(text, "> 99.9 %");
    snprintf(text, SHARE_TEXT_BYTES, "%.*f %%", part > 0 && (share < 9.95 || is_near) ? 1 : 0, share);
    return text;
}

const char *size_text_count(char text[COUNT_TEXT_BYTES], uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}
