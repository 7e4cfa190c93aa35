/* SPDX-License-Identifier: Apache-2.0
 * part.h: which cases of a long row a test takes, where not all of them are wanted: PART=K/N:SEED (hexadecimal) in the
 * environment takes every N-th, from the K-th (from 0) and the seed on. Without it a test takes all. */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline bool part_has(size_t number)
{
    const char *words = getenv("PART");
    uint32_t at, count, seed;
    if (words == NULL || sscanf(words, "%" SCNu32 "/%" SCNu32 ":%7" SCNx32, &at, &count, &seed) != 3 || count == 0)
        return true;
    return (number + at + seed) % count == 0;
}
