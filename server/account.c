/* SPDX-License-Identifier: Apache-2.0 */
#include "server/account.h"

#include "server/cache.h"
#include "server/memory.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CACHES = 8 };
static const uint64_t LEAST_LIMIT_BYTES = 512 << 20;

struct account {
    pthread_mutex_t lock;
    uint64_t limit_bytes, taken_bytes;
    struct {
        struct cache *cache;
        bool is_given;
    } caches[MOST_CACHES];
    size_t cache_count;
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

void account_add_cache(struct account *account, struct cache *cache, bool is_given)
{
    if (account->cache_count < MOST_CACHES) {
        account->caches[account->cache_count].cache = cache;
        account->caches[account->cache_count++].is_given = is_given;
    }
}

uint64_t account_limit(const struct account *account)
{
    return account->limit_bytes;
}

uint64_t account_take(struct account *account, uint64_t least, uint64_t most)
{
    pthread_mutex_lock(&account->lock);
    uint64_t left = account->limit_bytes - account->taken_bytes;
    uint64_t taken = left < least ? 0 : left < most ? left : most;
    account->taken_bytes += taken;
    pthread_mutex_unlock(&account->lock);
    return taken;
}

static bool drop_oldest(struct account *account, bool is_given)
{
    for (size_t at = 0; at < account->cache_count; at++) {
        if (account->caches[at].is_given == is_given && cache_drop_oldest(account->caches[at].cache))
            return true;
    }
    return false;
}

uint64_t account_need(struct account *account, uint64_t least, uint64_t most)
{
    uint64_t taken = account_take(account, most, most);
    while (taken == 0 && drop_oldest(account, false))
        taken = account_take(account, most, most);
    do {
        if (taken == 0)
            taken = account_take(account, least, most);
    } while (taken == 0 && drop_oldest(account, true));
    return taken;
}

void account_give(struct account *account, uint64_t bytes)
{
    pthread_mutex_lock(&account->lock);
    account->taken_bytes -= bytes;
    pthread_mutex_unlock(&account->lock);
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t account_keep(struct account *account, uint64_t taken, uint64_t used)
{
    uint64_t kept = least_of(taken, used);
    account_give(account, taken - kept);
    return kept;
}

static uint64_t part_of(uint64_t limit, uint64_t size_bytes, uint64_t factor, uint64_t base_bytes)
{
    return size_bytes > (UINT64_MAX - base_bytes) / factor ? limit : least_of(size_bytes * factor + base_bytes, limit);
}

void account_range(const struct account *account, const struct account_share *share, uint64_t size_bytes, uint64_t *least,
                   uint64_t *most)
{
    uint64_t limit = least_of(share->limit_bytes, account->limit_bytes);
    *least = part_of(limit, size_bytes, share->least_factor, share->least_base_bytes);
    *most = part_of(limit, size_bytes, share->most_factor, share->most_base_bytes);
}

/* ---- how much there is ----------------------------------------------------------- */

/* The number in a small file; UINT64_MAX when there is none ("max" means no limit). */
static uint64_t read_number(const char *path)
{
    uint64_t number = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &number) != 1)
        number = UINT64_MAX;
    fclose(file);
    return number;
}

/* The smallest limit of a group and of those it lies in. In a container its path
 * may be the host's, of which only the last step, the top, is there. */
static uint64_t group_limit(const char *top, char *group, const char *name)
{
    uint64_t smallest = UINT64_MAX;
    for (bool is_top = false; !is_top;) {
        char *slash = strrchr(group, '/');
        is_top = !slash || slash[1] == '\0';
        char *path = memory_format("%s%s/%s", top, is_top ? "" : group, name);
        uint64_t limit = read_number(path);
        smallest = limit < smallest ? limit : smallest;
        free(path);
        if (!is_top)
            slash[slash == group] = '\0';
    }
    return smallest;
}

/* A line of /proc/self/cgroup is ID:CONTROLLERS:PATH; version 2 names no controller. */
static uint64_t line_limit(char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *rest = line, *controllers;
    strsep(&rest, ":");
    controllers = strsep(&rest, ":");
    if (!controllers || !rest)
        return UINT64_MAX;
    if (controllers[0] == '\0')
        return group_limit("/sys/fs/cgroup", rest, "memory.max");
    if (strcmp(controllers, "memory") == 0)
        return group_limit("/sys/fs/cgroup/memory", rest, "memory.limit_in_bytes");
    return UINT64_MAX;
}

uint64_t account_usual_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t there = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    char *line = NULL;
    size_t capacity = 0;
    while (file && getline(&line, &capacity, file) >= 0) {
        uint64_t limit = line_limit(line);
        there = limit < there ? limit : there;
    }
    free(line);
    if (file)
        fclose(file);
    return there / 2 > LEAST_LIMIT_BYTES ? there / 2 : LEAST_LIMIT_BYTES;
}
