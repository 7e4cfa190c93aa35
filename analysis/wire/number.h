/* SPDX-License-Identifier: Apache-2.0
 * number.h: numbers of the protobuf encoding, decoded from one load of eight bytes without a branch a byte.
 *
 * So bytes behind the end are loaded too: there are STREAM_SLACK or more of them, what they are means nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t number_bytes(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

static inline uint64_t number_bytes4(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof(word));
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap32(word);
}

/* A number and where it ends; NULL when it is cut or too long. Both stay in registers. */
struct number {
    const uint8_t *after;
    uint64_t value;
};

/* The seven low bits of each byte, joined: first two and two, then four and four. */
static inline uint64_t number_joined(uint64_t word)
{
    word -= (word & 0x7F007F007F007F00u) >> 1;
    word -= ((word & 0x3FFF00003FFF0000u) >> 2) * 3;
    return (uint32_t)word | word >> 32 << 28;
}

/* Reads nine or ten bytes; the first eight are `word`. */
static inline struct number number_longest(const uint8_t *at, const uint8_t *end, uint64_t word)
{
    word = number_joined(word & 0x7F7F7F7F7F7F7F7Fu);
    if (end - at >= 9 && at[8] < 0x80)
        return (struct number){at + 9, word | (uint64_t)at[8] << 56};
    if (end - at >= 10 && at[9] < 0x80)
        return (struct number){at + 10, word | (uint64_t)(at[8] & 0x7F) << 56 | (uint64_t)at[9] << 63};
    return (struct number){NULL, 0};
}

/* Reads one to ten bytes; the first eight are `word`. If there are fewer, the rest of `word` is zero. */
static inline struct number number_of_word(uint64_t word, const uint8_t *at, const uint8_t *end)
{
    uint64_t stops = ~word & 0x8080808080808080u;
    if (stops == 0)
        return number_longest(at, end, word);
    size_t size = ((unsigned)__builtin_ctzll(stops) + 1) / 8;
    word &= (stops ^ (stops - 1)) & 0x7F7F7F7F7F7F7F7Fu;
    return (struct number){size <= (size_t)(end - at) ? at + size : NULL, number_joined(word)};
}

/* One to ten bytes. */
static inline struct number number_long(const uint8_t *at, const uint8_t *end)
{
    return number_of_word(number_bytes(at), at, end);
}

/* The same where fewer than eight bytes are left, and none behind them may be loaded. */
static inline struct number number_at_end(const uint8_t *at, const uint8_t *end)
{
    size_t left = (size_t)(end - at);
    uint64_t word = 0;
    if (left >= 4)
        word = number_bytes4(at) | number_bytes4(end - 4) << (8 * (left - 4));
    else
        for (size_t i = 0; i < left; i++)
            word |= (uint64_t)at[i] << (8 * i);
    return number_of_word(word, at, end);
}

static inline struct number number_at(const uint8_t *at, const uint8_t *end)
{
    if (at >= end)
        return (struct number){NULL, 0};
    if (*at < 0x80)
        return (struct number){at + 1, *at};
    return number_long(at, end);
}

/* By size in bytes: the bits of a number, the bits that say whether another byte follows, and what those must be. */
static const struct {
    uint64_t sevens, stops, follows;
} number_bits[9] = {
#define SIZE(size)                                                                                                     \
    {UINT64_C(0x7F7F7F7F7F7F7F7F) >> (64 - 8 * (size)), UINT64_C(0x8080808080808080) >> (64 - 8 * (size)),             \
     UINT64_C(0x0080808080808080) >> (64 - 8 * (size))}
    {0, 0, 1}, SIZE(1), SIZE(2), SIZE(3), SIZE(4), SIZE(5), SIZE(6), SIZE(7), SIZE(8),
#undef SIZE
};

/* A number that takes the `size` bytes from `at` on, no fewer. */
static inline bool number_of_size(const uint8_t *at, size_t size, uint64_t *value)
{
    if (size == 1) {
        *value = *at;
        return *at < 0x80;
    }
    if (size > 8) {
        uint64_t word = number_bytes(at);
        if (size > 10 || (~word & number_bits[8].stops) != 0)
            return false;
        struct number number = number_longest(at, at + size, word);
        *value = number.value;
        return number.after == at + size;
    }
    uint64_t word = number_bytes(at);
    *value = number_joined(word & number_bits[size].sevens);
    return (word & number_bits[size].stops) == number_bits[size].follows;
}
