/* SPDX-License-Identifier: Apache-2.0
 * intern.c: see intern.h. */
#include "base/intern.h"

enum { MIN = 64 };

void intern_init(struct intern *intern, struct arena *arena) { *intern = (struct intern){.arena = arena}; }

static void grow(struct intern *intern)
{
    uint32_t capacity = intern->capacity == 0 ? MIN : intern->capacity * 2;
    uint64_t *hashes = arena_array(intern->arena, uint64_t, capacity);
    uint32_t *links = arena_array(intern->arena, uint32_t, (size_t)capacity * 3);
    if (intern->count > 0)
        memcpy(hashes, intern->hashes, intern->count * sizeof(*hashes));
    intern->hashes = hashes;
    intern->next = links;
    intern->buckets = links + capacity; /* twice as many as things */
    intern->capacity = capacity;
    for (uint32_t i = 0; i < intern->count; i++) {
        uint32_t *bucket = &intern->buckets[hashes[i] & (2 * (uint64_t)capacity - 1)];
        intern->next[i] = *bucket;
        *bucket = i + 1;
    }
}

uint32_t intern_find(const struct intern *intern, uint64_t hash, intern_same *is_same, const void *context)
{
    if (intern->capacity == 0)
        return INTERN_NONE;
    for (uint32_t at = intern->buckets[hash & (2 * (uint64_t)intern->capacity - 1)]; at != 0;
         at = intern->next[at - 1]) {
        arena_work(intern->arena, 1); /* a file may be made so that all fall into one bucket */
        if (intern->hashes[at - 1] == hash && is_same(context, at - 1))
            return at - 1;
    }
    return INTERN_NONE;
}

uint32_t intern_add(struct intern *intern, uint64_t hash)
{
    if (intern->count == intern->capacity)
        grow(intern);
    uint32_t at = intern->count++;
    uint32_t *bucket = &intern->buckets[hash & (2 * (uint64_t)intern->capacity - 1)];
    intern->hashes[at] = hash;
    intern->next[at] = *bucket;
    *bucket = at + 1;
    return at;
}
