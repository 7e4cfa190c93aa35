/* SPDX-License-Identifier: Apache-2.0
 * size_text.h: a size in words, for the sentences of notes. */
#ifndef ANALYSIS_BASE_SIZE_TEXT_H
#define ANALYSIS_BASE_SIZE_TEXT_H

#include <stdint.h>

enum { SIZE_TEXT_BYTES = 16 };

/* Writes "134.00 MiB": powers of 1024, B whole, KiB with one decimal, above with two, as XLA prints sizes.
 * Returns `text`. */
const char *size_text(char text[SIZE_TEXT_BYTES], uint64_t bytes);

#endif
