/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/donors.h"

#include "plan/arguments.h"
#include "plan/value.h"

/* Arrays of one shape and type. */
struct array_kind {
    uint32_t leaf; /* of one of them */
    uint8_t type;
    uint32_t first_result; /* row; the others in donors.next_result */
    uint32_t first_built;  /* of the program's results those that loops build, in donors.built */
    bool has_other;        /* a result of the program that no loop builds */
};

/* A result that is element `element` of a loop's state. */
struct built {
    uint32_t loop, element, next; /* loop: in donors.loops */
};

struct loop {
    uint32_t at;
    struct value *origins; /* by element of its state: where it came from */
    uint32_t origin_count;
};

struct donors {
    const struct variant *variant;
    struct array_kind *kinds;
    struct built *built;
    struct loop *loops;
    uint32_t built_count, loop_count, *next_result; /* by row */
    size_t kind_capacity, built_capacity, loop_capacity;
    struct map kind_of, loop_of, reads; /* reads: loop << 32 | instruction, of what its state begins with */
    struct value_walk walk;
};

/* ---- kinds ---- */

struct question {
    const struct donors *donors;
    uint32_t leaf;
    uint8_t type;
};

static bool is_same_kind(const void *context, uint64_t value)
{
    const struct question *question = context;
    const struct variant *variant = question->donors->variant;
    const struct array_kind *kind = &question->donors->kinds[value];
    const struct leaf *a = &variant->dimensions.leaves.items[kind->leaf],
                      *b = &variant->dimensions.leaves.items[question->leaf];
    bool is_same = kind->type == question->type && a->rank == b->rank;
    for (uint32_t i = 0; is_same && i < a->rank; i++)
        is_same = variant->sizes[a->first + i] == variant->sizes[b->first + i];
    return is_same;
}

static struct array_kind *array_kind(struct donors *donors, uint32_t leaf, uint8_t type)
{
    const struct variant *variant = donors->variant;
    const struct leaf *of = &variant->dimensions.leaves.items[leaf];
    struct question question = {donors, leaf, type};
    uint64_t hash = hash_number(type, of->rank);
    bool is_new;
    for (uint32_t i = 0; i < of->rank; i++)
        hash = hash_number((uint64_t)variant->sizes[of->first + i], hash);
    uint32_t at = map_number(&donors->kind_of, hash, is_same_kind, &question, &is_new);
    if (is_new) {
        donors->kinds =
            arena_grown(variant->arena, donors->kinds, at + 1, &donors->kind_capacity, sizeof(*donors->kinds));
        donors->kinds[at] =
            (struct array_kind){.leaf = leaf, .type = type, .first_result = PLAN_NONE, .first_built = PLAN_NONE};
    }
    return &donors->kinds[at];
}

/* ---- loops that build results ---- */

/* The loop that a result comes out of, as which element of its state; HLO_NONE: out of none. */
enum { BACK_STEPS_MAX = 32 };

static uint32_t loop_of_result(const struct graph *graph, struct value value, uint32_t *element)
{
    for (unsigned steps = 0; steps < BACK_STEPS_MAX && value.at != HLO_NONE; steps++) {
        switch (graph_op(graph, value.at)) {
        case GRAPH_WHILE: *element = value.element; return value.element == VALUE_WHOLE ? HLO_NONE : value.at;
        case GRAPH_ELEMENT:
            value = (struct value){graph_operand(graph, value.at, 0), (uint32_t)graph->numbers[value.at]};
            break;
        case GRAPH_TUPLE:
            value = (struct value){
                value.element == VALUE_WHOLE ? HLO_NONE : graph_operand(graph, value.at, value.element), VALUE_WHOLE};
            break;
        case GRAPH_SAME:
        case GRAPH_COPY: value.at = graph_operand(graph, value.at, 0); break;
        default: return HLO_NONE;
        }
    }
    return HLO_NONE;
}

static uint64_t reads_key(uint32_t loop, uint32_t at) { return (uint64_t)loop << 32 | at; }

/* What the state of a loop begins with, looked up once. */
static uint32_t loop_number(struct donors *donors, uint32_t loop_at)
{
    struct arena *arena = donors->variant->arena;
    const struct graph *graph = donors->variant->plan->graph;
    uint32_t known = map_get(&donors->loop_of, loop_at), state = graph_operand(graph, loop_at, 0), operand;
    if (known != MAP_NONE)
        return known;
    known = donors->loop_count++;
    map_put(&donors->loop_of, loop_at, known, true);
    donors->loops =
        arena_grown(arena, donors->loops, donors->loop_count, &donors->loop_capacity, sizeof(*donors->loops));
    struct loop *loop = &donors->loops[known];
    *loop = (struct loop){.at = loop_at};
    if (state == HLO_NONE || graph_op(graph, state) != GRAPH_TUPLE)
        return known;
    loop->origin_count = graph->operand_first[state + 1] - graph->operand_first[state];
    loop->origins = arena_array(arena, struct value, (size_t)loop->origin_count + 1);
    arena_work(arena, loop->origin_count);
    for (uint32_t nth = 0; nth < loop->origin_count; nth++) {
        loop->origins[nth] = (struct value){HLO_NONE, VALUE_WHOLE};
        if ((operand = graph_operand(graph, state, nth)) == HLO_NONE)
            break;
        loop->origins[nth] = value_origin(&donors->walk, (struct value){operand, VALUE_WHOLE}, VALUE_ORIGIN, NULL);
        if (loop->origins[nth].at != HLO_NONE)
            map_put(&donors->reads, reads_key(known, loop->origins[nth].at), nth, true);
    }
    return known;
}

static void program_result_note(struct donors *donors, uint32_t at)
{
    const struct variant *variant = donors->variant;
    const struct leaves *leaves = &variant->dimensions.leaves;
    uint32_t leaf = leaves->first[at], element, loop_at;
    if (leaves_count(leaves, at) != 1)
        return;
    struct array_kind *kind = array_kind(donors, leaf, leaves->items[leaf].type);
    loop_at = loop_of_result(variant->plan->graph, (struct value){at, VALUE_WHOLE}, &element);
    if (loop_at == HLO_NONE) {
        kind->has_other = true;
        return;
    }
    uint32_t number = donors->built_count++;
    donors->built = arena_grown(variant->arena, donors->built, donors->built_count, &donors->built_capacity,
                                sizeof(*donors->built));
    donors->built[number] = (struct built){loop_number(donors, loop_at), element, kind->first_built};
    kind->first_built = number;
}

/* Are the program's results of the kind of the argument all built by loops that read it, in other memory meanwhile? */
static bool is_built_beside(struct donors *donors, const struct array_kind *kind, const struct variant_row *argument)
{
    const struct variant *variant = donors->variant;
    const struct plan_argument *of = arguments_find(variant->plan, variant_parameter(variant, argument));
    if (!of || of->instruction_at == HLO_NONE || kind->has_other || kind->first_built == PLAN_NONE)
        return false;
    for (uint32_t i = kind->first_built; i != PLAN_NONE; i = donors->built[i].next) {
        const struct built *built = &donors->built[i];
        const struct loop *loop = &donors->loops[built->loop];
        arena_work(variant->arena, 1);
        if (map_get(&donors->reads, reads_key(built->loop, of->instruction_at)) == MAP_NONE ||
            (built->element < loop->origin_count && loop->origins[built->element].at == of->instruction_at))
            return false;
    }
    return true;
}

/* ---- results for arguments ---- */

struct donors *donors_build(const struct variant *variant)
{
    struct donors *donors = arena_array(variant->arena, struct donors, 1);
    const struct graph *graph = variant->plan->graph;
    uint32_t root = variant->plan->hlo.entry_at == HLO_NONE ? HLO_NONE : graph->root_of[variant->plan->hlo.entry_at];
    *donors = (struct donors){.variant = variant};
    donors->next_result = arena_array(variant->arena, uint32_t, (size_t)variant->space->indefinite_row_count + 1);
    map_init(&donors->kind_of, variant->arena, 64);
    map_init(&donors->loop_of, variant->arena, 16);
    map_init(&donors->reads, variant->arena, 64);
    value_walk_init(&donors->walk, graph, 16 * (uint64_t)variant->plan->hlo.instruction_count + 100000, variant->arena);
    for (uint32_t i = variant->space->indefinite_row_count; i-- > 0;) { /* they come first */
        const struct variant_row *row = &variant->rows[i];
        if (!row->is_output || row->is_argument || row->is_gone || row->leaf == HLO_NONE)
            continue;
        struct array_kind *kind = array_kind(donors, row->leaf, row->type);
        donors->next_result[i] = kind->first_result;
        kind->first_result = i;
    }
    if (root != HLO_NONE && graph_op(graph, root) == GRAPH_TUPLE)
        for (uint32_t i = graph->operand_first[root]; i < graph->operand_first[root + 1]; i++)
            if (graph->operands[i] != HLO_NONE)
                program_result_note(donors, graph->operands[i]);
    return donors;
}

uint32_t donors_result(struct donors *donors, uint32_t row)
{
    const struct variant_row *argument = &donors->variant->rows[row];
    if (!argument->is_argument || argument->is_gone || argument->is_output || argument->plan_row == PLAN_NONE ||
        argument->leaf == HLO_NONE)
        return PLAN_NONE;
    struct array_kind *kind = array_kind(donors, argument->leaf, argument->type);
    while (kind->first_result != PLAN_NONE && donors->variant->rows[kind->first_result].is_gone)
        kind->first_result = donors->next_result[kind->first_result];
    return kind->first_result == PLAN_NONE || is_built_beside(donors, kind, argument) ? PLAN_NONE : kind->first_result;
}
