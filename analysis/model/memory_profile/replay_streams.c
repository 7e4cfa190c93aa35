/* SPDX-License-Identifier: Apache-2.0
 * replay_streams.c: see replay_streams.h. */
#include "model/memory_profile/replay_streams.h"

#include "base/map.h"
#include "base/table.h"
#include "memory/allocator/caching_blocks.h"

struct streams_finding {
    const struct memory_profile_pool *pool;
    const struct torch_snapshot *snapshot;
    struct table rows;
    struct caching_blocks blocks; /* the segments that are there, by address; requested_bytes is the place in `rows` */
    uint32_t root, last;          /* last: of `blocks`, that an address lay in last */
    struct map numbers;           /* of the snapshot's segments, by address */
};

static uint32_t row_of(struct streams_finding *finding, int64_t stream, const int64_t pool_id[2])
{
    const uint64_t key[3] = {(uint64_t)stream, (uint64_t)pool_id[0], (uint64_t)pool_id[1]};
    return table_number(&finding->rows, key);
}

/* ---- is all memory of one stream? ---- */

static void held_count(struct streams_finding *finding, const struct memory_profile_held *held)
{
    for (uint32_t i = 0; i < held->segment_count; i++)
        row_of(finding, held->segments[i].stream, held->segments[i].pool_id);
}

static void driver_count(struct streams_finding *finding)
{
    const struct memory_profile_torch *torch = &finding->pool->torch;
    const int64_t none[2] = {0, 0};
    for (uint32_t i = 0; i < torch->event_count; i++)
        if (torch_snapshot_driver_sign(&torch->events[i]) != 0)
            row_of(finding, torch->events[i].stream, none);
}

static void end_count(struct streams_finding *finding)
{
    for (size_t i = 0; i < finding->snapshot->segment_count; i++) {
        const struct torch_segment *segment = &finding->snapshot->segments[i];
        if (segment->device == finding->pool->device)
            row_of(finding, segment->stream, segment->pool_id);
    }
}

/* ---- of each request ---- */

static void segment_add(struct streams_finding *finding, uint64_t address, int64_t size_bytes, uint32_t row)
{
    uint32_t at = caching_blocks_new(&finding->blocks);
    struct caching_block *block = caching_blocks_at(&finding->blocks, at);
    block->address = address;
    block->size_bytes = size_bytes;
    block->requested_bytes = row;
    caching_blocks_insert(&finding->blocks, &finding->root, at);
}

static void segments_begin(struct streams_finding *finding, const struct memory_profile_held *held, struct arena *arena)
{
    const struct torch_snapshot *snapshot = finding->snapshot;
    caching_blocks_init(&finding->blocks, arena);
    map_init(&finding->numbers, arena, 64);
    for (uint32_t i = 0; i < snapshot->segment_count; i++)
        if (snapshot->segments[i].device == finding->pool->device)
            map_put(&finding->numbers, snapshot->segments[i].address, i, true);
    for (uint32_t i = 0; i < held->segment_count; i++) {
        const struct memory_profile_segment *segment = &held->segments[i];
        segment_add(finding, segment->address, (int64_t)segment->size_bytes,
                    row_of(finding, segment->stream, segment->pool_id));
    }
}

/* The one that begins last at or before the address. */
static uint32_t segment_before(struct streams_finding *finding, uint64_t address)
{
    uint32_t behind = caching_blocks_from(&finding->blocks, finding->root, 0, address + 1);
    return behind == CACHING_NONE ? caching_blocks_last(&finding->blocks, finding->root)
                                  : caching_blocks_before(&finding->blocks, finding->root, behind);
}

/* A segment comes, or goes. */
static void driver_follow(struct streams_finding *finding, const struct torch_event *event)
{
    const int64_t none[2] = {0, 0};
    finding->last = CACHING_NONE;
    uint32_t at = segment_before(finding, event->address);
    if (at != CACHING_NONE && caching_blocks_at(&finding->blocks, at)->address == event->address) {
        caching_blocks_remove(&finding->blocks, &finding->root, at);
        caching_blocks_drop(&finding->blocks, at);
    }
    if (torch_snapshot_driver_sign(event) < 0)
        return;
    uint32_t told = map_get(&finding->numbers, event->address);
    segment_add(finding, event->address, event->size_bytes,
                row_of(finding, event->stream, told == MAP_NONE ? none : finding->snapshot->segments[told].pool_id));
}

static bool is_in(const struct streams_finding *finding, uint32_t at, uint64_t address)
{
    const struct caching_block *block = caching_blocks_at(&finding->blocks, at);
    return at != CACHING_NONE && address - block->address < (uint64_t)block->size_bytes;
}

/* In no segment that is known: of the first row. */
static uint32_t row_at(struct streams_finding *finding, uint64_t address)
{
    if (!is_in(finding, finding->last, address))
        finding->last = segment_before(finding, address);
    return is_in(finding, finding->last, address)
               ? (uint32_t)caching_blocks_at(&finding->blocks, finding->last)->requested_bytes
               : 0;
}

static const uint32_t *events_find(struct streams_finding *finding, struct arena *arena)
{
    const struct memory_profile_pool *pool = finding->pool;
    uint32_t *rows = arena_array(arena, uint32_t, (size_t)pool->count + 1);
    for (uint32_t at = 0, rare = 0; at < pool->count; at++) {
        for (; rare < pool->torch.event_count && pool->torch.events[rare].event_at <= at; rare++)
            if (torch_snapshot_driver_sign(&pool->torch.events[rare]) != 0)
                driver_follow(finding, &pool->torch.events[rare]);
        if (!memory_profile_is_free(pool->profile, pool->first + at))
            rows[at] = row_at(finding, pool->profile->address[pool->first + at]);
    }
    return rows;
}

void replay_streams_find(const struct memory_profile_pool *pool, const struct memory_profile_held *held,
                         struct arena *arena, struct replay_streams *out)
{
    struct arena *scratch = arena_child(arena);
    struct streams_finding finding = {.pool = pool, .snapshot = pool->profile->events.snapshot};
    table_init(&finding.rows, scratch, 3);
    held_count(&finding, held);
    driver_count(&finding);
    end_count(&finding);
    *out = (struct replay_streams){.of_event = NULL};
    if (table_count(&finding.rows) > 1) {
        segments_begin(&finding, held, scratch);
        out->of_event = events_find(&finding, arena);
    }
    struct replay_stream *rows = arena_array(arena, struct replay_stream, table_count(&finding.rows) + 1);
    for (size_t i = 0; i < table_count(&finding.rows); i++) {
        const uint64_t *key = table_key(&finding.rows, i);
        rows[i] = (struct replay_stream){(int64_t)key[0], {(int64_t)key[1], (int64_t)key[2]}};
    }
    out->rows = rows;
    arena_free(scratch);
}
