/* SPDX-License-Identifier: Apache-2.0
 * events.c: events and their stats as bytes, faults included, and the lines they go to. */
#include "tests/bench/trace/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void events_write_at(const struct world *world, const void *data, size_t length, off_t at)
{
    const uint8_t *bytes = data;
    while (length > 0) {
        ssize_t written = pwrite(world->file, bytes, length, at);
        if (written <= 0)
            world_stop(world->options.out);
        bytes += written;
        at += written;
        length -= (size_t)written;
    }
}

void events_flush(const struct world *world, struct line *line)
{
    events_write_at(world, line->buffer, line->buffered, line->at);
    line->at += (off_t)line->buffered;
    line->buffered = 0;
}

enum { FLUSH_BYTES = 1 << 18 };

static void put(struct world *world, struct line *line, const struct bytes *event)
{
    struct bytes framed;
    framed.length = 0;
    bytes_message(&framed, 4, event);
    if (!world->is_writing) {
        line->size_bytes += framed.length;
        return;
    }
    if (!line->buffer && !(line->buffer = malloc(FLUSH_BYTES)))
        world_stop("make-trace");
    if (line->buffered + framed.length > FLUSH_BYTES)
        events_flush(world, line);
    memcpy(line->buffer + line->buffered, framed.data, framed.length);
    line->buffered += framed.length;
}

void events_put_kept(struct world *world, struct line *line)
{
    if (line->kept.length > 0)
        put(world, line, &line->kept);
    line->kept.length = 0;
}

void events_put(struct world *world, struct line *line, const struct bytes *event)
{
    put(world, line, event);
    events_put_kept(world, line);
}

void events_begin(struct bytes *event, const struct line *line, int64_t id, int64_t at_ps, int64_t duration_ps)
{
    event->length = 0;
    bytes_int(event, 1, id);
    bytes_int(event, 2, at_ps - line->timestamp_ns * 1000);
    if (duration_ps)
        bytes_int(event, 3, duration_ps);
}

static void add_stat(struct bytes *event, int64_t id, unsigned field, int64_t value)
{
    struct bytes stat;
    stat.length = 0;
    bytes_int(&stat, 1, id);
    bytes_int(&stat, field, value);
    bytes_message(event, 4, &stat);
}

void events_add_int(struct bytes *event, enum stat_id id, int64_t value) { add_stat(event, id, 4, value); }

static void add_text(struct bytes *event, int64_t id, int64_t text_id) { add_stat(event, id, 7, text_id); }

/* A whole number is an integer in the file, as when TraceMe text is parsed. */
static void add_fraction(struct bytes *event, int64_t id, double value)
{
    struct bytes stat;
    stat.length = 0;
    if (value == floor(value)) {
        events_add_int(event, (enum stat_id)id, (int64_t)value);
        return;
    }
    bytes_int(&stat, 1, id);
    bytes_double(&stat, 2, value);
    bytes_message(event, 4, &stat);
}

/* ---- memory events ------------------------------------------------------------------------------ */

struct fault {
    bool is_here;
    enum bad_kind kind;
    int64_t number;
};

static struct fault next_fault(const struct world *world)
{
    int64_t number = world->done_events / world->options.bad_every;
    struct fault none = {.is_here = false};
    if (world->done_events % world->options.bad_every != world->options.bad_every - 1)
        return none;
    for (int more = 0; more < BAD_KINDS; more++) {
        int kind = (int)((number + more) % BAD_KINDS);
        if (world->options.bad[kind])
            return (struct fault){true, (enum bad_kind)kind, number};
    }
    return none;
}

/* One in four kinds of stat is left out of a faulty event. */
static bool has_stat(const struct fault *fault, enum stat_id id)
{
    static const enum stat_id missing[] = {S_ADDR, S_ALLOCATION_BYTES, S_BYTES_ALLOCATED, S_ALLOCATOR_NAME};
    return !fault->is_here || fault->kind != BAD_STATS || missing[fault->number / BAD_KINDS % 4] != id;
}

static void add_pool(const struct world *world, struct bytes *event, const struct pool *pool, const struct fault *fault)
{
    int64_t number = pool - world->pools;
    if (world->options.is_tpu)
        events_add_int(event, S_INDEX_ON_HOST, number);
    else if (has_stat(fault, S_ALLOCATOR_NAME))
        add_text(event, S_ALLOCATOR_NAME, S_POOLS + number);
    events_add_int(event, S_BYTES_RESERVED, 0);
    if (has_stat(fault, S_BYTES_ALLOCATED))
        events_add_int(event, S_BYTES_ALLOCATED, pool->in_use_bytes);
    events_add_int(event, S_BYTES_AVAILABLE, pool->capacity_bytes - pool->in_use_bytes);
    add_fraction(event, S_FRAGMENTATION, pool_fragmentation(pool));
    events_add_int(event, S_PEAK_BYTES_IN_USE, pool->peak_bytes);
}

void events_memory(struct world *world, struct pool *pool, struct line *line, int64_t at_ps, const struct chunk *chunk,
                   bool is_allocation)
{
    struct fault fault = next_fault(world);
    struct bytes event;
    uint64_t address = chunk->address;
    int64_t size = chunk->bytes;
    if (fault.is_here && fault.kind == BAD_FREE) {
        is_allocation = false;
        address += 8;
    }
    if (fault.is_here && fault.kind == BAD_DOUBLE && pool->held.count > 0)
        address = pool->held.chunks[0].address;
    if (fault.is_here && fault.kind == BAD_SIZE)
        size = fault.number / BAD_KINDS % 2 ? -size : INT64_C(1) << 62;
    if (fault.is_here && fault.kind == BAD_CLOCK)
        at_ps += fault.number / BAD_KINDS % 2 ? INT64_C(7200000000000000) : -START_PS / 2;
    bool has_sizes = is_allocation || !world->options.is_tpu;
    events_begin(&event, line, is_allocation ? E_ALLOCATION : E_DEALLOCATION, at_ps, 0);
    add_pool(world, &event, pool, &fault);
    if (has_sizes)
        events_add_int(&event, S_REQUESTED_BYTES, chunk->tensor ? chunk->tensor->requested_bytes : chunk->bytes);
    if (has_sizes && has_stat(&fault, S_ALLOCATION_BYTES))
        events_add_int(&event, S_ALLOCATION_BYTES, size);
    if (has_stat(&fault, S_ADDR))
        events_add_int(&event, S_ADDR, (int64_t)address);
    int64_t text = chunk->tensor ? S_TENSORS + 3 * (chunk->tensor - world->tensors) : 0;
    if (is_allocation)
        add_text(&event, S_TF_OP, text);
    if (has_sizes)
        events_add_int(&event, S_ID, 0);
    if (is_allocation && !world->options.is_tpu)
        add_text(&event, S_REGION_TYPE, text + 1);
    if (has_sizes)
        events_add_int(&event, S_DATA_TYPE, is_allocation ? chunk->tensor->data_type : 0);
    if (is_allocation)
        add_text(&event, S_SHAPE, text + 2);
    world->done_events++;
    if (fault.is_here && fault.kind == BAD_DISORDER && line->kept.length == 0)
        line->kept = event;
    else
        events_put(world, line, &event);
}
