/* SPDX-License-Identifier: Apache-2.0
 * xprof.c: the view "xprof": the object that XProf 2.24.2 sends for its memory
 * viewer (PreprocessResult as proto JSON: default values left out, MiB for
 * sizes, 64-bit numbers as strings), its odd figures included.
 *
 * Where it differs from our own views: docs/reference/xprof-differences.md. */
#include "views/memory_viewer/views.h"

#include "plan/describe.h"
#include "read/hlo/shape.h"
#include "views/memory_viewer/xprof_sort.h"

#include <stdio.h>

/* Buffers below it are shown as one bar. */
enum { SMALL_BYTES = 16 * 1024 };
/* Rectangles narrower than this on a plane of PLANE × PLANE points take no colour of their own. */
static const double PLANE = 4096.0;

static const char *const palette[] = {
#define COLOR(text) text,
#include "views/memory_viewer/xprof_palette.def"
#undef COLOR
};
enum { PALETTE_COUNT = sizeof(palette) / sizeof(palette[0]) };

/* Names of the categories in XProf. */
static const char *group_name(const struct hlo_allocation *allocation)
{
    static const char *const names[] = {"Parameter", "Output", "Thread-local", "Constant", "Temporary"};
    return names[plan_kind_of(allocation)];
}

/* ---- proto JSON: default values are absent ---- */

static void mib(struct json *json, const char *key, int64_t bytes)
{
    if (bytes == 0)
        return;
    json_key(json, key);
    json_mib(json, bytes);
}

static void xprof_text(struct json *json, const char *key, struct str value)
{
    if (value.length > 0)
        json_key_string(json, key, value);
}

static void xprof_number(struct json *json, const char *key, int64_t value)
{
    if (value != 0)
        json_key_int(json, key, value);
}

static void id(struct json *json, const char *key, int64_t value)
{
    if (value != 0)
        json_key_id(json, key, value);
}

/* ---- a question and what its parts share ---- */

struct question {
    const struct plan *plan;
    const struct hlo *hlo;
    const struct plan_space *space;
    struct json *json;
    struct arena *arena;
    struct buf *scratch;
    /* the peak: logical buffers shown as bars, in XProf's order; PLAN_NONE = the bar of the small ones */
    uint32_t *bars;
    int64_t *bar_bytes;
    size_t bar_count;
    uint32_t *color_of_buffer; /* number of a buffer's bar, or PLAN_NONE */
};

static struct str scratch_shape(struct question *question, uint32_t buffer_at)
{
    question->scratch->length = 0;
    shape_text(question->plan->shapes[buffer_at], true, question->scratch);
    return describe_str(question->scratch);
}

static void source_write(struct question *question, const struct hlo_detail *detail)
{
    struct describe_source source = describe_innermost_source(question->hlo, detail);
    if (source.file.length == 0)
        return;
    json_key_object(question->json, "sourceInfo");
    json_key_string(question->json, "fileName", source.file);
    xprof_number(question->json, "lineNumber", source.line);
    question->scratch->length = 0;
    describe_stack_text(question->hlo, detail->frame_at, question->scratch);
    xprof_text(question->json, "stackFrame", describe_str(question->scratch));
    json_object_end(question->json);
}

static void name_write(struct question *question, const char *key, uint32_t buffer_at, struct str name)
{
    question->scratch->length = 0;
    describe_name(question->hlo, buffer_at, name, question->scratch);
    xprof_text(question->json, key, describe_str(question->scratch));
}

/* ---- the peak set ---- */

static void bar_add(struct question *question, uint32_t buffer_at, int64_t *small_bytes)
{
    int64_t bytes = question->plan->bytes[buffer_at];
    if (bytes < SMALL_BYTES) {
        *small_bytes += bytes;
        return;
    }
    question->color_of_buffer[buffer_at] = (uint32_t)question->bar_count;
    question->bar_bytes[question->bar_count] = bytes;
    question->bars[question->bar_count++] = buffer_at;
}

static void bars_collect(struct question *question)
{
    const struct plan_space *space = question->space;
    int64_t small_bytes = 0;
    size_t max = (size_t)space->row_count + 1;
    question->bars = arena_array(question->arena, uint32_t, max);
    question->bar_bytes = arena_array(question->arena, int64_t, max);
    size_t buffers = (size_t)question->hlo->buffer_count + 1;
    question->color_of_buffer = arena_raw(question->arena, buffers * sizeof(uint32_t));
    memset(question->color_of_buffer, 0xff, buffers * sizeof(uint32_t));
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        if (row->buffer_at == PLAN_NONE || (row->is_indefinite && space->space != 0))
            continue;
        if (row->is_indefinite ||
            (space->trace_at != PLAN_NONE && space->heap.has_peak && plan_row_is_alive(row, space->heap.peak_at)))
            bar_add(question, row->buffer_at, &small_bytes);
    }
    if (small_bytes > 0) {
        question->bar_bytes[question->bar_count] = small_bytes;
        question->bars[question->bar_count++] = PLAN_NONE;
    }
}

static void bar_write(struct question *question, size_t at)
{
    struct json *json = question->json;
    uint32_t buffer_at = question->bars[at];
    json_object_begin(json);
    json_key_uint(json, "numbered", at);
    if (buffer_at == PLAN_NONE) {
        json_key_text(json, "label", "small (<16384 bytes)");
        json_key_int(json, "logicalBufferId", -1);
        mib(json, "logicalBufferSizeMib", question->bar_bytes[at]);
        json_object_end(json);
        return;
    }
    const struct hlo_buffer *buffer = &question->hlo->buffers[buffer_at];
    struct hlo_detail detail = hlo_detail(question->hlo, buffer->instruction_at);
    struct str shape = scratch_shape(question, buffer_at);
    xprof_text(json, "shapeString", shape);
    char *label = arena_format(question->arena, "%.*s: %.*s # %.*s", (int)detail.name.length, detail.name.data,
                               (int)shape.length, shape.data, (int)detail.op_name.length, detail.op_name.data);
    json_key_text(json, "label", label);
    xprof_number(json, "logicalBufferId", (int32_t)buffer->id);
    mib(json, "logicalBufferSizeMib", question->bar_bytes[at]);
    int64_t unpadded = question->plan->unpadded_bytes[buffer_at];
    mib(json, "unpaddedShapeMib", unpadded == SHAPE_UNKNOWN_SIZE ? 0 : unpadded);
    name_write(question, "instructionName", buffer_at, detail.name);
    xprof_text(json, "tfOpName", detail.op_name);
    json_key_text(json, "groupName", group_name(&question->hlo->allocations[buffer->allocation_at]));
    xprof_text(json, "opCode", detail.opcode);
    source_write(question, &detail);
    json_object_end(json);
}

static void index_list_write(struct question *question, const char *key, const uint32_t *items)
{
    json_key_array(question->json, key);
    for (size_t i = 0; i < question->bar_count; i++)
        json_uint(question->json, items[i]);
    json_array_end(question->json);
}

static void peak_write(struct question *question)
{
    size_t count = question->bar_count;
    if (count == 0)
        return;
    uint32_t *by_size = arena_array(question->arena, uint32_t, count),
             *place = arena_array(question->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        by_size[i] = i;
    xprof_sort(by_size, count, question->bar_bytes);
    for (uint32_t i = 0; i < count; i++)
        place[by_size[i]] = i;
    json_key_array(question->json, "maxHeap");
    for (size_t i = 0; i < count; i++)
        bar_write(question, i);
    json_array_end(question->json);
    json_key_array(question->json, "maxHeapBySize");
    for (size_t i = 0; i < count; i++)
        bar_write(question, by_size[i]);
    json_array_end(question->json);
    index_list_write(question, "maxHeapToBySize", place);
    index_list_write(question, "bySizeToMaxHeap", by_size);
}

/* ---- series and spans ---- */

static void series_write(struct question *question, const char *key, const int64_t *series)
{
    json_key_array(question->json, key);
    for (uint32_t i = 0; i <= question->space->heap.event_count; i++)
        json_mib(question->json, series[i] + question->space->indefinite_in_curve_bytes);
    json_array_end(question->json);
}

static void curve_write(struct question *question)
{
    struct json *json = question->json;
    const struct heap *heap = &question->space->heap;
    const struct hlo_trace *trace = &question->hlo->traces[question->space->trace_at];
    series_write(question, "heapSizes", heap->series);
    series_write(question, "unpaddedHeapSizes", heap->unpadded_series);
    json_key_array(json, "hloInstructionNames");
    for (uint32_t i = 0; i < trace->event_count; i++)
        json_string(json, question->hlo->events[trace->event_first + i].instruction);
    json_text(json, "");
    json_array_end(json);
    xprof_number(json, "peakHeapSizePosition", heap->peak_at);
    if (heap->span_count == 0)
        return;
    json_key_object(json, "logicalBufferSpans");
    for (uint32_t i = 0; i < heap->span_count; i++) {
        char key[24];
        snprintf(key, sizeof(key), "%lld", (long long)question->hlo->buffers[heap->spans[i].buffer_at].id);
        json_key_object(json, key);
        xprof_number(json, "start", heap->spans[i].start);
        xprof_number(json, "limit", heap->spans[i].limit);
        json_object_end(json);
    }
    json_object_end(json);
}

/* ---- allocations of indefinite life ---- */

static void assigned_write(struct question *question, const struct hlo_assigned *assigned)
{
    struct json *json = question->json;
    json_object_begin(json);
    id(json, "id", assigned->buffer_id);
    mib(json, "sizeMib", assigned->size_bytes);
    if (assigned->buffer_at != HLO_NONE && question->hlo->buffers[assigned->buffer_at].instruction_at != HLO_NONE) {
        const struct hlo_buffer *buffer = &question->hlo->buffers[assigned->buffer_at];
        xprof_text(json, "hloName", hlo_instruction_name(question->hlo, buffer->instruction_at));
        xprof_text(json, "shape", scratch_shape(question, assigned->buffer_at));
        if (buffer->index_count > 0) {
            json_key_array(json, "shapeIndex");
            for (uint32_t i = 0; i < buffer->index_count; i++)
                json_id(json, question->hlo->shape_indices[buffer->index_first + i]);
            json_array_end(json);
        }
    }
    json_object_end(json);
}

/* The shape that all buffers of an allocation have, copied; empty if they differ. */
static struct str common_shape(struct question *question, const struct hlo_allocation *allocation)
{
    struct str common = {"", 0};
    for (uint32_t i = 0; i < allocation->assigned_count; i++) {
        uint32_t at = question->hlo->assigned[allocation->assigned_first + i].buffer_at;
        struct str shape = {"", 0};
        if (at != HLO_NONE && question->hlo->buffers[at].instruction_at != HLO_NONE)
            shape = scratch_shape(question, at);
        if (i == 0)
            common = (struct str){arena_text(question->arena, shape), shape.length};
        else if (!str_equal(common, shape))
            return (struct str){"", 0};
    }
    return common;
}

static void indefinite_write(struct question *question, const struct hlo_allocation *allocation)
{
    struct json *json = question->json;
    json_object_begin(json);
    id(json, "id", allocation->index);
    mib(json, "sizeMib", allocation->size_bytes);
    if (allocation->is_parameter || allocation->is_live_out || !allocation->is_tuple) {
        json_key_array(json, "attributes");
        if (allocation->is_parameter)
            json_text(json, "entry computation parameter");
        if (allocation->is_live_out)
            json_text(json, "may-be live out");
        if (!allocation->is_tuple)
            json_text(json, "reusable");
        json_array_end(json);
    }
    if (allocation->assigned_count > 0) {
        json_key_array(json, "logicalBuffers");
        for (uint32_t i = 0; i < allocation->assigned_count; i++)
            assigned_write(question, &question->hlo->assigned[allocation->assigned_first + i]);
        json_array_end(json);
    }
    xprof_text(json, "commonShape", common_shape(question, allocation));
    json_object_end(json);
}

static void indefinite_list_write(struct question *question)
{
    bool is_open = false;
    for (uint32_t i = 0; i < question->hlo->allocation_count; i++) {
        const struct hlo_allocation *allocation = &question->hlo->allocations[i];
        if (allocation->color != question->space->space || !plan_is_indefinite(allocation) ||
            allocation->is_thread_local)
            continue;
        if (!is_open) {
            json_key_array(question->json, "indefiniteLifetimes");
            is_open = true;
        }
        indefinite_write(question, allocation);
    }
    if (is_open)
        json_array_end(question->json);
}

/* ---- blocks of the allocation timeline ---- */

struct blocks {
    uint32_t *span_of_buffer; /* in heap.spans, or PLAN_NONE */
    int64_t offset_bytes;     /* of the allocation that is being written */
    double scale_x, scale_y;
    size_t drawn_count; /* rectangles large enough to be drawn: they number the colours */
};

static void block_end(struct question *question, struct blocks *blocks, int64_t offset, int64_t size, int64_t start,
                      int64_t end, const char *color)
{
    struct json *json = question->json;
    xprof_number(json, "offset", offset);
    xprof_number(json, "size", size);
    xprof_number(json, "startStep", start);
    xprof_number(json, "endStep", end);
    json_key_text(json, "color", color);
    json_object_end(json);
    blocks->drawn_count += (double)(end - start) * blocks->scale_x >= 1.0 && (double)size * blocks->scale_y >= 1.0;
}

static void block_write(struct question *question, struct blocks *blocks, const struct hlo_allocation *allocation,
                        uint32_t buffer_at)
{
    struct json *json = question->json;
    const struct hlo_buffer *buffer = &question->hlo->buffers[buffer_at];
    const struct heap_span *span = &question->space->heap.spans[blocks->span_of_buffer[buffer_at]];
    struct hlo_detail detail = hlo_detail(question->hlo, buffer->instruction_at);
    int64_t unpadded = question->plan->unpadded_bytes[buffer_at];
    json_object_begin(json);
    xprof_number(json, "logicalBufferId", (int32_t)buffer->id);
    name_write(question, "name", buffer_at, detail.name);
    xprof_text(json, "tfOpName", detail.op_name);
    json_key_text(json, "category", group_name(allocation));
    xprof_text(json, "shapeString", scratch_shape(question, buffer_at));
    xprof_number(json, "unpaddedSize", unpadded == SHAPE_UNKNOWN_SIZE ? 0 : unpadded);
    source_write(question, &detail);
    uint32_t bar = question->color_of_buffer[buffer_at];
    size_t color = bar != PLAN_NONE ? bar : blocks->drawn_count;
    block_end(question, blocks, blocks->offset_bytes + buffer->offset_bytes, question->plan->bytes[buffer_at],
              span->start, span->limit, palette[color % PALETTE_COUNT]);
}

static void allocation_blocks_write(struct question *question, struct blocks *blocks,
                                    const struct hlo_allocation *allocation, int64_t end_step)
{
    struct json *json = question->json;
    json_object_begin(json);
    json_key_int(json, "logicalBufferId", -1);
    json_key_text(json, "name", group_name(allocation));
    json_key_text(json, "category", group_name(allocation));
    block_end(question, blocks, blocks->offset_bytes, allocation->size_bytes, 0, end_step, "#ffffff");
    for (uint32_t i = 0; i < allocation->assigned_count; i++) {
        uint32_t at = question->hlo->assigned[allocation->assigned_first + i].buffer_at;
        if (at != HLO_NONE && blocks->span_of_buffer[at] != PLAN_NONE)
            block_write(question, blocks, allocation, at);
    }
    blocks->offset_bytes += allocation->size_bytes;
}

static void blocks_write(struct question *question)
{
    const struct hlo *hlo = question->hlo;
    const struct heap *heap = &question->space->heap;
    uint32_t *trace_of = plan_traces_owned(hlo, question->arena);
    int64_t total_bytes = 0, end_step = 0;
    for (uint32_t i = 0; i < hlo->allocation_count; i++) {
        const struct hlo_allocation *allocation = &hlo->allocations[i];
        if (allocation->color != question->space->space || plan_is_indefinite(allocation))
            trace_of[i] = PLAN_NONE;
        if (trace_of[i] == PLAN_NONE)
            continue;
        total_bytes += allocation->size_bytes;
        if (hlo->traces[trace_of[i]].event_count > end_step)
            end_step = hlo->traces[trace_of[i]].event_count;
    }
    if (total_bytes == 0 || end_step == 0)
        return;
    struct blocks blocks = {.scale_x = PLANE / (double)end_step, .scale_y = PLANE / (double)total_bytes};
    size_t buffers = (size_t)hlo->buffer_count + 1;
    blocks.span_of_buffer = arena_raw(question->arena, buffers * sizeof(uint32_t));
    memset(blocks.span_of_buffer, 0xff, buffers * sizeof(uint32_t));
    for (uint32_t i = 0; i < heap->span_count; i++)
        blocks.span_of_buffer[heap->spans[i].buffer_at] = i;
    json_key_array(question->json, "bufferBlocks");
    for (uint32_t i = 0; i < hlo->allocation_count; i++)
        if (trace_of[i] != PLAN_NONE)
            allocation_blocks_write(question, &blocks, &hlo->allocations[i], end_step);
    json_array_end(question->json);
}

/* ---- the answer ---- */

static bool can_be_replayed(const struct question *question, struct err *err)
{
    const struct plan_space *space = question->space;
    if (space->trace_at == PLAN_NONE)
        return true;
    if (space->heap.failure != HEAP_FINE)
        return err_set(err, ERR_malformed, ERR_NO_OFFSET, "the heap trace cannot be replayed: event %u",
                       space->heap.failure_at);
    uint32_t first = PLAN_NONE;
    const struct hlo_trace *trace = &question->hlo->traces[space->trace_at];
    for (uint32_t i = 0; i < trace->event_count; i++) {
        uint32_t at = question->hlo->events[trace->event_first + i].buffer_at;
        if (!plan_buffer_is_usable(question->hlo, at))
            continue;
        uint32_t allocation_at = question->hlo->buffers[at].allocation_at;
        if (first != PLAN_NONE && allocation_at != first)
            return err_set(err, ERR_malformed, ERR_NO_OFFSET, "one heap trace moves buffers of several allocations");
        first = allocation_at;
    }
    return true;
}

bool memory_viewer_xprof(const struct tool_request *request, struct json *json, struct err *err)
{
    int64_t wanted;
    if (!tool_param_number(request, "space", INT64_MIN, INT64_MAX, 0, &wanted, err))
        return false;
    const struct plan *plan = request->model;
    struct plan_space none = plan_space_empty(wanted);
    const struct plan_space *space = plan_space_find(plan, wanted);
    if (space == NULL)
        space = &none;
    struct question question = {.plan = plan, .hlo = &plan->hlo, .space = space, .json = json};
    question.arena = request->arena;
    question.scratch = request->scratch;
    if (!can_be_replayed(&question, err))
        return false;
    bool has_trace = space->trace_at != PLAN_NONE;
    int64_t moving = has_trace ? space->heap.peak_bytes : 0,
            moving_unpadded = has_trace ? space->heap.peak_unpadded_bytes : 0;
    json->keeps_null = true;
    json_object_begin(json);
    xprof_text(json, "moduleName", plan->hlo.name);
    xprof_text(json, "entryComputationName", plan->hlo.entry_name);
    mib(json, "peakHeapMib", moving + space->indefinite_in_curve_bytes);
    mib(json, "peakUnpaddedHeapMib", moving_unpadded + space->indefinite_in_curve_bytes);
    mib(json, "entryComputationParametersMib", space->parameter_bytes);
    mib(json, "nonReusableMib", space->non_reusable_bytes);
    mib(json, "maybeLiveOutMib", space->output_bytes);
    mib(json, "totalBufferAllocationMib", space->total_bytes);
    mib(json, "indefiniteBufferAllocationMib", space->indefinite_bytes);
    if (wanted == 1 && plan->hlo.scoped_vmem_bytes > 0) {
        mib(json, "maxScopedVmemAllocationMib", plan->hlo.scoped_vmem_bytes);
        xprof_text(json, "maxScopedVmemInstructionName", hlo_instruction_name(&plan->hlo, plan->hlo.scoped_vmem_at));
    }
    bars_collect(&question);
    peak_write(&question);
    if (has_trace)
        curve_write(&question);
    indefinite_list_write(&question);
    if (has_trace)
        blocks_write(&question);
    json_object_end(json);
    return true;
}
