/* SPDX-License-Identifier: Apache-2.0
 * sieve.h: finds the first of several words in many bytes, most of which are none
 * (Wu and Manber's search: whole steps over pairs of bytes that no word has).
 *
 * Cost: about a third of a look a byte. Memory: 64 KiB in the arena. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

enum { OOM_SIEVE_MIN = 5 }; /* bytes of the shortest word */

struct oom_sieve {
    const char *const *words;    /* by their first letters */
    const unsigned short *begin; /* of each letter: where its words begin; 257 of them */
    const unsigned char *steps; /* for each pair of bytes: how far on the first OOM_SIEVE_MIN bytes of a word may end */
};

struct oom_sieve oom_sieve_new(struct arena *arena, const char *const *words, size_t count);

/* Where the first word begins in bytes[from, to), or `to`. */
size_t oom_sieve_find(const struct oom_sieve *sieve, const char *bytes, size_t from, size_t to);
