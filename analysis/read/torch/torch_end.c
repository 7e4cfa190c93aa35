/* SPDX-License-Identifier: Apache-2.0
 * torch_end.c: a snapshot that was taken without a history tells of one moment, its end. So that whatever shows a
 * moment shows this one, each device with segments gets a row that stands for it and changes nothing: what its blocks
 * are is read off the blocks, as of any that no event speaks of. */
#include "read/torch/torch_reading.h"

static void row_add(struct torch_reading *reading, size_t pool)
{
    struct memory_events *out = reading->out;
    const struct pickle_value none = pickle_value_none();
    const uint64_t nothing[3] = {TORCH_NO_STACK, none.bits, none.bits};
    if (out->count == out->offset_ps.capacity)
        memory_reading_columns_grow(out);
    size_t at = out->count++;
    COLUMN_AT(&out->offset_ps, int64_t, at) = 0;
    COLUMN_AT(&out->in_use_bytes, int64_t, at) = 0;
    COLUMN_AT(&out->size_bytes, int64_t, at) = 0;
    COLUMN_AT(&out->address, uint64_t, at) = 0;
    COLUMN_AT(&out->what, uint32_t, at) = table_number(&reading->whats, nothing);
    COLUMN_AT(&out->figures, uint32_t, at) = 0;
    COLUMN_AT(&out->step, int32_t, at) = -1;
    COLUMN_AT(&out->pool, uint16_t, at) = (uint16_t)pool;
    COLUMN_AT(&out->flags, uint8_t, at) = MEMORY_HAS_SIZE | MEMORY_HAS_REQUESTED | MEMORY_HAS_IN_USE | MEMORY_FREED;
}

void torch_end_take(struct torch_reading *reading)
{
    struct table devices;
    table_init(&devices, reading->scratch, 1);
    for (size_t i = 0; i < reading->segments.count; i++) {
        const uint64_t device = (uint64_t)CHUNKS_AT(&reading->segments, struct torch_segment, i).device;
        table_number(&devices, &device);
    }
    size_t count = table_count(&devices);
    count = count < MEMORY_POOLS_MAX ? count : MEMORY_POOLS_MAX;
    reading->devices = arena_array(reading->scratch, int64_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        reading->devices[i] = (int64_t)*table_key(&devices, i);
        row_add(reading, i);
    }
    reading->out->pool_count = (uint32_t)count;
    reading->snapshot->is_end_alone = count > 0;
}
