/* SPDX-License-Identifier: Apache-2.0
 * str.h: borrowed bytes, mostly text out of an input.
 *
 * Not NUL-terminated and of any content. The bytes live as long as whatever
 * they were borrowed from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *data;
    size_t length;
};

/* A string literal, its NUL left out. */
#define STR(literal) ((struct str)STR_INIT(literal))
/* The same where C11 wants a constant: what initializes a static str. */
#define STR_INIT(literal) {(literal), sizeof(literal) - 1}

static inline struct str str_of(const char *text) { return (struct str){text, strlen(text)}; }

static inline bool str_equal(struct str a, struct str b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static inline bool str_starts(struct str text, struct str prefix)
{
    return text.length >= prefix.length && str_equal((struct str){text.data, prefix.length}, prefix);
}

static inline bool str_ends(struct str text, struct str end)
{
    return text.length >= end.length && str_equal((struct str){text.data + text.length - end.length, end.length}, end);
}

/* `words` ends with NULL. */
static inline bool str_is_one_of(struct str text, const char *const *words)
{
    while (*words != NULL && !str_equal(text, str_of(*words)))
        words++;
    return *words != NULL;
}

/* `part` is not empty. Cost: linear. */
static inline bool str_contains(struct str text, struct str part)
{
    return text.length >= part.length && memmem(text.data, text.length, part.data, part.length) != NULL;
}

/* "models.py:11" of "training/models.py:11", "dot_general" of "jit(step)/mlp/dot_general"; all of a text without '/'.
 */
static inline struct str str_last_part(struct str path)
{
    size_t from = path.length;
    while (from > 0 && path.data[from - 1] != '/')
        from--;
    return from == 0 ? path : (struct str){path.data + from, path.length - from};
}

/* Less than, equal to or greater than 0, by bytes. */
static inline int str_compare(struct str a, struct str b)
{
    size_t shorter = a.length < b.length ? a.length : b.length;
    int order = shorter > 0 ? memcmp(a.data, b.data, shorter) : 0;
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* The same of two numbers. Comparators chain them: ORDER(a->x, b->x) ?: ORDER(b->y, a->y) ?: str_compare(…). */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static inline size_t str_digits(struct str text, size_t at)
{
    size_t count = 0;
    while (at + count < text.length && text.data[at + count] >= '0' && text.data[at + count] <= '9')
        count++;
    return count;
}

/* The same in the order of people: numbers by their value, "GPU:2" before "GPU:10". Leading zeros do not count. */
static inline int str_compare_natural(struct str a, struct str b)
{
    size_t i = 0, j = 0;
    while (i < a.length && j < b.length) {
        size_t x = str_digits(a, i), y = str_digits(b, j);
        if (x == 0 || y == 0)
            x = y = 1;
        for (; x > 1 && a.data[i] == '0'; x--)
            i++;
        for (; y > 1 && b.data[j] == '0'; y--)
            j++;
        int order = x != y ? (x < y ? -1 : 1) : memcmp(a.data + i, b.data + j, x);
        if (order != 0)
            return order;
        i += x;
        j += y;
    }
    return (i < a.length) - (j < b.length);
}

/* All of `text` is a decimal number without a sign, at most `max`; leading zeros do not count. False: it is none. */
static inline bool str_number_read(struct str text, uint64_t max, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] < '0' || text.data[i] > '9' || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (unsigned)(text.data[i] - '0'), number) || *number > max)
            return false;
    return text.length > 0;
}

/* A byte that moves a terminal's cursor or ends a line: below a space, or DEL. Those of UTF-8 are none. */
static inline bool str_is_control(char c) { return (unsigned char)c < ' ' || c == 0x7f; }

/* Equal when ASCII letters of either case count as the same. */
static inline bool str_equal_any_case(struct str a, struct str b)
{
    if (a.length != b.length)
        return false;
    for (size_t i = 0; i < a.length; i++) {
        unsigned char x = (unsigned char)a.data[i], y = (unsigned char)b.data[i];
        if (x >= 'A' && x <= 'Z')
            x = (unsigned char)(x + 32);
        if (y >= 'A' && y <= 'Z')
            y = (unsigned char)(y + 32);
        if (x != y)
            return false;
    }
    return true;
}

/* How much of `text` fits in `max` bytes when no character is cut; `text` may hold what is not UTF-8. */
static inline size_t str_cut(struct str text, size_t max)
{
    size_t length = text.length < max ? text.length : max;
    while (length < text.length && length > 0 && ((unsigned char)text.data[length] & 0xC0) == 0x80)
        length--;
    return length;
}

/* Length of the UTF-8 sequence that starts at `text`, or 0 if it is none
 * (overlong forms, surrogates and values past U+10FFFF are none). */
static inline size_t str_utf8_length(const char *text, size_t left)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned char first = at[0];
    size_t length = first < 0x80                     ? 1
                    : first >= 0xC2 && first <= 0xDF ? 2
                    : first >= 0xE0 && first <= 0xEF ? 3
                    : first >= 0xF0 && first <= 0xF4 ? 4
                                                     : 0;
    if (length == 0 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    if ((first == 0xE0 && at[1] < 0xA0) || (first == 0xED && at[1] > 0x9F) || (first == 0xF0 && at[1] < 0x90) ||
        (first == 0xF4 && at[1] > 0x8F))
        return 0;
    return length;
}
