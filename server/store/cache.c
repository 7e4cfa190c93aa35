/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/cache.h"

#include "base/map.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/wanted.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 100 };
/* Freed values of this size leave holes worth giving back to the system. */
static const uint64_t TRIM_BYTES = 8 << 20;

enum state { MAKING, READY, FAILED };

struct cache_entry {
    struct cache_entry *next;          /* to be freed */
    struct cache_entry *newer, *older; /* of its shelf, by last use */
    uint64_t use_number;               /* of that, among those of all shelves */
    struct shelf *shelf;
    char *key;
    enum state state;
    int holders;             /* the maker and those who wait for it are holders too */
    struct wanted *made_for; /* what the maker works for, while MAKING; those who wait hold it, */
    int waiting_count;       /* so many of them */
    bool is_forgotten;       /* no longer in the table; freed by its last holder */
    uint64_t cost_bytes;
    void *value;
    void (*free_value)(void *value);
    struct err err;
    bool is_transient;     /* of err */
    int64_t good_until_ms; /* of what is made anew later; else 0 */
    int64_t used_at_ms;
    pthread_t used_by;
};

/* Each shelf has its own order of use, so a value that leaves it is found without a look at other shelves. */
struct shelf {
    struct cache_shelf rules;
    struct cache_figures figures;
    struct cache_entry *newest, *oldest;
};

struct cache {
    pthread_mutex_t lock;
    pthread_cond_t made;
    struct shelf *shelves;
    size_t shelf_count;
    struct cache_waiting waiting; /* functions NULL if no one needs to know */
    struct map entries;           /* struct cache_entry, by shelf and key */
    uint64_t use_count;
};

struct cache *cache_new(const struct cache_shelf *shelves, size_t count)
{
    struct cache *cache = memory_new(sizeof(*cache));
    pthread_mutex_init(&cache->lock, NULL);
    clock_cond_init(&cache->made);
    map_init_of(&cache->entries, memory_new, 0);
    cache->shelves = memory_new(count * sizeof(*cache->shelves));
    cache->shelf_count = count;
    for (size_t at = 0; at < count; at++)
        cache->shelves[at].rules = shelves[at];
    return cache;
}

void cache_on_wait(struct cache *cache, const struct cache_waiting *waiting) { cache->waiting = *waiting; }

struct looked_for {
    const struct shelf *shelf;
    const char *key;
};

static uint64_t hash_of(const struct cache *cache, const struct shelf *shelf, const char *key)
{
    return hash_text(key, (uint64_t)(shelf - cache->shelves));
}

static bool is_entry(const void *context, uint64_t value)
{
    const struct looked_for *looked_for = context;
    const struct cache_entry *entry = map_pointer(value);
    return entry->shelf == looked_for->shelf && strcmp(entry->key, looked_for->key) == 0;
}

static struct cache_entry *cache_find(struct cache *cache, const struct shelf *shelf, const char *key)
{
    const struct looked_for looked_for = {shelf, key};
    return map_pointer(map_find(&cache->entries, hash_of(cache, shelf, key), is_entry, &looked_for));
}

static void unlink_use(struct cache_entry *entry)
{
    struct shelf *shelf = entry->shelf;
    *(entry->newer ? &entry->newer->older : &shelf->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &shelf->oldest) = entry->newer;
    entry->newer = entry->older = NULL;
}

static void link_newest(struct cache *cache, struct cache_entry *entry)
{
    struct shelf *shelf = entry->shelf;
    entry->used_at_ms = clock_ms();
    entry->used_by = pthread_self();
    entry->use_number = ++cache->use_count;
    entry->older = shelf->newest;
    *(shelf->newest ? &shelf->newest->newer : &shelf->oldest) = entry;
    shelf->newest = entry;
}

static struct cache_entry *cache_add(struct cache *cache, struct shelf *shelf, const char *key)
{
    struct cache_entry *entry = memory_new(sizeof(*entry));
    entry->shelf = shelf;
    entry->key = memory_text(key);
    map_add(&cache->entries, hash_of(cache, shelf, key), map_value(entry));
    link_newest(cache, entry);
    shelf->figures.count++;
    return entry;
}

/* Takes the entry out of the table. */
static void cache_forget(struct cache *cache, struct cache_entry *entry)
{
    assert(!entry->is_forgotten && entry->shelf->figures.cost_bytes >= entry->cost_bytes);
    map_remove(&cache->entries, hash_of(cache, entry->shelf, entry->key), map_value(entry));
    unlink_use(entry);
    entry->shelf->figures.cost_bytes -= entry->cost_bytes;
    entry->shelf->figures.count--;
    entry->is_forgotten = true;
}

/* Drops an entry to make room, or because no one requests it any more. */
static void cache_drop(struct cache *cache, struct cache_entry *entry)
{
    cache_forget(cache, entry);
    entry->shelf->figures.dropped_count++;
}

static void entry_free(struct cache_entry *entry)
{
    assert(entry->holders == 0);
    if (entry->value)
        entry->free_value(entry->value);
    free(entry->key);
    free(entry);
}

/* The entry that stays however little the shelf may hold, or NULL. */
static const struct cache_entry *kept_of(const struct shelf *shelf)
{
    const struct cache_entry *entry = shelf->rules.origin == CACHE_READ ? shelf->newest : NULL;
    while (entry && entry->state != READY)
        entry = entry->older;
    return entry;
}

/* Takes the longest unused entries out of a shelf until the rest fits; they come back as
 * a list, to be freed without the lock. */
static struct cache_entry *evict(struct cache *cache, const struct shelf *shelf)
{
    struct cache_entry *evicted = NULL;
    if (shelf->figures.cost_bytes <= shelf->rules.budget_bytes)
        return NULL;
    const struct cache_entry *kept = kept_of(shelf);
    for (struct cache_entry *entry = shelf->oldest, *newer; entry; entry = newer) {
        newer = entry->newer;
        if (shelf->figures.cost_bytes <= shelf->rules.budget_bytes)
            break;
        if (entry->holders > 0 || entry == kept)
            continue;
        cache_drop(cache, entry);
        entry->next = evicted;
        evicted = entry;
    }
    return evicted;
}

static void free_evicted(struct cache_entry *evicted)
{
    uint64_t freed_bytes = 0;
    while (evicted) {
        struct cache_entry *entry = evicted;
        evicted = entry->next;
        freed_bytes += entry->cost_bytes;
        entry_free(entry);
    }
    if (freed_bytes >= TRIM_BYTES)
        memory_trim();
}

/* Takes long to come to, and may be a lack of memory? */
static bool is_costly(enum err_code code) { return code == ERR_limit || code == ERR_memory; }

/* Comes again whenever the same bytes are read? */
static bool is_lasting(enum err_code code)
{
    return is_costly(code) || code == ERR_malformed || code == ERR_truncated || code == ERR_unsupported ||
           code == ERR_notfound || code == ERR_argument || code == ERR_conflict;
}

static void cache_make(struct cache *cache, struct cache_entry *entry, const struct cache_maker *maker)
{
    struct err err = ERR_INIT;
    struct cache_made made = {0};
    int64_t began_us = clock_us();
    void *value = maker->make(maker->context, &made, &err);
    int64_t took_us = clock_us() - began_us;
    if (wanted_is_over()) { /* it was made of what could not be read any more, or may have been */
        if (value)
            maker->free_value(value);
        value = NULL;
        made = (struct cache_made){0};
        wanted_stopped(&err);
    }
    if (!value && !err_is_set(&err))
        err_set(&err, ERR_internal, ERR_NO_OFFSET, "failed without a reason");
    pthread_mutex_lock(&cache->lock);
    entry->value = value;
    entry->free_value = maker->free_value;
    entry->err = err;
    entry->is_transient = made.is_transient;
    int64_t kept_ms = value ? made.kept_ms : is_costly(err.code) ? CACHE_TRY_AGAIN_MS : 0;
    entry->good_until_ms = kept_ms > 0 ? clock_ms() + kept_ms : 0;
    entry->state = value ? READY : FAILED;
    entry->shelf->figures.made_count++;
    entry->shelf->figures.failed_count += value == NULL;
    entry->shelf->figures.making_us += (uint64_t)took_us;
    entry->cost_bytes = made.cost_bytes + sizeof(*entry) + strlen(entry->key);
    entry->shelf->figures.cost_bytes += entry->cost_bytes;
    bool is_too_large = value && made.cost_bytes > entry->shelf->rules.largest_bytes;
    if (is_too_large || made.is_transient || (!value && !is_lasting(err.code)))
        cache_forget(cache, entry);
    for (; entry->waiting_count > 0; entry->waiting_count--)
        wanted_release(entry->made_for);
    entry->made_for = NULL;
    pthread_cond_broadcast(&cache->made);
    pthread_mutex_unlock(&cache->lock);
}

/* The entry of a key, unless it was kept long enough. */
static struct cache_entry *find_fresh(struct cache *cache, const struct shelf *shelf, const char *key)
{
    struct cache_entry *entry = cache_find(cache, shelf, key);
    if (!entry || entry->good_until_ms == 0 || clock_ms() < entry->good_until_ms)
        return entry;
    cache_forget(cache, entry);
    if (entry->holders == 0)
        entry_free(entry);
    return NULL;
}

/* With the lock, which is released meanwhile. A waiter keeps the work going even if the client of its maker leaves. It
 * stops waiting when its own work is no longer needed. */
static void wait_until_made(struct cache *cache, struct cache_entry *entry)
{
    const struct cache_waiting *waiting = &cache->waiting;
    bool holds = entry->made_for && wanted_hold(entry->made_for);
    entry->waiting_count += holds;
    if (waiting->begin)
        waiting->begin(waiting->context);
    while (entry->state == MAKING && !wanted_is_over()) {
        struct timespec until = clock_after(LOOK_MS);
        pthread_cond_timedwait(&cache->made, &cache->lock, &until);
    }
    if (holds && entry->state == MAKING) {
        entry->waiting_count--;
        wanted_release(entry->made_for);
    }
    pthread_mutex_unlock(&cache->lock);
    if (waiting->end)
        waiting->end(waiting->context);
    pthread_mutex_lock(&cache->lock);
}

/* False: what was waited for was stopped. */
static bool cache_get_entry(struct cache *cache, size_t shelf, const char *key, const struct cache_maker *maker,
                            struct cache_hold *hold, struct err *err, void **value)
{
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *entry = find_fresh(cache, &cache->shelves[shelf], key);
    bool is_mine = entry == NULL;
    if (is_mine && !maker) {
        pthread_mutex_unlock(&cache->lock);
        *hold = (struct cache_hold){0};
        *value = NULL;
        return true;
    }
    if (is_mine) {
        entry = cache_add(cache, &cache->shelves[shelf], key);
        entry->made_for = wanted_now();
    } else {
        unlink_use(entry);
        link_newest(cache, entry);
        entry->shelf->figures.hit_count++;
    }
    entry->holders++;
    if (!is_mine && entry->state == MAKING)
        wait_until_made(cache, entry);
    bool is_left = entry->state == MAKING && !is_mine;
    pthread_mutex_unlock(&cache->lock);
    if (is_mine)
        cache_make(cache, entry, maker);

    *hold = (struct cache_hold){.cache = cache, .entry = entry};
    *value = is_left ? NULL : entry->value; /* does not change any more */
    if (*value)
        return true;
    struct err reason = ERR_INIT;
    if (is_left)
        wanted_stopped(&reason);
    else
        reason = entry->err;
    bool is_transient = !is_left && entry->is_transient, is_stopped = !is_mine && reason.code == ERR_stopped;
    cache_release(hold);
    hold->is_transient = is_transient;
    if (is_stopped && !wanted_is_over())
        return false;
    if (!err_is_set(err))
        *err = reason;
    return true;
}

void *cache_get(struct cache *cache, size_t shelf, const char *key, const struct cache_maker *maker,
                struct cache_hold *hold, struct err *err)
{
    void *value = NULL;
    while (!cache_get_entry(cache, shelf, key, maker, hold, err, &value))
        continue; /* its maker's asker left: it is made again, for this one */
    return value;
}

void *cache_peek(struct cache *cache, size_t shelf, const char *key, struct cache_hold *hold)
{
    void *value = NULL;
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *entry = cache_find(cache, &cache->shelves[shelf], key);
    if (entry && entry->state == READY) {
        entry->holders++;
        entry->shelf->figures.hit_count++;
        value = entry->value;
        *hold = (struct cache_hold){.cache = cache, .entry = entry};
    }
    pthread_mutex_unlock(&cache->lock);
    return value;
}

bool cache_drop_oldest(struct cache *cache, enum cache_origin origin)
{
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *entry = NULL;
    for (size_t at = 0; at < cache->shelf_count; at++) {
        struct cache_entry *of_shelf = cache->shelves[at].rules.origin == origin ? cache->shelves[at].oldest : NULL;
        while (of_shelf && (of_shelf->holders > 0 || !of_shelf->value))
            of_shelf = of_shelf->newer;
        if (of_shelf && (!entry || of_shelf->use_number < entry->use_number))
            entry = of_shelf;
    }
    if (entry) {
        cache_drop(cache, entry);
        entry->next = NULL;
    }
    pthread_mutex_unlock(&cache->lock);
    free_evicted(entry);
    return entry != NULL;
}

void cache_drop_own(struct cache *cache, enum cache_origin origin)
{
    struct cache_entry *dropped = NULL;
    pthread_mutex_lock(&cache->lock);
    for (size_t at = 0; at < cache->shelf_count; at++) {
        const struct shelf *shelf = &cache->shelves[at];
        for (struct cache_entry *entry = shelf->oldest, *newer; entry && shelf->rules.origin == origin; entry = newer) {
            newer = entry->newer;
            if (entry->holders > 0 || entry->state == MAKING || !pthread_equal(entry->used_by, pthread_self()))
                continue;
            cache_drop(cache, entry);
            entry->next = dropped;
            dropped = entry;
        }
    }
    pthread_mutex_unlock(&cache->lock);
    free_evicted(dropped);
}

/* Puts what leaves a shelf in front of `idle`. */
static struct cache_entry *shelf_drop_idle(struct cache *cache, struct shelf *shelf, int64_t before_ms,
                                           struct cache_entry *idle)
{
    for (struct cache_entry *entry = shelf->oldest, *newer; entry && entry->used_at_ms < before_ms; entry = newer) {
        newer = entry->newer;
        if (entry->holders > 0)
            continue;
        cache_drop(cache, entry);
        entry->next = idle;
        idle = entry;
    }
    return idle;
}

void cache_drop_idle(struct cache *cache, int64_t now_ms, int64_t idle_ms)
{
    struct cache_entry *idle = NULL;
    pthread_mutex_lock(&cache->lock);
    for (size_t at = 0; at < cache->shelf_count; at++) {
        struct shelf *shelf = &cache->shelves[at];
        if (shelf->rules.origin != CACHE_FACT)
            idle =
                shelf_drop_idle(cache, shelf, now_ms - (shelf->rules.idle_ms ? shelf->rules.idle_ms : idle_ms), idle);
    }
    pthread_mutex_unlock(&cache->lock);
    free_evicted(idle);
}

struct cache_figures cache_figures_of(struct cache *cache, size_t shelf)
{
    pthread_mutex_lock(&cache->lock);
    struct cache_figures figures = cache->shelves[shelf].figures;
    pthread_mutex_unlock(&cache->lock);
    return figures;
}

void cache_release(struct cache_hold *hold)
{
    struct cache *cache = hold->cache;
    struct cache_entry *entry = hold->entry, *evicted;
    if (!cache)
        return;
    *hold = (struct cache_hold){0};
    pthread_mutex_lock(&cache->lock);
    bool is_last = --entry->holders == 0;
    bool is_lost = is_last && entry->is_forgotten;
    evicted = is_last ? evict(cache, entry->shelf) : NULL;
    pthread_mutex_unlock(&cache->lock);
    if (is_lost) {
        entry->next = evicted;
        evicted = entry;
    }
    free_evicted(evicted);
}

void cache_free(struct cache *cache)
{
    if (!cache)
        return;
    for (size_t at = 0; at < cache->shelf_count; at++) {
        for (struct cache_entry *entry; (entry = cache->shelves[at].oldest) != NULL;) {
            cache_forget(cache, entry);
            entry_free(entry);
        }
    }
    map_free(&cache->entries);
    free(cache->shelves);
    pthread_cond_destroy(&cache->made);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
