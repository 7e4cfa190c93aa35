/* SPDX-License-Identifier: Apache-2.0
 * cache.h: values that are costly to make, each made once and kept while used.
 *
 * Whoever asks first for a key makes the value; who asks meanwhile waits for
 * that one. What is alike is on one shelf, with a budget: values that nobody
 * holds leave, longest unused first, when the costs together pass it; of those that take from the account (account.h)
 * the one used last stays whatever it costs, for it fits there. An error that will come again for the same bytes
 * (malformed, truncated, …) is kept like a value. `limit` and `memory` may be a lack of memory now, but what exhausts a
 * limit is costly to try: it is kept for CACHE_TRY_AGAIN_MS. Any other is forgotten. Threads: any number. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache;

/* How long a failure for lack of memory is returned instead of another try. */
enum { CACHE_TRY_AGAIN_MS = 60000 };

/* What a maker tells besides the value. */
struct cache_made {
    uint64_t cost_bytes;
    int64_t kept_ms;   /* a value is made anew after so long; 0: it stays good */
    bool is_transient; /* is not kept; on failure: it came of what others do now */
};

/* Makes a value; NULL and `err` on failure. Called without any lock held. */
struct cache_maker {
    void *(*make)(void *context, struct cache_made *made, struct err *err);
    void (*free_value)(void *value); /* gets the value when no one holds it any more */
    void *context;
};

/* Called around a wait for what another thread makes, by the thread that waits. */
struct cache_waiting {
    void (*begin)(void *context);
    void (*end)(void *context); /* may take long itself */
    void *context;
};

enum cache_origin {
    CACHE_FACT,     /* small, and takes nothing from the account (account.h): leaves only for the budget */
    CACHE_ANSWER,   /* takes nothing from the account either */
    CACHE_READ,     /* takes from the account; can be read again */
    CACHE_UPLOADED, /* takes from the account; a reader would have to send it again */
};

struct cache_shelf {
    uint64_t budget_bytes, largest_bytes; /* a value that costs more than the latter is not kept */
    enum cache_origin origin;
    int64_t idle_ms; /* who is not asked for so long leaves; 0: when cache_drop_idle says so */
};

/* A shelf is named by its place in `shelves`, which are copied. */
struct cache *cache_new(const struct cache_shelf *shelves, size_t count);
/* Before the first cache_get, if at all. */
void cache_on_wait(struct cache *cache, const struct cache_waiting *waiting);
/* Nothing may be held. */
void cache_free(struct cache *cache);

/* What holds a value; cache_release once with each that was filled. */
struct cache_hold {
    struct cache *cache;
    struct cache_entry *entry;
    bool is_transient; /* after a failure: asking again may help */
};

/* The value of `key` of a shelf, held in `hold`, or NULL and `err`. Without a `maker`: only what is kept, or being
 * made; `err` is left alone when there is neither. */
void *cache_get(struct cache *cache, size_t shelf, const char *key, const struct cache_maker *maker,
                struct cache_hold *hold, struct err *err);
/* The same when it is there already; never makes anything, never waits for it. */
void *cache_peek(struct cache *cache, size_t shelf, const char *key, struct cache_hold *hold);
/* Frees the longest unused value of that origin although its budget would allow it; false when all are held. */
bool cache_drop_oldest(struct cache *cache, enum cache_origin origin);
/* Frees the unused values of that origin that this thread was the last to ask for, and reports of failures. */
void cache_drop_own(struct cache *cache, enum cache_origin origin);
/* Frees the values, except facts, that no one requested during `idle_ms`, or the limit of their shelf, before `now_ms`
 * (clock_ms). */
void cache_drop_idle(struct cache *cache, int64_t now_ms, int64_t idle_ms);
/* What a shelf did since it is there, and holds now. */
struct cache_figures {
    uint64_t hit_count;         /* asked for and there, or being made */
    uint64_t made_count;        /* asked for and not there; */
    uint64_t failed_count;      /* how many of these ended in an error */
    uint64_t dropped_count;     /* released to make room, or not asked for in long */
    uint64_t making_us;         /* time that makers took; one that needs another value first waits for that too */
    uint64_t count, cost_bytes; /* now, of values and of errors that are kept */
};
struct cache_figures cache_figures_of(struct cache *cache, size_t shelf);
/* Releases the value; fine to call with a hold that was never filled ({0}). */
void cache_release(struct cache_hold *hold);
