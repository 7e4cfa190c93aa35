/* SPDX-License-Identifier: Apache-2.0
 * Short dimensions outward, as if the person had made every array so (jnp.stack(axis=0) for axis=-1): a dimension that
 * stands in the lanes is padded to 128, one that stands further out is not. Which dimensions those are is told by
 * arrays that the compiler padded; by the classes of whatif/dimensions.h they go outward in every array that has them,
 * arguments and results too. Instructions that name dimensions name the new ones; those of which no rule is known here
 * work on the former order, between two transposes. */
#include "edit/unpad.h"
#include "edit/edits.h"
#include "edit/program_graph.h"
#include "edit/shapes.h"
#include "whatif/dimensions.h"

/* What a tile has in its lanes. */
enum { LANES = 128 };

struct work {
    struct program *program;
    struct program_graph graph;
    struct dimensions dimensions;
    bool *is_outward;                       /* by class */
    struct unpad_order *orders;             /* by leaf */
    program_shape **old_shapes;             /* by instruction; NULL: its shape stays */
    const program_shape **shapes;           /* by instruction: in the new order */
    uint32_t *parameter_places, root_place; /* in the entry, as it was */
    program_instruction **out;              /* those of a body anew */
    size_t out_count, out_capacity;
};

/* ---- which dimensions ---- */

static bool is_asked(const struct work *work, const struct edit *edit, const struct leaf *leaf)
{
    const int64_t *sizes = work->dimensions.leaves.sizes + leaf->first;
    for (size_t i = 0; i < edit->shape_count; i++) {
        const struct edit_shape *shape = &edit->shapes[i];
        uint32_t at = 0, nth = 0;
        arena_work(work->program->arena, leaf->rank + 1U);
        for (;;) { /* dimensions of size 1 come and go */
            while (at < shape->rank && shape->dimensions[at] == 1)
                at++;
            while (nth < leaf->rank && sizes[nth] == 1)
                nth++;
            if (at == shape->rank || nth == leaf->rank || shape->dimensions[at] != sizes[nth])
                break;
            at++, nth++;
        }
        if (at == shape->rank && nth == leaf->rank)
            return true;
    }
    return false;
}

/* Those behind the last long one. */
static void dimensions_choose(struct work *work, const struct edit *edit)
{
    const struct leaves *leaves = &work->dimensions.leaves;
    for (uint32_t i = 0; i < leaves->count; i++) {
        const struct leaf *leaf = &leaves->items[i];
        uint32_t first = leaf->rank;
        while (first > 0 && leaves->sizes[leaf->first + first - 1] < LANES)
            first--;
        for (uint32_t nth = first; first > 0 && first < leaf->rank && nth < leaf->rank && is_asked(work, edit, leaf);
             nth++)
            work->is_outward[dimensions_class(&work->dimensions, leaf->first + nth)] = true;
    }
}

/* What is put together of pieces along such a dimension, or cut, has it in all of them. */
static void parts_follow(struct work *work)
{
    const struct dimensions *dimensions = &work->dimensions;
    for (bool is_new = true; is_new;) {
        is_new = false;
        arena_work(work->program->arena, dimensions->member_count + 1);
        for (uint32_t i = 0; i < dimensions->relation_count; i++) {
            const struct relation *relation = &dimensions->relations[i];
            const uint32_t *members = dimensions->members + relation->first;
            uint32_t count = relation->left_count + relation->right_count;
            bool is_any = false;
            for (uint32_t k = 0; k < count && relation->kind != RELATION_PRODUCT; k++)
                is_any = is_any || work->is_outward[dimensions_class(dimensions, members[k])];
            for (uint32_t k = 0; k < count && is_any; k++) {
                bool *is_outward = &work->is_outward[dimensions_class(dimensions, members[k])];
                is_new = is_new || !*is_outward;
                *is_outward = true;
            }
        }
    }
}

static void orders_find(struct work *work)
{
    const struct leaves *leaves = &work->dimensions.leaves;
    for (uint32_t i = 0; i < leaves->count; i++) {
        const struct leaf *leaf = &leaves->items[i];
        struct unpad_order *order = &work->orders[i];
        for (unsigned pass = 0; pass < 2; pass++)
            for (uint32_t nth = 0; nth < leaf->rank; nth++)
                if (work->is_outward[dimensions_class(&work->dimensions, leaf->first + nth)] == (pass == 0)) {
                    order->place_of[nth] = order->rank;
                    order->from[order->rank++] = (uint8_t)nth;
                }
        for (uint32_t nth = 0; nth < leaf->rank; nth++)
            order->is_moved = order->is_moved || order->from[nth] != nth;
    }
}

/* ---- shapes ---- */

static void shape_turn(struct work *work, uint32_t at, program_shape *shape)
{
    struct shapes_walk walk = shapes_walk_begin(shape);
    program_shape *part;
    for (uint32_t i = work->dimensions.leaves.first[at];
         i < work->dimensions.leaves.first[at + 1] && (part = shapes_walk_next(&walk)) != NULL; i++)
        if (work->orders[i].is_moved && part->n_dimensions == work->orders[i].rank)
            unpad_turn_shape(work->program, &work->orders[i], part);
}

static bool is_turned(const struct work *work, uint32_t at)
{
    bool is_any = false;
    for (uint32_t i = work->dimensions.leaves.first[at]; i < work->dimensions.leaves.first[at + 1]; i++)
        is_any = is_any || work->orders[i].is_moved;
    return is_any;
}

static uint32_t number_of(const struct work *work, const struct program_body *body, int64_t id)
{
    return program_graph_first(work->program, &work->graph, body) + program_place(body, id);
}

static const struct unpad_order *order_of(const struct work *work, uint32_t at)
{
    static const struct unpad_order none = {.rank = 0};
    return leaves_count(&work->dimensions.leaves, at) == 1 ? &work->orders[work->dimensions.leaves.first[at]] : &none;
}

static bool are_equal(const struct unpad_order *a, const struct unpad_order *b)
{
    return a->rank == b->rank && memcmp(a->from, b->from, a->rank * sizeof *a->from) == 0;
}

/* Leaf by leaf: what one value hands on to the other. */
static bool hands_on(const struct work *work, uint32_t first, uint32_t count, uint32_t to, uint32_t to_count)
{
    for (uint32_t i = 0; i < count && count == to_count; i++)
        if (!are_equal(&work->orders[first + i], &work->orders[to + i]))
            return false;
    return count == to_count;
}

static bool hands_on_whole(const struct work *work, uint32_t at, uint32_t to)
{
    const struct leaves *leaves = &work->dimensions.leaves;
    return hands_on(work, leaves->first[at], leaves_count(leaves, at), leaves->first[to], leaves_count(leaves, to));
}

/* ---- what runs computations, or puts tuples together ---- */

static bool callee_follows(const struct work *work, const struct program_body *body,
                           const program_instruction *instruction, size_t nth, bool gives_result)
{
    const struct program_body *callee = program_body_of(work->program, instruction->called_computation_ids[nth]);
    bool is_conditional = program_is(instruction, "conditional");
    uint32_t at = number_of(work, body, instruction->id);
    for (size_t i = 0; i < callee->computation->n_instructions; i++) {
        const program_instruction *parameter = callee->computation->instructions[i];
        if (!program_is(parameter, "parameter"))
            continue;
        uint64_t from = is_conditional ? nth + 1 : (uint64_t)parameter->parameter_number;
        if (from >= instruction->n_operand_ids ||
            !hands_on_whole(work, number_of(work, body, instruction->operand_ids[from]),
                            number_of(work, callee, parameter->id)))
            return false;
    }
    return !gives_result || hands_on_whole(work, number_of(work, callee, callee->computation->root_id), at);
}

static bool run_follows(const struct work *work, const struct program_body *body,
                        const program_instruction *instruction)
{
    for (size_t i = 0; i < instruction->n_called_computation_ids; i++)
        if (!callee_follows(work, body, instruction, i, i == 0 || !program_is(instruction, "while")))
            return false; /* a loop's condition gives no state */
    return true;
}

static bool tuple_follows(const struct work *work, const struct program_body *body,
                          const program_instruction *instruction)
{
    const struct leaves *leaves = &work->dimensions.leaves;
    uint32_t at = number_of(work, body, instruction->id), count;
    if (program_is(instruction, "opt-barrier"))
        return instruction->n_operand_ids == 1 &&
               hands_on_whole(work, number_of(work, body, instruction->operand_ids[0]), at);
    if (program_is(instruction, "get-tuple-element")) {
        uint32_t from = number_of(work, body, instruction->operand_ids[0]);
        uint32_t leaf = leaves_element(leaves, from, (uint32_t)instruction->tuple_index, &count);
        return hands_on(work, leaf, count, leaves->first[at], leaves_count(leaves, at));
    }
    for (size_t i = 0; i < instruction->n_operand_ids; i++) {
        uint32_t from = number_of(work, body, instruction->operand_ids[i]);
        uint32_t leaf = leaves_element(leaves, at, (uint32_t)i, &count);
        if (!hands_on(work, leaves->first[from], leaves_count(leaves, from), leaf, count))
            return false;
    }
    return true;
}

static bool is_any(const program_instruction *instruction, const char *const *opcodes)
{
    while (*opcodes != NULL && !program_is(instruction, *opcodes))
        opcodes++;
    return *opcodes != NULL;
}

/* ---- one instruction ---- */

static void put_out(struct work *work, program_instruction *instruction)
{
    work->out =
        arena_grown(work->program->arena, work->out, work->out_count + 1, &work->out_capacity, sizeof *work->out);
    work->out[work->out_count++] = instruction;
}

static program_instruction *transpose_new(struct work *work, program_shape *shape, int64_t operand,
                                          const uint8_t *dimensions, const program_instruction *like)
{
    program_instruction *transpose = program_new(work->program, "transpose", "transpose", shape, like);
    program_set_operands(work->program, transpose, &operand, 1);
    transpose->n_dimensions = shape->n_dimensions;
    transpose->dimensions = arena_array(work->program->arena, int64_t, shape->n_dimensions + 1);
    for (size_t i = 0; i < shape->n_dimensions; i++)
        transpose->dimensions[i] = dimensions[i];
    return transpose;
}

/* Does what it calls take arrays in a new order? */
static bool calls_turned(const struct work *work, const program_instruction *instruction)
{
    for (size_t i = 0; i < instruction->n_called_computation_ids; i++) {
        const struct program_body *callee = program_body_of(work->program, instruction->called_computation_ids[i]);
        for (size_t j = 0; j < callee->computation->n_instructions; j++)
            if (program_is(callee->computation->instructions[j], "parameter") &&
                is_turned(work, number_of(work, callee, callee->computation->instructions[j]->id)))
                return true;
    }
    return false;
}

/* Operands in their former order, and the result turned behind it, under its id. */
static bool wrap(struct work *work, struct program_body *body, uint32_t at, program_instruction *instruction)
{
    struct program *program = work->program;
    if (calls_turned(work, instruction))
        return false;
    for (size_t i = 0; i < instruction->n_operand_ids; i++) {
        uint32_t operand_at = number_of(work, body, instruction->operand_ids[i]);
        if (!is_turned(work, operand_at))
            continue;
        const struct unpad_order *order = order_of(work, operand_at);
        if (!order->is_moved)
            return false; /* a tuple */
        program_instruction *back =
            transpose_new(work, program_copy_shape(program, work->old_shapes[operand_at]), instruction->operand_ids[i],
                          order->place_of, program_operand(body, instruction, i));
        back->id = program_new_id(program, body);
        instruction->operand_ids[i] = back->id;
        put_out(work, back);
    }
    put_out(work, instruction);
    if (!is_turned(work, at))
        return true;
    if (!order_of(work, at)->is_moved)
        return false;
    program_shape *turned = instruction->shape;
    instruction->shape = program_copy_shape(program, work->old_shapes[at]);
    program_instruction *behind = transpose_new(work, turned, 0, order_of(work, at)->from, instruction);
    behind->id = instruction->id;
    behind->operand_ids[0] = instruction->id = program_new_id(program, body);
    put_out(work, behind);
    return true;
}

static bool not_followed(const struct work *work, const program_instruction *instruction)
{
    return err_set(work->program->err, ERR_conflict, ERR_NO_OFFSET,
                   "unpad: %s = %s: its dimensions are not told apart well enough to be moved", instruction->name,
                   instruction->opcode);
}

static bool turn_one(struct work *work, struct program_body *body, uint32_t at, program_instruction *instruction)
{
    static const char *const tuples[] = {"tuple", "get-tuple-element", "opt-barrier", NULL};
    static const char *const runs[] = {"while", "call", "conditional", "fusion", NULL};
    struct unpad_asked asked = {.program = work->program, .instruction = instruction, .result = order_of(work, at)};
    bool is_part = is_turned(work, at);
    asked.operands = arena_array(work->program->arena, const struct unpad_order *, instruction->n_operand_ids + 1);
    for (size_t i = 0; i < instruction->n_operand_ids; i++) {
        uint32_t operand_at = number_of(work, body, instruction->operand_ids[i]);
        is_part = is_part || is_turned(work, operand_at);
        asked.operands[i] = order_of(work, operand_at);
        if (i == 0)
            asked.operand = work->shapes[operand_at];
    }
    bool is_good = true, is_run = is_any(instruction, runs), is_tuple = is_any(instruction, tuples),
         gives_array = leaves_count(&work->dimensions.leaves, at) == 1 && !shapes_is_tuple(instruction->shape);
    if (is_run)
        is_good = run_follows(work, body, instruction);
    else if (is_tuple)
        is_good = tuple_follows(work, body, instruction);
    else if (is_part && !program_is(instruction, "parameter") && (!gives_array || !unpad_rule(&asked)))
        return wrap(work, body, at, instruction) || not_followed(work, instruction);
    put_out(work, instruction);
    return is_good || not_followed(work, instruction);
}

static bool aliases_follow(const struct work *work)
{
    const struct program *program = work->program;
    const Xla__HloInputOutputAliasProto *aliases = program->module->input_output_alias;
    const struct leaves *leaves = &work->dimensions.leaves;
    uint32_t root = number_of(work, program->entry, program->root->id), count;
    for (size_t i = 0; aliases != NULL && i < aliases->n_entries; i++) {
        const Xla__HloInputOutputAliasProto__AliasEntryProto *entry = aliases->entries[i];
        if (entry->n_parameter_shape_index > 0 || entry->n_output_shape_index > 1 ||
            !program_has_parameter(program, entry->parameter_number))
            return false;
        uint32_t from = number_of(work, program->entry, program->parameters[entry->parameter_number]->id);
        uint32_t leaf = leaves->first[root];
        count = leaves_count(leaves, root);
        if (entry->n_output_shape_index == 1)
            leaf = leaves_element(leaves, root, (uint32_t)entry->output_shape_index[0], &count);
        if (!hands_on(work, leaves->first[from], leaves_count(leaves, from), leaf, count))
            return false;
    }
    return true;
}

static bool unpad_rewrite(struct work *work)
{
    struct program *program = work->program;
    for (size_t i = 0; i < program->module->n_computations; i++) {
        struct program_body *body = &program->bodies[i];
        program_computation *computation = body->computation;
        uint32_t first = program_graph_first(program, &work->graph, body);
        work->out = NULL;
        work->out_count = work->out_capacity = 0;
        for (size_t j = 0; j < computation->n_instructions; j++)
            if (!turn_one(work, body, first + (uint32_t)j, computation->instructions[j]))
                return false;
        computation->instructions = work->out;
        computation->n_instructions = work->out_count;
    }
    return true;
}

static void layout_turn(const struct work *work, uint32_t at, program_shape *shape)
{
    struct shapes_walk walk = shapes_walk_begin(shape);
    program_shape *part;
    for (uint32_t i = work->dimensions.leaves.first[at];
         i < work->dimensions.leaves.first[at + 1] && (part = shapes_walk_next(&walk)) != NULL; i++)
        if (work->orders[i].is_moved)
            unpad_default_layout(part);
}

/* Arguments and results lie as those of their new shape do. */
static void layouts_turn(const struct program *program, Xla__ProgramShapeProto *shape, const struct work *work)
{
    uint32_t first = program_graph_first(program, &work->graph, program->entry);
    for (size_t i = 0; shape != NULL && i < shape->n_parameters && i < program->parameter_count; i++)
        layout_turn(work, first + work->parameter_places[i], shape->parameters[i]);
    if (shape != NULL && shape->result != NULL)
        layout_turn(work, first + work->root_place, shape->result);
}

bool unpad_apply(struct program *program, const struct edit *edit)
{
    struct work work = {.program = program};
    if (program_is_split(program))
        return err_set(program->err, ERR_conflict, ERR_NO_OFFSET, "unpad: the program is split over devices");
    program_drop_marks(program, "xla.sdy.FuncResultSharding");
    if (!program_index(program) || !program_graph_build(program, &work.graph))
        return false;
    dimensions_build(&work.graph.graph, program->arena, &work.dimensions);
    const struct leaves *leaves = &work.dimensions.leaves;
    work.is_outward = arena_array(program->arena, bool, (size_t)leaves->dimension_count + 1);
    work.orders = arena_array(program->arena, struct unpad_order, (size_t)leaves->count + 1);
    work.old_shapes = arena_array(program->arena, program_shape *, (size_t)work.graph.hlo.instruction_count + 1);
    work.shapes = arena_array(program->arena, const program_shape *, (size_t)work.graph.hlo.instruction_count + 1);
    if (leaves->unknown_count > 0)
        return err_set(program->err, ERR_unsupported, ERR_NO_OFFSET, "unpad: an array of too many dimensions");
    work.parameter_places = arena_array(program->arena, uint32_t, program->parameter_count + 1);
    for (size_t i = 0; i < program->parameter_count; i++)
        work.parameter_places[i] = program_place(program->entry, program->parameters[i]->id);
    work.root_place = program_place(program->entry, program->root->id);
    dimensions_choose(&work, edit);
    parts_follow(&work);
    orders_find(&work);
    uint64_t before = program->changed_count;
    for (size_t i = 0; i < program->module->n_computations; i++)
        for (size_t j = 0; j < program->bodies[i].computation->n_instructions; j++) {
            program_instruction *instruction = program->bodies[i].computation->instructions[j];
            uint32_t at = program_graph_first(program, &work.graph, &program->bodies[i]) + (uint32_t)j;
            work.shapes[at] = instruction->shape; /* turned in place */
            if (!is_turned(&work, at))
                continue;
            work.old_shapes[at] = program_copy_shape(program, instruction->shape);
            shape_turn(&work, at, instruction->shape);
            program->changed_count++;
        }
    if (program->changed_count == before)
        return err_set(program->err, ERR_conflict, ERR_NO_OFFSET,
                       "unpad: no array before the compiler's work has such a short dimension last");
    if (!aliases_follow(&work))
        return err_set(program->err, ERR_conflict, ERR_NO_OFFSET,
                       "unpad: an argument and the result in its memory would get different orders");
    if (!unpad_rewrite(&work) || !program_index(program))
        return false;
    program_follow_shapes(program);
    layouts_turn(program, program->module->host_program_shape, &work);
    layouts_turn(program, program->entry->computation->program_shape, &work);
    return true;
}
