/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/cast_types.h"

#include "whatif/types.h"

enum state {
    STATE_CAST,  /* gets the new type */
    STATE_KEPT,  /* keeps its type, and so does what is computed with it */
    STATE_APART, /* keeps its type alone: what reads it converts it */
};

static uint32_t class_of(const struct cast_types *types, uint32_t leaf)
{
    uint32_t *parents = types->parents;
    while (parents[leaf] != leaf)
        leaf = parents[leaf] = parents[parents[leaf]];
    return leaf;
}

static void cast_types_join(struct cast_types *types, uint32_t a, uint32_t b)
{
    a = class_of(types, a);
    b = class_of(types, b);
    types->parents[a > b ? a : b] = a > b ? b : a;
    arena_work(types->program->arena, 1);
}

static void join_run(struct cast_types *types, uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_count)
{
    for (uint32_t i = 0; a != HLO_NONE && b != HLO_NONE && i < a_count && i < b_count; i++)
        cast_types_join(types, a + i, b + i);
}

static void join_values(struct cast_types *types, uint32_t a, uint32_t b)
{
    if (a != HLO_NONE && b != HLO_NONE)
        join_run(types, types->leaves.first[a], leaves_count(&types->leaves, a), types->leaves.first[b],
                 leaves_count(&types->leaves, b));
}

/* ---- what only passes values on ---- */

static bool is_argument(const struct cast_types *types, uint32_t at)
{
    return at == HLO_NONE || graph_is_argument(&types->graph.graph, at);
}

static void join_parameter(struct cast_types *types, uint32_t at, uint32_t called, uint32_t number, uint32_t operand)
{
    const struct graph *graph = &types->graph.graph;
    uint32_t computation = graph_called(graph, at, called);
    if (computation != HLO_NONE && !is_argument(types, operand))
        join_values(types, graph_parameter(graph, computation, number), operand);
}

static void join_root(struct cast_types *types, uint32_t at, uint32_t called)
{
    uint32_t computation = graph_called(&types->graph.graph, at, called);
    if (computation != HLO_NONE)
        join_values(types, types->graph.graph.root_of[computation], at);
}

static void join_one(struct cast_types *types, uint32_t at)
{
    const struct graph *graph = &types->graph.graph;
    const program_instruction *instruction = types->instructions[at];
    size_t operands = instruction->n_operand_ids;
    if (program_is(instruction, "get-tuple-element")) {
        uint32_t count, first = leaves_element(&types->leaves, graph_operand(graph, at, 0),
                                               (uint32_t)instruction->tuple_index, &count);
        join_run(types, first, count, types->leaves.first[at], leaves_count(&types->leaves, at));
    } else if (program_is(instruction, "tuple") && instruction != types->program->root) {
        for (uint32_t i = 0; i < operands; i++) {
            uint32_t count, first = leaves_element(&types->leaves, at, i, &count),
                            operand = graph_operand(graph, at, i);
            if (!is_argument(types, operand))
                join_run(types, first, count, types->leaves.first[operand], leaves_count(&types->leaves, operand));
        }
    } else if (program_is(instruction, "opt-barrier")) {
        join_values(types, graph_operand(graph, at, 0), at);
    } else if (program_is(instruction, "while")) {
        join_values(types, graph_operand(graph, at, 0), at);
        join_parameter(types, at, 0, 0, at);
        join_parameter(types, at, 1, 0, at);
        join_root(types, at, 0);
    } else if (program_is(instruction, "call")) {
        for (uint32_t i = 0; i < operands; i++)
            join_parameter(types, at, 0, i, graph_operand(graph, at, i));
        join_root(types, at, 0);
    } else if (program_is(instruction, "conditional")) {
        for (uint32_t i = 0; i + 1 < operands; i++) {
            join_parameter(types, at, i, 0, graph_operand(graph, at, i + 1));
            join_root(types, at, i);
        }
    }
}

static bool is_transient(const program_instruction *instruction)
{
    static const char *const opcodes[] = {"get-tuple-element", "opt-barrier", "while", "call", "conditional", "tuple"};
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (program_is(instruction, opcodes[i]))
            return true;
    return false;
}

/* ---- who keeps the type ---- */

bool cast_types_is_combiner(const struct cast_types *types, const struct program_body *body)
{
    const program_computation *computation = body->computation;
    arena_work(types->program->arena, computation->n_instructions);
    for (size_t i = 0; i < computation->n_instructions; i++) {
        const program_instruction *instruction = computation->instructions[i];
        bool is_parameter = program_is(instruction, "parameter");
        if (instruction->n_called_computation_ids > 0 || instruction->shape->element_type != types->from ||
            instruction->shape->n_dimensions != 0 || is_parameter != (instruction->n_operand_ids == 0))
            return false;
    }
    return true;
}

static bool is_convertible(const struct cast_types *types, uint32_t leaf)
{
    return types->leaves.items[leaf].type == (uint8_t)types->from && types->leaves.items[leaf].rank > 0;
}

static void set_state(struct cast_types *types, uint32_t leaf, enum state state, bool *is_new)
{
    uint8_t *now = &types->states[class_of(types, leaf)];
    if (*now != STATE_CAST)
        return;
    *now = (uint8_t)state;
    if (is_new != NULL)
        *is_new = true;
}

static void keep_all(struct cast_types *types, uint32_t at, enum state state)
{
    for (uint32_t leaf = types->leaves.first[at]; leaf < types->leaves.first[at + 1]; leaf++)
        set_state(types, leaf, state, NULL);
}

/* Keeps the type where another type would change the meaning, or where users choose the wider one on purpose: kernels,
 * written arrays, and the operand of a softmax's exponential. */
static void keep_apart(struct cast_types *types, uint32_t at)
{
    const program_instruction *instruction = types->instructions[at];
    const struct graph *graph = &types->graph.graph;
    bool has_combiner = instruction->n_called_computation_ids > 0 && !is_transient(instruction);
    static const char *const written[] = {"custom-call", "constant", "rng", "bitcast-convert"};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (program_is(instruction, written[i]))
            keep_all(types, at, STATE_APART);
    for (size_t i = 0; has_combiner && i < instruction->n_called_computation_ids; i++)
        if (!cast_types_is_combiner(types, program_body_of(types->program, instruction->called_computation_ids[i])))
            keep_all(types, at, STATE_APART);
    if (!program_is(instruction, "exponential"))
        return;
    uint32_t under = graph_operand(graph, at, 0);
    if (!program_is(types->instructions[under], "subtract"))
        return;
    keep_all(types, at, STATE_APART);
    keep_all(types, under, STATE_APART);
}

/* Anything that is not all of the former type, in arrays, has no class to change. */
static void keep_others(struct cast_types *types, bool is_spread)
{
    uint32_t count = types->graph.hlo.instruction_count;
    for (uint32_t leaf = 0; leaf < types->leaves.count; leaf++)
        if (!is_convertible(types, leaf))
            set_state(types, leaf, STATE_APART, NULL);
    for (uint32_t at = 0; at < count; at++) {
        bool is_entry_argument = graph_is_argument(&types->graph.graph, at);
        bool keeps_type = is_entry_argument
                              ? !types->is_selected[types->instructions[at]->parameter_number]
                              : !is_spread || types_are_numbers_widened(&types->graph.graph, &types->leaves, at,
                                                                        types->program->arena);
        if (keeps_type)
            keep_all(types, at, STATE_KEPT);
        else if (!is_entry_argument)
            keep_apart(types, at);
    }
}

/* ---- what is made of other arguments alone ---- */

enum { FROM_SELECTED = 1, FROM_OTHERS = 2 };

static uint8_t sources_of(const struct cast_types *types, const uint8_t *sources, uint32_t at)
{
    uint8_t found = 0;
    arena_work(types->program->arena, leaves_count(&types->leaves, at));
    for (uint32_t leaf = types->leaves.first[at]; leaf < types->leaves.first[at + 1]; leaf++)
        found |= sources[class_of(types, leaf)];
    return found;
}

/* The leaves of operand `nth` where an instruction only passes it on; else all that it gives. */
static uint32_t passed_to(const struct cast_types *types, uint32_t at, uint32_t nth, uint32_t *count)
{
    const struct graph *graph = &types->graph.graph;
    if (program_is(types->instructions[at], "tuple"))
        return leaves_element(&types->leaves, at, nth, count);
    uint32_t of =
        program_is(types->instructions[at], "call") ? graph_parameter(graph, graph_called(graph, at, 0), nth) : at;
    *count = leaves_count(&types->leaves, of);
    return types->leaves.first[of];
}

static bool sources_pass(struct cast_types *types, uint8_t *sources, uint32_t at)
{
    const struct graph *graph = &types->graph.graph;
    bool is_new = false, passes = is_transient(types->instructions[at]);
    for (uint32_t i = 0; i < types->instructions[at]->n_operand_ids; i++) {
        uint32_t operand = graph_operand(graph, at, i), count;
        if (passes && !is_argument(types, operand))
            continue; /* of one class already */
        uint8_t found = sources_of(types, sources, operand);
        uint32_t first = passed_to(types, at, i, &count);
        for (uint32_t k = 0; found != 0 && k < count; k++) {
            uint8_t *to = &sources[class_of(types, first + k)];
            is_new = is_new || (*to | found) != *to;
            *to |= found;
        }
    }
    return is_new;
}

/* False where every argument of the type is selected: then all of the program changes, as far as it can. */
static bool sources_begin(const struct cast_types *types, uint8_t *sources)
{
    bool is_any = false;
    for (uint32_t at = 0; at < types->graph.hlo.instruction_count; at++)
        for (uint32_t leaf = types->leaves.first[at]; leaf < types->leaves.first[at + 1]; leaf++) {
            if (!graph_is_argument(&types->graph.graph, at))
                continue;
            bool is_selected =
                types->is_selected[types->instructions[at]->parameter_number] && is_convertible(types, leaf);
            sources[class_of(types, leaf)] |= is_selected ? FROM_SELECTED : FROM_OTHERS;
            is_any = is_any || (!is_selected && is_convertible(types, leaf));
        }
    return is_any;
}

/* What depends on arguments that keep the type, and on none that changes, stays as it is: also what was widened from a
 * narrower type in between. */
static void keep_apart_from_selected(struct cast_types *types)
{
    uint32_t count = types->graph.hlo.instruction_count;
    uint8_t *sources = arena_array(types->program->arena, uint8_t, (size_t)types->leaves.count + 1);
    if (!sources_begin(types, sources))
        return;
    for (bool is_new = true; is_new;) {
        is_new = false;
        arena_work(types->program->arena, count);
        for (uint32_t at = 0; at < count; at++)
            is_new = sources_pass(types, sources, at) || is_new;
    }
    for (uint32_t leaf = 0; leaf < types->leaves.count; leaf++)
        if (is_convertible(types, leaf) && (sources[class_of(types, leaf)] & FROM_SELECTED) == 0)
            set_state(types, leaf, sources[class_of(types, leaf)] == 0 ? STATE_APART : STATE_KEPT, NULL);
}

static bool is_kept(const struct cast_types *types, uint32_t at)
{
    arena_work(types->program->arena, leaves_count(&types->leaves, at));
    for (uint32_t leaf = types->leaves.first[at]; leaf < types->leaves.first[at + 1]; leaf++)
        if (is_convertible(types, leaf) && types->states[class_of(types, leaf)] == STATE_KEPT)
            return true;
    return false;
}

/* What is computed with something that keeps its type keeps it; arguments go into tuples and calls by a convert. */
static bool promote_one(struct cast_types *types, uint32_t at)
{
    const struct graph *graph = &types->graph.graph;
    bool is_new = false, passes = is_transient(types->instructions[at]);
    for (uint32_t i = 0; i < types->instructions[at]->n_operand_ids; i++) {
        uint32_t operand = graph_operand(graph, at, i);
        if ((passes && !is_argument(types, operand)) || !is_kept(types, operand))
            continue;
        uint32_t count, first = passed_to(types, at, i, &count);
        for (uint32_t k = 0; k < count; k++)
            set_state(types, first + k, STATE_KEPT, &is_new);
    }
    return is_new;
}

bool cast_types_find(struct cast_types *types, struct program *program, const bool *is_selected,
                     Xla__PrimitiveType from, Xla__PrimitiveType to, bool is_spread)
{
    *types = (struct cast_types){.program = program, .from = from, .to = to};
    if (!program_graph_build(program, &types->graph))
        return false;
    struct arena *arena = program->arena;
    uint32_t count = types->graph.hlo.instruction_count;
    leaves_build(&types->graph.hlo, arena, &types->leaves);
    types->instructions = arena_array(arena, program_instruction *, (size_t)count + 1);
    types->bodies = arena_array(arena, struct program_body *, (size_t)count + 1);
    for (size_t i = 0, at = 0; i < program->module->n_computations; i++)
        for (size_t j = 0; j < program->bodies[i].computation->n_instructions; j++, at++) {
            types->instructions[at] = program->bodies[i].computation->instructions[j];
            types->bodies[at] = &program->bodies[i];
        }
    types->is_selected = arena_array(arena, bool, program->parameter_count);
    if (program->parameter_count > 0)
        memcpy(types->is_selected, is_selected, program->parameter_count * sizeof *is_selected);
    types->parents = arena_array(arena, uint32_t, (size_t)types->leaves.count + 1);
    types->states = arena_array(arena, uint8_t, (size_t)types->leaves.count + 1);
    for (uint32_t i = 0; i < types->leaves.count; i++)
        types->parents[i] = i;
    for (uint32_t at = 0; at < count; at++)
        join_one(types, at);
    keep_others(types, is_spread);
    if (is_spread)
        keep_apart_from_selected(types);
    for (bool is_new = true; is_new;) {
        is_new = false;
        arena_work(arena, count);
        for (uint32_t at = 0; at < count; at++)
            is_new = promote_one(types, at) || is_new;
    }
    return true;
}

Xla__PrimitiveType cast_types_of(const struct cast_types *types, uint32_t leaf)
{
    bool is_cast = is_convertible(types, leaf) && types->states[class_of(types, leaf)] == STATE_CAST;
    return is_cast ? types->to : (Xla__PrimitiveType)types->leaves.items[leaf].type;
}
