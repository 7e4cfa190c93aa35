/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <string.h>

static const uint64_t FIRST = 0xa0761d6478bd642fU, SECOND = 0xe7037ed1a0b428dbU;

static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed)
{
    const unsigned char *at = data;
    uint64_t hash = seed ^ FIRST, pair[2];
    size_t left = size;
    for (; left >= sizeof(pair); at += sizeof(pair), left -= sizeof(pair)) {
        memcpy(pair, at, sizeof(pair));
        hash = mix(pair[0] ^ hash, pair[1] ^ SECOND);
    }
    memset(pair, 0, sizeof(pair));
    if (left > 0)
        memcpy(pair, at, left);
    hash = mix(pair[0] ^ hash, pair[1] ^ SECOND);
    return mix(hash ^ size, SECOND);
}

uint64_t hash_text(const char *text, uint64_t seed) { return hash_bytes(text, strlen(text) + 1, seed); }
