/* SPDX-License-Identifier: Apache-2.0
 * plan_build.c: see plan.h. */
#include "plan/plan.h"

#include "base/sum.h"
#include "plan/liveness.h"
#include "plan/notes.h"
#include "plan/program_arrays.h"
#include "plan/whose.h"
#include "read/hlo/hlo_shapes.h"
#include "read/hlo/shape.h"

#include <stdlib.h>

/* Memory spaces that are shown; platforms have about ten. */
enum { SPACES_MAX = 64 };
enum plan_kind plan_kind_of(const struct hlo_allocation *allocation)
{
    return allocation->is_parameter      ? PLAN_PARAMETER
           : allocation->is_live_out     ? PLAN_OUTPUT
           : allocation->is_thread_local ? PLAN_THREAD_LOCAL
           : allocation->is_constant     ? PLAN_CONSTANT
                                         : PLAN_TEMPORARY;
}

const char *plan_kind_name(enum plan_kind category)
{
    static const char *const names[] = {"parameter", "output", "thread_local", "constant", "temporary"};
    return names[category];
}

const char *plan_kind_word(enum plan_kind category)
{
    static const char *const words[] = {"argument", "output", "thread-local", "constant", "temporary"};
    return words[category];
}

bool plan_is_indefinite(const struct hlo_allocation *allocation)
{
    return allocation->is_parameter || allocation->is_live_out || allocation->is_thread_local ||
           allocation->is_constant;
}

/* ---- sizes ---- */

struct sanity {
    int64_t together_bytes;
    uint64_t insane_count;
};

/* Negative and absurd sizes become 0 and are counted. */
static int64_t sane(int64_t size, struct sanity *sanity)
{
    if (size >= 0 && size <= SUM_MAX_BYTES && sanity->together_bytes <= SUM_MAX_BYTES_TOGETHER) {
        sanity->together_bytes += size;
        return size;
    }
    sanity->insane_count++;
    return 0;
}

static bool may_be_size(int64_t size) { return size >= 0 && size <= SUM_MAX_BYTES; }

/* A buffer's size is recorded twice: in the buffer and in its allocation. An impossible one, or one that exceeds the
 * allocation, is replaced by the other. */
static int64_t size_of(const struct hlo *hlo, const struct hlo_buffer *buffer, uint64_t *mended_count)
{
    if (buffer->allocation_at == HLO_NONE)
        return buffer->size_bytes;
    int64_t bound = hlo->allocations[buffer->allocation_at].size_bytes, other = buffer->assigned_bytes;
    bool is_good = may_be_size(buffer->size_bytes) && (!may_be_size(bound) || buffer->size_bytes <= bound);
    if (is_good || !may_be_size(other) || other == buffer->size_bytes || (may_be_size(bound) && other > bound))
        return buffer->size_bytes;
    (*mended_count)++;
    return other;
}

/* An allocation is at least as large as what lies in it. */
static void allocations_hold(struct plan *plan, uint64_t *mended_count)
{
    struct hlo *hlo = &plan->hlo;
    for (uint32_t i = 0; i < hlo->buffer_count; i++) {
        const struct hlo_buffer *buffer = &hlo->buffers[i];
        if (buffer->allocation_at == HLO_NONE)
            continue;
        struct hlo_allocation *allocation = &hlo->allocations[buffer->allocation_at];
        if (plan->bytes[i] + buffer->offset_bytes <= allocation->size_bytes)
            continue;
        allocation->size_bytes = plan->bytes[i] + buffer->offset_bytes;
        (*mended_count)++;
    }
}

static uint64_t sizes_read(struct plan *plan, struct arena *arena, uint64_t *unknown_count, uint64_t *mended_count)
{
    struct hlo *hlo = &plan->hlo;
    struct sanity sanity = {0, 0}, unpadded_sanity = {0, 0};
    plan->bytes = arena_array(arena, int64_t, (size_t)hlo->buffer_count + 1);
    plan->unpadded_bytes = arena_array(arena, int64_t, (size_t)hlo->buffer_count + 1);
    plan->shapes = hlo_shapes_build(hlo, arena);
    for (uint32_t i = 0; i < hlo->buffer_count; i++) {
        struct str shape = plan->shapes[i];
        plan->bytes[i] = sane(size_of(hlo, &hlo->buffers[i], mended_count), &sanity);
        if (hlo->buffers[i].offset_bytes < 0 || hlo->buffers[i].offset_bytes > SUM_MAX_BYTES)
            hlo->buffers[i].offset_bytes = sane(-1, &sanity);
        arena_work(arena, shape.length);
        plan->unpadded_bytes[i] = shape.length > 0 ? shape_bytes(shape) : SHAPE_UNKNOWN_SIZE;
        /* no layout makes an array smaller than its elements: the shape, or a part of it, cannot be */
        if (plan->unpadded_bytes[i] > plan->bytes[i])
            plan->unpadded_bytes[i] = SHAPE_UNKNOWN_SIZE;
        if (plan->unpadded_bytes[i] > 0 && sane(plan->unpadded_bytes[i], &unpadded_sanity) == 0)
            plan->unpadded_bytes[i] = SHAPE_UNKNOWN_SIZE;
        *unknown_count += plan->unpadded_bytes[i] == SHAPE_UNKNOWN_SIZE;
    }
    for (uint32_t i = 0; i < hlo->allocation_count; i++)
        hlo->allocations[i].size_bytes = sane(hlo->allocations[i].size_bytes, &sanity);
    allocations_hold(plan, mended_count);
    return sanity.insane_count;
}

/* ---- spaces and their sums ---- */

struct plan_space plan_space_empty(int64_t space)
{
    return (struct plan_space){.space = space, .trace_at = PLAN_NONE, .name = "", .heap = {.has_peak = false}};
}

const struct plan_space *plan_space_find(const struct plan *plan, int64_t space)
{
    for (uint32_t i = 0; i < plan->space_count; i++)
        if (plan->spaces[i].space == space)
            return &plan->spaces[i];
    return NULL;
}

static int compare_int64(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void spaces_find(struct plan *plan, struct arena *arena)
{
    const struct hlo *hlo = &plan->hlo;
    int64_t *colors = arena_array(arena, int64_t, (size_t)hlo->allocation_count + 1);
    for (uint32_t i = 0; i < hlo->allocation_count; i++)
        colors[i] = hlo->allocations[i].color;
    qsort(colors, hlo->allocation_count, sizeof(*colors), compare_int64);
    for (uint32_t i = 0; i < hlo->allocation_count; i++)
        if (i == 0 || colors[i] != colors[i - 1])
            colors[plan->space_count++] = colors[i];
    if (plan->space_count > SPACES_MAX) {
        plan->hidden_space_count = plan->space_count - SPACES_MAX;
        plan->space_count = SPACES_MAX;
    }
    plan->spaces = arena_array(arena, struct plan_space, (size_t)plan->space_count + 1);
    for (uint32_t i = 0; i < plan->space_count; i++) {
        struct plan_space *space = &plan->spaces[i];
        *space = plan_space_empty(colors[i]);
        const char *name = space_name(plan->platform, colors[i]);
        space->name_is_known = name != NULL;
        space->name =
            name != NULL ? name : arena_format(arena, "memory space %lld (name not known)", (long long)colors[i]);
    }
}

/* The logical buffer that represents an indefinite allocation: its largest. */
static uint32_t largest_buffer(const struct plan *plan, const struct hlo_allocation *allocation)
{
    uint32_t best = PLAN_NONE;
    int64_t best_bytes = 0;
    for (uint32_t i = 0; i < allocation->assigned_count; i++) {
        uint32_t at = plan->hlo.assigned[allocation->assigned_first + i].buffer_at;
        if (at != HLO_NONE && plan->hlo.buffers[at].instruction_at != HLO_NONE && plan->bytes[at] > best_bytes) {
            best = at;
            best_bytes = plan->bytes[at];
        }
    }
    return best;
}

static void space_sum(const struct plan *plan, struct plan_space *space)
{
    for (uint32_t i = 0; i < plan->hlo.allocation_count; i++) {
        const struct hlo_allocation *allocation = &plan->hlo.allocations[i];
        int64_t size = allocation->size_bytes;
        if (allocation->color != space->space)
            continue;
        space->allocation_count++;
        space->buffer_count += allocation->assigned_count;
        if (allocation->is_parameter)
            space->parameter_bytes = sum_add(space->parameter_bytes, size);
        if (allocation->is_live_out)
            space->output_bytes = sum_add(space->output_bytes, size);
        if (allocation->is_live_out && allocation->is_parameter)
            space->output_reused_bytes = sum_add(space->output_reused_bytes, size);
        if (allocation->is_thread_local || allocation->is_tuple)
            space->non_reusable_bytes = sum_add(space->non_reusable_bytes, size);
        if (allocation->is_thread_local) {
            space->thread_local_bytes = sum_add(space->thread_local_bytes, size);
            continue;
        }
        if (allocation->is_constant)
            space->constant_bytes = sum_add(space->constant_bytes, size);
        space->total_bytes = sum_add(space->total_bytes, size);
        if (!plan_is_indefinite(allocation))
            continue;
        space->indefinite_bytes = sum_add(space->indefinite_bytes, size);
        if (largest_buffer(plan, allocation) != PLAN_NONE)
            space->indefinite_in_curve_bytes = sum_add(space->indefinite_in_curve_bytes, size);
    }
}

/* ---- the trace of a space ---- */

bool plan_buffer_is_usable(const struct hlo *hlo, uint32_t buffer_at)
{
    return buffer_at != HLO_NONE && hlo->buffers[buffer_at].allocation_at != HLO_NONE &&
           hlo->buffers[buffer_at].instruction_at != HLO_NONE;
}

uint32_t *plan_traces_owned(const struct hlo *hlo, struct arena *arena)
{
    uint32_t *trace_of = arena_raw(arena, ((size_t)hlo->allocation_count + 1) * sizeof(*trace_of));
    memset(trace_of, 0xff, ((size_t)hlo->allocation_count + 1) * sizeof(*trace_of));
    for (uint32_t i = 0; i < hlo->trace_count; i++) {
        if (hlo->traces[i].event_count == 0)
            continue;
        uint32_t buffer_at = hlo->events[hlo->traces[i].event_first].buffer_at;
        if (plan_buffer_is_usable(hlo, buffer_at))
            trace_of[hlo->buffers[buffer_at].allocation_at] = i;
    }
    return trace_of;
}

static uint32_t trace_with_max_events(const struct hlo *hlo, int64_t color)
{
    uint32_t best = PLAN_NONE, best_count = 0;
    for (uint32_t i = 0; i < hlo->trace_count; i++) {
        uint32_t count = 0;
        for (uint32_t j = 0; j < hlo->traces[i].event_count; j++) {
            uint32_t buffer_at = hlo->events[hlo->traces[i].event_first + j].buffer_at;
            count += plan_buffer_is_usable(hlo, buffer_at) && hlo->buffers[buffer_at].color == color;
        }
        if (count > best_count) {
            best = i;
            best_count = count;
        }
    }
    return best;
}

/* The buffer assignment's own allocation index of a trace is not reliable; this is XProf's choice. */
static uint32_t trace_choose(const struct hlo *hlo, const uint32_t *trace_of, int64_t color)
{
    for (uint32_t i = 0; i < hlo->allocation_count; i++)
        if (hlo->allocations[i].color == color && !plan_is_indefinite(&hlo->allocations[i]) && trace_of[i] != PLAN_NONE)
            return trace_of[i];
    return trace_with_max_events(hlo, color);
}

/* An event whose kind was lost is read as an allocation, the kind of number 0. One that names whose memory it shares
 * does share it; what begins a buffer again that is freed nowhere is its free. */
static uint64_t lost_kinds_mend(struct heap_event *events, uint32_t event_count, uint32_t buffer_count,
                                struct arena *arena)
{
    uint64_t mended_count = 0;
    uint32_t *allocated = arena_array(arena, uint32_t, (size_t)buffer_count + 1);
    uint32_t *freed = arena_array(arena, uint32_t, (size_t)buffer_count + 1);
    for (uint32_t i = 0; i < event_count; i++) {
        struct heap_event *event = &events[i];
        bool is_share = event->kind == HEAP_ALLOC && event->canonical_at != HEAP_NONE;
        mended_count += is_share;
        event->kind = is_share ? HEAP_SHARE : event->kind;
        if (event->buffer_at != HEAP_NONE) {
            allocated[event->buffer_at] += event->kind == HEAP_ALLOC || event->kind == HEAP_SHARE;
            freed[event->buffer_at] += event->kind == HEAP_FREE;
        }
    }
    for (uint32_t i = event_count; i-- > 0;) {
        uint32_t at = events[i].kind == HEAP_ALLOC ? events[i].buffer_at : HEAP_NONE;
        if (at == HEAP_NONE || allocated[at] != 2 || freed[at] > 0)
            continue;
        events[i].kind = HEAP_FREE;
        freed[at]++;
        mended_count++;
    }
    return mended_count;
}

static struct heap_event *events_of(const struct hlo *hlo, const struct hlo_trace *trace, struct arena *arena)
{
    struct heap_event *events = arena_array(arena, struct heap_event, (size_t)trace->event_count + 1);
    for (uint32_t i = 0; i < trace->event_count; i++) {
        const struct hlo_event *event = &hlo->events[trace->event_first + i];
        events[i].kind = event->kind == HLO_EVENT_ALLOC        ? HEAP_ALLOC
                         : event->kind == HLO_EVENT_FREE       ? HEAP_FREE
                         : event->kind == HLO_EVENT_SHARE_WITH ? HEAP_SHARE
                                                               : HEAP_UNKNOWN_KIND;
        events[i].buffer_at = plan_buffer_is_usable(hlo, event->buffer_at) ? event->buffer_at : HEAP_NONE;
        bool has_canonical = event->kind == HLO_EVENT_SHARE_WITH || event->canonical_id > 0; /* 0: it is not recorded */
        events[i].canonical_at =
            has_canonical && plan_buffer_is_usable(hlo, event->canonical_at) ? event->canonical_at : HEAP_NONE;
    }
    return events;
}

/* For the curve a buffer of unknown unpadded size counts as unpadded. */
static int64_t *unpadded_for_curve(const struct plan *plan, struct arena *arena)
{
    int64_t *sizes = arena_array(arena, int64_t, (size_t)plan->hlo.buffer_count + 1);
    for (uint32_t i = 0; i < plan->hlo.buffer_count; i++)
        sizes[i] = plan->unpadded_bytes[i] == SHAPE_UNKNOWN_SIZE ? plan->bytes[i] : plan->unpadded_bytes[i];
    return sizes;
}

/* ---- rows ---- */

static int64_t row_unpadded(const struct plan *plan, uint32_t buffer_at, int64_t bytes)
{
    /* the row is as large as its allocation, which may be larger than the buffer that represents it */
    if (buffer_at == PLAN_NONE || plan->unpadded_bytes[buffer_at] == SHAPE_UNKNOWN_SIZE)
        return SHAPE_UNKNOWN_SIZE;
    return plan->unpadded_bytes[buffer_at] > bytes ? bytes : plan->unpadded_bytes[buffer_at];
}

static void rows_build(const struct plan *plan, struct plan_space *space, struct arena *arena)
{
    const struct hlo *hlo = &plan->hlo;
    space->rows = arena_array(arena, struct plan_row, (size_t)space->allocation_count + space->heap.hold_count + 1);
    for (uint32_t i = 0; i < hlo->allocation_count; i++) {
        const struct hlo_allocation *allocation = &hlo->allocations[i];
        if (allocation->color != space->space || !plan_is_indefinite(allocation) || allocation->is_thread_local ||
            allocation->size_bytes == 0)
            continue;
        uint32_t buffer_at = largest_buffer(plan, allocation);
        int64_t unpadded_bytes = row_unpadded(plan, buffer_at, allocation->size_bytes);
        space->indefinite_unpadded_bytes +=
            unpadded_bytes == SHAPE_UNKNOWN_SIZE ? allocation->size_bytes : unpadded_bytes;
        space->rows[space->row_count++] =
            (struct plan_row){.buffer_at = buffer_at,
                              .allocation_at = i,
                              .bytes = allocation->size_bytes,
                              .unpadded_bytes = unpadded_bytes,
                              .offset_bytes = buffer_at == PLAN_NONE ? 0 : hlo->buffers[buffer_at].offset_bytes,
                              .born = 0,
                              .dies = space->step_count,
                              .is_indefinite = true};
    }
    space->indefinite_row_count = space->row_count;
    for (uint32_t i = 0; i < space->heap.hold_count; i++) {
        const struct heap_hold *hold = &space->heap.holds[i];
        space->rows[space->row_count++] =
            (struct plan_row){.buffer_at = hold->buffer_at,
                              .allocation_at = hlo->buffers[hold->buffer_at].allocation_at,
                              .bytes = plan->bytes[hold->root_at],
                              .unpadded_bytes = plan->unpadded_bytes[hold->root_at],
                              .offset_bytes = hlo->buffers[hold->root_at].offset_bytes,
                              .born = hold->born,
                              .dies = hold->dies};
    }
}

static void peak_find(struct plan_space *space)
{
    space->has_peak_step = space->heap.has_peak;
    space->peak_step = space->heap.peak_at;
    space->peak_bytes = sum_add(space->heap.peak_bytes, space->indefinite_bytes);
    space->peak_unpadded_bytes = sum_add(space->heap.peak_unpadded_bytes, space->indefinite_unpadded_bytes);
    for (uint32_t i = 0; i < space->row_count; i++)
        space->live_at_peak_count += plan_row_is_alive(&space->rows[i], space->peak_step);
}

int64_t plan_bytes_at(const struct plan_space *space, uint32_t step)
{
    int64_t moving = step < space->heap.event_count ? space->heap.series[step + 1] : 0;
    return sum_add(moving, space->indefinite_bytes);
}

int64_t plan_fragmentation_bytes(const struct plan_space *space)
{
    return space->peak_bytes < space->total_bytes ? space->total_bytes - space->peak_bytes : 0;
}

int64_t plan_unpadded_bytes_at(const struct plan_space *space, uint32_t step)
{
    int64_t moving = step < space->heap.event_count ? space->heap.unpadded_series[step + 1] : 0;
    return sum_add(moving, space->indefinite_unpadded_bytes);
}

static bool has_temporaries(const struct hlo *hlo, int64_t color, int64_t *bytes)
{
    *bytes = 0;
    for (uint32_t i = 0; i < hlo->allocation_count; i++)
        if (hlo->allocations[i].color == color && !plan_is_indefinite(&hlo->allocations[i]))
            *bytes = sum_add(*bytes, hlo->allocations[i].size_bytes);
    return *bytes > 0;
}

static void space_build(struct plan *plan, struct plan_space *space, const uint32_t *trace_of, const int64_t *unpadded,
                        struct arena *arena)
{
    const struct hlo *hlo = &plan->hlo;
    int64_t temporary_bytes;
    space_sum(plan, space);
    space->trace_at = trace_choose(hlo, trace_of, space->space);
    if (space->trace_at != PLAN_NONE) {
        const struct hlo_trace *trace = &hlo->traces[space->trace_at];
        space->unit = PLAN_UNIT_HEAP_TRACE;
        struct heap_event *events = events_of(hlo, trace, arena);
        space->mended_event_count = lost_kinds_mend(events, trace->event_count, hlo->buffer_count, arena);
        heap_replay(events, trace->event_count, plan->bytes, unpadded, hlo->buffer_count, arena, &space->heap);
    } else if (has_temporaries(hlo, space->space, &temporary_bytes)) {
        if (liveness_replay(plan, space->space, unpadded, arena, &space->heap))
            space->unit = PLAN_UNIT_SCHEDULE;
        else
            space->untraced_bytes = temporary_bytes;
    }
    space->step_count = space->heap.event_count;
    rows_build(plan, space, arena);
    peak_find(space);
}

/* ---- the whole program ---- */

static int by_total(const void *left, const void *right)
{
    const struct plan_space *a = left, *b = right;
    if (a->total_bytes != b->total_bytes)
        return a->total_bytes < b->total_bytes ? 1 : -1;
    return (a->space > b->space) - (a->space < b->space);
}

/* XLA's ComputePeakMemorySizes: static buffers of every space once, and all
 * traces after each other; as each trace ends empty, the largest one counts. */
static int64_t peak_memory(const struct plan *plan)
{
    int64_t fixed = 0, moving = 0;
    for (uint32_t i = 0; i < plan->hlo.allocation_count; i++) {
        const struct hlo_allocation *allocation = &plan->hlo.allocations[i];
        if (allocation->is_thread_local || !plan_is_indefinite(allocation))
            continue;
        uint32_t largest = largest_buffer(plan, allocation);
        if (largest != PLAN_NONE)
            fixed = sum_add(fixed, plan->bytes[largest]);
    }
    for (uint32_t i = 0; i < plan->space_count; i++)
        if (plan->spaces[i].heap.peak_bytes > moving)
            moving = plan->spaces[i].heap.peak_bytes;
    return sum_add(fixed, moving);
}

void plan_lay_out(struct plan *plan, struct arena *arena)
{
    plan->insane_size_count = sizes_read(plan, arena, &plan->unknown_size_count, &plan->mended_size_count);
    plan->platform = plan->hlo.platform;
    hlo_schedule_flatten(&plan->hlo, arena, &plan->schedule);
    spaces_find(plan, arena);
    const uint32_t *trace_of = plan_traces_owned(&plan->hlo, arena);
    const int64_t *unpadded = unpadded_for_curve(plan, arena);
    for (uint32_t i = 0; i < plan->space_count; i++)
        space_build(plan, &plan->spaces[i], trace_of, unpadded, arena);
    qsort(plan->spaces, plan->space_count, sizeof(*plan->spaces), by_total);
    plan->peak_memory_bytes = peak_memory(plan);
}

void plan_complete(struct plan *plan, struct arena *arena)
{
    whose_build(plan, arena);
    if (!plan->hlo.has_assignment) {
        struct arena *scratch = arena_child(arena);
        plan->unplanned = program_arrays_find(plan, arena, scratch);
        arena_free(scratch);
    }
    notes_build(plan, arena);
}

void plan_forget_owners(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->space_count; i++) {
        struct plan_space *space = &plan->spaces[i];
        memset(space->category_bytes, 0, sizeof(space->category_bytes));
        space->patterns = NULL;
        space->pattern_count = 0;
        for (uint32_t j = 0; j < space->row_count; j++)
            space->rows[j].patterns = 0;
    }
    plan->arguments = NULL;
    plan->graph = NULL;
    plan->unplanned = NULL;
    plan->notes = NULL;
    plan->argument_count = plan->note_count = 0;
    plan->untold_count = 0;
}

void plan_build(struct plan *plan, struct arena *arena)
{
    plan_lay_out(plan, arena);
    plan_complete(plan, arena);
}
