/* SPDX-License-Identifier: Apache-2.0
 * cache.h: values that are costly to make, each made once and kept while used.
 *
 * Whoever asks first for a key makes the value; who asks meanwhile waits for
 * that one. Values that nobody holds leave, longest unused first, when the
 * costs together pass the budget. An error that will come again for the same
 * bytes (malformed, truncated, …) is kept like a value; any other is forgotten.
 * Threads: any number. */
#ifndef SERVER_CACHE_H
#define SERVER_CACHE_H

#include "base/err.h"

#include <stdint.h>

struct cache;

/* Makes a value and tells what it costs in bytes; NULL and `err` on failure.
 * Called without any lock held. */
struct cache_maker {
    void *(*make)(void *context, uint64_t *cost_bytes, struct err *err);
    void *context;
};

/* `free_value` gets a value that nobody holds any more. */
struct cache *cache_new(uint64_t budget_bytes, void (*free_value)(void *value));
/* Nothing may be held. */
void cache_free(struct cache *cache);

/* What holds a value; cache_release once with each that was filled. */
struct cache_hold {
    struct cache *cache;
    struct cache_entry *entry;
};

/* The value of `key`, held in `hold`, or NULL and `err`. */
void *cache_get(struct cache *cache, const char *key, const struct cache_maker *maker, struct cache_hold *hold,
                struct err *err);
/* The same when it is there already; never makes anything, never waits for it. */
void *cache_peek(struct cache *cache, const char *key, struct cache_hold *hold);
/* Lets go; fine to call with a hold that was never filled ({0}). */
void cache_release(struct cache_hold *hold);

#endif
