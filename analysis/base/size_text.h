/* SPDX-License-Identifier: Apache-2.0
 * size_text.h: a size in words, for the sentences of notes and the columns of a terminal. */
#ifndef ANALYSIS_BASE_SIZE_TEXT_H
#define ANALYSIS_BASE_SIZE_TEXT_H

#include <stdint.h>

enum { SIZE_TEXT_BYTES = 16 };

/* Writes "134.00 MiB": powers of 1024, B whole, KiB with one decimal, above with two, as XLA prints sizes.
 * Returns `text`. */
const char *size_text(char text[SIZE_TEXT_BYTES], uint64_t bytes);
/* The same for a size that may be negative, with so many decimals for KiB: in a column two, as MiB beside them have. */
const char *size_text_rounded(char text[SIZE_TEXT_BYTES], double bytes, int kib_decimals);

#endif
