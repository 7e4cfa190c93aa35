/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/hlo_assignment.h"

#include "hlo.fields.h"
#include "wire/wire.h"

static void count_indices(struct wire buffer, struct hlo *hlo)
{
    while (wire_next(&buffer)) {
        if (buffer.number != LOGICAL_BUFFER_PROTO_DEFINED_AT)
            continue;
        struct wire location = wire_message(&buffer);
        while (wire_next(&location)) {
            uint64_t index;
            if (location.number == LOGICAL_BUFFER_PROTO_LOCATION_SHAPE_INDEX)
                for (size_t at = 0; wire_packed(&location, &at, &index);)
                    hlo->shape_index_count++;
        }
    }
}

static void hlo_assignment_count(struct wire wire, struct hlo *hlo)
{
    while (wire_next(&wire)) {
        struct wire inner = wire_message(&wire);
        switch (wire.number) {
        case BUFFER_ASSIGNMENT_PROTO_LOGICAL_BUFFERS:
            hlo->buffer_count++;
            count_indices(inner, hlo);
            break;
        case BUFFER_ASSIGNMENT_PROTO_BUFFER_ALLOCATIONS:
            hlo->allocation_count++;
            while (wire_next(&inner))
                hlo->assigned_count += inner.number == BUFFER_ALLOCATION_PROTO_ASSIGNED;
            break;
        case BUFFER_ASSIGNMENT_PROTO_HEAP_SIMULATOR_TRACES:
            hlo->trace_count++;
            while (wire_next(&inner))
                hlo->event_count += inner.number == HEAP_SIMULATOR_TRACE_EVENTS;
            break;
        }
    }
}

static void place_location(struct wire wire, struct hlo *hlo, struct hlo_buffer *buffer)
{
    while (wire_next(&wire)) {
        uint64_t index;
        if (wire.number == LOGICAL_BUFFER_PROTO_LOCATION_INSTRUCTION_ID)
            buffer->instruction_id = wire_int(&wire);
        else if (wire.number == LOGICAL_BUFFER_PROTO_LOCATION_SHAPE_INDEX)
            for (size_t at = 0; wire_packed(&wire, &at, &index); buffer->index_count++)
                hlo->shape_indices[hlo->shape_index_count++] = (int64_t)index;
    }
}

static void place_buffer(struct wire wire, struct hlo *hlo)
{
    uint32_t at = hlo->buffer_count++;
    struct hlo_buffer *buffer = &hlo->buffers[at];
    buffer->index_first = hlo->shape_index_count;
    buffer->allocation_at = HLO_NONE;
    while (wire_next(&wire)) {
        switch (wire.number) {
        case LOGICAL_BUFFER_PROTO_ID: buffer->id = wire_int(&wire); break;
        case LOGICAL_BUFFER_PROTO_SIZE: buffer->size_bytes = wire_int(&wire); break;
        case LOGICAL_BUFFER_PROTO_COLOR: buffer->color = wire_int(&wire); break;
        case LOGICAL_BUFFER_PROTO_DEFINED_AT: place_location(wire_message(&wire), hlo, buffer); break;
        }
    }
    buffer->instruction_at = map_get(&hlo->instruction_of_id, (uint64_t)buffer->instruction_id);
    hlo->buffer_without_instruction_count += buffer->instruction_at == HLO_NONE;
    if (!map_put(&hlo->buffer_of_id, (uint64_t)buffer->id, at, true))
        hlo->duplicate_buffer_count++;
}

static void place_assigned(struct wire wire, struct hlo *hlo)
{
    struct hlo_assigned *assigned = &hlo->assigned[hlo->assigned_count++];
    while (wire_next(&wire)) {
        switch (wire.number) {
        case BUFFER_ALLOCATION_PROTO_ASSIGNED_LOGICAL_BUFFER_ID: assigned->buffer_id = wire_int(&wire); break;
        case BUFFER_ALLOCATION_PROTO_ASSIGNED_OFFSET: assigned->offset_bytes = wire_int(&wire); break;
        case BUFFER_ALLOCATION_PROTO_ASSIGNED_SIZE: assigned->size_bytes = wire_int(&wire); break;
        }
    }
}

static void place_allocation(struct wire wire, struct hlo *hlo)
{
    struct hlo_allocation *allocation = &hlo->allocations[hlo->allocation_count++];
    allocation->assigned_first = hlo->assigned_count;
    while (wire_next(&wire)) {
        switch (wire.number) {
        case BUFFER_ALLOCATION_PROTO_INDEX: allocation->index = wire_int(&wire); break;
        case BUFFER_ALLOCATION_PROTO_SIZE: allocation->size_bytes = wire_int(&wire); break;
        case BUFFER_ALLOCATION_PROTO_COLOR: allocation->color = wire_int(&wire); break;
        case BUFFER_ALLOCATION_PROTO_PARAMETER_NUMBER: allocation->parameter_number = wire_int(&wire); break;
        case BUFFER_ALLOCATION_PROTO_IS_THREAD_LOCAL: allocation->is_thread_local = wire_bool(&wire); break;
        case BUFFER_ALLOCATION_PROTO_IS_ENTRY_COMPUTATION_PARAMETER: allocation->is_parameter = wire_bool(&wire); break;
        case BUFFER_ALLOCATION_PROTO_MAYBE_LIVE_OUT: allocation->is_live_out = wire_bool(&wire); break;
        case BUFFER_ALLOCATION_PROTO_IS_TUPLE: allocation->is_tuple = wire_bool(&wire); break;
        case BUFFER_ALLOCATION_PROTO_IS_CONSTANT: allocation->is_constant = wire_bool(&wire); break;
        case BUFFER_ALLOCATION_PROTO_ASSIGNED: place_assigned(wire_message(&wire), hlo); break;
        }
    }
    allocation->assigned_count = hlo->assigned_count - allocation->assigned_first;
}

static void place_event(struct wire wire, struct hlo *hlo)
{
    struct hlo_event *event = &hlo->events[hlo->event_count++];
    while (wire_next(&wire)) {
        switch (wire.number) {
        case HEAP_SIMULATOR_TRACE_EVENT_KIND: event->kind = wire_int(&wire); break;
        case HEAP_SIMULATOR_TRACE_EVENT_BUFFER_ID: event->buffer_id = wire_int(&wire); break;
        case HEAP_SIMULATOR_TRACE_EVENT_COMPUTATION_NAME: event->computation = wire_text(&wire); break;
        case HEAP_SIMULATOR_TRACE_EVENT_INSTRUCTION_NAME: event->instruction = wire_text(&wire); break;
        case HEAP_SIMULATOR_TRACE_EVENT_SHARE_WITH_CANONICAL_ID: event->canonical_id = wire_int(&wire); break;
        }
    }
}

static void place_trace(struct wire wire, struct hlo *hlo)
{
    struct hlo_trace *trace = &hlo->traces[hlo->trace_count++];
    trace->event_first = hlo->event_count;
    while (wire_next(&wire))
        if (wire.number == HEAP_SIMULATOR_TRACE_EVENTS)
            place_event(wire_message(&wire), hlo);
    trace->event_count = hlo->event_count - trace->event_first;
}

static void place(struct wire wire, struct hlo *hlo)
{
    while (wire_next(&wire)) {
        switch (wire.number) {
        case BUFFER_ASSIGNMENT_PROTO_LOGICAL_BUFFERS: place_buffer(wire_message(&wire), hlo); break;
        case BUFFER_ASSIGNMENT_PROTO_BUFFER_ALLOCATIONS: place_allocation(wire_message(&wire), hlo); break;
        case BUFFER_ASSIGNMENT_PROTO_HEAP_SIMULATOR_TRACES: place_trace(wire_message(&wire), hlo); break;
        }
    }
}

/* The parts name each other by id, in any order of parts: resolved at the end. */
static void hlo_assignment_resolve(struct hlo *hlo)
{
    for (uint32_t i = 0; i < hlo->allocation_count; i++) {
        const struct hlo_allocation *allocation = &hlo->allocations[i];
        for (uint32_t j = 0; j < allocation->assigned_count; j++) {
            struct hlo_assigned *assigned = &hlo->assigned[allocation->assigned_first + j];
            assigned->buffer_at = map_get(&hlo->buffer_of_id, (uint64_t)assigned->buffer_id);
            if (assigned->buffer_at == HLO_NONE) {
                hlo->assigned_without_buffer_count++;
                continue;
            }
            hlo->buffers[assigned->buffer_at].allocation_at = i;
            hlo->buffers[assigned->buffer_at].offset_bytes = assigned->offset_bytes;
            hlo->buffers[assigned->buffer_at].assigned_bytes = assigned->size_bytes;
        }
    }
    for (uint32_t i = 0; i < hlo->event_count; i++) {
        struct hlo_event *event = &hlo->events[i];
        event->buffer_at = map_get(&hlo->buffer_of_id, (uint64_t)event->buffer_id);
        event->canonical_at = map_get(&hlo->buffer_of_id, (uint64_t)event->canonical_id);
    }
}

void hlo_assignment_read(struct hlo *hlo, const char *begin, uint64_t offset, struct arena *arena, struct err *err)
{
    for (uint32_t i = 0; i < hlo->assignment_count; i++)
        hlo_assignment_count(
            wire_open(hlo->assignment_bytes[i], offset + (uint64_t)(hlo->assignment_bytes[i].data - begin), err), hlo);
    hlo->buffers = arena_array(arena, struct hlo_buffer, (size_t)hlo->buffer_count + 1);
    hlo->allocations = arena_array(arena, struct hlo_allocation, (size_t)hlo->allocation_count + 1);
    hlo->assigned = arena_array(arena, struct hlo_assigned, (size_t)hlo->assigned_count + 1);
    hlo->traces = arena_array(arena, struct hlo_trace, (size_t)hlo->trace_count + 1);
    hlo->events = arena_array(arena, struct hlo_event, (size_t)hlo->event_count + 1);
    hlo->shape_indices = arena_array(arena, int64_t, (size_t)hlo->shape_index_count + 1);
    map_init(&hlo->buffer_of_id, arena, hlo->buffer_count);
    hlo->buffer_count = hlo->allocation_count = hlo->assigned_count = 0;
    hlo->trace_count = hlo->event_count = hlo->shape_index_count = 0;
    for (uint32_t i = 0; i < hlo->assignment_count && !err_is_set(err); i++)
        place(wire_open(hlo->assignment_bytes[i], offset + (uint64_t)(hlo->assignment_bytes[i].data - begin), err),
              hlo);
    hlo_assignment_resolve(hlo);
}
