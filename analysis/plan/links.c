/* SPDX-License-Identifier: Apache-2.0
 * links.c: see links.h. */
#include "plan/links.h"

#include "base/chunks.h"
#include "base/select.h"

#include <stdlib.h>

static const struct links_place nowhere = {PLAN_NONE, PLAN_NONE};

/* Rows of a space: of an allocation that stays, all of its buffers; of the others each buffer, and what shares it. */
static void space_take(struct links *links, uint32_t space_at, uint32_t *row_of_allocation)
{
    const struct plan *plan = links->plan;
    const struct plan_space *space = &plan->spaces[space_at];
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        if (row->is_indefinite)
            row_of_allocation[row->allocation_at] = i;
        if (row->buffer_at != PLAN_NONE)
            links->place_of_buffer[row->buffer_at] = (struct links_place){space_at, i};
    }
    const struct hlo_trace *trace = space->trace_at == PLAN_NONE ? NULL : &plan->hlo.traces[space->trace_at];
    for (uint32_t i = 0; trace != NULL && i < trace->event_count; i++) {
        const struct hlo_event *event = &plan->hlo.events[trace->event_first + i];
        if (event->kind == HLO_EVENT_SHARE_WITH && event->buffer_at != HLO_NONE && event->canonical_at != HLO_NONE &&
            links->place_of_buffer[event->buffer_at].row_at == PLAN_NONE)
            links->place_of_buffer[event->buffer_at] = links->place_of_buffer[event->canonical_at];
    }
    for (uint32_t i = 0; i < plan->hlo.buffer_count; i++) {
        uint32_t allocation_at = plan->hlo.buffers[i].allocation_at;
        if (links->place_of_buffer[i].row_at == PLAN_NONE && allocation_at != HLO_NONE &&
            row_of_allocation[allocation_at] != PLAN_NONE && plan->hlo.allocations[allocation_at].color == space->space)
            links->place_of_buffer[i] = (struct links_place){space_at, row_of_allocation[allocation_at]};
    }
}

void links_build(const struct plan *plan, struct arena *arena, struct links *out)
{
    const struct hlo *hlo = &plan->hlo;
    *out = (struct links){.plan = plan, .arena = arena};
    out->buffer_first = arena_array(arena, uint32_t, (size_t)hlo->instruction_count + 1);
    out->buffer_next = arena_array(arena, uint32_t, (size_t)hlo->buffer_count + 1);
    out->place_of_buffer = arena_array(arena, struct links_place, (size_t)hlo->buffer_count + 1);
    uint32_t *row_of_allocation = arena_array(arena, uint32_t, (size_t)hlo->allocation_count + 1);
    for (uint32_t i = 0; i < hlo->instruction_count; i++)
        out->buffer_first[i] = HLO_NONE;
    for (uint32_t i = 0; i < hlo->allocation_count; i++)
        row_of_allocation[i] = PLAN_NONE;
    for (uint32_t i = hlo->buffer_count; i-- > 0;) {
        uint32_t at = hlo->buffers[i].instruction_at;
        out->place_of_buffer[i] = nowhere;
        out->buffer_next[i] = at == HLO_NONE ? HLO_NONE : out->buffer_first[at];
        if (at != HLO_NONE)
            out->buffer_first[at] = i;
    }
    arena_work(arena, ((uint64_t)hlo->buffer_count + hlo->event_count) * (plan->space_count + 1));
    for (uint32_t i = 0; i < plan->space_count; i++)
        space_take(out, i, row_of_allocation);
}

/* The element of what an asynchronous operation gives that is its result. */
static uint32_t result_element(enum graph_op op)
{
    return op == GRAPH_COPY_START ? 0 : op == GRAPH_ASYNC_START || op == GRAPH_COLLECTIVE ? 1 : VALUE_WHOLE;
}

/* What an asynchronous operation runs makes the buffer of its result; HLO_NONE: it is none. */
static uint32_t async_root(const struct graph *graph, uint32_t at)
{
    uint32_t computation_at = graph_op(graph, at) == GRAPH_ASYNC_START ? graph_called(graph, at, 0) : HLO_NONE;
    return computation_at == HLO_NONE ? HLO_NONE : graph->root_of[computation_at];
}

static struct links_place place_of(const struct links *links, struct value value)
{
    struct links_place found = nowhere;
    if (value.at == HLO_NONE)
        return nowhere;
    uint32_t wanted =
        value.element != VALUE_WHOLE ? value.element : result_element(graph_op(links->plan->graph, value.at));
    for (uint32_t i = links->buffer_first[value.at]; i != HLO_NONE; i = links->buffer_next[i]) {
        uint32_t element = value_of_buffer(&links->plan->hlo, i).element;
        arena_work(links->arena, 1);
        if (element == wanted && links->place_of_buffer[i].row_at != PLAN_NONE)
            return links->place_of_buffer[i];
        if (element == value.element && found.row_at == PLAN_NONE)
            found = links->place_of_buffer[i];
    }
    uint32_t root_at = async_root(links->plan->graph, value.at);
    return found.row_at != PLAN_NONE || root_at == HLO_NONE ||
                   graph_op(links->plan->graph, root_at) == GRAPH_ASYNC_START
               ? found
               : place_of(links, (struct value){root_at, VALUE_WHOLE});
}

struct links_place links_operand(const struct links *links, uint32_t at, uint32_t nth, uint32_t *made_at)
{
    const struct graph *graph = links->plan->graph;
    struct value operand = {graph_operand(graph, at, nth), VALUE_WHOLE};
    *made_at = HLO_NONE;
    if (operand.at == HLO_NONE)
        return nowhere;
    struct value_walk walk = {.graph = graph, .steps_left = VALUE_BACK_STEPS_MAX};
    struct value made = value_origin(&walk, operand, VALUE_BUFFER, NULL);
    arena_work(links->arena, VALUE_BACK_STEPS_MAX - walk.steps_left);
    *made_at = made.at;
    struct links_place place = place_of(links, made);
    return place.row_at != PLAN_NONE ? place : place_of(links, operand);
}

bool links_made(const struct links *links, uint32_t at, uint32_t *buffer_at, struct links_place *place)
{
    uint32_t next = *buffer_at == HLO_NONE ? links->buffer_first[at] : links->buffer_next[*buffer_at];
    uint32_t root_at = async_root(links->plan->graph, at);
    bool is_of_root = *buffer_at != HLO_NONE && links->plan->hlo.buffers[*buffer_at].instruction_at == root_at;
    while (next != HLO_NONE && links->place_of_buffer[next].row_at == PLAN_NONE) {
        arena_work(links->arena, 1);
        next = links->buffer_next[next];
    }
    if (next == HLO_NONE && root_at != HLO_NONE && !is_of_root)
        for (next = links->buffer_first[root_at]; next != HLO_NONE && links->place_of_buffer[next].row_at == PLAN_NONE;
             next = links->buffer_next[next])
            arena_work(links->arena, 1);
    *buffer_at = next;
    *place = next == HLO_NONE ? nowhere : links->place_of_buffer[next];
    return next != HLO_NONE;
}

/* ---- readers ---- */

struct reader {
    uint32_t position, at;
};

struct collected {
    struct chunks readers;
    bool is_result;
};

static bool reader_take(void *context, uint32_t reader_at, uint32_t operand)
{
    struct collected *collected = context;
    (void)operand;
    if (reader_at == HLO_NONE)
        collected->is_result = true;
    else
        CHUNKS_ADD(&collected->readers, uint32_t, reader_at);
    return true;
}

static int by_position(const void *left, const void *right)
{
    const struct reader *a = left, *b = right;
    return ORDER(a->position, b->position) ?: ORDER(a->at, b->at);
}

void links_readers(const struct links *links, struct value value, struct links_readers *out)
{
    const struct plan *plan = links->plan;
    struct arena *arena = links->arena;
    struct value_walk walk;
    struct collected collected = {.is_result = false};
    uint64_t steps = (uint64_t)plan->graph->operand_first[plan->hlo.instruction_count] + 1;
    *out = (struct links_readers){.count = 0};
    if (value.at == HLO_NONE)
        return;
    chunks_init(&collected.readers, arena, sizeof(uint32_t));
    value_walk_init(&walk, plan->graph, steps, arena);
    walk.of_buffers = true;
    arena_work(arena, steps);
    value_each_reader(&walk, value, reader_take, &collected);
    uint32_t count = (uint32_t)collected.readers.count;
    struct reader *readers = arena_array(arena, struct reader, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = CHUNKS_AT(&collected.readers, uint32_t, i);
        readers[i] = (struct reader){plan->schedule.position_of_instruction[at], at};
    }
    arena_work(arena, select_work(count));
    qsort(readers, count, sizeof(*readers), by_position);
    out->items = arena_array(arena, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || readers[i].at != readers[i - 1].at)
            out->items[out->count++] = readers[i].at;
    out->is_result = collected.is_result;
    out->is_cut = walk.is_cut;
}
