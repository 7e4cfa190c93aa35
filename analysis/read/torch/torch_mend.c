/* SPDX-License-Identifier: Apache-2.0
 * torch_mend.c: what one end of an allocation does not tell, its other end does: an address that only one of two equal
 * sizes lacks, a size that only the free, or only the allocation tells. A free ends as many bytes as were allocated. */
#include "read/torch/torch_reading.h"

/* Events of one list in their order. */
struct list {
    struct map open;             /* allocations by address */
    struct chunks allocs, frees; /* uint32_t: those without an address that nothing has claimed */
    bool has_addresses;
};

static bool has_flag(const struct memory_events *out, uint32_t at, enum memory_flag flag)
{
    return (COLUMN_AT(&out->flags, uint8_t, at) & flag) != 0;
}

static int64_t *size_at(struct memory_events *out, uint32_t at) { return &COLUMN_AT(&out->size_bytes, int64_t, at); }

static void size_set(struct memory_events *out, struct torch_snapshot *snapshot, uint32_t at, int64_t bytes)
{
    *size_at(out, at) = bytes;
    snapshot->found_count += !has_flag(out, at, MEMORY_HAS_SIZE);
    COLUMN_AT(&out->flags, uint8_t, at) |= MEMORY_HAS_SIZE | MEMORY_HAS_REQUESTED;
}

static void address_set(struct memory_events *out, struct torch_snapshot *snapshot, uint32_t at, uint64_t address)
{
    COLUMN_AT(&out->address, uint64_t, at) = address;
    COLUMN_AT(&out->flags, uint8_t, at) |= MEMORY_HAS_ADDRESS;
    snapshot->found_count++;
}

/* The latest of the events `lost` that has the size and comes behind `after`; it is theirs no longer. UINT32_MAX:
 * none. */
static uint32_t lost_take(const struct memory_events *out, struct chunks *lost, int64_t bytes, uint32_t after)
{
    for (size_t i = lost->count <= TORCH_MAX_LOST ? lost->count : 0; i-- > 0;) {
        uint32_t at = CHUNKS_AT(lost, uint32_t, i);
        if (at < after || COLUMN_AT(&out->size_bytes, int64_t, at) != bytes)
            continue;
        CHUNKS_AT(lost, uint32_t, i) = CHUNKS_AT(lost, uint32_t, lost->count - 1);
        lost->count--;
        return at;
    }
    return UINT32_MAX;
}

static void sizes_join(struct memory_events *out, struct torch_snapshot *snapshot, uint32_t alloc, uint32_t freed)
{
    int64_t allocated_bytes = *size_at(out, alloc), freed_bytes = *size_at(out, freed);
    if (!has_flag(out, alloc, MEMORY_HAS_SIZE)) {
        if (has_flag(out, freed, MEMORY_HAS_SIZE))
            size_set(out, snapshot, alloc, freed_bytes);
    } else if (!has_flag(out, freed, MEMORY_HAS_SIZE) || freed_bytes != allocated_bytes) {
        snapshot->free_size_count += has_flag(out, freed, MEMORY_HAS_SIZE);
        size_set(out, snapshot, freed, allocated_bytes);
    }
}

static void alloc_take(struct memory_events *out, struct torch_snapshot *snapshot, struct list *list, uint32_t at)
{
    if (!has_flag(out, at, MEMORY_HAS_ADDRESS)) {
        CHUNKS_ADD(&list->allocs, uint32_t, at);
        return;
    }
    uint64_t address = COLUMN_AT(&out->address, uint64_t, at);
    uint32_t before = map_get(&list->open, address);
    uint32_t freed = before == MAP_NONE ? UINT32_MAX : lost_take(out, &list->frees, *size_at(out, before), before);
    if (freed != UINT32_MAX) /* it was free by now */
        address_set(out, snapshot, freed, address);
    map_put(&list->open, address, at, true);
}

static void free_take(struct memory_events *out, struct torch_snapshot *snapshot, struct list *list, uint32_t at)
{
    if (!has_flag(out, at, MEMORY_HAS_ADDRESS)) {
        CHUNKS_ADD(&list->frees, uint32_t, at);
        return;
    }
    uint64_t address = COLUMN_AT(&out->address, uint64_t, at);
    struct map_slot *slot = map_at(&list->open, address);
    if ((uint32_t)slot->value != MAP_NONE) {
        sizes_join(out, snapshot, (uint32_t)slot->value, at);
        map_clear(&list->open, slot);
        return;
    }
    uint32_t alloc = lost_take(out, &list->allocs, *size_at(out, at), 0);
    if (alloc != UINT32_MAX)
        address_set(out, snapshot, alloc, address);
}

/* A free without an address that no later allocation proves: that of the latest allocation of its size that is open. */
static void frees_end(struct memory_events *out, struct torch_snapshot *snapshot, struct list *list, uint16_t pool)
{
    for (size_t i = 0; i < list->frees.count && list->frees.count <= TORCH_MAX_LOST; i++) {
        uint32_t freed = CHUNKS_AT(&list->frees, uint32_t, i);
        for (uint32_t at = freed; at-- > 0;) {
            arena_work(list->frees.arena, 1);
            if (COLUMN_AT(&out->pool, uint16_t, at) != pool || has_flag(out, at, MEMORY_FREED) ||
                *size_at(out, at) != *size_at(out, freed) || !has_flag(out, at, MEMORY_HAS_ADDRESS) ||
                map_get(&list->open, COLUMN_AT(&out->address, uint64_t, at)) != at)
                continue;
            address_set(out, snapshot, freed, COLUMN_AT(&out->address, uint64_t, at));
            map_clear(&list->open, map_at(&list->open, COLUMN_AT(&out->address, uint64_t, at)));
            break;
        }
    }
}

void torch_mend_rows(struct memory_events *out, struct torch_snapshot *snapshot, struct arena *scratch)
{
    struct list *lists = arena_array(scratch, struct list, out->pool_count + 1);
    for (size_t pool = 0; pool < out->pool_count; pool++) {
        map_init(&lists[pool].open, scratch, 16);
        chunks_init(&lists[pool].allocs, scratch, sizeof(uint32_t));
        chunks_init(&lists[pool].frees, scratch, sizeof(uint32_t));
    }
    for (uint32_t i = 0; i < out->count; i++)
        lists[COLUMN_AT(&out->pool, uint16_t, i)].has_addresses |= has_flag(out, i, MEMORY_HAS_ADDRESS);
    for (uint32_t i = 0; i < out->count; i++) {
        struct list *list = &lists[COLUMN_AT(&out->pool, uint16_t, i)];
        if (list->has_addresses)
            (has_flag(out, i, MEMORY_FREED) ? free_take : alloc_take)(out, snapshot, list, i);
    }
    for (size_t pool = 0; pool < out->pool_count; pool++)
        frees_end(out, snapshot, &lists[pool], (uint16_t)pool);
}
