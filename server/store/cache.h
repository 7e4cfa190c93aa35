/* SPDX-License-Identifier: Apache-2.0
 * cache.h: values that are costly to make, each made once and kept while used.
 *
 * Whoever asks first for a key makes the value; who asks meanwhile waits for
 * that one. Values that nobody holds leave, longest unused first, when the
 * costs together pass the budget. An error that will come again for the same
 * bytes (malformed, truncated, …) is kept like a value. `limit` and `memory` may
 * be a lack of memory now, but what exhausts a limit is costly to try: it is kept for a
 * minute. Any other is forgotten.
 * Threads: any number. */
#ifndef SERVER_STORE_CACHE_H
#define SERVER_STORE_CACHE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct cache;

/* What a maker tells besides the value. */
struct cache_made {
    uint64_t cost_bytes;
    bool is_passing; /* on failure: it came of what others do now, and is forgotten */
};

/* Makes a value; NULL and `err` on failure. Called without any lock held. */
struct cache_maker {
    void *(*make)(void *context, struct cache_made *made, struct err *err);
    void *context;
};

/* Called around a wait for what another thread makes, by the thread that waits. */
struct cache_waiting {
    void (*begin)(void *context);
    void (*end)(void *context); /* may take long itself */
    void *context;
};

/* `free_value` gets a value that nobody holds any more. */
struct cache *cache_new(uint64_t budget_bytes, void (*free_value)(void *value));
/* Before the first cache_get, if at all. */
void cache_on_wait(struct cache *cache, const struct cache_waiting *waiting);
/* Nothing may be held. */
void cache_free(struct cache *cache);

/* What holds a value; cache_release once with each that was filled. */
struct cache_hold {
    struct cache *cache;
    struct cache_entry *entry;
    bool is_passing; /* after a failure: asking again may help */
};

/* The value of `key`, held in `hold`, or NULL and `err`. Without a `maker`: only what is kept, or being made; `err` is
 * left alone when there is neither. */
void *cache_get(struct cache *cache, const char *key, const struct cache_maker *maker, struct cache_hold *hold,
                struct err *err);
/* The same when it is there already; never makes anything, never waits for it. */
void *cache_peek(struct cache *cache, const char *key, struct cache_hold *hold);
/* Frees the longest unused value although the budget would allow it; false when all are held. */
bool cache_drop_oldest(struct cache *cache);
/* Frees the values that nobody asked for during the last `idle_ms`. */
void cache_drop_idle(struct cache *cache, int64_t idle_ms);
/* Lets go; fine to call with a hold that was never filled ({0}). */
void cache_release(struct cache_hold *hold);

#endif
