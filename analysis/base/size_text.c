/* SPDX-License-Identifier: Apache-2.0 */
#include "base/size_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT_COUNT = 7 };

/* `bytes` in a unit with so many decimals, as a whole number of the last one; a tie goes to the even digit. */
static uint64_t size_text_rounded(uint64_t bytes, unsigned unit, unsigned decimals)
{
    const unsigned shift = 10 * unit;
    const uint64_t one = (uint64_t)1 << shift;
    uint64_t figure = bytes >> shift, rest = bytes & (one - 1);
    for (; decimals > 0; decimals--) {
        rest *= 10; /* below 10 × 2^60 */
        figure = 10 * figure + (rest >> shift);
        rest &= one - 1;
    }
    return figure + (2 * rest > one || (2 * rest == one && figure % 2 == 1));
}

/* Writes `bytes` in a unit of at least `min_unit`. What rounds to 1024 of a unit is 1 of the next. */
static const char *write_size(char text[SIZE_TEXT_BYTES], const char *sign, uint64_t bytes, unsigned kib_decimals,
                              unsigned min_unit)
{
    static const char *const units[UNIT_COUNT] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    static const unsigned scales[] = {1, 10, 100}; /* by the number of decimals */
    unsigned unit = min_unit, decimals;
    uint64_t figure;
    for (;; unit++) {
        decimals = unit == 0 ? 0 : unit == 1 ? kib_decimals : 2;
        figure = size_text_rounded(bytes, unit, decimals);
        if (unit + 1 == UNIT_COUNT || figure < (uint64_t)1024 * scales[decimals])
            break;
    }
    int length = snprintf(text, SIZE_TEXT_BYTES, "%s%" PRIu64, sign, figure / scales[decimals]);
    if (decimals > 0)
        length += snprintf(text + length, SIZE_TEXT_BYTES - (size_t)length, ".%0*" PRIu64, (int)decimals,
                           figure % scales[decimals]);
    snprintf(text + length, SIZE_TEXT_BYTES - (size_t)length, " %s", units[unit]);
    return text;
}

const char *size_text(char text[SIZE_TEXT_BYTES], uint64_t bytes) { return write_size(text, "", bytes, 1, 0); }

const char *size_text_in(struct arena *arena, uint64_t bytes)
{
    char text[SIZE_TEXT_BYTES];
    return arena_text(arena, str_of(size_text(text, bytes)));
}

const char *size_text_beside(char text[SIZE_TEXT_BYTES], uint64_t bytes, uint64_t other)
{
    char beside[SIZE_TEXT_BYTES];
    if (bytes == other || strcmp(size_text(text, bytes), size_text(beside, other)) != 0)
        return size_text(text, bytes);
    return strcat((char *)size_text_count(text, bytes), " B");
}

const char *size_text_column(char text[SIZE_TEXT_BYTES], int64_t bytes)
{
    return write_size(text, bytes < 0 ? "-" : "", bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes, 2, 0);
}

const char *size_text_coarse(char text[SIZE_TEXT_BYTES], uint64_t bytes, uint64_t resolution_bytes)
{
    unsigned unit = 0;
    while (resolution_bytes > 0 && unit + 1 < UNIT_COUNT && ((uint64_t)1 << 10 * (unit + 1)) / 100 <= resolution_bytes)
        unit++;
    return write_size(text, "", bytes, 1, unit);
}

const char *size_text_share(char text[SHARE_TEXT_BYTES], int64_t part, int64_t whole)
{
    double share = whole > 0 ? 100.0 * (double)part / (double)whole : 0;
    bool is_near = share >= 99.5 && share < 100.5 && part != whole;
    if (whole <= 0)
        return strcpy(text, "\xE2\x80\x93");
    if (share > 0 && share < 0.1)
        return strcpy(text, "< 0.1 %");
    if (is_near && part < whole && share >= 99.95)
        return strcpy(text, "> 99.9 %");
    if (is_near && part > whole && share < 100.05)
        return strcpy(text, "> 100 %");
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

bool size_text_read(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    double size = strtod(text, &end);
    if (end == text || !(size >= 0))
        return false;
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    for (const char *at = units; unit != NULL && at <= unit; at++)
        size *= 1024;
    end += unit != NULL;
    if ((*end != '\0' && strcmp(end, "iB") != 0 && strcmp(end, "B") != 0) || size > 0x1p48)
        return false;
    *bytes = (uint64_t)size;
    return true;
}
