/* SPDX-License-Identifier: Apache-2.0
 * size_text.h: sizes, shares and counts in words, for sentences, notes and the columns of a terminal. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIZE_TEXT_BYTES = 32, SHARE_TEXT_BYTES = 24, COUNT_TEXT_BYTES = 32 };

/* Writes "134.00 MiB": powers of 1024, B whole, KiB with one decimal, above with two, as XLA prints sizes. The unit is
 * the largest in which the figure, as printed, is at least 1: one byte less than a GiB is "1.00 GiB", never
 * "1024.00 MiB". Figures are exact, a tie goes to the even digit: 1.125 GiB is "1.12 GiB". The pages do the same
 * (web/lib/format.js), both by tests/fixtures/sizes.txt. Returns `text`. */
const char *size_text(char text[SIZE_TEXT_BYTES], uint64_t bytes);
/* The same, kept in the arena. */
const char *size_text_in(struct arena *arena, uint64_t bytes);
/* The same for a size that is beside `other`: two that differ and would read alike are bytes, "1,048,577 B". */
const char *size_text_beside(char text[SIZE_TEXT_BYTES], uint64_t bytes, uint64_t other);
/* The same for a size in a column, which may be negative: KiB with two decimals, as MiB beside them have. */
const char *size_text_column(char text[SIZE_TEXT_BYTES], int64_t bytes);
/* The same for a size that is known to `resolution_bytes` only (0: exactly), such as the difference of two figures that
 * were printed as GiB with two decimals: in no unit whose last printed digit would be finer. */
const char *size_text_coarse(char text[SIZE_TEXT_BYTES], uint64_t bytes, uint64_t resolution_bytes);

/* Writes "29 %": whole from 10, one decimal below, "< 0.1 %" and "> 99.9 %" at the ends, "> 100 %" beyond; only the
 * whole prints 100 %. Neither is negative; "–" when `whole` is 0. Returns `text`. */
const char *size_text_share(char text[SHARE_TEXT_BYTES], int64_t part, int64_t whole);
/* Writes "1,024". Returns `text`. */
const char *size_text_count(char text[COUNT_TEXT_BYTES], uint64_t count);

/* "15.75GiB", "16G", "17179869184": bytes, with or without iB; units are powers of 1024. At most 2^48. */
bool size_text_read(const char *text, uint64_t *bytes);
