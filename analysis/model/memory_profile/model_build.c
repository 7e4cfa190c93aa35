/* SPDX-License-Identifier: Apache-2.0
 * model_build.c: from events in file order to the model (profile.h). */
#include "model/memory_profile/model.h"

#include "model/memory_profile/end.h"
#include "model/memory_profile/failures.h"
#include "model/memory_profile/notes.h"
#include "model/memory_profile/order.h"
#include "model/memory_profile/snapshots.h"
#include "model/memory_profile/unrecorded.h"
#include "model/memory_profile/waste.h"
#include "read/trace/allocator.h"

#include <stdlib.h>

static int64_t in_use_at(const void *curve, uint32_t at)
{
    const struct memory_profile_pool *pool = curve;
    return memory_profile_in_use_bytes(pool->profile, pool->first + at);
}

/* A share of 1, in billionths: finer than the six digits that are recorded. */
static int64_t fragmentation_at(const void *curve, uint32_t at)
{
    const struct memory_profile_pool *pool = curve;
    return (int64_t)((double)pool->profile->fragmentation[pool->first + at] * 1e9);
}

/* Pools with a number are those of TPUs. */
static enum memory_profile_kind kind_of_pool(const struct memory_pool *pool)
{
    static const enum memory_profile_kind kinds[] = {
        [ALLOCATOR_DEVICE] = PROFILE_DEVICE, [ALLOCATOR_HOST] = PROFILE_HOST, [ALLOCATOR_OTHER] = PROFILE_OTHER};
    return pool->is_numbered ? PROFILE_DEVICE : kinds[allocator_kind_of(pool->name)];
}

/* Where requests failed comes before what is merely large. */
static int worse_first(const void *left, const void *right)
{
    const struct memory_profile_pool *a = left, *b = right;
    int64_t a_bytes = memory_profile_in_use_bytes(a->profile, a->peak_at),
            b_bytes = memory_profile_in_use_bytes(b->profile, b->peak_at);
    int by_kind = ORDER(a->kind, b->kind), by_failures = ORDER(b->failure_count > 0, a->failure_count > 0);
    return by_kind ?: by_failures ?: ORDER(b_bytes, a_bytes) ?: str_compare(a->name, b->name);
}

/* Figures of a pool whose columns are complete. */
static void pool_measure(struct memory_profile *profile, struct memory_profile_pool *pool,
                         const struct workers *workers, struct arena *arena)
{
    uint32_t min_at, max_at, end = pool->first + pool->count;
    extremes_build(&pool->extremes, in_use_at, pool, pool->count, workers, arena);
    extremes_of(&pool->extremes, 0, pool->count, &min_at, &max_at);
    pool->min_at = pool->first + min_at;
    pool->peak_at = pool->first + max_at;
    int64_t peak_bytes = memory_profile_in_use_bytes(profile, pool->peak_at);
    int64_t depth = peak_bytes - memory_profile_in_use_bytes(profile, pool->min_at);
    /* a local peak counts if it rises at least 2 % of (peak - minimum) above the valleys beside it */
    pool->peaks = thin_peaks(in_use_at, pool, pool->count, depth / 50, 64, arena, &pool->peak_count);
    for (uint32_t i = 0; i < pool->peak_count; i++)
        pool->peaks[i] += pool->first;
    if (profile->events.snapshot == NULL) /* a snapshot tells what PyTorch reserved there, not what the device has */
        pool->capacity_bytes = profile->events.figure_sets[profile->figures[pool->peak_at]].limit_bytes;
    if (pool->capacity_source == NULL && pool->capacity_bytes != MEMORY_UNKNOWN)
        pool->capacity_source = "the limit of the allocator, recorded in the trace";
    pool->lifetime_peak_bytes = MEMORY_UNKNOWN;
    for (uint32_t i = pool->first; i < end; i++) {
        int64_t told = profile->events.figure_sets[profile->figures[i]].peak_bytes;
        pool->lifetime_peak_bytes = told > pool->lifetime_peak_bytes ? told : pool->lifetime_peak_bytes;
        pool->has_free |= profile->events.figure_sets[profile->figures[i]].limit_bytes != MEMORY_UNKNOWN;
        pool->has_fragmentation |= (profile->flags[i] & MEMORY_HAS_FRAGMENTATION) != 0;
        pool->has_addresses |= (profile->flags[i] & MEMORY_HAS_ADDRESS) != 0;
    }
    if (pool->has_fragmentation)
        extremes_build(&pool->fragmentation, fragmentation_at, pool, pool->count, workers, arena);
}

/* Frees of TPUs do not say how much they free, and some events not how much is in use. */
static void pool_complete(struct memory_profile *profile, struct memory_profile_pool *pool)
{
    int64_t inferred_bytes = 0;
    for (uint32_t i = pool->first; i < pool->first + pool->count; i++) {
        bool is_freed = memory_profile_is_free(profile, i);
        pool->deallocation_count += is_freed;
        pool->allocation_count += !is_freed;
        uint32_t partner = profile->partner[i];
        int64_t before = i > pool->first ? profile->heap_bytes[i - 1] : 0;
        if (is_freed && (profile->flags[i] & MEMORY_HAS_SIZE) == 0) {
            int64_t change = i > pool->first ? before - profile->heap_bytes[i] : 0;
            if (partner != PROFILE_NONE)
                profile->size_bytes[i] = profile->size_bytes[partner];
            else if (change > 0 && (profile->flags[i] & MEMORY_HAS_IN_USE) != 0 &&
                     inferred_bytes + change <= MEMORY_MAX_BYTES)
                inferred_bytes += profile->size_bytes[i] = change;
            profile->flags[i] |= PROFILE_SIZE_INFERRED;
        }
        int64_t change = is_freed ? -profile->size_bytes[i] : profile->size_bytes[i];
        if ((profile->flags[i] & MEMORY_HAS_IN_USE) == 0)
            profile->heap_bytes[i] = before + change > 0 ? before + change : 0;
        if (i == pool->first) {
            int64_t base_bytes = profile->heap_bytes[i] - change;
            pool->base_bytes = base_bytes < 0 ? 0 : base_bytes;
            if (base_bytes >= 0)
                continue;
        }
        pool->link_count++;
        if (profile->heap_bytes[i] - before != change) { /* of the first event: more than is in use behind it */
            pool->break_count++;
            profile->flags[i] |= PROFILE_OFF_CHAIN;
        }
    }
}

/* The pools are built in parallel, a share of them for each worker; or one after the other, each by all workers. */
struct model_build_making {
    struct memory_profile *profile;
    const struct memory_profile_order *order;
    const struct workers *workers; /* workers for each single pool; NULL when pools are built in parallel */
    struct share *shares;
    size_t share_count;
};

/* The consecutive pools [first, end) of one worker, with an arena and an error of its own. */
struct share {
    uint32_t first, end;
    const struct model_build_making *making;
    struct arena arena;
    struct err err;
    bool is_made;
};

/* Without addresses nothing tells which allocation a free ends. So that none counts as open for ever, and no free as
 * one of what was there before, each event is its own pair: what is in use has no rows then. */
static void pool_unpair(struct memory_profile *profile, struct memory_profile_pool *pool)
{
    bool has_addresses = profile->events.snapshot == NULL || profile->events.snapshot->is_end_alone;
    for (uint32_t i = pool->first; i < pool->first + pool->count && !has_addresses; i++)
        has_addresses = (profile->flags[i] & MEMORY_HAS_ADDRESS) != 0;
    if (has_addresses)
        return;
    for (uint32_t i = pool->first; i < pool->first + pool->count; i++)
        profile->partner[i] = i;
    pool->pairs = (struct pairs_counts){0, 0, 0, 0};
    pool->is_unpaired = true;
}

/* Empties `scratch`. Idempotent: may be run again for the same pool after a failed attempt. */
static void pool_make(const struct model_build_making *making, uint32_t at, struct arena *arena, struct arena *scratch)
{
    struct memory_profile *profile = making->profile;
    struct memory_profile_pool *pool = &profile->pools[at];
    const struct memory_profile_xprof_peak *peak = &making->order->peaks[at];
    const uint32_t *file_at = making->order->file_at;
    *pool = (struct memory_profile_pool){.profile = profile,
                                         .name = pool->name,
                                         .kind = pool->kind,
                                         .device = pool->device,
                                         .capacity_bytes = pool->device_bytes,
                                         .capacity_source = pool->device_source,
                                         .capacity_is_physical = pool->device_bytes != MEMORY_UNKNOWN,
                                         .device_bytes = pool->device_bytes,
                                         .device_source = pool->device_source,
                                         .first = pool->first,
                                         .count = pool->count,
                                         .xprof_lifetime_peak_bytes = peak->lifetime_bytes,
                                         .xprof_peak_at = file_at == NULL ? peak->at : 0};
    for (uint32_t i = pool->first; file_at != NULL && i < pool->first + pool->count; i++)
        if (file_at[i] == peak->at)
            pool->xprof_peak_at = i;
    struct pairs pairs = {profile->partner,   profile->address, profile->flags,           MEMORY_FREED,
                          MEMORY_HAS_ADDRESS, pool->first,      pool->first + pool->count};
    pairs_make(&pairs, scratch, &pool->pairs);
    arena_free(scratch);
    pool_unpair(profile, pool);
    pool_complete(profile, pool);
    memory_profile_unrecorded_settle(profile, pool, scratch);
    pool_measure(profile, pool, making->workers, arena);
    memory_profile_waste_build(pool, making->workers, arena);
    pool->likeness = memory_profile_snapshots_likeness(pool);
    memory_profile_end_uncount(pool);
    memory_profile_notes_pool(pool);
}

static void share_make(void *context)
{
    struct share *share = context;
    struct arena *scratch = arena_child(&share->arena);
    for (uint32_t p = share->first; p < share->end; p++)
        pool_make(share->making, p, &share->arena, scratch);
}

static void share_work(void *task, size_t at)
{
    const struct model_build_making *making = task;
    struct share *share = &making->shares[at];
    share->is_made = arena_try(&share->arena, share_make, share);
}

/* Divides the pools into shares of about equal event counts. False when one pool has three quarters of the events or
 * more: then all workers had better work on each pool in turn. */
static bool shares_cut(struct model_build_making *making, const struct workers *workers, struct arena *scratch)
{
    const struct memory_profile *profile = making->profile;
    size_t count = workers_slices(workers, (uint64_t)profile->count * PROFILE_EVENT_BYTES);
    uint32_t max = 0;
    count = count > profile->pool_count && profile->pool_count > 0 ? profile->pool_count : count;
    making->shares = arena_array(scratch, struct share, count);
    making->share_count = count;
    for (uint32_t p = 0; p < profile->pool_count; p++) {
        const struct memory_profile_pool *pool = &profile->pools[p];
        uint64_t middle = pool->first + (uint64_t)pool->count / 2;
        uint64_t at = profile->count > 0 ? middle * count / profile->count : 0;
        struct share *share = &making->shares[at < count ? at : count - 1];
        share->first = share->end == 0 ? p : share->first;
        share->end = p + 1;
        max = pool->count > max ? pool->count : max;
    }
    return count > 1 && max < profile->count / 4 * 3;
}

/* False when a share ran out of memory or work: nothing is kept, and the caller builds the pools one after the other,
 * which needs less memory or reports the error. */
static bool shares_make(struct model_build_making *making, const struct workers *workers, struct arena *arena)
{
    uint64_t work_left = 0;
    bool is_made = true;
    for (size_t i = 0; i < making->share_count; i++) {
        struct share *share = &making->shares[i];
        share->making = making;
        share->err = (struct err)ERR_INIT;
        arena_share(&share->arena, arena, making->share_count, &share->err);
    }
    workers_run(workers, making->share_count, share_work, making);
    for (size_t i = 0; i < making->share_count; i++) {
        is_made &= making->shares[i].is_made;
        work_left += arena_work_left(&making->shares[i].arena);
    }
    for (size_t i = 0; i < making->share_count; i++) {
        if (is_made)
            arena_adopt(arena, &making->shares[i].arena);
        else
            arena_free(&making->shares[i].arena);
    }
    if (is_made)
        arena_allot_work(arena, work_left);
    return is_made;
}

static void pools_make(struct memory_profile *profile, const struct memory_profile_order *order,
                       const struct workers *workers, struct arena *arena, struct arena *scratch)
{
    const struct memory_events *events = &profile->events;
    struct model_build_making making = {.profile = profile, .order = order};
    profile->pools = arena_array(arena, struct memory_profile_pool, (size_t)order->pool_count + 1);
    profile->pool_count = order->pool_count;
    for (uint32_t i = 0; i < events->pool_count; i++) {
        struct memory_profile_pool *pool = &profile->pools[order->pool_of[i]];
        pool->profile = profile;
        pool->name = events->pools[i].name;
        pool->kind = kind_of_pool(&events->pools[i]);
        pool->device = events->pools[i].device;
        pool->device_bytes = events->pools[i].device_bytes > 0 ? events->pools[i].device_bytes : MEMORY_UNKNOWN;
        if (pool->device_bytes != MEMORY_UNKNOWN)
            pool->device_source =
                arena_format(arena, "%s, recorded in the trace", events->pools[i].device_name ?: "size of the GPU");
    }
    for (uint32_t p = 0; p < profile->pool_count; p++) {
        profile->pools[p].first = order->first[p];
        profile->pools[p].count = order->first[p + 1] - order->first[p];
    }
    if (!shares_cut(&making, workers, scratch) || !shares_make(&making, workers, arena)) {
        struct arena *pool_scratch = arena_child(arena);
        making.workers = workers;
        for (uint32_t p = 0; p < profile->pool_count; p++)
            pool_make(&making, p, arena, pool_scratch);
    }
    memory_profile_failures_make(profile, arena);
    if (profile->pool_count > 0)
        qsort(profile->pools, profile->pool_count, sizeof(*profile->pools), worse_first);
    for (uint32_t p = 0; p < profile->pool_count; p++)
        profile->pools[p].extremes.curve = profile->pools[p].fragmentation.curve = &profile->pools[p];
}

void memory_profile_model_build(struct memory_profile *profile, struct memory_events *events,
                                const struct workers *workers, struct arena *arena)
{
    struct arena *scratch = arena_child(arena);
    struct memory_profile_order order;
    *profile = (struct memory_profile){.events = *events, .count = (uint32_t)events->count};
    memory_profile_order_make(profile, events, workers, arena, scratch, &order);
    pools_make(profile, &order, workers, arena, scratch);
    memory_profile_steps_build(profile, arena);
    memory_profile_notes_file(profile, arena);
    arena_free(scratch);
}
