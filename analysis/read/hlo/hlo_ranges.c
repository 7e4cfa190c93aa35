/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/hlo_ranges.h"

#include "hlo.fields.h"
#include "read/hlo/hlo_aliases.h"

#include <stdlib.h>

/* Real programs nest tuples two or three deep and pass a value through a few
 * dozen places; what goes further is counted as lost. */
enum { DEPTH_MAX = HLO_ALIASES_DEPTH_MAX, PLACES_MAX = 2048 };

/* What an instruction does with an operand, as far as values pass through it. */
enum passing {
    PASS_NOTHING, /* reads it */
    PASS_SAME,    /* its result is the operand: bitcast, opt-barrier, … */
    PASS_TUPLE,
    PASS_ELEMENT, /* get-tuple-element */
    PASS_WHILE,
    PASS_CALL,
    PASS_CONDITIONAL,
    PASS_COPY,        /* reads its table of pointers only */
    PASS_COPY_START,  /* operand becomes element 1 */
    PASS_FIRST_START, /* operand becomes element 0: send, collective-permute-start, all-gather-start */
    PASS_FIRST_DONE,  /* element 0 becomes the result: copy-done */
    PASS_SECOND_DONE, /* element 1 becomes the result: all-gather-done, collective-permute-done, async-done */
    PASS_RECV_DONE,   /* element 0 stays element 0 */
    PASS_ASYNC_START,
};

static enum passing passing_of(struct str opcode)
{
    static const struct {
        const char *opcode;
        enum passing passing;
    } table[] = {
        /* clang-format off */
        {"bitcast", PASS_SAME}, {"opt-barrier", PASS_SAME}, {"optimization-barrier", PASS_SAME}, {"domain", PASS_SAME},
        {"add-dependency", PASS_SAME}, {"all-reduce-done", PASS_SAME}, {"async-update", PASS_SAME},
        {"tuple", PASS_TUPLE}, {"get-tuple-element", PASS_ELEMENT}, {"while", PASS_WHILE}, {"call", PASS_CALL},
        {"conditional", PASS_CONDITIONAL}, {"copy", PASS_COPY}, {"copy-start", PASS_COPY_START},
        {"send", PASS_FIRST_START}, {"collective-permute-start", PASS_FIRST_START},
        {"all-gather-start", PASS_FIRST_START},
        {"copy-done", PASS_FIRST_DONE}, {"all-gather-done", PASS_SECOND_DONE},
        {"collective-permute-done", PASS_SECOND_DONE}, {"async-done", PASS_SECOND_DONE}, {"recv-done", PASS_RECV_DONE},
        {"async-start", PASS_ASYNC_START},
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (str_equal(opcode, str_of(table[i].opcode)))
            return table[i].passing;
    return PASS_NOTHING;
}

struct use {
    uint32_t user_at, operand;
};

/* One place a value is at: an instruction's result, at a shape index. */
struct place {
    uint32_t instruction_at;
    uint32_t depth;
    int64_t index[DEPTH_MAX];
};

struct flow {
    const struct hlo *hlo;
    const struct hlo_schedule *schedule;
    struct arena *arena;
    enum passing *passing; /* by instruction; only of scheduled ones */
    uint32_t *first_use;   /* by instruction, in uses; one more at the end */
    struct use *uses;
    uint32_t *caller_of;  /* by computation: the instruction that runs it, or HLO_NONE */
    struct map by_place;  /* place_key of a definition: its buffer */
    uint32_t buffer_at;   /* the value that is followed */
    struct place *places; /* of the value that is followed */
    uint32_t place_count;
    bool is_lost;
    struct map parameter_of; /* computation << 32 | number: its parameter instruction */
};

/* ---- the graph ---- */

struct counting {
    struct flow *flow;
    uint32_t user_at, operand;
    bool is_placing;
};

static void operand_met(void *context, int64_t id)
{
    struct counting *counting = context;
    struct flow *flow = counting->flow;
    uint32_t at = map_get(&flow->hlo->instruction_of_id, (uint64_t)id), operand = counting->operand++;
    if (at == HLO_NONE)
        return;
    if (counting->is_placing)
        flow->uses[flow->first_use[at]++] = (struct use){counting->user_at, operand};
    else
        flow->first_use[at + 1]++;
}

static void operands_walk(struct flow *flow, bool is_placing)
{
    for (uint32_t i = 0; i < flow->schedule->length; i++) {
        struct counting counting = {flow, flow->schedule->order[i], 0, is_placing};
        hlo_each_id(flow->hlo, counting.user_at, HLO_INSTRUCTION_PROTO_OPERAND_IDS, operand_met, &counting);
    }
}

struct calling {
    struct flow *flow;
    uint32_t caller_at;
};

static void callee_met(void *context, int64_t id)
{
    struct calling *calling = context;
    uint32_t at = map_get(&calling->flow->hlo->computation_of_id, (uint64_t)id);
    if (at != HLO_NONE && calling->flow->caller_of[at] == HLO_NONE)
        calling->flow->caller_of[at] = calling->caller_at;
}

static void graph_build(struct flow *flow)
{
    size_t instructions = (size_t)flow->hlo->instruction_count + 2;
    flow->passing = arena_array(flow->arena, enum passing, instructions);
    flow->first_use = arena_array(flow->arena, uint32_t, instructions);
    flow->caller_of = arena_raw(flow->arena, ((size_t)flow->hlo->computation_count + 1) * sizeof(uint32_t));
    memset(flow->caller_of, 0xff, ((size_t)flow->hlo->computation_count + 1) * sizeof(uint32_t));
    map_init(&flow->parameter_of, flow->arena, flow->schedule->length);
    for (uint32_t i = 0; i < flow->schedule->length; i++) {
        uint32_t at = flow->schedule->order[i];
        enum passing passing = flow->passing[at] = passing_of(hlo_instruction_opcode(flow->hlo, at));
        if (str_equal(hlo_instruction_opcode(flow->hlo, at), STR("parameter")))
            map_put(&flow->parameter_of,
                    (uint64_t)flow->hlo->instructions[at].computation_at << 32 |
                        (uint32_t)hlo_detail(flow->hlo, at).parameter_number,
                    at, false);
        struct calling calling = {flow, at};
        if (passing == PASS_WHILE || passing == PASS_CALL || passing == PASS_CONDITIONAL || passing == PASS_ASYNC_START)
            hlo_each_id(flow->hlo, at, HLO_INSTRUCTION_PROTO_CALLED_COMPUTATION_IDS, callee_met, &calling);
    }
    operands_walk(flow, false);
    for (size_t i = 1; i < instructions; i++)
        flow->first_use[i] += flow->first_use[i - 1];
    flow->uses = arena_array(flow->arena, struct use, (size_t)flow->first_use[instructions - 1] + 1);
    operands_walk(flow, true); /* leaves first_use[i] at the end of i's uses: the begin of i + 1 */
    memmove(flow->first_use + 1, flow->first_use, (instructions - 1) * sizeof(*flow->first_use));
    flow->first_use[0] = 0;
}

/* ---- following a value ---- */

static void place_add(struct flow *flow, uint32_t instruction_at, const int64_t *prefix, uint32_t prefix_count,
                      const struct place *from, uint32_t skip)
{
    if (instruction_at == HLO_NONE)
        return;
    if (from->depth < skip || prefix_count + from->depth - skip > DEPTH_MAX || flow->place_count == PLACES_MAX) {
        flow->is_lost = true;
        return;
    }
    struct place place = {instruction_at, prefix_count + from->depth - skip, {0}};
    for (uint32_t i = 0; i < prefix_count; i++)
        place.index[i] = prefix[i];
    for (uint32_t i = skip; i < from->depth; i++)
        place.index[prefix_count + i - skip] = from->index[i];
    arena_work(flow->arena, flow->place_count);
    for (uint32_t i = 0; i < flow->place_count; i++)
        if (memcmp(&flow->places[i], &place, sizeof(place)) == 0)
            return;
    /* A value of its own is defined there: where the ways of several values meet, as at the begin of a loop. */
    uint32_t defined = map_get(&flow->by_place, hlo_aliases_place_key(place.instruction_at, place.index, place.depth));
    if (defined != MAP_NONE && defined != flow->buffer_at)
        return;
    flow->places[flow->place_count++] = place;
}

static uint32_t callee(const struct flow *flow, uint32_t instruction_at, uint32_t wanted)
{
    uint32_t count;
    arena_work(flow->arena, flow->hlo->instructions[instruction_at].length);
    return hlo_called_computation(flow->hlo, instruction_at, wanted, &count);
}

/* The parameter instruction of a computation with that number. */
static uint32_t parameter_of(const struct flow *flow, uint32_t computation_at, uint32_t number)
{
    return computation_at == HLO_NONE ? HLO_NONE
                                      : map_get(&flow->parameter_of, (uint64_t)computation_at << 32 | number);
}

/* A loop's state is one buffer: what enters it is at the parameters of its two
 * computations (body first in the file) and at its result. */
static void into_loop(struct flow *flow, uint32_t loop_at, const struct place *from)
{
    place_add(flow, parameter_of(flow, callee(flow, loop_at, 0), 0), NULL, 0, from, 0);
    place_add(flow, parameter_of(flow, callee(flow, loop_at, 1), 0), NULL, 0, from, 0);
    place_add(flow, loop_at, NULL, 0, from, 0);
}

static void through_use(struct flow *flow, const struct place *from, struct use use)
{
    int64_t operand = use.operand, one = 1, zero = 0, first_operand[2] = {0, operand};
    uint32_t user_at = use.user_at;
    switch (flow->passing[user_at]) {
    case PASS_SAME:
        if (operand == 0)
            place_add(flow, user_at, NULL, 0, from, 0);
        break;
    case PASS_TUPLE: place_add(flow, user_at, &operand, 1, from, 0); break;
    case PASS_ELEMENT:
        if (from->depth > 0 && from->index[0] == hlo_detail(flow->hlo, user_at).tuple_index)
            place_add(flow, user_at, NULL, 0, from, 1);
        break;
    case PASS_WHILE: into_loop(flow, user_at, from); break;
    case PASS_CALL: place_add(flow, parameter_of(flow, callee(flow, user_at, 0), use.operand), NULL, 0, from, 0); break;
    case PASS_CONDITIONAL:
        if (use.operand > 0)
            place_add(flow, parameter_of(flow, callee(flow, user_at, use.operand - 1), 0), NULL, 0, from, 0);
        break;
    case PASS_COPY: /* elements of a copied tuple pass through */
        if (from->depth > 0)
            place_add(flow, user_at, NULL, 0, from, 0);
        break;
    case PASS_COPY_START: place_add(flow, user_at, &one, 1, from, 0); break;
    case PASS_FIRST_START:
        if (operand == 0)
            place_add(flow, user_at, &zero, 1, from, 0);
        break;
    case PASS_FIRST_DONE:
    case PASS_RECV_DONE:
        if (from->depth > 0 && from->index[0] == 0)
            place_add(flow, user_at, NULL, 0, from, flow->passing[user_at] == PASS_FIRST_DONE);
        break;
    case PASS_SECOND_DONE:
        if (from->depth > 0 && from->index[0] == 1)
            place_add(flow, user_at, NULL, 0, from, 1);
        break;
    case PASS_ASYNC_START:
        place_add(flow, user_at, first_operand, 2, from, 0);
        place_add(flow, parameter_of(flow, callee(flow, user_at, 0), use.operand), NULL, 0, from, 0);
        break;
    case PASS_NOTHING: break;
    }
}

static bool is_root(const struct flow *flow, uint32_t instruction_at, uint32_t *computation_at)
{
    *computation_at = flow->hlo->instructions[instruction_at].computation_at;
    return flow->hlo->computations[*computation_at].root_id == flow->hlo->instructions[instruction_at].id;
}

/* What a computation returns is at the instruction that ran it. */
static void through_root(struct flow *flow, const struct place *from)
{
    uint32_t computation_at, caller_at;
    if (!is_root(flow, from->instruction_at, &computation_at) ||
        (caller_at = flow->caller_of[computation_at]) == HLO_NONE)
        return;
    int64_t one = 1;
    if (flow->passing[caller_at] == PASS_ASYNC_START)
        place_add(flow, caller_at, &one, 1, from, 0);
    else if (flow->passing[caller_at] != PASS_WHILE)
        place_add(flow, caller_at, NULL, 0, from, 0);
    else if (callee(flow, caller_at, 0) == computation_at) /* the body, not the condition */
        into_loop(flow, caller_at, from);
}

/* Does the user read the value at that place, or only hand it on? Of a loop the
 * read is at its body's begin; of a call the reads are inside. */
static uint32_t read_position(const struct flow *flow, const struct place *from, struct use use)
{
    const uint32_t *position = flow->schedule->position_of_instruction;
    switch (flow->passing[use.user_at]) {
    case PASS_TUPLE:
    case PASS_CALL: return HLO_NONE;
    case PASS_ELEMENT:
    case PASS_COPY: return from->depth == 0 ? position[use.user_at] : HLO_NONE;
    case PASS_WHILE: {
        uint32_t parameter_at = parameter_of(flow, callee(flow, use.user_at, 0), 0);
        return parameter_at == HLO_NONE ? position[use.user_at] : position[parameter_at];
    }
    default: return position[use.user_at];
    }
}

static void extend(uint32_t *end, uint32_t position)
{
    if (position != HLO_NONE && position > *end)
        *end = position;
}

/* Where the value's stay at a place ends by itself: with its computation, if that returns it. */
static uint32_t stay_end(const struct flow *flow, uint32_t instruction_at)
{
    uint32_t computation_at;
    if (is_root(flow, instruction_at, &computation_at))
        return flow->schedule->span_begin[computation_at] == HLO_NONE ? HLO_NONE
                                                                      : flow->schedule->span_end[computation_at];
    return flow->schedule->position_of_instruction[instruction_at];
}

static uint32_t value_end(struct flow *flow, const struct hlo_buffer *buffer, uint64_t *lost_count)
{
    struct place first = {buffer->instruction_at, 0, {0}};
    uint32_t end = flow->schedule->position_of_instruction[buffer->instruction_at];
    flow->place_count = 0;
    flow->buffer_at = (uint32_t)(buffer - flow->hlo->buffers);
    flow->is_lost = buffer->index_count > DEPTH_MAX;
    for (uint32_t i = 0; i < buffer->index_count && i < DEPTH_MAX; i++)
        first.index[first.depth++] = flow->hlo->shape_indices[buffer->index_first + i];
    flow->places[flow->place_count++] = first;
    for (uint32_t i = 0; i < flow->place_count; i++) {
        struct place place = flow->places[i];
        extend(&end, stay_end(flow, place.instruction_at));
        arena_work(flow->arena, flow->first_use[place.instruction_at + 1] - flow->first_use[place.instruction_at]);
        for (uint32_t j = flow->first_use[place.instruction_at]; j < flow->first_use[place.instruction_at + 1]; j++) {
            extend(&end, read_position(flow, &place, flow->uses[j]));
            through_use(flow, &place, flow->uses[j]);
        }
        through_root(flow, &place);
    }
    *lost_count += flow->is_lost;
    return end;
}

/* ---- ranges ---- */

static struct hlo_range range_of(struct flow *flow, uint32_t buffer_at, uint64_t *lost_count)
{
    const struct hlo *hlo = flow->hlo;
    const struct hlo_buffer *buffer = &hlo->buffers[buffer_at];
    struct hlo_range range = {HLO_NONE, 0};
    if (buffer->instruction_at == HLO_NONE ||
        flow->schedule->position_of_instruction[buffer->instruction_at] == HLO_NONE)
        return range;
    uint32_t computation_at = hlo->instructions[buffer->instruction_at].computation_at;
    range.start = flow->schedule->position_of_instruction[buffer->instruction_at];
    bool is_parameter = str_equal(hlo_instruction_opcode(hlo, buffer->instruction_at), STR("parameter"));
    uint32_t caller_at = flow->caller_of[computation_at];
    if (is_parameter)
        range.start = flow->schedule->span_begin[computation_at];
    else if (caller_at != HLO_NONE && flow->passing[caller_at] == PASS_ASYNC_START)
        extend(&range.start,
               flow->schedule->position_of_instruction[caller_at]); /* what runs aside begins with its start */
    if (is_parameter && computation_at == hlo->entry_at &&
        !hlo_aliases_parameter_is_donated(hlo, flow->arena, hlo_detail(hlo, buffer->instruction_at).parameter_number,
                                          buffer))
        range.end = flow->schedule->length;
    else
        range.end = value_end(flow, buffer, lost_count);
    if (range.end < range.start)
        range.end = range.start;
    return range;
}

/* Values that share a buffer, in order of their lives. */
struct member {
    uint32_t group, buffer_at;
    struct hlo_range range;
    int64_t id;
};

static int by_life(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    return ORDER(a->group, b->group) ?: ORDER(a->range.start, b->range.start) ?: ORDER(a->range.end, b->range.end)
           ?: ORDER(a->id, b->id);
}

static void ranges_normalise(const struct hlo *hlo, const struct map *by_place, struct arena *arena,
                             struct hlo_range *ranges)
{
    uint32_t count = hlo->buffer_count, *groups = arena_array(arena, uint32_t, (size_t)count + 1);
    struct member *members = arena_array(arena, struct member, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        groups[i] = i;
    hlo_aliases_join(hlo, by_place, groups);
    for (uint32_t i = 0; i < count; i++)
        members[i] = (struct member){hlo_aliases_group(groups, i), i, ranges[i], hlo->buffers[i].id};
    qsort(members, count, sizeof(*members), by_life);
    for (uint32_t i = 0; i + 1 < count; i++) {
        struct hlo_range *a = &members[i].range, *b = &members[i + 1].range;
        if (members[i].group != members[i + 1].group || a->start == HLO_NONE || b->start == HLO_NONE)
            continue;
        if (a->end > b->end)
            b->end = a->end;
        if (b->start < a->end)
            a->end = b->start;
    }
    for (uint32_t i = 0; i < count; i++)
        ranges[members[i].buffer_at] = members[i].range;
}

void hlo_ranges_build(const struct hlo *hlo, const struct hlo_schedule *schedule, struct arena *arena,
                      struct hlo_ranges *out)
{
    struct flow flow = {.hlo = hlo, .schedule = schedule, .arena = arena};
    *out = (struct hlo_ranges){.of_buffer = arena_array(arena, struct hlo_range, (size_t)hlo->buffer_count + 1)};
    flow.places = arena_array(arena, struct place, PLACES_MAX);
    map_init(&flow.by_place, arena, hlo->buffer_count);
    for (uint32_t i = 0; i < hlo->buffer_count; i++) {
        const struct hlo_buffer *buffer = &hlo->buffers[i];
        if (buffer->instruction_at != HLO_NONE && buffer->index_count <= DEPTH_MAX)
            map_put(&flow.by_place,
                    hlo_aliases_place_key(buffer->instruction_at, &hlo->shape_indices[buffer->index_first],
                                          buffer->index_count),
                    i, false);
    }
    graph_build(&flow);
    for (uint32_t i = 0; i < hlo->buffer_count; i++)
        out->of_buffer[i] = range_of(&flow, i, &out->lost_count);
    ranges_normalise(hlo, &flow.by_place, arena, out->of_buffer);
}
