/* SPDX-License-Identifier: Apache-2.0
 * held.c: see held.h. */
#include "model/memory_profile/held.h"

#include "memory/allocator/caching_settings.h"
#include "model/memory_profile/held_blocks.h"

#include <stdlib.h>

/* A range of addresses that an event takes or gives back, or that a segment has at the end. */
struct range {
    uint64_t begin, end;
    uint32_t event, number; /* one of both; the other is PROFILE_NONE */
};

struct replay {
    const struct memory_profile_pool *pool;
    const struct torch_snapshot *snapshot;
    struct arena *arena;
    struct range *ranges; /* events behind the moment in their order, then the segments at the end */
    uint32_t range_count;
    uint64_t *bounds; /* all begins and ends, each once */
    uint32_t bound_count;
    uint32_t *owner; /* for each piece between two bounds: the first range that covers it; PROFILE_NONE */
    uint32_t *next;  /* for each piece: itself, or where the next one without an owner may be */
};

static int by_number(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return ORDER(*a, *b);
}

static void range_add(struct replay *replay, uint64_t address, int64_t size_bytes, uint32_t event, uint32_t number)
{
    uint64_t end = address + (uint64_t)size_bytes;
    if (size_bytes > 0 && end > address)
        replay->ranges[replay->range_count++] = (struct range){address, end, event, number};
}

static void ranges_make(struct replay *replay, uint32_t rare_count)
{
    const struct memory_profile_torch *torch = &replay->pool->torch;
    size_t room = (size_t)(torch->event_count - rare_count) + replay->snapshot->segment_count;
    replay->ranges = arena_array(replay->arena, struct range, room + 1);
    for (uint32_t i = rare_count; i < torch->event_count; i++) {
        const struct torch_event *event = &torch->events[i];
        if (torch_snapshot_driver_sign(event) != 0)
            range_add(replay, event->address, event->size_bytes, i, PROFILE_NONE);
    }
    for (uint32_t i = 0; i < replay->snapshot->segment_count; i++) {
        const struct torch_segment *segment = &replay->snapshot->segments[i];
        if (segment->device == replay->pool->device)
            range_add(replay, segment->address, segment->total_bytes, PROFILE_NONE, i);
    }
}

static void bounds_make(struct replay *replay)
{
    uint64_t *bounds = arena_array(replay->arena, uint64_t, 2 * (size_t)replay->range_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < replay->range_count; i++) {
        bounds[2 * (size_t)i] = replay->ranges[i].begin;
        bounds[2 * (size_t)i + 1] = replay->ranges[i].end;
    }
    qsort(bounds, 2 * (size_t)replay->range_count, sizeof(*bounds), by_number);
    for (uint32_t i = 0; i < 2 * replay->range_count; i++)
        if (count == 0 || bounds[count - 1] != bounds[i])
            bounds[count++] = bounds[i];
    replay->bounds = bounds;
    replay->bound_count = count;
}

static uint32_t bound_at(const struct replay *replay, uint64_t address)
{
    const uint64_t *found = bsearch(&address, replay->bounds, replay->bound_count, sizeof(*replay->bounds), by_number);
    return (uint32_t)(found - replay->bounds);
}

/* The first piece from `at` on that has no owner. */
static uint32_t unowned(struct replay *replay, uint32_t at)
{
    uint32_t found = at;
    while (replay->next[found] != found)
        found = replay->next[found];
    for (uint32_t step; replay->next[at] != found; at = step) {
        step = replay->next[at];
        replay->next[at] = found;
    }
    return found;
}

static void owners_find(struct replay *replay)
{
    replay->owner = arena_array(replay->arena, uint32_t, (size_t)replay->bound_count + 1);
    replay->next = arena_array(replay->arena, uint32_t, (size_t)replay->bound_count + 1);
    for (uint32_t i = 0; i <= replay->bound_count; i++) {
        replay->owner[i] = PROFILE_NONE;
        replay->next[i] = i;
    }
    for (uint32_t r = 0; r < replay->range_count; r++) {
        uint32_t end = bound_at(replay, replay->ranges[r].end);
        for (uint32_t i = unowned(replay, bound_at(replay, replay->ranges[r].begin)); i < end; i = unowned(replay, i)) {
            replay->owner[i] = r;
            replay->next[i] = i + 1;
        }
    }
}

/* The segment that a piece belongs to, with nothing in it. Without an event it is there to the end. Those that
 * cudaMalloc made are larger for large requests than those for small ones. */
static struct memory_profile_segment segment_of(const struct replay *replay, const struct range *range)
{
    struct memory_profile_segment segment = {.number = range->number};
    if (range->number != PROFILE_NONE) {
        const struct torch_segment *told = &replay->snapshot->segments[range->number];
        segment.stream = told->stream;
        segment.pool_id[0] = told->pool_id[0];
        segment.pool_id[1] = told->pool_id[1];
        segment.class = told->is_large ? PROFILE_CLASS_LARGE : PROFILE_CLASS_SMALL;
        segment.is_expandable = told->is_expandable;
        return segment;
    }
    const struct torch_event *event = &replay->pool->torch.events[range->event];
    segment.stream = event->stream;
    segment.is_expandable = event->action == TORCH_SEGMENT_UNMAP;
    if (!segment.is_expandable)
        segment.class = event->size_bytes > CACHING_SMALL_SEGMENT ? PROFILE_CLASS_LARGE : PROFILE_CLASS_SMALL;
    return segment;
}

/* Pieces side by side are one segment when they are of one, or of one that grows and shrinks. */
static bool is_one(const struct memory_profile_segment *a, uint32_t a_owner, const struct memory_profile_segment *b,
                   uint32_t b_owner)
{
    bool is_of_two = a->number != PROFILE_NONE && b->number != PROFILE_NONE && a->number != b->number;
    return a_owner == b_owner || (a->is_expandable && b->is_expandable && a->stream == b->stream && !is_of_two);
}

static void segments_make(struct replay *replay, struct memory_profile_held *out)
{
    uint32_t last_owner = PROFILE_NONE;
    out->segments = arena_array(replay->arena, struct memory_profile_segment, (size_t)replay->bound_count + 1);
    for (uint32_t i = 0; i + 1 < replay->bound_count; i++) {
        uint32_t owner = replay->owner[i];
        const struct range *range = owner == PROFILE_NONE ? NULL : &replay->ranges[owner];
        if (range == NULL ||
            (range->event != PROFILE_NONE && torch_snapshot_driver_sign(&replay->pool->torch.events[range->event]) > 0))
            continue; /* it was not there yet */
        struct memory_profile_segment piece = segment_of(replay, range);
        struct memory_profile_segment *last = out->segment_count > 0 ? &out->segments[out->segment_count - 1] : NULL;
        uint64_t size = replay->bounds[i + 1] - replay->bounds[i];
        if (last != NULL && last->address + last->size_bytes == replay->bounds[i] &&
            is_one(last, last_owner, &piece, owner)) {
            last->size_bytes += size;
            if (last->number == PROFILE_NONE && piece.number != PROFILE_NONE) {
                last->number = piece.number;
                last->class = piece.class;
                memcpy(last->pool_id, piece.pool_id, sizeof(piece.pool_id));
            }
        } else {
            piece.address = replay->bounds[i];
            piece.size_bytes = size;
            out->segments[out->segment_count++] = piece;
        }
        last_owner = owner;
    }
}

/* ---- what lies in them ---- */

static void hole_take(struct memory_profile_segment *segment, uint64_t begin, uint64_t end)
{
    if (end <= begin)
        return;
    segment->hole_count++;
    if (end - begin > segment->largest_hole_bytes) {
        segment->largest_hole_bytes = end - begin;
        segment->largest_hole_address = begin;
    }
}

/* Blocks and segments are both by address. Blocks of damaged files may overlap: no byte counts twice. */
static void blocks_place(struct memory_profile_held *out)
{
    uint32_t at = 0;
    for (uint32_t s = 0; s < out->segment_count; s++) {
        struct memory_profile_segment *segment = &out->segments[s];
        uint64_t segment_end = segment->address + segment->size_bytes, to = segment->address;
        for (; at < out->block_count && out->blocks[at].address < segment->address; at++)
            out->outside_bytes += out->blocks[at].size_bytes;
        segment->first_block = at;
        for (; at < out->block_count && out->blocks[at].address < segment_end; at++) {
            struct memory_profile_held_block *block = &out->blocks[at];
            uint64_t end = block->address + block->size_bytes;
            end = end > segment_end || end < block->address ? segment_end : end;
            block->segment = s;
            segment->block_count++;
            hole_take(segment, to, block->address);
            uint64_t own_bytes = end > to ? end - (block->address > to ? block->address : to) : 0;
            segment->used_bytes += own_bytes;
            segment->pending_bytes += block->is_pending ? own_bytes : 0;
            segment->requested_bytes += block->requested_bytes < own_bytes ? block->requested_bytes : own_bytes;
            to = end > to ? end : to;
        }
        hole_take(segment, to, segment_end);
        out->reserved_bytes += segment->size_bytes;
        out->used_bytes += segment->used_bytes;
        out->pending_bytes += segment->pending_bytes;
        out->requested_bytes += segment->requested_bytes;
    }
    for (; at < out->block_count; at++)
        out->outside_bytes += out->blocks[at].size_bytes;
}

void memory_profile_held_find(const struct memory_profile_pool *pool, const struct memory_profile_moment *moment,
                              struct arena *arena, struct memory_profile_held *out)
{
    struct replay replay = {.pool = pool, .snapshot = pool->profile->events.snapshot, .arena = arena};
    *out = (struct memory_profile_held){.segments = NULL};
    ranges_make(&replay, moment->rare_count);
    bounds_make(&replay);
    owners_find(&replay);
    segments_make(&replay, out);
    memory_profile_held_blocks_find(pool, moment, arena, out);
    blocks_place(out);
}
