/* SPDX-License-Identifier: Apache-2.0
 * profile_build.c: from events in file order to the model (profile.h). */
#include "tool/memory_profile/profile_build.h"

#include "base/intern.h"
#include "tool/memory_profile/profile_notes.h"
#include "tool/memory_profile/profile_waste.h"

#include <stdlib.h>

/* Events in the order of pool and time: places of the input. */
struct ordering {
    const struct memory_events *events;
    const struct hands *hands;
    struct arena *scratch;
    uint32_t *order, *spare;
    uint32_t *pool_of; /* of each of the input's pools: names that are equal are one pool */
    uint32_t pool_count;
    uint32_t *first; /* of each pool, and the end */
};

static int64_t time_of(const struct ordering *ordering, uint32_t at)
{
    return COLUMN_AT(&ordering->events->offset_ps, int64_t, at);
}

/* Offsets become times from the origin, where they stand. */
static void times_make(const struct memory_events *events, struct profile *profile)
{
    uint64_t clamped_count = 0, backward_count = 0;
    int64_t before = INT64_MIN;
    uint32_t line_before = PROFILE_NONE;
    for (size_t i = 0; i < events->count; i++) {
        int64_t *time_ps = &COLUMN_AT(&events->offset_ps, int64_t, i);
        uint32_t line = COLUMN_AT(&events->line, uint32_t, i);
        bool is_clamped = false;
        *time_ps = trace_groups_time(events->lines[line].timestamp_ns, events->origin_ns, *time_ps, &is_clamped);
        clamped_count += is_clamped;
        backward_count += line == line_before && *time_ps < before;
        before = *time_ps;
        line_before = line;
    }
    profile_note(&profile->notes, "clock_out_of_range", clamped_count,
                 "Memory events whose time does not fit beside the others'; they stand at the edge.");
    profile_note(&profile->notes, "out_of_order", backward_count,
                 "Memory events that stand in their line before earlier ones; they are shown in the order of time.");
}

struct same_pool {
    struct str *names, name;
};

static bool is_pool(const void *context, uint32_t at)
{
    const struct same_pool *same = context;
    return str_equal(same->names[at], same->name);
}

static void pools_merge(struct ordering *ordering)
{
    const struct memory_events *events = ordering->events;
    struct same_pool same = {arena_array(ordering->scratch, struct str, events->pool_count + 1), {"", 0}};
    struct intern table;
    intern_init(&table, ordering->scratch);
    ordering->pool_of = arena_array(ordering->scratch, uint32_t, events->pool_count + 1);
    for (uint32_t i = 0; i < events->pool_count; i++) {
        same.name = events->pools[i].name;
        uint64_t hash = intern_hash_text(ordering->scratch, same.name, 0);
        uint32_t at = intern_find(&table, hash, is_pool, &same);
        if (at == INTERN_NONE) {
            at = intern_add(&table, hash);
            same.names[at] = same.name;
        }
        ordering->pool_of[i] = at;
    }
    ordering->pool_count = table.count;
}

/* Stable, by pool. */
static void by_pool(struct ordering *ordering)
{
    const struct memory_events *events = ordering->events;
    uint32_t *next = arena_array(ordering->scratch, uint32_t, (size_t)ordering->pool_count + 1);
    ordering->first = arena_array(ordering->scratch, uint32_t, (size_t)ordering->pool_count + 1);
    for (size_t i = 0; i < events->count; i++)
        ordering->first[ordering->pool_of[COLUMN_AT(&events->pool, uint16_t, i)] + 1]++;
    for (uint32_t p = 0; p < ordering->pool_count; p++) {
        next[p] = ordering->first[p];
        ordering->first[p + 1] += ordering->first[p];
    }
    for (size_t i = 0; i < events->count; i++)
        ordering->order[next[ordering->pool_of[COLUMN_AT(&events->pool, uint16_t, i)]]++] = (uint32_t)i;
}

/* Merges the runs [a, b) and [b, c) of `from` into `to`; of equal times the former come first. */
static void merge(const struct ordering *ordering, const uint32_t *from, uint32_t *to, uint32_t a, uint32_t b,
                  uint32_t c)
{
    uint32_t left = a, right = b, at = a;
    while (left < b && right < c)
        to[at++] = time_of(ordering, from[right]) < time_of(ordering, from[left]) ? from[right++] : from[left++];
    while (left < b)
        to[at++] = from[left++];
    while (right < c)
        to[at++] = from[right++];
}

static uint32_t run_end(const struct ordering *ordering, const uint32_t *order, uint32_t from, uint32_t end)
{
    uint32_t at = from + 1;
    while (at < end && time_of(ordering, order[at]) >= time_of(ordering, order[at - 1]))
        at++;
    return at < end ? at : end;
}

/* The events of one pool. Lines are in order of time nearly always: merging the runs that are there is one or two
 * passes, and never more than there are bits in their number. */
static void by_time(void *task, size_t pool)
{
    const struct ordering *ordering = task;
    uint32_t *from = ordering->order, *to = ordering->spare, first = ordering->first[pool],
             end = ordering->first[pool + 1];
    bool is_sorted = run_end(ordering, from, first, end) == end;
    while (!is_sorted) {
        uint32_t merges = 0;
        for (uint32_t a = first, b, c; a < end; a = c) {
            b = run_end(ordering, from, a, end);
            c = b < end ? run_end(ordering, from, b, end) : end;
            merge(ordering, from, to, a, b, c);
            merges++;
        }
        is_sorted = merges <= 1;
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != ordering->order)
        memcpy(ordering->order + first, from + first, (size_t)(end - first) * sizeof *from);
}

struct gathering {
    const struct column *from, *to;
    const uint32_t *order;
    size_t count, slices;
};

#define GATHER(type)                                                                                                   \
    for (size_t i = first; i < end; i++)                                                                               \
    COLUMN_AT(to, type, i) = COLUMN_AT(from, type, order[i])

static void slice_gather(void *task, size_t at)
{
    const struct gathering *gathering = task;
    const struct column *from = gathering->from, *to = gathering->to;
    const uint32_t *order = gathering->order;
    size_t first = hands_slice(gathering->count, at, gathering->slices),
           end = hands_slice(gathering->count, at + 1, gathering->slices);
    switch (to->width) {
    case 8:
        GATHER(uint64_t);
        break;
    case 4:
        GATHER(uint32_t);
        break;
    default:
        GATHER(uint8_t);
        break;
    }
}

/* The column in its final order; with no `order` it stands in it. It takes the place of `spare`, and its own is the
 * next one's: no memory is fresh. */
static void *column_order(const struct ordering *ordering, struct column column[1], const uint32_t *order,
                         struct column *spare)
{
    size_t count = ordering->events->count;
    struct column to[1] = {*spare};
    if (order == NULL)
        return column->items;
    to->width = column->width;
    column_resize(to, count);
    struct gathering gathering = {column, to, order, count, hands_slices(ordering->hands, count * to->width)};
    hands_run(ordering->hands, gathering.slices, slice_gather, &gathering);
    *spare = *column;
    return to->items;
}

static void columns_take(struct profile *profile, struct memory_events *events, const struct ordering *ordering,
                         struct arena *arena)
{
    uint32_t count = profile->count;
    const uint32_t *order = ordering->order;
    struct column spare;
    bool is_ordered = true; /* as a trace of one pool and one line is */
    column_free(&events->pool);
    for (uint32_t i = 0; i < count; i++)
        is_ordered &= order[i] == i;
    order = is_ordered ? NULL : order;
    if (count == 0)
        return;
    column_init(&spare, arena, sizeof(uint64_t));
    profile->time_ps = column_order(ordering, &events->offset_ps, order, &spare);
    profile->heap_bytes = column_order(ordering, &events->in_use_bytes, order, &spare);
    profile->requested_bytes = column_order(ordering, &events->requested_bytes, order, &spare);
    profile->size_bytes = column_order(ordering, &events->size_bytes, order, &spare);
    profile->address = column_order(ordering, &events->address, order, &spare);
    profile->fragmentation = column_order(ordering, &events->fragmentation, order, &spare);
    profile->what = column_order(ordering, &events->what, order, &spare);
    profile->figures = column_order(ordering, &events->figures, order, &spare);
    profile->line = column_order(ordering, &events->line, order, &spare);
    profile->step = column_order(ordering, &events->step, order, &spare);
    profile->flags = column_order(ordering, &events->flags, order, &spare);
    column_free(&spare);
}

/* What XProf takes while it reads: the last largest in the order of the file, and the last peak told. */
struct xprof_peak {
    int64_t bytes, lifetime_bytes;
    uint32_t at; /* place in the input */
};

static struct xprof_peak *xprof_peaks(const struct ordering *ordering)
{
    const struct memory_events *events = ordering->events;
    struct xprof_peak *peaks = arena_array(ordering->scratch, struct xprof_peak, (size_t)ordering->pool_count + 1);
    for (size_t i = 0; i < events->count; i++) {
        if (events->encoded_count > 0 && events->whats[COLUMN_AT(&events->what, uint32_t, i)].is_encoded)
            continue; /* XProf does not see it */
        struct xprof_peak *peak = &peaks[ordering->pool_of[COLUMN_AT(&events->pool, uint16_t, i)]];
        const struct memory_figures *figures = &events->figure_sets[COLUMN_AT(&events->figures, uint32_t, i)];
        int64_t reserved = figures->reserved_bytes == MEMORY_UNKNOWN ? 0 : figures->reserved_bytes;
        int64_t bytes = reserved + COLUMN_AT(&events->in_use_bytes, int64_t, i);
        if (bytes >= peak->bytes) {
            peak->bytes = bytes;
            peak->at = (uint32_t)i;
        }
        peak->lifetime_bytes = figures->peak_bytes == MEMORY_UNKNOWN ? 0 : figures->peak_bytes;
    }
    return peaks;
}

static int64_t in_use_at(const void *curve, uint32_t at)
{
    const struct profile_pool *pool = curve;
    return profile_in_use_bytes(pool->profile, pool->first + at);
}

static bool has_word(struct str name, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= name.length; i++)
        if (str_equal_any_case((struct str){name.data + i, length}, (struct str){word, length}))
            return true;
    return false;
}

/* Source: XLA's compute_xspace_stats.cc; pools with a number are those of TPUs. */
static enum profile_kind kind_of_pool(const struct memory_pool *pool)
{
    bool is_host = has_word(pool->name, "host") || has_word(pool->name, "cpu");
    if (pool->is_numbered)
        return PROFILE_DEVICE;
    return is_host ? PROFILE_HOST : has_word(pool->name, "gpu") ? PROFILE_DEVICE : PROFILE_OTHER;
}

static int larger_first(const void *left, const void *right)
{
    const struct profile_pool *a = left, *b = right;
    int64_t a_bytes = profile_in_use_bytes(a->profile, a->peak_at),
            b_bytes = profile_in_use_bytes(b->profile, b->peak_at);
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a_bytes != b_bytes)
        return a_bytes > b_bytes ? -1 : 1;
    return str_compare(a->name, b->name);
}

/* Figures of a pool whose columns are complete. */
static void pool_measure(struct profile *profile, struct profile_pool *pool, const struct hands *hands,
                         struct arena *arena)
{
    uint32_t least_at, most_at, end = pool->first + pool->count;
    extremes_build(&pool->extremes, in_use_at, pool, pool->count, hands, arena);
    extremes_of(&pool->extremes, 0, pool->count, &least_at, &most_at);
    pool->least_at = pool->first + least_at;
    pool->peak_at = pool->first + most_at;
    int64_t peak_bytes = profile_in_use_bytes(profile, pool->peak_at);
    int64_t depth = peak_bytes - profile_in_use_bytes(profile, pool->least_at);
    /* a peak of note stands out by a fiftieth of what the curve spans */
    pool->peaks = thin_peaks(in_use_at, pool, pool->count, depth / 50, 64, arena, &pool->peak_count);
    for (uint32_t i = 0; i < pool->peak_count; i++)
        pool->peaks[i] += pool->first;
    pool->capacity_bytes = profile->events.figure_sets[profile->figures[pool->peak_at]].limit_bytes;
    pool->lifetime_peak_bytes = MEMORY_UNKNOWN;
    for (uint32_t i = pool->first; i < end; i++) {
        int64_t told = profile->events.figure_sets[profile->figures[i]].peak_bytes;
        pool->lifetime_peak_bytes = told > pool->lifetime_peak_bytes ? told : pool->lifetime_peak_bytes;
        pool->has_free |= profile->events.figure_sets[profile->figures[i]].limit_bytes != MEMORY_UNKNOWN;
        pool->has_fragmentation |= (profile->flags[i] & MEMORY_HAS_FRAGMENTATION) != 0;
        pool->has_addresses |= (profile->flags[i] & MEMORY_HAS_ADDRESS) != 0;
    }
}

/* Frees of TPUs do not say how much they free, and some events not how much is in use. */
static void pool_complete(struct profile *profile, struct profile_pool *pool)
{
    int64_t inferred_bytes = 0;
    for (uint32_t i = pool->first; i < pool->first + pool->count; i++) {
        bool is_freed = profile_is_free(profile, i);
        pool->deallocation_count += is_freed;
        pool->allocation_count += !is_freed;
        uint32_t partner = profile->partner[i];
        int64_t before = i > pool->first ? profile->heap_bytes[i - 1] : 0;
        if (is_freed && (profile->flags[i] & MEMORY_HAS_SIZE) == 0) {
            int64_t change = i > pool->first ? before - profile->heap_bytes[i] : 0;
            if (partner != PROFILE_NONE)
                profile->size_bytes[i] = profile->size_bytes[partner];
            else if (change > 0 && (profile->flags[i] & MEMORY_HAS_IN_USE) != 0 &&
                     inferred_bytes + change <= MEMORY_MOST_BYTES)
                inferred_bytes += profile->size_bytes[i] = change;
            profile->flags[i] |= PROFILE_SIZE_INFERRED;
        }
        int64_t change = is_freed ? -profile->size_bytes[i] : profile->size_bytes[i];
        if ((profile->flags[i] & MEMORY_HAS_IN_USE) == 0)
            profile->heap_bytes[i] = before + change > 0 ? before + change : 0;
        if (i == pool->first) {
            pool->base_bytes = profile->heap_bytes[i] - change;
            continue;
        }
        pool->link_count++;
        if (profile->heap_bytes[i] - before != change) {
            pool->break_count++;
            profile->flags[i] |= PROFILE_OFF_CHAIN;
        }
    }
}

static void pools_make(struct profile *profile, struct ordering *ordering, const struct xprof_peak *xprof,
                       struct arena *arena)
{
    const struct memory_events *events = ordering->events;
    profile->pools = arena_array(arena, struct profile_pool, (size_t)ordering->pool_count + 1);
    profile->pool_count = ordering->pool_count;
    for (uint32_t i = 0; i < events->pool_count; i++) {
        struct profile_pool *pool = &profile->pools[ordering->pool_of[i]];
        pool->profile = profile;
        pool->name = events->pools[i].name;
        pool->kind = kind_of_pool(&events->pools[i]);
    }
    for (uint32_t p = 0; p < profile->pool_count; p++) {
        struct profile_pool *pool = &profile->pools[p];
        pool->first = ordering->first[p];
        pool->count = ordering->first[p + 1] - pool->first;
        for (uint32_t i = pool->first; i < pool->first + pool->count; i++)
            if (ordering->order[i] == xprof[p].at)
                pool->xprof_peak_at = i;
        pool->xprof_lifetime_peak_bytes = xprof[p].lifetime_bytes;
        struct pairs pairs = {profile->partner,   profile->address, profile->flags,           MEMORY_FREED,
                              MEMORY_HAS_ADDRESS, pool->first,      pool->first + pool->count};
        pairs_make(&pairs, ordering->scratch, &pool->pairs);
        pool_complete(profile, pool);
        pool_measure(profile, pool, ordering->hands, arena);
        profile_waste_build(pool, ordering->hands, arena);
    }
    if (profile->pool_count > 0)
        qsort(profile->pools, profile->pool_count, sizeof *profile->pools, larger_first);
    for (uint32_t p = 0; p < profile->pool_count; p++)
        profile->pools[p].extremes.curve = &profile->pools[p];
}

void profile_build(struct profile *profile, struct memory_events *events, const struct hands *hands,
                   struct arena *arena)
{
    struct ordering ordering = {.events = events, .hands = hands, .scratch = arena_child(arena)};
    *profile = (struct profile){.events = *events, .count = (uint32_t)events->count};
    times_make(events, profile);
    pools_merge(&ordering);
    ordering.order = arena_raw(ordering.scratch, ((size_t)profile->count + 1) * sizeof(uint32_t));
    by_pool(&ordering);
    profile->partner = arena_raw(arena, (size_t)profile->count * sizeof *profile->partner + 1);
    ordering.spare = profile->partner; /* before it is filled */
    arena_work(arena, (uint64_t)profile->count * 4);
    hands_run(hands_slices(hands, (uint64_t)profile->count * PROFILE_EVENT_BYTES) > 1 ? hands : NULL,
              ordering.pool_count, by_time, &ordering);
    struct xprof_peak *xprof = xprof_peaks(&ordering);
    columns_take(profile, events, &ordering, arena);
    pools_make(profile, &ordering, xprof, arena);
    profile_steps_build(profile, arena);
    profile_notes_build(profile, arena);
    arena_free(ordering.scratch);
}
