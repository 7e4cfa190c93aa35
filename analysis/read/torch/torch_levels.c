/* SPDX-License-Identifier: Apache-2.0
 * torch_levels.c: how much is in use and reserved after each event of a snapshot: what is open there, so that the parts
 * of the curve add up to it whatever an event says of itself. What was there before the first event is what later
 * frees, and blocks of the end that no event allocates, tell of it. */
#include "read/torch/torch_reading.h"

struct level {
    int64_t in_use_bytes, reserved_bytes; /* at the event at hand */
    bool has_segments;
    struct map open;     /* allocations by address */
    struct map segments; /* segment_alloc by address */
};

static bool has_flag(const struct memory_events *out, size_t at, enum memory_flag flag)
{
    return (COLUMN_AT(&out->flags, uint8_t, at) & flag) != 0;
}

/* ---- blocks of the end ---- */

/* An allocation that is open at the end, and tells no size, or no address, is a block there. */
static void ends_join(struct torch_reading *reading, const struct map *open, const struct torch_block *block,
                      const struct chunks *lost)
{
    struct memory_events *out = reading->out;
    uint32_t at = map_get(open, block->address);
    if (at != MAP_NONE) {
        if (has_flag(out, at, MEMORY_HAS_SIZE))
            return;
        COLUMN_AT(&out->size_bytes, int64_t, at) = block->requested_bytes;
        COLUMN_AT(&out->in_use_bytes, int64_t, at) += block->requested_bytes;
        COLUMN_AT(&out->flags, uint8_t, at) |= MEMORY_HAS_SIZE | MEMORY_HAS_REQUESTED;
        reading->snapshot->found_count++;
        return;
    }
    for (size_t i = 0; i < lost->count && lost->count <= TORCH_MAX_LOST; i++) {
        at = CHUNKS_AT(lost, uint32_t, i);
        if (has_flag(out, at, MEMORY_HAS_ADDRESS) || COLUMN_AT(&out->size_bytes, int64_t, at) != block->requested_bytes)
            continue;
        COLUMN_AT(&out->address, uint64_t, at) = block->address;
        COLUMN_AT(&out->flags, uint8_t, at) |= MEMORY_HAS_ADDRESS;
        reading->snapshot->found_count++;
        return;
    }
}

/* What blocks of the device add that no event allocates; those of equal addresses count once, as they are shown. */
static void kept_add(struct torch_reading *reading, size_t pool, struct level *level, const struct chunks *lost)
{
    struct map seen;
    map_init(&seen, reading->scratch, 64);
    for (size_t i = 0; i < reading->snapshot->segment_count; i++) {
        const struct torch_segment *segment = &reading->snapshot->segments[i];
        if (segment->device != reading->devices[pool])
            continue;
        level->has_segments = true;
        level->reserved_bytes += segment->total_bytes;
        for (uint32_t b = 0; b < segment->block_count; b++) {
            const struct torch_block *block = &reading->snapshot->blocks[segment->first_block + b];
            if (block->state == TORCH_INACTIVE || !map_put(&seen, block->address, 0, false))
                continue;
            uint64_t found = reading->snapshot->found_count;
            ends_join(reading, &level->open, block, lost);
            bool is_lost_one = reading->snapshot->found_count > found;
            if (map_get(&level->open, block->address) == MAP_NONE && !is_lost_one)
                level->in_use_bytes += block->requested_bytes;
        }
    }
}

/* ---- changes ---- */

/* In use changes by it; the allocation before at its address is gone, where one is. */
static void change_set(struct torch_reading *reading, struct level *level, uint32_t at)
{
    struct memory_events *out = reading->out;
    int64_t size_bytes = COLUMN_AT(&out->size_bytes, int64_t, at);
    uint64_t address = COLUMN_AT(&out->address, uint64_t, at);
    bool is_free = has_flag(out, at, MEMORY_FREED), has_address = has_flag(out, at, MEMORY_HAS_ADDRESS);
    uint32_t before = has_address ? map_get(&level->open, address) : MAP_NONE;
    int64_t change = is_free ? -size_bytes : size_bytes;
    if (is_free && before != MAP_NONE)
        map_clear(&level->open, map_at(&level->open, address));
    else if (is_free)
        level->in_use_bytes += size_bytes; /* it was there before the first event */
    else if (has_address && !map_put(&level->open, address, at, true))
        change -= COLUMN_AT(&out->size_bytes, int64_t, before);
    COLUMN_AT(&out->in_use_bytes, int64_t, at) = change;
}

/* A segment that is freed, or there at the end, is as large as it was made. */
static void segment_join(struct torch_reading *reading, struct level *level, uint32_t at)
{
    struct torch_event *event = chunks_at(&reading->events, at);
    if (event->action == TORCH_SEGMENT_ALLOC) {
        map_put(&level->segments, event->address, at, true);
        return;
    }
    struct map_slot *slot = map_at(&level->segments, event->address);
    if (event->action != TORCH_SEGMENT_FREE || (uint32_t)slot->value == MAP_NONE)
        return;
    struct torch_event *made = chunks_at(&reading->events, slot->value);
    if (made->size_bytes <= 0)
        made->size_bytes = event->size_bytes;
    reading->snapshot->free_size_count += event->size_bytes > 0 && event->size_bytes != made->size_bytes;
    event->size_bytes = made->size_bytes;
    map_clear(&level->segments, slot);
}

static void segments_join(struct torch_reading *reading, struct level *levels)
{
    for (uint32_t i = 0; i < reading->events.count; i++)
        segment_join(reading, &levels[CHUNKS_AT(&reading->events, struct torch_event, i).pool], i);
    for (size_t pool = 0; pool < reading->out->pool_count; pool++)
        for (size_t i = 0; i < reading->snapshot->segment_count; i++) {
            const struct torch_segment *segment = &reading->snapshot->segments[i];
            uint32_t at = segment->device == reading->devices[pool] && !segment->is_expandable
                              ? map_get(&levels[pool].segments, segment->address)
                              : MAP_NONE;
            if (at == MAP_NONE)
                continue;
            int64_t *size_bytes = &CHUNKS_AT(&reading->events, struct torch_event, at).size_bytes;
            reading->snapshot->free_size_count += *size_bytes > 0 && *size_bytes != segment->total_bytes;
            *size_bytes = segment->total_bytes;
        }
}

/* What it was before the first event, and what each event changes. */
static void levels_begin(struct torch_reading *reading, struct level *levels)
{
    struct memory_events *out = reading->out;
    struct chunks *lost = arena_array(reading->scratch, struct chunks, out->pool_count + 1);
    for (size_t pool = 0; pool < out->pool_count; pool++) {
        map_init(&levels[pool].open, reading->scratch, 16);
        map_init(&levels[pool].segments, reading->scratch, 16);
        chunks_init(&lost[pool], reading->scratch, sizeof(uint32_t));
    }
    for (uint32_t i = 0; i < out->count; i++) {
        uint16_t pool = COLUMN_AT(&out->pool, uint16_t, i);
        change_set(reading, &levels[pool], i);
        if (!has_flag(out, i, MEMORY_HAS_ADDRESS) && !has_flag(out, i, MEMORY_FREED))
            CHUNKS_ADD(&lost[pool], uint32_t, i);
    }
    segments_join(reading, levels);
    for (size_t i = 0; i < reading->events.count; i++) {
        const struct torch_event *event = chunks_at(&reading->events, i);
        levels[event->pool].reserved_bytes -= torch_snapshot_driver_bytes(event);
    }
    for (size_t pool = 0; pool < out->pool_count; pool++) {
        kept_add(reading, pool, &levels[pool], &lost[pool]);
        levels[pool].reserved_bytes = levels[pool].reserved_bytes < 0 ? 0 : levels[pool].reserved_bytes;
    }
}

/* Less cannot be reserved than is in use: then what is reserved is not known. */
static int64_t reserved_of(struct torch_reading *reading, const struct level *level)
{
    if (!level->has_segments)
        return MEMORY_UNKNOWN;
    bool is_low = level->reserved_bytes < level->in_use_bytes;
    reading->snapshot->low_reserved_count += is_low;
    return is_low ? MEMORY_UNKNOWN : level->reserved_bytes;
}

void torch_levels_set(struct torch_reading *reading)
{
    struct memory_events *out = reading->out;
    struct level *levels = arena_array(reading->scratch, struct level, out->pool_count + 1);
    struct table figures;
    size_t next = 0;
    table_init(&figures, reading->scratch, 1);
    torch_mend_rows(out, reading->snapshot, reading->scratch);
    levels_begin(reading, levels);
    for (size_t i = 0; i < out->count; i++) {
        for (const struct torch_event *event; (event = torch_times_before(reading, i, &next)) != NULL;)
            levels[event->pool].reserved_bytes += torch_snapshot_driver_bytes(event);
        struct level *level = &levels[COLUMN_AT(&out->pool, uint16_t, i)];
        level->in_use_bytes += COLUMN_AT(&out->in_use_bytes, int64_t, i);
        COLUMN_AT(&out->in_use_bytes, int64_t, i) = level->in_use_bytes;
        const uint64_t key = (uint64_t)reserved_of(reading, level);
        COLUMN_AT(&out->figures, uint32_t, i) = table_number(&figures, &key);
    }
    struct memory_figures *sets = arena_array(reading->arena, struct memory_figures, table_count(&figures) + 1);
    for (size_t i = 0; i < table_count(&figures); i++)
        sets[i] = (struct memory_figures){MEMORY_UNKNOWN, (int64_t)*table_key(&figures, i), MEMORY_UNKNOWN};
    out->figure_sets = sets;
    out->figures_count = table_count(&figures);
}
