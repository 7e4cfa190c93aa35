/* SPDX-License-Identifier: Apache-2.0
 * account.h: memory that many share, counted against one limit.
 *
 * Nothing is allocated here: who wants to allocate takes bytes from the account
 * first, and gives back what it did not use and what it freed. Threads: any number. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct account;
struct cache;

struct account *account_new(uint64_t limit_bytes);
void account_free(struct account *account);
uint64_t account_limit(const struct account *account);
/* Now. */
uint64_t account_taken(struct account *account);
/* The cache whose values take from the account. Before any thread takes. */
void account_use_cache(struct account *account, struct cache *cache);

/* Takes as much as is left, up to `max`; nothing when that is less than
 * `min`. Returns what was taken. */
uint64_t account_take(struct account *account, uint64_t min, uint64_t max);
/* Like account_take, but first drops unused values from the cache: values that can be read again to reach `max`, users'
 * uploads only to reach `min`. Not from within a lock of a cache. */
uint64_t account_need(struct account *account, uint64_t min, uint64_t max);
void account_give(struct account *account, uint64_t bytes);
/* Gives back what of the `taken` bytes is not used after all; returns what stays taken. */
uint64_t account_keep(struct account *account, uint64_t taken, uint64_t used);

/* What is set aside while a file is read: a factor times its bytes, and a base. `min` is enough for real files when
 * memory is short. No file may take more than `max`, or than `limit_bytes`. */
struct account_share {
    uint64_t min_factor, min_base_bytes; /* factors are at least 1 */
    uint64_t max_factor, max_base_bytes;
    uint64_t limit_bytes; /* UINT64_MAX: the account's own */
};
/* That share for a file of `size_bytes`, for account_take and account_need; neither is more than the account's limit.
 */
void account_range(const struct account *account, const struct account_share *share, uint64_t size_bytes, uint64_t *min,
                   uint64_t *max);

/* For a file that could not be read with `taken` of its `max` bytes: true if the reason is that other work holds memory
 * now. Afterwards `err` is `memory` only where a larger limit of the account would help. */
bool account_is_transient(const struct account *account, uint64_t taken, uint64_t max, struct err *err);

/* Half of the memory that this process may have (the machine's, that of its
 * control group, or what ulimit leaves). */
uint64_t account_default_limit(void);
