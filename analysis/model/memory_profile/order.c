/* SPDX-License-Identifier: Apache-2.0
 * order.c: see order.h. */
#include "model/memory_profile/order.h"

#include "base/intern.h"

/* What a slice of the file holds of one pool. */
struct tally {
    uint32_t count;
    bool is_sorted;
    int64_t first_ps, last_ps;
    uint32_t last_at; /* the last event that XProf sees; PROFILE_NONE */
    uint32_t peak_at; /* of those the last with most in use */
    int64_t peak_bytes;
};

struct slice {
    struct tally *tallies; /* of each pool */
    uint32_t *next;        /* of each pool: where its next event goes */
    uint32_t line_before;  /* of the event before the slice; PROFILE_NONE: there is none */
    int64_t before_ps;
    uint64_t clamped_count, backward_count;
};

struct ordering {
    const struct memory_events *events;
    const struct workers *workers;
    struct arena *scratch;
    struct memory_profile_order *order;
    struct slice *slices;
    size_t slice_count;
    bool *is_sorted;     /* by pool: its events have the order of time in the file */
    uint32_t *places;    /* of the file, in the order of pool and time */
    struct column spare; /* room for one more column */
};

/* ---- pools ---- */

static void pools_merge(const struct ordering *ordering)
{
    const struct memory_events *events = ordering->events;
    struct intern names;
    intern_init(&names, ordering->scratch);
    ordering->order->pool_of = arena_array(ordering->scratch, uint32_t, events->pool_count + 1);
    for (uint32_t i = 0; i < events->pool_count; i++)
        ordering->order->pool_of[i] = intern_number(&names, events->pools[i].name);
    ordering->order->pool_count = names.map.count;
}

/* ---- one walk in the order of the file ---- */

static int64_t time_of(const struct memory_events *events, size_t at, bool *is_clamped)
{
    return trace_groups_time(events->lines[COLUMN_AT(&events->line, uint32_t, at)].timestamp_ns, events->origin_ns,
                             COLUMN_AT(&events->offset_ps, int64_t, at), is_clamped);
}

/* Offsets become times from the origin, in place. */
static void slice_times(const struct memory_events *events, struct slice *slice, size_t first, size_t end)
{
    int64_t *times_ps = &COLUMN_AT(&events->offset_ps, int64_t, 0), before_ps = slice->before_ps;
    const uint32_t *lines = &COLUMN_AT(&events->line, uint32_t, 0);
    uint32_t line_before = slice->line_before;
    uint64_t clamped_count = 0, backward_count = 0;
    for (size_t i = first; i < end; i++) {
        bool is_clamped = false;
        times_ps[i] = time_of(events, i, &is_clamped);
        clamped_count += is_clamped;
        backward_count += lines[i] == line_before && times_ps[i] < before_ps;
        before_ps = times_ps[i];
        line_before = lines[i];
    }
    slice->clamped_count = clamped_count;
    slice->backward_count = backward_count;
}

static void slice_tallies(const struct memory_events *events, const uint32_t *pool_of, struct tally *tallies,
                          size_t first, size_t end)
{
    const uint16_t *pools = &COLUMN_AT(&events->pool, uint16_t, 0);
    const int64_t *times_ps = &COLUMN_AT(&events->offset_ps, int64_t, 0);
    const int64_t *in_use_bytes = &COLUMN_AT(&events->in_use_bytes, int64_t, 0);
    const uint32_t *figures = &COLUMN_AT(&events->figures, uint32_t, 0);
    const uint32_t *whats = &COLUMN_AT(&events->what, uint32_t, 0);
    for (size_t i = first; i < end; i++) {
        struct tally *tally = &tallies[pool_of[pools[i]]];
        if (tally->count++ == 0)
            tally->first_ps = tally->last_ps = times_ps[i];
        if (times_ps[i] < tally->last_ps)
            tally->is_sorted = false;
        tally->last_ps = times_ps[i];
        if (events->encoded_count > 0 && events->whats[whats[i]].is_encoded)
            continue; /* XProf does not see it */
        int64_t reserved_bytes = events->figure_sets[figures[i]].reserved_bytes;
        int64_t bytes = (reserved_bytes == MEMORY_UNKNOWN ? 0 : reserved_bytes) + in_use_bytes[i];
        tally->last_at = (uint32_t)i;
        if (bytes >= tally->peak_bytes) {
            tally->peak_bytes = bytes;
            tally->peak_at = (uint32_t)i;
        }
    }
}

static void slice_walk(void *task, size_t slice_at, size_t first, size_t end)
{
    const struct ordering *ordering = task;
    struct slice *slice = &ordering->slices[slice_at];
    if (first == end)
        return;
    slice_times(ordering->events, slice, first, end);
    slice_tallies(ordering->events, ordering->order->pool_of, slice->tallies, first, end);
}

/* What all slices together hold of a pool, and where each of them puts its own. */
static void tallies_join(const struct ordering *ordering, uint32_t pool)
{
    const struct memory_events *events = ordering->events;
    struct memory_profile_order *order = ordering->order;
    struct tally all = {.is_sorted = true, .last_at = PROFILE_NONE};
    for (size_t s = 0; s < ordering->slice_count; s++) {
        const struct tally *tally = &ordering->slices[s].tallies[pool];
        ordering->slices[s].next[pool] = order->first[pool] + all.count;
        if (tally->count == 0)
            continue;
        all.is_sorted &= tally->is_sorted && (all.count == 0 || tally->first_ps >= all.last_ps);
        all.last_ps = tally->last_ps;
        all.count += tally->count;
        if (tally->last_at == PROFILE_NONE)
            continue;
        all.last_at = tally->last_at;
        if (tally->peak_bytes >= all.peak_bytes) {
            all.peak_bytes = tally->peak_bytes;
            all.peak_at = tally->peak_at;
        }
    }
    order->first[pool + 1] = order->first[pool] + all.count;
    order->peaks[pool].at = all.peak_at;
    if (all.last_at != PROFILE_NONE) {
        int64_t told_bytes = events->figure_sets[COLUMN_AT(&events->figures, uint32_t, all.last_at)].peak_bytes;
        order->peaks[pool].lifetime_bytes = told_bytes == MEMORY_UNKNOWN ? 0 : told_bytes;
    }
    ordering->is_sorted[pool] = all.is_sorted;
}

static void file_walk(struct ordering *ordering, struct memory_profile *profile)
{
    const struct memory_events *events = ordering->events;
    struct memory_profile_order *order = ordering->order;
    struct arena *scratch = ordering->scratch;
    size_t pool_count = order->pool_count;
    uint64_t clamped_count = 0, backward_count = 0;
    ordering->slice_count = workers_slices(ordering->workers, (uint64_t)events->count * PROFILE_EVENT_BYTES);
    ordering->slices = arena_array(scratch, struct slice, ordering->slice_count);
    for (size_t s = 0; s < ordering->slice_count; s++) {
        struct slice *slice = &ordering->slices[s];
        size_t first = workers_slice(events->count, s, ordering->slice_count);
        bool is_clamped;
        slice->tallies = arena_array(scratch, struct tally, pool_count + 1);
        slice->next = arena_array(scratch, uint32_t, pool_count + 1);
        for (size_t p = 0; p < pool_count; p++)
            slice->tallies[p] = (struct tally){.is_sorted = true, .last_at = PROFILE_NONE};
        slice->line_before = first > 0 ? COLUMN_AT(&events->line, uint32_t, first - 1) : PROFILE_NONE;
        slice->before_ps = first > 0 ? time_of(events, first - 1, &is_clamped) : 0;
    }
    workers_range(ordering->workers, events->count, PROFILE_EVENT_BYTES, slice_walk, ordering);
    order->first = arena_array(scratch, uint32_t, pool_count + 1);
    order->peaks = arena_array(scratch, struct memory_profile_xprof_peak, pool_count + 1);
    ordering->is_sorted = arena_array(scratch, bool, pool_count + 1);
    for (uint32_t p = 0; p < pool_count; p++)
        tallies_join(ordering, p);
    for (size_t s = 0; s < ordering->slice_count; s++) {
        clamped_count += ordering->slices[s].clamped_count;
        backward_count += ordering->slices[s].backward_count;
    }
    memory_profile_note(&profile->notes, "clock_out_of_range", clamped_count,
                        "Memory events whose times do not fit with the others; they are drawn at the edge.");
    memory_profile_note(&profile->notes, "out_of_order", backward_count,
                        "Memory events recorded before earlier ones of their line; they are shown in order of time.");
}

/* ---- order ---- */

/* Stable, by pool. */
static void slice_place(void *task, size_t slice_at, size_t first, size_t end)
{
    const struct ordering *ordering = task;
    const uint32_t *pool_of = ordering->order->pool_of;
    uint32_t *next = ordering->slices[slice_at].next;
    for (size_t i = first; i < end; i++)
        ordering->places[next[pool_of[COLUMN_AT(&ordering->events->pool, uint16_t, i)]]++] = (uint32_t)i;
}

static int64_t placed_time(const struct ordering *ordering, uint32_t place)
{
    return COLUMN_AT(&ordering->events->offset_ps, int64_t, place);
}

/* Merges the runs [a, b) and [b, c) of `from` into `to`; of equal times the former come first. */
static void merge(const struct ordering *ordering, const uint32_t *from, uint32_t *to, uint32_t a, uint32_t b,
                  uint32_t c)
{
    uint32_t left = a, right = b, at = a;
    while (left < b && right < c)
        to[at++] =
            placed_time(ordering, from[right]) < placed_time(ordering, from[left]) ? from[right++] : from[left++];
    while (left < b)
        to[at++] = from[left++];
    while (right < c)
        to[at++] = from[right++];
    assert(at == c);
}

static uint32_t run_end(const struct ordering *ordering, const uint32_t *places, uint32_t from, uint32_t end)
{
    uint32_t at = from + 1;
    while (at < end && placed_time(ordering, places[at]) >= placed_time(ordering, places[at - 1]))
        at++;
    return at < end ? at : end;
}

/* The events of one pool. Lines are in order of time nearly always: merging the runs that are there is one or two
 * passes, and never more than there are bits in their number. */
static void by_time(void *task, size_t pool)
{
    const struct ordering *ordering = task;
    uint32_t *from = ordering->places, *to = &COLUMN_AT(&ordering->spare, uint32_t, 0);
    uint32_t first = ordering->order->first[pool], end = ordering->order->first[pool + 1];
    bool is_sorted = ordering->is_sorted[pool];
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
    if (from != ordering->places)
        memcpy(ordering->places + first, from + first, (size_t)(end - first) * sizeof(*from));
}

/* Makes the order of the events; `file_at` stays NULL if the file has it. */
static void places_make(struct ordering *ordering)
{
    struct memory_profile_order *order = ordering->order;
    size_t count = ordering->events->count;
    if (order->pool_count <= 1 && (order->pool_count == 0 || ordering->is_sorted[0]))
        return; /* as a trace of one pool and one line is */
    ordering->places = arena_raw(ordering->scratch, (count + 1) * sizeof(uint32_t));
    workers_range(ordering->workers, count, PROFILE_EVENT_BYTES, slice_place, ordering);
    workers_run(ordering->slice_count > 1 ? ordering->workers : NULL, order->pool_count, by_time, ordering);
    order->file_at = ordering->places;
}

/* ---- columns ---- */

struct order_gathering {
    const struct column *from, *to;
    const uint32_t *places;
};

#define GATHER(type)                                                                                                   \
    for (size_t i = first; i < end; i++)                                                                               \
    COLUMN_AT(to, type, i) = COLUMN_AT(from, type, places[i])

static void slice_gather(void *task, size_t slice, size_t first, size_t end)
{
    const struct order_gathering *gathering = task;
    const struct column *from = gathering->from, *to = gathering->to;
    const uint32_t *places = gathering->places;
    (void)slice;
    switch (to->width) {
    case 8: GATHER(uint64_t); break;
    case 4: GATHER(uint32_t); break;
    default: /* flags */ GATHER(uint8_t); break;
    }
}

/* The column in its final order. It takes the place of the spare one, and its own is the next one's: no memory is
 * fresh. */
static void *column_order(struct ordering *ordering, struct column column[1])
{
    size_t count = ordering->events->count;
    struct column to[1] = {ordering->spare};
    if (ordering->places == NULL || column->is_blank)
        return column->items;
    to->width = column->width;
    column_resize(to, count);
    struct order_gathering gathering = {column, to, ordering->places};
    workers_range(ordering->workers, count, to->width, slice_gather, &gathering);
    ordering->spare = *column;
    return to->items;
}

/* From wide ones to narrow ones, so that each has room where the one before was. */
static void columns_order(struct memory_profile *profile, struct memory_events *events, struct ordering *ordering)
{
#define COLUMN(name, ordered_name, type) profile->ordered_name = column_order(ordering, &events->name);
#include "read/trace/memory_columns.def"
#undef COLUMN
    ordering->spare.width = sizeof(*profile->partner);
    column_resize(&ordering->spare, profile->count);
    profile->partner = &COLUMN_AT(&ordering->spare, uint32_t, 0);
    ordering->spare = events->pool; /* the pools are known */
    profile->flags = column_order(ordering, &events->flags);
    column_free(&ordering->spare);
}

void memory_profile_order_make(struct memory_profile *profile, struct memory_events *events,
                               const struct workers *workers, struct arena *arena, struct arena *scratch,
                               struct memory_profile_order *order)
{
    *order = (struct memory_profile_order){.pool_count = 0};
    struct ordering ordering = {.events = events, .workers = workers, .scratch = scratch, .order = order};
    column_init(&ordering.spare, arena, sizeof(int64_t));
    pools_merge(&ordering);
    file_walk(&ordering, profile);
    arena_work(arena, (uint64_t)profile->count * 4);
    column_resize(&ordering.spare, profile->count);
    places_make(&ordering);
    columns_order(profile, events, &ordering);
}
