/* SPDX-License-Identifier: Apache-2.0
 * liveness.c: see liveness.h. */
#include "plan/liveness.h"

#include "base/sum.h"
#include "read/hlo/hlo_ranges.h"

#include <assert.h>
#include <stdlib.h>

/* Where and when a value is alive: bytes [low, high) of an allocation, positions [born, dies). */
struct stay {
    uint32_t buffer_at, allocation_at, born, dies;
    int64_t low, high;
};

static int by_birth(const void *left, const void *right)
{
    const struct stay *a = left, *b = right;
    if (a->born != b->born)
        return a->born < b->born ? -1 : 1;
    return (a->buffer_at > b->buffer_at) - (a->buffer_at < b->buffer_at);
}

static uint32_t stays_collect(const struct plan *plan, int64_t space, const struct hlo_ranges *ranges,
                              struct stay *stays)
{
    const struct hlo *hlo = &plan->hlo;
    uint32_t count = 0;
    for (uint32_t i = 0; i < hlo->buffer_count; i++) {
        const struct hlo_buffer *buffer = &hlo->buffers[i];
        const struct hlo_range *range = &ranges->of_buffer[i];
        if (range->start == HLO_NONE || !plan_buffer_is_usable(hlo, i))
            continue;
        const struct hlo_allocation *allocation = &hlo->allocations[buffer->allocation_at];
        if (allocation->color == space && !plan_is_indefinite(allocation))
            stays[count++] = (struct stay){i,
                                           buffer->allocation_at,
                                           range->start,
                                           range->end + 1,
                                           buffer->offset_bytes,
                                           sum_add(buffer->offset_bytes, plan->bytes[i])};
    }
    qsort(stays, count, sizeof(*stays), by_birth);
    return count;
}

/* A value that begins in bytes which an earlier value still occupies ends that value's lifetime there. `alive` lists
 * the values that have begun and may not have ended; those that ended before the current one begins are dropped. */
static void overlaps_end(struct stay *stays, uint32_t count, struct arena *arena)
{
    uint32_t *alive = arena_array(arena, uint32_t, (size_t)count + 1), alive_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kept = 0;
        arena_work(arena, alive_count);
        for (uint32_t j = 0; j < alive_count; j++) {
            struct stay *before = &stays[alive[j]];
            if (before->allocation_at == stays[i].allocation_at && before->low < stays[i].high &&
                stays[i].low < before->high && before->dies > stays[i].born)
                before->dies = stays[i].born;
            if (before->dies > stays[i].born)
                alive[kept++] = alive[j];
        }
        alive[kept++] = i;
        alive_count = kept;
    }
}

static void series_build(const struct plan *plan, const struct stay *stays, uint32_t count,
                         const int64_t *unpadded_bytes, struct arena *arena, struct heap *heap)
{
    int64_t *change = arena_array(arena, int64_t, (size_t)heap->event_count + 2);
    int64_t *unpadded_change = arena_array(arena, int64_t, (size_t)heap->event_count + 2);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = stays[i].buffer_at, dies = stays[i].dies < heap->event_count ? stays[i].dies : heap->event_count;
        if (stays[i].born >= dies)
            continue;
        change[stays[i].born] += plan->bytes[at];
        change[dies] -= plan->bytes[at];
        unpadded_change[stays[i].born] += unpadded_bytes[at];
        unpadded_change[dies] -= unpadded_bytes[at];
        heap->holds[heap->hold_count++] = (struct heap_hold){at, at, stays[i].born, dies};
    }
    for (uint32_t i = 0; i < heap->event_count; i++) {
        heap->series[i + 1] = heap->series[i] + change[i];
        heap->unpadded_series[i + 1] = heap->unpadded_series[i] + unpadded_change[i];
        if (heap->series[i + 1] > heap->peak_bytes) {
            heap->has_peak = true;
            heap->peak_at = i;
            heap->peak_bytes = heap->series[i + 1];
            heap->peak_unpadded_bytes = heap->unpadded_series[i + 1];
        }
    }
}

bool liveness_replay(struct plan *plan, int64_t space, const int64_t *unpadded_bytes, struct arena *arena,
                     struct heap *out)
{
    if (plan->schedule.length == 0)
        return false;
    if (plan->ranges.of_buffer == NULL) /* once for all spaces */
        hlo_ranges_build(&plan->hlo, &plan->schedule, arena, &plan->ranges);
    assert(plan->ranges.of_buffer != NULL);
    struct stay *stays = arena_array(arena, struct stay, (size_t)plan->hlo.buffer_count + 1);
    uint32_t count = stays_collect(plan, space, &plan->ranges, stays);
    overlaps_end(stays, count, arena);
    *out = (struct heap){.event_count = plan->schedule.length};
    out->series = arena_array(arena, int64_t, (size_t)out->event_count + 1);
    out->unpadded_series = arena_array(arena, int64_t, (size_t)out->event_count + 1);
    out->holds = arena_array(arena, struct heap_hold, (size_t)count + 1);
    out->spans = arena_array(arena, struct heap_span, 1);
    series_build(plan, stays, count, unpadded_bytes, arena, out);
    return true;
}
