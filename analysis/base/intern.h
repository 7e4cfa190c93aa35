/* SPDX-License-Identifier: Apache-2.0
 * intern.h: things that are kept once: a growing table of hashes and numbers.
 *
 * The things themselves are the caller's, in an array by number; the table asks
 * whether one is the same. Numbers count from 0 in the order of adding. Memory:
 * the arena's, at most four times what is in use. */
#ifndef ANALYSIS_BASE_INTERN_H
#define ANALYSIS_BASE_INTERN_H

#include "base/arena.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

#define INTERN_NONE UINT32_MAX

struct intern {
    struct arena *arena;
    uint32_t *buckets, *next; /* places + 1; 0 ends */
    uint64_t *hashes;
    uint32_t count, capacity;
};

typedef bool intern_same(const void *context, uint32_t at);

void intern_init(struct intern *intern, struct arena *arena);
/* The number of the thing that has this hash and is the same, or INTERN_NONE. */
uint32_t intern_find(const struct intern *intern, uint64_t hash, intern_same *is_same, const void *context);
/* The number of a thing that is new. */
uint32_t intern_add(struct intern *intern, uint64_t hash);

/* A text may be long and named very often, so its bytes are charged to the arena's work. */
static inline uint64_t intern_hash_text(struct arena *arena, struct str text, uint64_t seed)
{
    arena_work(arena, text.length / 8);
    return hash_bytes(text.data, text.length, seed);
}

#endif
