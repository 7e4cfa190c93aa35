/* SPDX-License-Identifier: Apache-2.0
 * Another batch size, another length of the sequence: every array that has the dimension gets its new size, by the
 * classes of whatif/dimensions.h, and every instruction that names a size names the new one. Scalars stay as they are:
 * what a mean divides by, how often a loop runs. */
#include "edit/resize.h"

#include "edit/edits.h"
#include "edit/program_graph.h"
#include "edit/shapes.h"
#include "whatif/dimensions.h"

struct work {
    struct program *program;
    struct program_graph graph;
    struct dimensions dimensions;
    struct dimensions_sizes sizes;
    program_shape **old_shapes; /* by instruction; NULL: its shape stays */
};

/* ---- which sizes are asked ---- */

static bool ask_one(struct work *work, const struct edit *edit, size_t at, struct dimensions_change *change)
{
    struct program *program = work->program;
    const struct edit_dimension *asked = &edit->dimensions[at];
    int64_t number = asked->parameter, nth = asked->dimension, size;
    int64_t numerator = edit->fractions != NULL ? edit->fractions[at].numerator : edit->numerator;
    int64_t denominator = edit->fractions != NULL ? edit->fractions[at].denominator : edit->denominator;
    if (!program_has_parameter(program, number))
        return false;
    const program_instruction *parameter = program->parameters[number];
    const char *name = program_parameter_name(program, number);
    char text[120];
    uint32_t instruction =
        program_graph_first(program, &work->graph, program->entry) + program_place(program->entry, parameter->id);
    change->dimension =
        nth < 0 || nth >= SHAPE_RANK_MAX ? HLO_NONE : dimensions_of(&work->dimensions, instruction, (uint32_t)nth);
    if (change->dimension == HLO_NONE)
        return err_set(program->err, ERR_argument, ERR_NO_OFFSET, "argument %lld (%s): %s has no dimension %lld",
                       (long long)number, name, shapes_text(parameter->shape, text, sizeof text), (long long)nth);
    if (__builtin_mul_overflow(parameter->shape->dimensions[nth], numerator, &size) || denominator < 1 ||
        size < denominator || size % denominator != 0)
        return err_set(program->err, ERR_argument, ERR_NO_OFFSET,
                       "argument %lld (%s): %lld × %lld/%lld is no whole number", (long long)number, name,
                       (long long)parameter->shape->dimensions[nth], (long long)numerator, (long long)denominator);
    change->size = size / denominator;
    return true;
}

static bool solve(struct work *work, const struct edit *edit)
{
    struct program *program = work->program;
    struct dimensions_change *changes =
        arena_array(program->arena, struct dimensions_change, edit->dimension_count + 1);
    dimensions_build(&work->graph.graph, program->arena, &work->dimensions);
    for (size_t i = 0; i < edit->dimension_count; i++)
        if (!ask_one(work, edit, i, &changes[i]))
            return false;
    dimensions_resize(&work->dimensions, work->dimensions.leaves.sizes, changes, (uint32_t)edit->dimension_count,
                      program->arena, &work->sizes);
    if (work->sizes.conflict_count > 0)
        return err_set(program->err, ERR_conflict, ERR_NO_OFFSET,
                       "some arrays would get two sizes: the dimension is bound to others in the program");
    return true;
}

/* ---- shapes ---- */

static bool resize_shape(struct work *work, uint32_t at, program_shape *shape, bool is_trial)
{
    const struct leaves *leaves = &work->dimensions.leaves;
    struct shapes_walk walk = shapes_walk_begin(shape);
    bool is_changed = false;
    program_shape *part;
    for (uint32_t i = leaves->first[at]; i < leaves->first[at + 1] && (part = shapes_walk_next(&walk)) != NULL; i++)
        for (uint32_t nth = 0; nth < leaves->items[i].rank && nth < part->n_dimensions; nth++) {
            uint32_t dimension = leaves->items[i].first + nth;
            int64_t size = work->sizes.sizes[dimensions_class(&work->dimensions, dimension)];
            if (leaves->sizes[dimension] == work->sizes.sizes[dimension])
                size = leaves->sizes[dimension];
            is_changed |= part->dimensions[nth] != size;
            if (!is_trial)
                part->dimensions[nth] = size;
        }
    return is_changed;
}

static void resize_shapes(struct work *work)
{
    struct program *program = work->program;
    for (size_t i = 0; i < program->module->n_computations; i++) {
        const program_computation *computation = program->bodies[i].computation;
        uint32_t first = program_graph_first(program, &work->graph, &program->bodies[i]);
        for (size_t j = 0; j < computation->n_instructions; j++) {
            program_instruction *instruction = computation->instructions[j];
            uint32_t at = first + (uint32_t)j;
            if (!resize_shape(work, at, instruction->shape, true))
                continue;
            work->old_shapes[at] = program_copy_shape(program, instruction->shape);
            resize_shape(work, at, instruction->shape, false);
            program->changed_count++;
        }
    }
}

/* ---- what instructions say of sizes ---- */

static bool follow_one(struct work *work, struct program_body *body, uint32_t at, program_instruction *instruction)
{
    const program_instruction *operand = program_operand(body, instruction, 0);
    uint32_t operand_at =
        operand == NULL ? HLO_NONE
                        : program_graph_first(work->program, &work->graph, body) + program_place(body, operand->id);
    struct resize_asked asked = {.program = work->program,
                                 .instruction = instruction,
                                 .shape = instruction->shape,
                                 .operand = operand == NULL ? NULL : operand->shape};
    asked.old_shape = work->old_shapes[at] != NULL ? work->old_shapes[at] : instruction->shape;
    asked.old_operand =
        operand != NULL && work->old_shapes[operand_at] != NULL ? work->old_shapes[operand_at] : asked.operand;
    if (work->old_shapes[at] == NULL && asked.old_operand == asked.operand)
        return true;
    const char *reason = resize_constants(&asked);
    if (reason == NULL)
        reason = resize_attributes(&asked);
    char text[80];
    return reason == NULL ||
           err_set(work->program->err, ERR_conflict, ERR_NO_OFFSET, "%s = %s %s: %s", instruction->name,
                   shapes_text(asked.old_shape, text, sizeof text), instruction->opcode, reason);
}

static bool resize_follow(struct work *work)
{
    struct program *program = work->program;
    for (size_t i = 0; i < program->module->n_computations; i++) {
        uint32_t first = program_graph_first(program, &work->graph, &program->bodies[i]);
        for (size_t j = 0; j < program->bodies[i].computation->n_instructions; j++)
            if (!follow_one(work, &program->bodies[i], first + (uint32_t)j,
                            program->bodies[i].computation->instructions[j]))
                return false;
    }
    return true;
}

bool resize_apply(struct program *program, const struct edit *edit)
{
    struct work work = {.program = program};
    if (!program_graph_build(program, &work.graph) || !solve(&work, edit))
        return false;
    work.old_shapes = arena_array(program->arena, program_shape *, (size_t)work.graph.hlo.instruction_count + 1);
    resize_shapes(&work);
    if (!resize_follow(&work))
        return false;
    program_follow_shapes(program);
    return true;
}
