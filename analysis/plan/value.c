/* SPDX-License-Identifier: Apache-2.0
 * value.c: see value.h. */
#include "plan/value.h"

/* ---- back to where a value was made ---- */

/* Values of real programs go through a few dozen places; loops in loops, six deep. */
enum { LOOPS_MAX = 6, NAMER_NODES_MAX = 64 };

struct back {
    const struct graph *graph;
    enum value_reach reach;
    bool is_gathered;
    uint32_t depth;       /* of loops that are being looked into */
    uint32_t first_namer; /* the first instruction on the way that is named */
    uint64_t steps_left;
};

static struct value value_whole(uint32_t at) { return (struct value){at, VALUE_WHOLE}; }

static struct value back_walk(struct back *back, struct value value);

static uint32_t root_called(const struct graph *graph, uint32_t at, uint32_t nth)
{
    uint32_t computation_at = graph_called(graph, at, nth);
    return computation_at == HLO_NONE ? HLO_NONE : graph->root_of[computation_at];
}

bool value_is_blank(const struct graph *graph, struct value origin)
{
    if (origin.at == HLO_NONE)
        return false;
    uint32_t operand = graph_operand(graph, origin.at, 0);
    return graph_op(graph, origin.at) == GRAPH_ALLOCATE || graph_op(graph, origin.at) == GRAPH_CONSTANT ||
           (graph_op(graph, origin.at) == GRAPH_BROADCAST && operand != HLO_NONE &&
            graph_op(graph, operand) == GRAPH_CONSTANT);
}

/* What the body of a loop gives for an element of its state, through tuples only. */
static struct value loop_result(const struct graph *graph, uint32_t loop_at, uint32_t element)
{
    struct value value = {root_called(graph, loop_at, 0), element};
    for (int i = 0; i < 8 && value.at != HLO_NONE; i++) {
        enum graph_op op = graph_op(graph, value.at);
        if (op == GRAPH_TUPLE && value.element != VALUE_WHOLE)
            value = value_whole(graph_operand(graph, value.at, value.element));
        else if (op == GRAPH_ELEMENT && value.element == VALUE_WHOLE)
            value = (struct value){graph_operand(graph, value.at, 0), (uint32_t)graph->numbers[value.at]};
        else if (op == GRAPH_SAME)
            value.at = graph_operand(graph, value.at, 0);
        else
            break;
    }
    return value;
}

/* Does the body hand the element on as it came? */
static bool loop_keeps(const struct graph *graph, uint32_t loop_at, uint32_t element)
{
    struct value result = loop_result(graph, loop_at, element);
    return result.at != HLO_NONE && graph_op(graph, result.at) == GRAPH_PARAMETER && result.element == element &&
           graph->hlo->instructions[result.at].computation_at == graph_called(graph, loop_at, 0);
}

/* An element of a loop's state inside of its body: what came in, or what the body makes of room that came in. */
static struct value loop_element(struct back *back, uint32_t loop_at, uint32_t element)
{
    struct value before = {graph_operand(back->graph, loop_at, 0), element};
    if (back->depth >= LOOPS_MAX || before.at == HLO_NONE || loop_keeps(back->graph, loop_at, element))
        return before;
    struct back inner = *back;
    inner.depth++;
    inner.reach = VALUE_ORIGIN;
    struct value made = back_walk(&inner, before);
    back->steps_left = inner.steps_left;
    return value_is_blank(back->graph, made) ? loop_result(back->graph, loop_at, element) : before;
}

static struct value from_parameter(struct back *back, struct value value)
{
    const struct graph *graph = back->graph;
    uint32_t computation_at = graph->hlo->instructions[value.at].computation_at;
    uint32_t caller_at = computation_at == graph->hlo->entry_at ? HLO_NONE : graph->caller_of[computation_at];
    uint32_t number = (uint32_t)graph->numbers[value.at];
    if (caller_at == HLO_NONE)
        return value_whole(HLO_NONE);
    switch (graph_op(graph, caller_at)) {
    case GRAPH_FUSION:
    case GRAPH_CALL:
    case GRAPH_ASYNC_START: return (struct value){graph_operand(graph, caller_at, number), value.element};
    case GRAPH_WHILE:
        return value.element == VALUE_WHOLE ? value_whole(graph_operand(graph, caller_at, 0))
                                            : loop_element(back, caller_at, value.element);
    case GRAPH_CONDITIONAL:
        return (struct value){graph_operand(graph, caller_at, graph->called_as[computation_at] + 1), value.element};
    default: return value_whole(HLO_NONE);
    }
}

/* The operand of a view or cast, if the walk goes through it. */
static struct value through(const struct back *back, struct value value)
{
    if (back->reach == VALUE_BUFFER ||
        (back->reach == VALUE_ORIGIN && graph_phase(back->graph, value.at) != GRAPH_NAMELESS))
        return value_whole(HLO_NONE);
    return value_whole(graph_operand(back->graph, value.at, 0));
}

/* Its result has a buffer of its own. */
static bool makes_buffer(enum graph_op op)
{
    return op == GRAPH_COPY || op == GRAPH_COPY_START || op == GRAPH_FUSION || op == GRAPH_ASYNC_START;
}

/* One step back; at == HLO_NONE: it is made here. */
static struct value back_step(struct back *back, struct value value)
{
    const struct graph *graph = back->graph;
    uint32_t operand = graph_operand(graph, value.at, 0);
    if (back->reach == VALUE_BUFFER && makes_buffer(graph_op(graph, value.at)))
        return value_whole(HLO_NONE);
    switch (graph_op(graph, value.at)) {
    case GRAPH_ELEMENT:
        return value.element != VALUE_WHOLE ? value_whole(HLO_NONE)
                                            : (struct value){operand, (uint32_t)graph->numbers[value.at]};
    case GRAPH_TUPLE:
        return value_whole(value.element == VALUE_WHOLE ? HLO_NONE : graph_operand(graph, value.at, value.element));
    case GRAPH_SAME:
    case GRAPH_COPY: return (struct value){operand, value.element};
    case GRAPH_COPY_START:
    case GRAPH_COLLECTIVE_DONE: return value_whole(operand);
    case GRAPH_DONE:
        if (operand != HLO_NONE && graph_op(graph, operand) == GRAPH_ASYNC_START && back->reach != VALUE_BUFFER)
            return (struct value){root_called(graph, operand, 0), value.element};
        return value_whole(operand);
    case GRAPH_ASYNC_START: return value_whole(value.element == 0 ? operand : root_called(graph, value.at, 0));
    case GRAPH_RESHAPE:
    case GRAPH_CONVERT:
    case GRAPH_SLICE: return through(back, value);
    case GRAPH_GATHER:
        if (back->reach != VALUE_BASE)
            return value_whole(HLO_NONE);
        back->is_gathered = true;
        return value_whole(operand);
    case GRAPH_FUSION:
    case GRAPH_CALL:
    case GRAPH_CONDITIONAL: return (struct value){root_called(graph, value.at, 0), value.element};
    case GRAPH_WHILE:
        if (value.element == VALUE_WHOLE)
            return value_whole(HLO_NONE);
        return loop_keeps(graph, value.at, value.element) ? (struct value){operand, value.element}
                                                          : loop_result(graph, value.at, value.element);
    case GRAPH_PARAMETER: return from_parameter(back, value);
    default: return value_whole(HLO_NONE);
    }
}

static struct value back_walk(struct back *back, struct value value)
{
    while (back->steps_left > 0) {
        back->steps_left--;
        if (back->first_namer == HLO_NONE && graph_phase(back->graph, value.at) != GRAPH_NAMELESS)
            back->first_namer = value.at;
        struct value next = back_step(back, value);
        if (next.at == HLO_NONE)
            break;
        value = next;
    }
    return value;
}

/* The value goes back to its origin. */
static struct back back_from(struct value_walk *walk, struct value *value, enum value_reach reach)
{
    uint64_t steps = walk->steps_left < VALUE_BACK_STEPS_MAX ? walk->steps_left : VALUE_BACK_STEPS_MAX;
    struct back back = {.graph = walk->graph, .reach = reach, .first_namer = HLO_NONE, .steps_left = steps};
    if (value->at != HLO_NONE)
        *value = back_walk(&back, *value);
    walk->steps_left -= steps - back.steps_left;
    return back;
}

struct value value_origin(struct value_walk *walk, struct value value, enum value_reach reach, bool *is_gathered)
{
    struct back back = back_from(walk, &value, reach);
    if (is_gathered != NULL)
        *is_gathered = back.is_gathered;
    return value;
}

/* The nearest named instruction behind a nameless one: its operands, then theirs. */
static uint32_t nearest_named(struct value_walk *walk, uint32_t at)
{
    const struct graph *graph = walk->graph;
    uint32_t nodes[NAMER_NODES_MAX] = {at}, count = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (graph_phase(graph, nodes[i]) != GRAPH_NAMELESS)
            return nodes[i];
        struct value operand;
        for (uint32_t j = 0; j < NAMER_NODES_MAX && count < NAMER_NODES_MAX &&
                             (operand.at = graph_operand(graph, nodes[i], j)) != HLO_NONE;
             j++) {
            if (walk->steps_left == 0)
                return HLO_NONE;
            walk->steps_left--;
            operand = value_origin(walk, value_whole(operand.at), VALUE_ORIGIN, NULL);
            bool is_known = false;
            for (uint32_t k = 0; k < count && !is_known; k++)
                is_known = nodes[k] == operand.at;
            if (!is_known)
                nodes[count++] = operand.at;
        }
    }
    return HLO_NONE;
}

uint32_t value_namer(struct value_walk *walk, struct value value, struct value *origin)
{
    const struct graph *graph = walk->graph;
    struct back back = back_from(walk, &value, VALUE_ORIGIN);
    if (origin != NULL)
        *origin = value;
    if (value.at == HLO_NONE)
        return HLO_NONE;
    if (graph_phase(graph, value.at) != GRAPH_NAMELESS || graph_is_argument(graph, value.at))
        return value.at;
    return back.first_namer != HLO_NONE ? back.first_namer : nearest_named(walk, value.at);
}

/* ---- forward to what reads a value ---- */

struct value_visited {
    uint64_t key;
    uint32_t mark;
};
/* Nearly all values are at a handful of places: room for more is made when there are more. */
enum { PLACES_FIRST = 64, SLOTS_A_PLACE = 4 };

static void room_make(struct value_walk *walk, uint32_t places)
{
    walk->place_room = places;
    walk->places = arena_array(walk->arena, struct value, places);
    walk->visited = arena_array(walk->arena, struct value_visited, (size_t)places * SLOTS_A_PLACE);
}

void value_walk_init(struct value_walk *walk, const struct graph *graph, uint64_t steps, struct arena *arena)
{
    *walk = (struct value_walk){.graph = graph, .steps_left = steps, .arena = arena};
    room_make(walk, PLACES_FIRST);
    walk->phases = arena_array(arena, uint8_t, (size_t)graph->hlo->instruction_count + 1);
}

/* The slot of a place: its own, or the one that it can have. */
static struct value_visited *slot_of(const struct value_walk *walk, uint64_t key)
{
    size_t count = (size_t)walk->place_room * SLOTS_A_PLACE;
    size_t slot = (size_t)(hash_number(key, (uint64_t)(uintptr_t)walk->visited) % count);
    while (walk->visited[slot].mark == walk->visited_mark && walk->visited[slot].key != key)
        slot = (slot + 1) % count;
    return &walk->visited[slot];
}

static void place_put(struct value_walk *walk, struct value place)
{
    uint64_t key = (uint64_t)place.at << 32 | place.element;
    *slot_of(walk, key) = (struct value_visited){key, walk->visited_mark};
    walk->places[walk->place_count++] = place;
}

static void room_double(struct value_walk *walk)
{
    const struct value *places = walk->places;
    uint32_t count = walk->place_count;
    room_make(walk, walk->place_room * 2);
    walk->place_count = 0;
    for (uint32_t i = 0; i < count; i++)
        place_put(walk, places[i]);
}

static void place_add(struct value_walk *walk, uint32_t at, uint32_t element)
{
    if (at == HLO_NONE || slot_of(walk, (uint64_t)at << 32 | element)->mark == walk->visited_mark)
        return;
    if (walk->place_count == VALUE_PLACES_MAX) {
        walk->is_cut = true;
        return;
    }
    if (walk->place_count == walk->place_room)
        room_double(walk);
    place_put(walk, (struct value){at, element});
}

static void into_loop(struct value_walk *walk, uint32_t loop_at, uint32_t element)
{
    const struct graph *graph = walk->graph;
    place_add(walk, graph_parameter(graph, graph_called(graph, loop_at, 0), 0), element);
    place_add(walk, graph_parameter(graph, graph_called(graph, loop_at, 1), 0), element);
    if (loop_keeps(graph, loop_at, element))
        place_add(walk, loop_at, element);
    else if (walk->loop.at == HLO_NONE)
        walk->loop = (struct value){loop_at, element};
}

/* What a computation gives is at what runs it. False: the walk is to end. */
static bool through_root(struct value_walk *walk, struct value place, value_reader *visit, void *context)
{
    const struct graph *graph = walk->graph;
    uint32_t computation_at = graph->hlo->instructions[place.at].computation_at, caller_at;
    if (graph->root_of[computation_at] != place.at)
        return true;
    if (computation_at == graph->hlo->entry_at)
        return visit(context, HLO_NONE, place.element);
    if ((caller_at = graph->caller_of[computation_at]) == HLO_NONE)
        return true;
    switch (graph_op(graph, caller_at)) {
    case GRAPH_FUSION:
    case GRAPH_CALL:
    case GRAPH_CONDITIONAL: place_add(walk, caller_at, place.element); break;
    case GRAPH_ASYNC_START: place_add(walk, caller_at, 1); break;
    case GRAPH_WHILE:
        if (place.element == VALUE_WHOLE || graph_called(graph, caller_at, 0) != computation_at)
            break;
        place_add(walk, caller_at, place.element);
        place_add(walk, graph_parameter(graph, computation_at, 0), place.element);
        break;
    default: break;
    }
    return true;
}

static bool through_reader(struct value_walk *walk, struct value place, struct graph_use use, value_reader *visit,
                           void *context)
{
    const struct graph *graph = walk->graph;
    uint32_t reader_at = use.reader_at, operand = use.operand, inside;
    enum graph_op op = graph_op(graph, reader_at);
    if (walk->of_buffers && (makes_buffer(op) || op == GRAPH_RESHAPE || op == GRAPH_CONVERT || op == GRAPH_SLICE))
        return visit(context, reader_at, operand);
    if (walk->of_buffers && op == GRAPH_COLLECTIVE_DONE) {
        place_add(walk, reader_at, VALUE_WHOLE);
        return true;
    }
    switch (op) {
    case GRAPH_ELEMENT:
        if (place.element == (uint32_t)graph->numbers[reader_at])
            place_add(walk, reader_at, VALUE_WHOLE);
        return true;
    case GRAPH_TUPLE:
        if (place.element == VALUE_WHOLE)
            place_add(walk, reader_at, operand);
        return true;
    case GRAPH_SAME:
        if (operand > 0)
            return true;
        place_add(walk, reader_at, place.element);
        return true;
    case GRAPH_COPY: place_add(walk, reader_at, place.element); return true;
    case GRAPH_COPY_START:
    case GRAPH_DONE: place_add(walk, reader_at, VALUE_WHOLE); return true;
    case GRAPH_RESHAPE:
    case GRAPH_CONVERT:
    case GRAPH_SLICE:
        if (operand > 0 || graph_phase(graph, reader_at) != GRAPH_NAMELESS)
            return visit(context, reader_at, operand);
        place_add(walk, reader_at, VALUE_WHOLE);
        return true;
    case GRAPH_FUSION:
    case GRAPH_CALL:
    case GRAPH_ASYNC_START:
        inside = graph_parameter(graph, graph_called(graph, reader_at, 0), operand);
        if (inside == HLO_NONE)
            return visit(context, reader_at, operand);
        place_add(walk, inside, place.element);
        return true;
    case GRAPH_WHILE:
        if (operand == 0 && place.element != VALUE_WHOLE)
            into_loop(walk, reader_at, place.element);
        return true;
    case GRAPH_CONDITIONAL:
        if (operand == 0)
            return true;
        inside = graph_parameter(graph, graph_called(graph, reader_at, operand - 1), 0);
        if (inside == HLO_NONE)
            return visit(context, reader_at, operand);
        place_add(walk, inside, place.element);
        return true;
    default: return visit(context, reader_at, operand);
    }
}

void value_each_reader(struct value_walk *walk, struct value value, value_reader *visit, void *context)
{
    const struct graph *graph = walk->graph;
    walk->visited_mark++;
    walk->place_count = 0;
    walk->is_cut = false;
    walk->loop = value_whole(HLO_NONE);
    place_add(walk, value.at, value.element);
    for (uint32_t i = 0; i < walk->place_count; i++) {
        struct value place = walk->places[i];
        if (!through_root(walk, place, visit, context))
            return;
        for (uint32_t j = graph->reader_first[place.at]; j < graph->reader_first[place.at + 1]; j++) {
            if (walk->steps_left == 0) {
                walk->is_cut = true;
                return;
            }
            walk->steps_left--;
            if (!through_reader(walk, place, graph->readers[j], visit, context))
                return;
        }
    }
}

/* Casts of one value follow each other, seldom more than two. */
enum { CASTS_MAX = 8 };

uint32_t value_maker(struct value_walk *walk, uint32_t at)
{
    for (unsigned i = 0; i < CASTS_MAX && at != HLO_NONE; i++) {
        struct value origin = value_origin(walk, value_whole(at), VALUE_ORIGIN, NULL);
        if (origin.at == HLO_NONE || graph_op(walk->graph, origin.at) != GRAPH_CONVERT)
            return origin.at;
        at = graph_operand(walk->graph, origin.at, 0);
    }
    return at;
}

struct value value_of_buffer(const struct hlo *hlo, uint32_t buffer_at)
{
    const struct hlo_buffer *buffer = &hlo->buffers[buffer_at];
    int64_t index = buffer->index_count == 0 ? -1 : hlo->shape_indices[buffer->index_first];
    return (struct value){buffer->instruction_at, index < 0 || index >= VALUE_WHOLE ? VALUE_WHOLE : (uint32_t)index};
}

/* ---- phases ---- */

/* Fusions have up to some ten results. */
enum { FUSION_RESULTS_MAX = 64 };

static unsigned fusion_phases(struct value_walk *walk, uint32_t fusion_at)
{
    const struct graph *graph = walk->graph;
    uint32_t root = root_called(graph, fusion_at, 0), count = 0;
    unsigned phases = 1u << graph_phase(graph, fusion_at);
    if (walk->phases[fusion_at] != 0)
        return walk->phases[fusion_at];
    if (root != HLO_NONE && graph_op(graph, root) == GRAPH_TUPLE)
        count = graph->operand_first[root + 1] - graph->operand_first[root];
    for (uint32_t i = 0; i < count && i < FUSION_RESULTS_MAX; i++) {
        struct value result = value_origin(walk, value_whole(graph_operand(graph, root, i)), VALUE_ORIGIN, NULL);
        if (result.at != HLO_NONE)
            phases |= 1u << graph_phase(graph, result.at);
    }
    if (root != HLO_NONE && count == 0)
        phases |= 1u << graph_phase(graph, root);
    walk->phases[fusion_at] = (uint8_t)phases;
    return phases;
}

unsigned value_phases(struct value_walk *walk, uint32_t reader_at)
{
    uint32_t fusion_at = graph_fusion_around(walk->graph, reader_at);
    return 1u << graph_phase(walk->graph, reader_at) | (fusion_at == HLO_NONE ? 0 : fusion_phases(walk, fusion_at));
}
