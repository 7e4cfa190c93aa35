/* SPDX-License-Identifier: Apache-2.0 */
#include "read/oom/cursor.h"

#include <ctype.h>

enum { LONGEST_WORD = 256 };

bool oom_cursor_take(const struct oom_text *text, size_t *at, const char *literal)
{
    size_t length = strlen(literal);
    if (*at > text->length || length > text->length - *at || memcmp(text->bytes + *at, literal, length) != 0)
        return false;
    *at += length;
    return true;
}

bool oom_cursor_find(const struct oom_text *text, size_t *at, const char *literal, size_t within)
{
    size_t length = strlen(literal);
    if (*at >= text->length)
        return false;
    size_t span = text->length - *at;
    if (span > within + length)
        span = within + length;
    const char *found = memmem(text->bytes + *at, span, literal, length);
    if (found == NULL)
        return false;
    *at = (size_t)(found - text->bytes) + length;
    return true;
}

bool oom_cursor_find_before(const struct oom_text *text, size_t at, const char *literal, size_t within, size_t *found)
{
    size_t length = strlen(literal);
    if (at > text->length || at < length)
        return false;
    for (size_t begin = at - length, i = 0; i <= within; begin--, i++) {
        if (memcmp(text->bytes + begin, literal, length) == 0) {
            *found = begin;
            return true;
        }
        if (begin == 0)
            break;
    }
    return false;
}

static bool is_digit_at(const struct oom_text *text, size_t at)
{
    return at < text->length && isdigit((unsigned char)text->bytes[at]);
}

static void figure_place(const struct oom_text *text, size_t from, size_t to, struct oom_figure *figure)
{
    struct oom_text_range range = oom_text_range(text, from, to);
    figure->at = text->raw_at + range.at;
    figure->length = (uint32_t)range.length;
}

/* Do the digits at `at` begin another line, with its time: "2024-07-30", "12:30:11", "1.06.520"? Those of a number that
 * a terminal broke hold one point at most. */
static bool is_time_of_line(const struct oom_text *text, size_t at)
{
    size_t from = at > 0 ? text->raw_of[at - 1] + 1 : 0, to = text->raw_of[at], end = to, points = 0;
    if (at == 0 || to == from || memchr(text->raw + from, '\n', to - from) == NULL)
        return false;
    for (; end < text->raw_length &&
           (isdigit((unsigned char)text->raw[end]) || strchr(".:-", text->raw[end]) != NULL) && text->raw[end] != '\0';
         end++)
        points += text->raw[end] == '.' ? 1 : isdigit((unsigned char)text->raw[end]) ? 0 : 2;
    return points > 1;
}

/* Digits from `at` on; false in *fits when they are past 2^64. */
static size_t digits_read(const struct oom_text *text, size_t at, uint64_t *value, bool *fits)
{
    *value = 0;
    for (size_t from = at; is_digit_at(text, at) && (at == from || !is_time_of_line(text, at)); at++)
        if (__builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, (unsigned)(text->bytes[at] - '0'), value))
            *fits = false;
    return at;
}

static size_t grouped_read(const struct oom_text *text, size_t at, size_t least_groups, uint64_t *value, bool *fits);

bool oom_cursor_take_number(const struct oom_text *text, size_t *at, struct oom_figure *figure)
{
    bool fits = true;
    size_t end = grouped_read(text, *at, 2, &figure->value, &fits);
    if (end == *at)
        return false;
    figure->half_unit = 0;
    figure->is_known = fits && end < text->length;
    figure_place(text, *at, end, figure);
    *at = end;
    return true;
}

/* (whole + part / scale) · 2^shift to the nearest byte; half away from zero. */
static bool cursor_scaled(uint64_t whole, uint64_t part, uint64_t scale, unsigned shift, uint64_t *value)
{
    unsigned __int128 above = ((unsigned __int128)whole * scale + part) << 1;
    if (whole >> (63 - shift) != 0)
        return false;
    *value = (uint64_t)(((above << shift) + scale) / (2 * scale));
    return true;
}

/* Is the unit at `at` a word of its own or part of the number before it, and not the
 * first letter of the next word ("InUse: 12" and, on the next line, "MaxInUse")? */
static bool is_unit(const struct oom_text *text, size_t at)
{
    bool is_joined = text->raw_of[at] == text->raw_of[at - 1] + 1;
    size_t next = at + 1;
    if (oom_cursor_take(text, &next, "iB"))
        return true;
    if (oom_cursor_take(text, &next, "B") && (next >= text->length || !isalpha((unsigned char)text->bytes[next]) ||
                                              text->raw_of[next] > text->raw_of[next - 1] + 1))
        return true;
    next = at + 1;
    return is_joined || next >= text->length || !isalpha((unsigned char)text->bytes[next]) ||
           text->raw_of[next] > text->raw_of[at] + 1;
}

/* Do the bytes [at, at + count) stand side by side in the input? */
static bool is_joined(const struct oom_text *text, size_t at, size_t count)
{
    return at + count <= text->length && text->raw_of[at + count - 1] == text->raw_of[at] + count - 1;
}

/* ",000": a group of thousands behind the digits that end at `at`. */
static bool is_group(const struct oom_text *text, size_t at)
{
    return at > 0 && at < text->length && text->bytes[at] == ',' && is_joined(text, at - 1, 5) &&
           is_digit_at(text, at + 1) && is_digit_at(text, at + 2) && is_digit_at(text, at + 3) &&
           !is_digit_at(text, at + 4);
}

/* Digits, with groups of thousands or without: "4,000,000,000". One group alone may be the next of a list. */
static size_t grouped_read(const struct oom_text *text, size_t at, size_t least_groups, uint64_t *value, bool *fits)
{
    size_t plain = digits_read(text, at, value, fits), end = plain, groups = 0;
    while (is_group(text, end)) {
        end += 4;
        groups++;
    }
    if (plain == at || plain - at > 3 || groups < least_groups || groups == 0)
        return plain;
    for (size_t i = plain; i < end; i++)
        if (text->bytes[i] != ',' && (__builtin_mul_overflow(*value, 10u, value) ||
                                      __builtin_add_overflow(*value, (unsigned)(text->bytes[i] - '0'), value)))
            *fits = false;
    return end;
}

/* The point of a decimal, or the comma of other languages, with one digit behind it or two. */
static bool is_decimal(const struct oom_text *text, size_t at)
{
    if (at >= text->length || !is_digit_at(text, at + 1))
        return false;
    return text->bytes[at] == '.' ||
           (text->bytes[at] == ',' && at > 0 && is_joined(text, at - 1, 3) && !is_digit_at(text, at + 3));
}

/* Digits with their decimals: (whole + part / scale). Returns where they end, `at` when there are none. */
static size_t decimals_read(const struct oom_text *text, size_t at, uint64_t *whole, uint64_t *part, uint64_t *scale,
                            bool *fits)
{
    size_t end = grouped_read(text, at, 1, whole, fits);
    *part = 0;
    *scale = 1;
    if (end == at || !is_decimal(text, end))
        return end;
    if (text->bytes[end] == ',' && memchr(text->bytes + at, ',', end - at) != NULL)
        *fits = false; /* "153,700,88kB": somebody's grouping, and no number */
    for (end++; is_digit_at(text, end); end++)
        if (*scale < 1000000) {
            *part = *part * 10 + (uint64_t)(text->bytes[end] - '0');
            *scale *= 10;
        }
    return end;
}

static uint64_t half_unit_of(unsigned shift, uint64_t scale)
{
    return shift == 0 ? 0 : (((uint64_t)1 << shift) / scale + 1) / 2;
}

/* "30.00 mib", where all letters are small. */
static bool is_lower_unit(const struct oom_text *text, size_t at)
{
    size_t next = at + 1;
    return islower((unsigned char)text->bytes[at]) && oom_cursor_take(text, &next, "ib") &&
           (next >= text->length || !isalpha((unsigned char)text->bytes[next]) ||
            text->raw_of[next] > text->raw_of[next - 1] + 1);
}

/* The power of 1024 of the unit behind the digits that end at `*end`, which moves behind its letter; -1 when there is
 * none. NumPy prints the point of "201. GiB", the kernel the small letter of "12kB". */
static int unit_take(const struct oom_text *text, size_t *end)
{
    static const char units[] = "BKMGTPE";
    size_t at = *end;
    bool has_point = at < text->length && text->bytes[at] == '.';
    at += has_point;
    if (at >= text->length || text->bytes[at] == '\0')
        return -1;
    bool is_lower = is_lower_unit(text, at);
    bool is_small = text->bytes[at] == 'k' && !is_lower;
    const char *unit = is_small   ? units + 1
                       : is_lower ? strchr(units, toupper((unsigned char)text->bytes[at]))
                                  : strchr(units, text->bytes[at]);
    size_t behind = at + 1;
    if (unit == NULL || (!is_lower && !is_unit(text, at)) || (has_point && !oom_cursor_take(text, &behind, "iB")) ||
        (is_small && !oom_cursor_take(text, &behind, "B")))
        return -1;
    *end = at + 1;
    return (int)(unit - units);
}

bool oom_cursor_take_size(const struct oom_text *text, size_t *at, struct oom_figure *figure)
{
    uint64_t whole, part, scale;
    bool fits = true;
    size_t end = decimals_read(text, *at, &whole, &part, &scale, &fits);
    if (end == *at)
        return false;
    bool is_at_end = end >= text->length;
    unsigned shift = 0;
    int power = unit_take(text, &end);
    if (power < 0 && !is_at_end && !oom_cursor_take(text, &end, "bytes"))
        return false;
    if (power >= 0) {
        shift = 10 * (unsigned)power;
        if (!oom_cursor_take(text, &end, "iB") && !oom_cursor_take(text, &end, "ib") && shift > 0)
            oom_cursor_take(text, &end, "B");
    }
    figure->is_known = fits && !is_at_end && cursor_scaled(whole, part, scale, shift, &figure->value);
    figure->half_unit = half_unit_of(shift, scale);
    figure_place(text, *at, end, figure);
    *at = end;
    return true;
}

/* "0xc400" */
static size_t hexadecimal_read(const struct oom_text *text, size_t at, uint64_t *value, bool *fits)
{
    static const char digits[] = "0123456789abcdef";
    size_t end = at;
    *value = 0;
    if (!oom_cursor_take(text, &end, "0x"))
        return at;
    for (const char *digit; end < text->length && text->bytes[end] != '\0' &&
                            text->raw_of[end] == text->raw_of[end - 1] + 1 && /* "0xc400 bytes" */
                            (digit = strchr(digits, tolower((unsigned char)text->bytes[end]))) != NULL;
         end++) {
        *fits = *fits && *value >> 60 == 0;
        *value = *value << 4 | (uint64_t)(digit - digits);
    }
    return end > at + 2 ? end : at;
}

/* Do the digits that end at `at` end there in the input too, or is it the text that ends amid them? */
static bool is_complete(const struct oom_text *text, size_t at)
{
    return at < text->length || text->raw_of[at] > text->raw_of[at - 1] + 1;
}

bool oom_cursor_take_amount(const struct oom_text *text, size_t *at, char unit, struct oom_figure *figure)
{
    uint64_t whole, part = 0, scale = 1;
    bool fits = true;
    unsigned shift = unit == 'G' ? 30 : unit == 'M' ? 20 : unit == 'K' ? 10 : 0;
    size_t end = unit == 'x' ? hexadecimal_read(text, *at, &whole, &fits)
                             : decimals_read(text, *at, &whole, &part, &scale, &fits);
    if (end == *at)
        return false;
    figure->is_known =
        fits && is_complete(text, end) && (shift == 0 || cursor_scaled(whole, part, scale, shift, &figure->value));
    if (shift == 0)
        figure->value = whole;
    figure->half_unit = half_unit_of(shift, scale);
    figure_place(text, *at, end, figure);
    *at = end;
    return true;
}

bool oom_cursor_take_word(const struct oom_text *text, size_t *at, size_t *from)
{
    size_t end = *at;
    while (end < text->length && end - *at < LONGEST_WORD &&
           (isalnum((unsigned char)text->bytes[end]) || text->bytes[end] == '_'))
        end++;
    *from = *at;
    *at = end;
    return end > *from;
}

bool oom_cursor_skip_to(const struct oom_text *text, size_t *at, const char *ends, size_t within)
{
    for (size_t end = *at; end < text->length && end - *at <= within; end++)
        if (text->bytes[end] != '\0' && strchr(ends, text->bytes[end]) != NULL) {
            *at = end;
            return true;
        }
    return false;
}

/* Backslashes just before `at`. */
static size_t escape_depth(const struct oom_text *text, size_t at)
{
    size_t depth = 0;
    while (depth < at && text->bytes[at - depth - 1] == '\\')
        depth++;
    return depth;
}

bool oom_cursor_take_quoted(const struct oom_text *text, size_t *at, size_t within, size_t *from, size_t *to)
{
    size_t begin = *at;
    while (begin < text->length && text->bytes[begin] == '\\')
        begin++;
    if (begin >= text->length || text->bytes[begin] != '"')
        return false;
    size_t depth = begin - *at, last = begin + 1 + within;
    for (size_t end = begin + 1; end < text->length && end < last; end++)
        if (text->bytes[end] == '"' && (escape_depth(text, end) <= depth || end == begin + 1)) {
            *from = begin + 1;
            *to = end - (escape_depth(text, end) < depth ? escape_depth(text, end) : depth);
            *at = end + 1;
            return *to >= *from;
        }
    return false;
}

bool oom_cursor_take_any(const struct oom_text *text, size_t *at, struct oom_figure *figure)
{
    size_t end = *at, plain = *at;
    if (oom_cursor_take_size(text, &end, figure) && (figure->is_known || end < text->length)) {
        *at = end;
        return true;
    }
    struct oom_figure number; /* with which the text ends, and the line as well */
    if (oom_cursor_take_amount(text, &plain, 'B', &number) && number.is_known && plain == end) {
        *figure = number;
        *at = end;
        return true;
    }
    if (end > *at) {
        *at = end;
        return true;
    }
    if (!oom_cursor_take_number(text, at, figure))
        return false;
    figure->is_known = figure->is_known && !(text->bytes[*at] == '.' && *at + 1 == text->length);
    return true;
}
