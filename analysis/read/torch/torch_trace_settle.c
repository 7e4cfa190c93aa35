/* SPDX-License-Identifier: Apache-2.0
 * torch_trace_settle.c: devices and times that an event of torch.profiler does not tell, or that cannot be. */
#include "read/torch/torch_trace_reading.h"

#include <stdlib.h>

/* The pool that it is counted in, MEMORY_POOLS_MAX: there are too many. */
static uint32_t pool_of(struct torch_trace_reading *reading, int64_t type, int64_t id)
{
    const uint64_t device[2] = {(uint64_t)type, (uint64_t)id};
    uint32_t pool = table_find(&reading->devices, device, 2);
    if (pool != MAP_NONE)
        return pool;
    if (table_count(&reading->devices) >= MEMORY_POOLS_MAX) {
        reading->out->pool_overflow_count++;
        return MEMORY_POOLS_MAX;
    }
    return table_number(&reading->devices, device);
}

/* The only device among those of the other rows that the row may belong to; MEMORY_POOLS_MAX: there are several, or
 * none. */
static uint32_t pool_like(const struct torch_trace_reading *reading, const struct torch_trace_row *row)
{
    uint32_t found = MEMORY_POOLS_MAX;
    for (size_t i = 0; i < table_count(&reading->devices); i++) {
        const uint64_t *device = table_key(&reading->devices, i);
        bool is_type = row->device_type == MEMORY_UNKNOWN || row->device_type == (int64_t)device[0];
        bool is_id = row->device_id == MEMORY_UNKNOWN || row->device_id == (int64_t)device[1];
        if (is_type && is_id && found != MEMORY_POOLS_MAX)
            return MEMORY_POOLS_MAX;
        found = is_type && is_id ? (uint32_t)i : found;
    }
    return found;
}

void torch_trace_pools_settle(struct torch_trace_reading *reading)
{
    size_t kept = 0;
    for (size_t i = 0; i < reading->rows.count; i++) {
        struct torch_trace_row *row = chunks_at(&reading->rows, i);
        bool is_told = row->device_type != MEMORY_UNKNOWN && row->device_id != MEMORY_UNKNOWN;
        row->pool = (uint16_t)(is_told ? pool_of(reading, row->device_type, row->device_id) : MEMORY_POOLS_MAX);
        row->has_pool = is_told;
    }
    if (table_count(&reading->devices) == 0 && reading->rows.count > 0)
        pool_of(reading, MEMORY_UNKNOWN, MEMORY_UNKNOWN); /* no event tells a device: they are of one */
    for (size_t i = 0; i < reading->rows.count; i++) {
        struct torch_trace_row row = CHUNKS_AT(&reading->rows, struct torch_trace_row, i);
        row.pool = (uint16_t)(row.has_pool ? row.pool : pool_like(reading, &row));
        if (row.pool < MEMORY_POOLS_MAX)
            CHUNKS_AT(&reading->rows, struct torch_trace_row, kept++) = row;
        else
            reading->out->damaged_count += !row.has_pool;
    }
    reading->rows.count = kept;
}

static int compare_numbers(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

bool torch_trace_times_settle(struct torch_trace_reading *reading)
{
    size_t count = reading->rows.count, used = 0;
    const int64_t most_ns = TRACE_TIME_MAX_PS / PS_PER_NS;
    int64_t *times = arena_array(reading->scratch, int64_t, count + 1), last_ns = MEMORY_UNKNOWN;
    for (size_t i = 0; i < count; i++) {
        int64_t at_ns = CHUNKS_AT(&reading->rows, struct torch_trace_row, i).at_ns;
        if (at_ns != MEMORY_UNKNOWN)
            times[used++] = at_ns;
    }
    if (used == 0)
        return false;
    qsort(times, used, sizeof(*times), compare_numbers);
    const int64_t middle_ns = times[used / 2];
    for (size_t i = 0; i < count; i++) {
        struct torch_trace_row *row = chunks_at(&reading->rows, i);
        bool is_told = row->at_ns != MEMORY_UNKNOWN;
        bool is_near = is_told && llabs(row->at_ns - middle_ns) <= most_ns;
        reading->odd_counts[TORCH_TRACE_KEY_ts] += is_told && !is_near;
        row->at_ns = is_near ? row->at_ns : last_ns;
        last_ns = row->at_ns;
    }
    for (size_t i = count; i-- > 0;) { /* those before the first that tells one */
        struct torch_trace_row *row = chunks_at(&reading->rows, i);
        row->at_ns = row->at_ns == MEMORY_UNKNOWN ? last_ns : row->at_ns;
        last_ns = row->at_ns;
    }
    return true;
}

void torch_trace_odd_words(struct torch_trace_reading *reading)
{
    static const char *const WORDS[] = {
#define KEY(name, text) text,
        TORCH_TRACE_KEYS(KEY)
#undef KEY
    };
    torch_events_odd_words(reading->snapshot, WORDS, reading->odd_counts, TORCH_TRACE_KEY_COUNT, reading->arena);
}
