/* SPDX-License-Identifier: Apache-2.0
 * oom_capacity.c: see oom_capacity.h. A pattern is words with holes: `%` takes a
 * printed size, `#` decimal bytes, `@` the name of a memory space, and a space
 * any run of white space; a hole behind `~` is searched for further on. */
#include "input/oom_capacity.h"

#include <ctype.h>

struct captured {
    int64_t values[2], half_units[2];
    size_t at[2], length[2];
    size_t value_count;
    int64_t space;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_space(struct str text, size_t at)
{
    while (at < text.length && is_space(text.data[at]))
        at++;
    return at;
}

/* "15.75G", "0B", "681.08M", "1.97GiB": powers of 1024. Returns its length, or 0. */
static size_t size_read(struct str text, size_t at, int64_t *bytes, int64_t *half_unit)
{
    static const char units[] = "BKMGTPE";
    size_t begin = at;
    int64_t whole = 0, part = 0, scale = 1;
    for (; at < text.length && isdigit((unsigned char)text.data[at]) && whole < INT64_C(100000000000); at++)
        whole = whole * 10 + (text.data[at] - '0');
    if (at == begin)
        return 0;
    if (at + 1 < text.length && text.data[at] == '.' && isdigit((unsigned char)text.data[at + 1]))
        for (at++; at < text.length && isdigit((unsigned char)text.data[at]) && scale < 1000; at++, scale *= 10)
            part = part * 10 + (text.data[at] - '0');
    const char *unit = at < text.length && text.data[at] != '\0' ? strchr(units, text.data[at]) : NULL;
    if (unit == NULL)
        return 0;
    unsigned shift = 10 * (unsigned)(unit - units);
    if (whole >= INT64_C(1) << (62 - shift))
        return 0;
    at++;
    if (at + 1 < text.length && text.data[at] == 'i' && text.data[at + 1] == 'B')
        at += 2;
    *bytes = (int64_t)((((__int128)(whole * scale + part) << shift) * 2 + scale) / (2 * scale)); /* to the nearest byte */
    *half_unit = shift == 0 ? 0 : ((INT64_C(1) << shift) / scale + 1) / 2;
    return at - begin;
}

static size_t bytes_read(struct str text, size_t at, int64_t *bytes)
{
    size_t begin = at;
    for (*bytes = 0; at < text.length && isdigit((unsigned char)text.data[at]) && at - begin < 18; at++)
        *bytes = *bytes * 10 + (text.data[at] - '0');
    return at - begin;
}

static size_t space_read(struct str text, size_t at, int64_t *space)
{
    static const struct {
        const char *name;
        int64_t space;
    } spaces[] = {{"hbm", 0}, {"vmem", 1}, {"smem", 4}, {"cmem", 3}};
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        size_t length = strlen(spaces[i].name);
        if (at + length <= text.length && str_equal_any_case((struct str){text.data + at, length}, str_of(spaces[i].name))) {
            *space = spaces[i].space;
            return length;
        }
    }
    return 0;
}

static size_t hole_read(char hole, struct str text, size_t at, struct captured *captured)
{
    size_t n = captured->value_count, length;
    if (hole == '@')
        return space_read(text, at, &captured->space);
    if (n == 2)
        return 0;
    captured->half_units[n] = 0;
    length = hole == '%' ? size_read(text, at, &captured->values[n], &captured->half_units[n]) : bytes_read(text, at, &captured->values[n]);
    if (length > 0) {
        captured->at[n] = at;
        captured->length[n] = length;
        captured->value_count++;
    }
    return length;
}

/* How far `~` looks for what follows it. */
enum { FAR = 400 };

static bool matches(const char *pattern, struct str text, size_t at, struct captured *captured)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == ' ') {
            size_t after = skip_space(text, at);
            if (after == at)
                return false;
            at = after;
        } else if (*pattern == '~') {
            struct captured before = *captured;
            for (size_t end = at + FAR; at < end && at < text.length; at++, *captured = before)
                if (matches(pattern + 1, text, at, captured))
                    return true;
            return false;
        } else if (strchr("%#@", *pattern) != NULL) {
            size_t length = hole_read(*pattern, text, at, captured);
            if (length == 0)
                return false;
            at += length;
        } else if (at < text.length && text.data[at] == *pattern) {
            at++;
        } else {
            return false;
        }
    }
    return true;
}

bool oom_capacity_read(struct str text, struct oom_capacity *out)
{
    /* the last size is the capacity, one before it what was needed */
    static const char *const patterns[] = {
        "Used % of % @",
        "(%) exceeds available @ (%)",
        "Allocation (size=#) would exceed memory (size=#)~space=@",
        "Allocation (size=#) would exceed memory (size=#)",
        "exceeding available bytes: %",
        "Requires %, has % available",
    };
    for (size_t at = 0; at < text.length; at++) {
        if (strchr("U(AeR", text.data[at]) == NULL || text.data[at] == '\0')
            continue;
        for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
            struct captured captured = {.value_count = 0, .space = 0};
            if (text.data[at] != patterns[i][0] || !matches(patterns[i], text, at, &captured))
                continue;
            size_t last = captured.value_count - 1;
            *out = (struct oom_capacity){captured.space, captured.values[last], last > 0 ? captured.values[0] : -1,
                                         captured.half_units[last], captured.at[last], captured.length[last]};
            return true;
        }
    }
    return false;
}
