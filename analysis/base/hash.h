/* SPDX-License-Identifier: Apache-2.0
 * hash.h: the one 64-bit hash: of tables, entity tags and ids.
 *
 * Good at spreading, not a defence against somebody who looks for collisions:
 * nothing that must be secret or safe depends on it. A table whose keys come out of
 * files also mixes its own address in, or charges its steps to the arena's work. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Every bit of a number reaches every bit of the hash; pass an earlier hash as `seed` to chain. */
static inline uint64_t hash_number(uint64_t number, uint64_t seed)
{
    unsigned __int128 product = (unsigned __int128)(number ^ seed ^ 0xa0761d6478bd642fU) * 0xe7037ed1a0b428dbU;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Hash of `size` bytes; pass an earlier hash as `seed` to chain. About 4 GB/s. */
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);

/* Same of a text and the NUL that ends it, so that ("ab", "c") and ("a", "bc") differ. */
uint64_t hash_text(const char *text, uint64_t seed);
