/* SPDX-License-Identifier: Apache-2.0
 * alignment.c: see alignment.h. */
#include "model/compare/alignment.h"

#include "base/intern.h"

#include <stdlib.h>

/* positions of steps */

static uint32_t position_of_event(const struct plan *plan, const struct plan_space *space, uint32_t step)
{
    const struct hlo_event *event = &plan->hlo.events[plan->hlo.traces[space->trace_at].event_first + step];
    if (event->kind != HLO_EVENT_ALLOC || event->buffer_at == HLO_NONE)
        return HLO_NONE; /* it names what defined the buffer, which was long ago */
    uint32_t instruction_at = plan->hlo.buffers[event->buffer_at].instruction_at;
    return instruction_at == HLO_NONE ? HLO_NONE : plan->schedule.position_of_instruction[instruction_at];
}

/* Positions never go backwards: a step without a position of its own has that of the step before. */
static uint32_t *positions_make(const struct compare_side *side, struct arena *arena)
{
    uint32_t *positions = arena_array(arena, uint32_t, (size_t)side->space->step_count + 1), last = 0;
    for (uint32_t i = 0; i < side->space->step_count; i++) {
        uint32_t at = side->space->unit == PLAN_UNIT_HEAP_TRACE ? position_of_event(side->plan, side->space, i) : i;
        last = at != HLO_NONE && at > last ? at : last;
        positions[i] = last;
    }
    return positions;
}

/* ---- places that both have ---- */

/* The first position of each op name, by its number; COMPARE_NONE: it has none. */
struct firsts {
    struct intern names;
    uint32_t *positions[COMPARE_SIDE_COUNT];
    size_t capacity[COMPARE_SIDE_COUNT];
};

static void firsts_find(struct firsts *firsts, const struct compare_side *side, int at, struct arena *arena)
{
    const struct plan *plan = side->plan;
    for (uint32_t i = 0; i < plan->schedule.length; i++) {
        struct str op_name = hlo_detail(&plan->hlo, plan->schedule.order[i]).op_name;
        arena_work(arena, plan->hlo.instructions[plan->schedule.order[i]].length / 8 + 1);
        if (op_name.length == 0)
            continue;
        uint32_t name = intern_number(&firsts->names, op_name);
        firsts->positions[at] =
            arena_grown(arena, firsts->positions[at], (size_t)name + 1, &firsts->capacity[at], sizeof(uint32_t));
        if (firsts->positions[at][name] == 0)
            firsts->positions[at][name] = i + 1;
    }
}

static int by_a(const void *left, const void *right)
{
    const struct alignment_anchor *a = left, *b = right;
    return ORDER(a->positions[COMPARE_A], b->positions[COMPARE_A]);
}

static uint32_t common_find(const struct firsts *firsts, struct alignment_anchor *anchors)
{
    uint32_t count = 0;
    for (size_t i = 0; i < firsts->capacity[COMPARE_A] && i < firsts->capacity[COMPARE_B]; i++) {
        uint32_t a = firsts->positions[COMPARE_A][i], b = firsts->positions[COMPARE_B][i];
        if (a > 0 && b > 0)
            anchors[count++] = (struct alignment_anchor){{a - 1, b - 1}, 0};
    }
    qsort(anchors, count, sizeof(*anchors), by_a);
    return count;
}

/* Keeps the longest run of anchors that B has in A's order: patience sorting. */
static uint32_t ascending_keep(struct alignment_anchor *anchors, uint32_t count, struct arena *arena)
{
    uint32_t *ends = arena_array(arena, uint32_t, (size_t)count + 1);   /* of the best run of each length */
    uint32_t *before = arena_array(arena, uint32_t, (size_t)count + 1); /* the anchor before, in its run */
    uint32_t length = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t low = 0, high = length;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (anchors[ends[middle]].positions[COMPARE_B] < anchors[i].positions[COMPARE_B])
                low = middle + 1;
            else
                high = middle;
        }
        before[i] = low > 0 ? ends[low - 1] : COMPARE_NONE;
        ends[low] = i;
        length += low == length;
    }
    struct alignment_anchor *kept = arena_array(arena, struct alignment_anchor, (size_t)length + 1);
    for (uint32_t i = length, at = length > 0 ? ends[length - 1] : 0; i-- > 0; at = before[at])
        kept[i] = anchors[at];
    memcpy(anchors, kept, length * sizeof(*kept));
    return length;
}

static void axis_lay(struct alignment *out)
{
    struct alignment_anchor last = {{0, 0}, 0};
    for (uint32_t i = 0; i < out->anchor_count; i++) {
        struct alignment_anchor *anchor = &out->anchors[i];
        uint32_t a = anchor->positions[COMPARE_A] - last.positions[COMPARE_A];
        uint32_t b = anchor->positions[COMPARE_B] - last.positions[COMPARE_B];
        anchor->common = last.common + (a > b ? a : b);
        last = *anchor;
    }
    out->length = last.common;
}

/* Both ends are anchors as well, unless an op name is one there. */
static void ends_add(struct alignment *out)
{
    struct alignment_anchor *anchors = out->anchors, *last = &anchors[out->anchor_count];
    if (out->anchor_count == 0 || anchors[0].positions[COMPARE_A] > 0 || anchors[0].positions[COMPARE_B] > 0) {
        memmove(anchors + 1, anchors, out->anchor_count * sizeof(*anchors));
        anchors[0] = (struct alignment_anchor){{0, 0}, 0};
        out->anchor_count++;
        last++;
    }
    *last = (struct alignment_anchor){{out->lengths[COMPARE_A], out->lengths[COMPARE_B]}, 0};
    out->anchor_count++;
}

void alignment_make(const struct compare *compare, enum alignment_way way, struct arena *arena, struct alignment *out)
{
    struct firsts firsts = {.positions = {NULL}};
    uint32_t longest = 0;
    *out = (struct alignment){.anchors = NULL};
    intern_init(&firsts.names, arena);
    for (int side = 0; side < COMPARE_SIDE_COUNT; side++) {
        out->lengths[side] = compare->sides[side].plan->schedule.length;
        longest = out->lengths[side] > longest ? out->lengths[side] : longest;
        out->positions[side] = positions_make(&compare->sides[side], arena);
        if (way == ALIGNMENT_SCOPE)
            firsts_find(&firsts, &compare->sides[side], side, arena);
    }
    out->anchors = arena_array(arena, struct alignment_anchor, (size_t)firsts.names.map.count + 3);
    if (way == ALIGNMENT_SCOPE) {
        out->anchor_count = ascending_keep(out->anchors, common_find(&firsts, out->anchors), arena);
        ends_add(out);
    } else {
        out->anchors[1] = (struct alignment_anchor){{longest, longest}, longest};
        out->anchor_count = 2;
    }
    axis_lay(out);
}

uint32_t alignment_of_step(const struct alignment *alignment, int side, uint32_t step)
{
    const struct alignment_anchor *anchors = alignment->anchors;
    uint32_t position = alignment->positions[side][step], low = 0, high = alignment->anchor_count - 1;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (anchors[middle].positions[side] <= position)
            low = middle;
        else
            high = middle;
    }
    uint64_t length = anchors[high].positions[side] - anchors[low].positions[side];
    uint64_t room = anchors[high].common - anchors[low].common, into = position - anchors[low].positions[side];
    return anchors[low].common + (uint32_t)(length == 0 ? 0 : into < length ? room * into / length : room);
}
