/* SPDX-License-Identifier: Apache-2.0
 * sum.h: sums of sizes that stop at the largest value instead of wrapping.
 * Sizes in a file are hostile; real sums stay far below 2^63. */
#pragma once

#include <stdint.h>

/* Sizes above this are damage: far more than any device has. */
#define SUM_MAX_BYTES (INT64_C(1) << 48)
/* No sum of sizes may come near 2^63. */
#define SUM_MAX_BYTES_TOGETHER (INT64_C(1) << 61)

/* A real number without its decimals. One that is too large becomes the nearest int64_t, because a cast of it has no
 * defined result; NaN becomes 0. */
static inline int64_t sum_of_real(double real)
{
    return real >= 0x1p63 ? INT64_MAX : real <= -0x1p63 ? INT64_MIN : real == real ? (int64_t)real : 0;
}

/* a + b for sizes that are not negative, at most INT64_MAX. */
static inline int64_t sum_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* The same without a sign, at most UINT64_MAX. */
static inline uint64_t sum_add_unsigned(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* How far two sizes are from each other. */
static inline uint64_t sum_apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }
