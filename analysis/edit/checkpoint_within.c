/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/checkpoint_within.h"

#include "plan/arguments.h"

struct within {
    const struct program *program;
    const struct regions_parameters *parameters;
    struct checkpoint_layers *layers;
    const program_computation *entry;
    bool *is_made; /* by place: of parameters of layers alone, or a constant */
};

/* The layer whose parameter the instruction is, or HLO_NONE. */
static uint32_t layer_of_parameter(const struct regions_parameters *parameters, const program_instruction *instruction)
{
    const struct plan_argument *argument =
        program_is(instruction, "parameter") ? arguments_find(parameters->plan, instruction->parameter_number) : NULL;
    uint32_t of = argument != NULL ? parameters->of[argument - parameters->plan->arguments] : HLO_NONE;
    return of < parameters->count ? of : HLO_NONE;
}

/* What reads much and gives little is not done where its result is read: sums, products, calls. */
static bool is_of_elements(enum graph_op op)
{
    return op == GRAPH_COMPUTE || op == GRAPH_EXPONENTIAL || op == GRAPH_ADD || op == GRAPH_SAME || op == GRAPH_COPY ||
           op == GRAPH_CONVERT || op == GRAPH_RESHAPE || op == GRAPH_SLICE || op == GRAPH_BROADCAST;
}

static void made_find(struct within *within)
{
    const struct graph *graph = &within->layers->graph.graph;
    within->is_made = arena_array(within->program->arena, bool, within->entry->n_instructions + 1);
    for (size_t i = 0; i < within->entry->n_instructions; i++) {
        const program_instruction *instruction = within->entry->instructions[i];
        bool is_made = instruction->n_operand_ids > 0
                           ? is_of_elements(graph_op(graph, within->layers->first + (uint32_t)i)) &&
                                 instruction->n_called_computation_ids == 0
                           : program_is(instruction, "constant") || program_is(instruction, "iota") ||
                                 layer_of_parameter(within->parameters, instruction) != HLO_NONE;
        for (size_t j = 0; is_made && j < instruction->n_operand_ids; j++)
            is_made = within->is_made[program_place(within->program->entry, instruction->operand_ids[j])];
        within->is_made[i] = is_made;
    }
}

/* the neighbours of an instruction */

static uint32_t *of_place(const struct within *within, size_t place)
{
    return &within->layers->regions.of[within->layers->first + place];
}

static bool is_forward(const struct within *within, size_t place)
{
    return graph_phase(&within->layers->graph.graph, within->layers->first + (uint32_t)place) == GRAPH_FORWARD;
}

/* The layers, by place, of the next instructions before and behind that are made of more than parameters; `is_known`:
 * whether they are. */
static void neighbours_find(const struct within *within, uint32_t *before, uint32_t *behind, bool *is_known)
{
    const struct checkpoint_layers *layers = within->layers;
    uint32_t layer = HLO_NONE;
    for (uint32_t i = 0; i < layers->source_count; i++) {
        uint32_t place = layers->sources[i] - layers->first;
        is_known[place] = true;
        before[place] = layer;
        if (is_forward(within, place) && !within->is_made[place])
            layer = *of_place(within, place);
    }
    layer = HLO_NONE;
    for (uint32_t i = layers->source_count; i-- > 0;) {
        uint32_t place = layers->sources[i] - layers->first;
        behind[place] = layer;
        if (is_forward(within, place) && !within->is_made[place])
            layer = *of_place(within, place);
    }
}

/* ---- labels ---- */

enum { LAYER_UNREAD = UINT32_MAX - 1 }; /* else a layer, or HLO_NONE: of several */

void checkpoint_within_label(const struct program *program, const struct regions_parameters *parameters,
                             struct checkpoint_layers *layers)
{
    struct within within = {program, parameters, layers, program->entry->computation, NULL};
    size_t count = within.entry->n_instructions;
    uint32_t *before = arena_array(program->arena, uint32_t, count + 1),
             *behind = arena_array(program->arena, uint32_t, count + 1),
             *reader = arena_array(program->arena, uint32_t, count + 1);
    bool *is_known = arena_array(program->arena, bool, count + 1);
    made_find(&within);
    neighbours_find(&within, before, behind, is_known);
    for (size_t i = 0; i < count; i++)
        reader[i] = LAYER_UNREAD;
    for (size_t i = count; i-- > 0;) {
        const program_instruction *instruction = within.entry->instructions[i];
        uint32_t *of = of_place(&within, i), layer = reader[i] == LAYER_UNREAD ? HLO_NONE : reader[i];
        bool is_tuple = program_is(instruction, "tuple");
        bool is_beside = !is_known[i] || is_tuple || before[i] == layer || behind[i] == layer;
        uint8_t *phase = &layers->graph.graph.phases[layers->first + i];
        bool is_of_forward = *phase == GRAPH_FORWARD || *phase == GRAPH_PLAIN; /* JAX takes it out of a scan unnamed */
        if (instruction->n_operand_ids > 0 && (is_tuple || (within.is_made[i] && is_of_forward)))
            *of = is_beside ? layer : HLO_NONE;
        if (*of != HLO_NONE && *phase == GRAPH_PLAIN && within.is_made[i])
            *phase = GRAPH_FORWARD;
        bool is_of_none = *of == HLO_NONE && /* a gradient's reading decides nothing */
                          graph_phase(&layers->graph.graph, layers->first + (uint32_t)i) == GRAPH_BACKWARD;
        for (size_t j = 0; !is_of_none && j < instruction->n_operand_ids; j++) {
            uint32_t *read = &reader[program_place(program->entry, instruction->operand_ids[j])];
            *read = *read == LAYER_UNREAD || *read == *of ? *of : HLO_NONE;
        }
    }
}

/* ---- loops around layers ---- */

/* Layers that are one (regions_spans.h) have the label of one of them: that of what reads their parameters. */
static uint32_t *joined_find(const struct program *program, const struct regions_parameters *parameters,
                             const struct checkpoint_layers *layers)
{
    const program_computation *entry = program->entry->computation;
    uint32_t *into = arena_array(program->arena, uint32_t, (size_t)parameters->count + 1);
    for (uint32_t i = 0; i < parameters->count; i++)
        into[i] = i;
    for (size_t i = 0; i < entry->n_instructions; i++) {
        uint32_t of = layers->regions.of[layers->first + i];
        for (size_t j = 0; of < parameters->count && j < entry->instructions[i]->n_operand_ids; j++) {
            uint32_t layer = layer_of_parameter(parameters, program_operand(program->entry, entry->instructions[i], j));
            if (layer != HLO_NONE && !program_is(entry->instructions[i], "tuple"))
                into[layer] = of;
        }
    }
    return into;
}

static const program_instruction *behind_views(const struct program *program, const program_instruction *from)
{
    for (size_t steps = program->entry->computation->n_instructions; steps > 0 && from->n_operand_ids == 1; steps--) {
        arena_work(program->arena, 1);
        from = program_operand(program->entry, from, 0);
    }
    return from;
}

bool checkpoint_within_has_around(const struct program *program, const struct regions_parameters *parameters,
                                  const struct checkpoint_layers *layers)
{
    const program_computation *entry = program->entry->computation;
    const uint32_t *into = joined_find(program, parameters, layers);
    for (size_t i = 0; i < entry->n_instructions; i++) {
        uint32_t at = layers->first + (uint32_t)i, own = layers->regions.of[at];
        if (!program_is(entry->instructions[i], "while") || graph_phase(&layers->graph.graph, at) != GRAPH_FORWARD)
            continue;
        const program_instruction *init = program_operand(program->entry, entry->instructions[i], 0);
        for (size_t j = 0; j < init->n_operand_ids; j++) {
            const program_instruction *from = behind_views(program, program_operand(program->entry, init, j));
            uint32_t layer = layer_of_parameter(parameters, from);
            if (layer != HLO_NONE && into[layer] != own)
                return true;
        }
    }
    return false;
}
