/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/account.h"

#include "server/base/cgroups.h"
#include "server/base/memory.h"
#include "server/store/cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* Where the machine does not tell what it has. */
static const uint64_t UNKNOWN_LIMIT_BYTES = 512 << 20;

struct account {
    pthread_mutex_t lock;
    uint64_t limit_bytes, taken_bytes;
    struct cache *cache; /* NULL: none takes from it */
};

struct account *account_new(uint64_t limit_bytes)
{
    struct account *account = memory_new(sizeof(*account));
    pthread_mutex_init(&account->lock, NULL);
    account->limit_bytes = limit_bytes;
    return account;
}

void account_free(struct account *account)
{
    pthread_mutex_destroy(&account->lock);
    free(account);
}

uint64_t account_limit(const struct account *account) { return account->limit_bytes; }

uint64_t account_taken(struct account *account)
{
    pthread_mutex_lock(&account->lock);
    uint64_t taken_bytes = account->taken_bytes;
    pthread_mutex_unlock(&account->lock);
    return taken_bytes;
}

void account_use_cache(struct account *account, struct cache *cache) { account->cache = cache; }

uint64_t account_take(struct account *account, uint64_t min, uint64_t max)
{
    pthread_mutex_lock(&account->lock);
    uint64_t left = account->limit_bytes - account->taken_bytes;
    uint64_t taken = left < min ? 0 : left < max ? left : max;
    account->taken_bytes += taken;
    pthread_mutex_unlock(&account->lock);
    return taken;
}

static bool drop_oldest(struct account *account, enum cache_origin origin)
{
    return account->cache && cache_drop_oldest(account->cache, origin);
}

uint64_t account_need(struct account *account, uint64_t min, uint64_t max)
{
    uint64_t taken = account_take(account, max, max);
    while (taken == 0 && drop_oldest(account, CACHE_READ))
        taken = account_take(account, max, max);
    do {
        if (taken == 0)
            taken = account_take(account, min, max);
    } while (taken == 0 && drop_oldest(account, CACHE_UPLOADED));
    return taken;
}

void account_give(struct account *account, uint64_t bytes)
{
    pthread_mutex_lock(&account->lock);
    assert(bytes <= account->taken_bytes); /* no one gives back more than was taken */
    account->taken_bytes -= bytes;
    pthread_mutex_unlock(&account->lock);
}

static uint64_t min_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

uint64_t account_keep(struct account *account, uint64_t taken, uint64_t used)
{
    uint64_t kept = min_of(taken, used);
    account_give(account, taken - kept);
    return kept;
}

static uint64_t part_of(uint64_t limit, uint64_t size_bytes, uint64_t factor, uint64_t base_bytes)
{
    return size_bytes > (UINT64_MAX - base_bytes) / factor ? limit : min_of(size_bytes * factor + base_bytes, limit);
}

void account_range(const struct account *account, const struct account_share *share, uint64_t size_bytes, uint64_t *min,
                   uint64_t *max)
{
    uint64_t limit = min_of(share->limit_bytes, account->limit_bytes);
    *min = part_of(limit, size_bytes, share->min_factor, share->min_base_bytes);
    *max = part_of(limit, size_bytes, share->max_factor, share->max_base_bytes);
}

bool account_is_transient(const struct account *account, uint64_t taken, uint64_t max, struct err *err)
{
    bool is_of_room = err->code == ERR_limit || err->code == ERR_memory;
    if (err->code == ERR_memory && (taken < max || max < account->limit_bytes))
        err->code = ERR_limit;
    return is_of_room && taken < max;
}

uint64_t account_default_limit(void)
{
    uint64_t half = cgroups_usable_memory_bytes() / 2;
    return half > 0 ? half : UNKNOWN_LIMIT_BYTES;
}
