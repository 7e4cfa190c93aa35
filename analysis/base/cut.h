/* SPDX-License-Identifier: Apache-2.0
 * cut.h: a file that ends in the middle, as it does when a job was killed while it was written. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct cut {
    bool is;
    uint64_t at_bytes;     /* where, in the unpacked bytes */
    uint64_t whole_bytes;  /* the least size of the whole, by the lengths that were declared; 0: not known */
    uint64_t packed_bytes; /* for a gzip stream that ends in the middle: its length; else 0 */
};

/* "The file ends in the middle, at byte 20000 of at least 28065". */
const char *cut_place(const struct cut *cut, struct arena *arena);
/* The same as a sentence, which says that what came after is missing. */
const char *cut_sentence(const struct cut *cut, struct arena *arena);
