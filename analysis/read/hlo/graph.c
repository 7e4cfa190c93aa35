/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/graph.h"

#include "hlo.fields.h"
#include "wire/wire.h"

/* ---- opcodes ---- */

static const struct {
    const char *opcode;
    enum graph_op op;
} opcodes[] = {
#define GRAPH_OPCODE(opcode, op) {opcode, GRAPH_##op},
#include "read/hlo/graph.def"
#undef GRAPH_OPCODE
};
enum { OPCODE_COUNT = sizeof(opcodes) / sizeof(opcodes[0]) };

static bool is_opcode(const void *context, uint64_t value)
{
    return str_equal(*(const struct str *)context, str_of(opcodes[value].opcode));
}

static enum graph_op op_of(const struct map *map, struct str opcode)
{
    uint64_t at = map_find(map, hash_bytes(opcode.data, opcode.length, 0), is_opcode, &opcode);
    return at == MAP_FREE ? GRAPH_COMPUTE : opcodes[at].op;
}

/* ---- phases ---- */

static enum graph_phase phase_of(struct str op_name)
{
    bool is_forward = false, is_transposed = false;
    const char *end = op_name.data + op_name.length;
    if (op_name.length == 0)
        return GRAPH_NAMELESS;
    for (const char *at = op_name.data; (at = memchr(at, '(', (size_t)(end - at))) != NULL; at++) {
        struct str before = {op_name.data, (size_t)(at - op_name.data)};
        is_forward = is_forward || str_ends(before, STR("jvp"));
        is_transposed = is_transposed || str_ends(before, STR("transpose"));
    }
    if (memchr(op_name.data, '/', op_name.length) == NULL)
        return is_forward ? GRAPH_FORWARD : GRAPH_NAMELESS; /* an argument's name: a path into the arguments' tree */
    if (str_contains(op_name, STR("rematted_computation")))
        return GRAPH_RECOMPUTE;
    if ((is_forward && is_transposed) || str_contains(op_name, STR("gradient_tape/")) ||
        str_starts(op_name, STR("gradients/")))
        return GRAPH_BACKWARD;
    return is_forward ? GRAPH_FORWARD : GRAPH_PLAIN;
}

/* ---- building ---- */

/* What ids name, of all instructions one after the other. */
struct graph_named {
    const struct map *of_id;
    uint32_t *items;
    size_t count, capacity;
};

struct graph_building {
    struct graph *graph;
    struct arena *scratch;
    struct map opcodes; /* hashes: places in opcodes[] */
    struct map names;   /* hashes of op_names: the first instruction that has it; some seven share one */
    struct graph_named operands, called;
};

static void named_add(struct graph_building *building, struct graph_named *named, struct wire *wire)
{
    uint64_t id;
    for (size_t i = 0; wire_packed(wire, &i, &id);) {
        if (named->count == named->capacity)
            named->items =
                arena_grown(building->scratch, named->items, named->count + 1, &named->capacity, sizeof(*named->items));
        named->items[named->count++] = map_get(named->of_id, id);
    }
}

static uint32_t *named_keep(const struct graph_named *named, struct arena *arena)
{
    uint32_t *kept = arena_raw(arena, (named->count + 1) * sizeof(*kept));
    if (named->count > 0)
        memcpy(kept, named->items, named->count * sizeof(*kept));
    return kept;
}

static void op_name_read(struct graph *graph, uint32_t at, struct wire metadata)
{
    while (wire_next(&metadata))
        if (metadata.number == OP_METADATA_OP_NAME && wire_text(&metadata).length > 0)
            graph->op_names[at] =
                (struct hlo_part){(uint32_t)(wire_text(&metadata).data - graph->hlo->instructions[at].bytes),
                                  (uint32_t)wire_text(&metadata).length};
}

struct same_name {
    const struct graph *graph;
    struct str name;
};

static bool is_name(const void *context, uint64_t value)
{
    const struct same_name *same = context;
    return str_equal(graph_op_name(same->graph, (uint32_t)value), same->name);
}

static enum graph_phase phase_at(struct graph_building *building, uint32_t at)
{
    const struct graph *graph = building->graph;
    struct same_name same = {graph, graph_op_name(graph, at)};
    if (same.name.length == 0)
        return GRAPH_NAMELESS;
    uint64_t hash = map_hash_text(building->scratch, same.name, 0);
    uint64_t first = map_find(&building->names, hash, is_name, &same);
    if (first != MAP_FREE)
        return graph_phase(graph, (uint32_t)first);
    map_add(&building->names, hash, at);
    return phase_of(same.name);
}

static enum graph_op op_of_target(struct str target)
{
    if (str_equal(target, STR("ConcatBitcast")))
        return GRAPH_SAME;
    if (str_equal(target, STR("AllocateBuffer")))
        return GRAPH_ALLOCATE;
    if (str_starts(target, STR("__cublas")) || str_starts(target, STR("__onednn$matmul")))
        return GRAPH_DOT; /* of a library, on GPUs and CPUs */
    return GRAPH_CUSTOM_CALL;
}

/* Reads all bytes of an instruction that is not whole. */
static void instruction_read(struct graph_building *building, uint32_t at)
{
    struct graph *graph = building->graph;
    struct err err = ERR_INIT;
    struct wire wire = wire_open(hlo_instruction_bytes(graph->hlo, at), 0, &err);
    struct str target = {"", 0};
    int64_t parameter_number = 0, tuple_index = 0;
    while (wire_next(&wire)) {
        switch (wire.number) {
        case HLO_INSTRUCTION_PROTO_OPERAND_IDS: named_add(building, &building->operands, &wire); break;
        case HLO_INSTRUCTION_PROTO_CALLED_COMPUTATION_IDS: named_add(building, &building->called, &wire); break;
        case HLO_INSTRUCTION_PROTO_METADATA: op_name_read(graph, at, wire_message(&wire)); break;
        case HLO_INSTRUCTION_PROTO_PARAMETER_NUMBER: parameter_number = wire_int(&wire); break;
        case HLO_INSTRUCTION_PROTO_TUPLE_INDEX: tuple_index = wire_int(&wire); break;
        case HLO_INSTRUCTION_PROTO_CUSTOM_CALL_TARGET: target = wire_text(&wire); break;
        }
    }
    if (graph_op(graph, at) == GRAPH_CUSTOM_CALL)
        graph->ops[at] = (uint8_t)op_of_target(target);
    graph->numbers[at] = hlo_number(graph_op(graph, at) == GRAPH_PARAMETER ? parameter_number : tuple_index);
}

/* Takes an instruction that is whole: hlo_read met everything that is needed. */
static void instruction_take(struct graph_building *building, uint32_t at)
{
    struct graph *graph = building->graph;
    const struct hlo_instruction *instruction = &graph->hlo->instructions[at];
    struct err err = ERR_INIT;
    struct wire operands = {.type = WIRE_BYTES, .err = &err};
    operands.bytes = hlo_instruction_part(graph->hlo, at, instruction->operands);
    named_add(building, &building->operands, &operands);
    op_name_read(graph, at, wire_open(hlo_instruction_part(graph->hlo, at, instruction->metadata), 0, &err));
    uint8_t field = graph_op(graph, at) == GRAPH_PARAMETER ? HLO_INSTRUCTION_PROTO_PARAMETER_NUMBER
                                                           : HLO_INSTRUCTION_PROTO_TUPLE_INDEX;
    graph->numbers[at] = instruction->number_field == field ? instruction->number : 0;
}

static void readers_build(struct graph *graph, struct arena *arena)
{
    uint32_t count = graph->hlo->instruction_count, operand_count = graph->operand_first[count];
    uint32_t *first = graph->reader_first = arena_array(arena, uint32_t, (size_t)count + 2);
    for (uint32_t i = 0; i < operand_count; i++)
        if (graph->operands[i] != HLO_NONE)
            first[graph->operands[i] + 2]++;
    for (uint32_t i = 2; i <= count + 1; i++)
        first[i] += first[i - 1];
    graph->readers = arena_array(arena, struct graph_use, (size_t)operand_count + 1);
    for (uint32_t at = 0; at < count; at++)
        for (uint32_t i = graph->operand_first[at]; i < graph->operand_first[at + 1]; i++)
            if (graph->operands[i] != HLO_NONE)
                graph->readers[first[graph->operands[i] + 1]++] = (struct graph_use){at, i - graph->operand_first[at]};
}

static void computations_build(struct graph *graph, struct arena *arena)
{
    const struct hlo *hlo = graph->hlo;
    size_t size = ((size_t)hlo->computation_count + 1) * sizeof(uint32_t);
    graph->caller_of = arena_raw(arena, size);
    graph->called_as = arena_array(arena, uint32_t, (size_t)hlo->computation_count + 1);
    graph->root_of = arena_raw(arena, size);
    memset(graph->caller_of, 0xff, size);
    memset(graph->root_of, 0xff, size);
    for (uint32_t i = 0; i < hlo->computation_count; i++)
        graph->root_of[i] = map_get(&hlo->instruction_of_id, (uint64_t)hlo->computations[i].root_id);
    for (uint32_t at = 0; at < hlo->instruction_count; at++)
        for (uint32_t i = graph->called_first[at]; i < graph->called_first[at + 1]; i++)
            if (graph->called[i] != HLO_NONE && graph->caller_of[graph->called[i]] == HLO_NONE) {
                graph->caller_of[graph->called[i]] = at;
                graph->called_as[graph->called[i]] = i - graph->called_first[at];
            }
}

static uint64_t parameter_key(uint32_t computation_at, uint32_t number)
{
    return (uint64_t)computation_at << 32 | number;
}

static void parameters_build(struct graph *graph, struct arena *arena)
{
    const struct hlo *hlo = graph->hlo;
    uint32_t count = 0;
    for (uint32_t at = 0; at < hlo->instruction_count; at++)
        count += graph->ops[at] == GRAPH_PARAMETER;
    map_init(&graph->parameter_of, arena, count);
    for (uint32_t at = 0; at < hlo->instruction_count; at++)
        if (graph->ops[at] == GRAPH_PARAMETER)
            map_put(&graph->parameter_of,
                    parameter_key(hlo->instructions[at].computation_at, (uint32_t)graph->numbers[at]), at, false);
}

static void building_init(struct graph_building *building, const struct hlo *hlo, struct graph *graph,
                          struct arena *arena, struct arena *scratch)
{
    size_t count = (size_t)hlo->instruction_count + 1;
    *building = (struct graph_building){.graph = graph, .scratch = scratch};
    building->operands.of_id = &hlo->instruction_of_id;
    building->called.of_id = &hlo->computation_of_id;
    map_init(&building->names, scratch, count / 16);
    map_init(&building->opcodes, scratch, OPCODE_COUNT);
    for (size_t i = 0; i < OPCODE_COUNT; i++)
        map_add(&building->opcodes, hash_bytes(opcodes[i].opcode, strlen(opcodes[i].opcode), 0), i);
    graph->ops = arena_array(arena, uint8_t, count);
    graph->phases = arena_array(arena, uint8_t, count);
    graph->op_names = arena_array(arena, struct hlo_part, count);
    graph->numbers = arena_array(arena, int32_t, count);
    graph->operand_first = arena_array(arena, uint32_t, count);
    graph->called_first = arena_array(arena, uint32_t, count);
}

void graph_build(const struct hlo *hlo, struct arena *arena, struct arena *scratch, struct graph *graph)
{
    struct graph_building building;
    *graph = (struct graph){.hlo = hlo};
    building_init(&building, hlo, graph, arena, scratch);
    for (uint32_t at = 0; at < hlo->instruction_count; at++) {
        graph->ops[at] = (uint8_t)op_of(&building.opcodes, hlo_instruction_opcode(hlo, at));
        (hlo->instructions[at].is_whole ? instruction_take : instruction_read)(&building, at);
        graph->phases[at] = (uint8_t)phase_at(&building, at);
        graph->operand_first[at + 1] = (uint32_t)building.operands.count;
        graph->called_first[at + 1] = (uint32_t)building.called.count;
        graph->has_backward = graph->has_backward || graph->phases[at] == GRAPH_BACKWARD;
    }
    graph->operands = named_keep(&building.operands, arena);
    graph->called = named_keep(&building.called, arena);
    parameters_build(graph, arena);
    readers_build(graph, arena);
    computations_build(graph, arena);
}

uint32_t graph_parameter(const struct graph *graph, uint32_t computation_at, uint32_t number)
{
    return computation_at == HLO_NONE ? HLO_NONE : map_get(&graph->parameter_of, parameter_key(computation_at, number));
}

uint32_t graph_fusion_around(const struct graph *graph, uint32_t at)
{
    uint32_t caller_at = graph->caller_of[graph->hlo->instructions[at].computation_at];
    return caller_at != HLO_NONE && graph_op(graph, caller_at) == GRAPH_FUSION ? caller_at : HLO_NONE;
}

/* Real programs nest under ten deep. */
enum { CALL_DEPTH_MAX = 64 };

uint32_t graph_behind_broadcasts(const struct graph *graph, uint32_t at)
{
    enum { BROADCASTS_MAX = 8 };
    for (unsigned i = 0; i < BROADCASTS_MAX && at != HLO_NONE && graph_op(graph, at) == GRAPH_BROADCAST; i++)
        at = graph_operand(graph, at, 0);
    return at;
}

uint32_t graph_loop_body_around(const struct graph *graph, uint32_t at)
{
    for (unsigned depth = 0; depth < CALL_DEPTH_MAX && at != HLO_NONE; depth++) {
        uint32_t computation_at = graph->hlo->instructions[at].computation_at;
        at = graph->caller_of[computation_at];
        if (at != HLO_NONE && graph_op(graph, at) == GRAPH_WHILE)
            return computation_at;
    }
    return HLO_NONE;
}
