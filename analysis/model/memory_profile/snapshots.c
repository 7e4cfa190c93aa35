/* SPDX-License-Identifier: Apache-2.0
 * snapshots.c: see snapshots.h. */
#include "model/memory_profile/snapshots.h"

#include <assert.h>
#include <stdlib.h>

struct placed {
    int64_t offset_ps;
    uint32_t event;
};

static int by_offset(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->offset_ps != b->offset_ps)
        return a->offset_ps < b->offset_ps ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

int64_t memory_profile_snapshots_event_offset(const struct memory_profile *profile, uint32_t event)
{
    const struct trace_line *line = &profile->events.lines[profile->line[event]];
    bool is_clamped = false;
    return profile->time_ps[event] - trace_groups_time(line->timestamp_ns, profile->events.origin_ns, 0, &is_clamped);
}

bool memory_profile_snapshots_is_seen(const struct memory_profile *profile, uint32_t event)
{
    return profile->events.encoded_count == 0 || !profile->events.whats[profile->what[event]].is_encoded;
}

struct memory_profile_likeness memory_profile_snapshots_likeness(const struct memory_profile_pool *pool)
{
    const struct memory_profile *profile = pool->profile;
    struct memory_profile_likeness likeness = {true, true, true, false, false};
    int64_t before_ps = INT64_MIN, base_ps = 0;
    uint32_t line = PROFILE_NONE;
    for (uint32_t event = pool->first; event < pool->first + pool->count; event++) {
        if (profile->line[event] != line)
            base_ps = profile->time_ps[event] - memory_profile_snapshots_event_offset(profile, event);
        line = profile->line[event];
        int64_t offset_ps = profile->time_ps[event] - base_ps;
        likeness.is_sorted &= offset_ps >= before_ps;
        likeness.is_seen &= memory_profile_snapshots_is_seen(profile, event);
        likeness.has_addresses &= (profile->flags[event] & MEMORY_HAS_ADDRESS) != 0;
        likeness.has_steps |= profile->step[event] >= 0;
        likeness.has_gaps |= profile->step[event] < 0;
        before_ps = offset_ps;
    }
    return likeness;
}

static int64_t in_use_bytes_at(const struct memory_profile_snapshots *snapshots, uint32_t place)
{
    return memory_profile_in_use_bytes(snapshots->profile, memory_profile_snapshots_event(snapshots, place));
}

uint32_t memory_profile_snapshots_largest(const struct memory_profile_snapshots *snapshots, uint32_t from, uint32_t to)
{
    uint32_t min_at, largest_at = from;
    if (snapshots->event == NULL) {
        extremes_of(&snapshots->pool->extremes, from, to, &min_at, &largest_at);
        return largest_at;
    }
    int64_t largest_bytes = in_use_bytes_at(snapshots, from);
    for (uint32_t place = from + 1; place < to; place++) {
        int64_t bytes = in_use_bytes_at(snapshots, place);
        if (bytes > largest_bytes) {
            largest_bytes = bytes;
            largest_at = place;
        }
    }
    return largest_at;
}

uint32_t memory_profile_snapshots_last(const struct memory_profile_snapshots *snapshots, int64_t in_use_bytes)
{
    assert(snapshots->event != NULL || snapshots->pool != NULL);
    const struct extremes *extremes = snapshots->event == NULL ? &snapshots->pool->extremes : NULL;
    for (uint32_t end = snapshots->count, begin; end > 0; end = begin) {
        begin = (end - 1) / EXTREMES_BLOCK * EXTREMES_BLOCK;
        if (extremes != NULL && end - begin == EXTREMES_BLOCK) {
            uint32_t block = begin / EXTREMES_BLOCK;
            if (in_use_bytes_at(snapshots, extremes->max_at[block]) < in_use_bytes ||
                in_use_bytes_at(snapshots, extremes->min_at[block]) > in_use_bytes)
                continue;
        }
        for (uint32_t place = end; place > begin; place--)
            if (in_use_bytes_at(snapshots, place - 1) == in_use_bytes)
                return place - 1;
    }
    return PROFILE_NONE;
}

int64_t memory_profile_snapshots_offset(const struct memory_profile_snapshots *snapshots, uint32_t place)
{
    return memory_profile_snapshots_event_offset(snapshots->profile, memory_profile_snapshots_event(snapshots, place));
}

int64_t memory_profile_snapshots_step(const struct memory_profile_snapshots *snapshots, uint32_t place)
{
    if (snapshots->step != NULL)
        return snapshots->step[place];
    int32_t step = snapshots->profile->step[memory_profile_snapshots_event(snapshots, place)];
    return step < 0 ? 0 : step;
}

uint32_t memory_profile_snapshots_told_by(const struct memory_profile_snapshots *snapshots, uint32_t place)
{
    if (snapshots->told_by != NULL)
        return snapshots->told_by[place];
    uint32_t event = memory_profile_snapshots_event(snapshots, place), partner = snapshots->profile->partner[event];
    return memory_profile_is_free(snapshots->profile, event) && partner != PROFILE_NONE ? partner : event;
}

static void order_make(struct memory_profile_snapshots *snapshots)
{
    const struct memory_profile_pool *pool = snapshots->pool;
    struct arena *arena = snapshots->arena;
    struct arena *scratch = arena_child(arena);
    struct placed *placed = arena_raw(scratch, (size_t)pool->count * sizeof(*placed));
    uint32_t count = 0;
    for (uint32_t event = pool->first; event < pool->first + pool->count; event++)
        if (memory_profile_snapshots_is_seen(snapshots->profile, event))
            placed[count++] = (struct placed){memory_profile_snapshots_event_offset(snapshots->profile, event), event};
    if (count > 0) /* lines start at different times */
        qsort(placed, count, sizeof(*placed), by_offset);
    snapshots->count = count;
    snapshots->event = arena_raw(arena, (size_t)count * sizeof(*snapshots->event));
    for (uint32_t i = 0; i < count; i++)
        snapshots->event[i] = placed[i].event;
    arena_free(scratch);
}

/* An event outside of all steps gets the last one's number plus 1. */
static void steps_make(struct memory_profile_snapshots *snapshots)
{
    int64_t last = -1;
    snapshots->step = arena_raw(snapshots->arena, (size_t)snapshots->count * sizeof(*snapshots->step));
    for (uint32_t i = 0; i < snapshots->count; i++) {
        int32_t step = snapshots->profile->step[memory_profile_snapshots_event(snapshots, i)];
        snapshots->step[i] = step < 0 ? last + 1 : step;
        last = step < 0 ? last : step;
    }
}

/* Frees show what their allocation was; of two allocations at one address the first counts until it is freed. */
static void frees_tell(struct memory_profile_snapshots *snapshots)
{
    const struct memory_profile *profile = snapshots->profile;
    uint32_t count = snapshots->count;
    struct arena *scratch = arena_child(snapshots->arena);
    struct table addresses;
    struct chunks open; /* uint32_t, of each address */
    table_init(&addresses, scratch, 1);
    chunks_init(&open, scratch, sizeof(uint32_t));
    snapshots->told_by = arena_raw(snapshots->arena, (size_t)count * sizeof(*snapshots->told_by));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = memory_profile_snapshots_event(snapshots, i);
        uint32_t number = table_number(&addresses, &profile->address[event]);
        while (open.count <= number)
            CHUNKS_ADD(&open, uint32_t, PROFILE_NONE);
        uint32_t *opened = &CHUNKS_AT(&open, uint32_t, number);
        snapshots->told_by[i] = event;
        if (!memory_profile_is_free(profile, event)) {
            *opened = *opened == PROFILE_NONE ? event : *opened;
        } else if (*opened != PROFILE_NONE) {
            snapshots->told_by[i] = *opened;
            *opened = PROFILE_NONE;
        }
    }
    arena_free(scratch);
}

void memory_profile_snapshots_make(struct memory_profile_snapshots *snapshots)
{
    struct memory_profile_likeness likeness = snapshots->pool->likeness;
    snapshots->count = snapshots->pool->count;
    if (!likeness.is_sorted || !likeness.is_seen)
        order_make(snapshots);
    if (likeness.has_steps && likeness.has_gaps)
        steps_make(snapshots);
    if (snapshots->event != NULL || !likeness.has_addresses || snapshots->pool->pairs.replaced > 0)
        frees_tell(snapshots);
}
