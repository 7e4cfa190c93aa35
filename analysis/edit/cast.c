/* SPDX-License-Identifier: Apache-2.0
 * Arguments of another element type. To bf16 and f16: as if the person had made them so, and the program after JAX's
 * promotion (cast_types.h). To narrower types: arguments are stored so, converted where they are read, and results that
 * take their memory are converted back.
 *
 * It is the edit that says least: HLO does not tell which astype(float32) stood in the source, for it was none
 * before. */
#include "edit/cast_types.h"
#include "edit/edits.h"
#include "edit/shapes.h"

#include <assert.h>

struct work {
    struct program *program;
    struct cast_types types;
    struct map converts;  /* hash of operand and type → place in `made`, of the body that is worked on */
    struct map combiners; /* id of a combining computation → id of that of the new type */
    struct program_body *body;
    program_instruction **out; /* its instructions anew */
    size_t out_count, out_capacity;
    program_computation **added;
    size_t added_count, added_capacity;
};

static void put_out(struct work *work, program_instruction *instruction)
{
    work->out =
        arena_grown(work->program->arena, work->out, work->out_count + 1, &work->out_capacity, sizeof *work->out);
    work->out[work->out_count++] = instruction;
}

/* ---- types of shapes ---- */

/* Sets element types of the arrays of a shape, as the leaves from `first` on have them. */
static void set_types(const struct work *work, program_shape *shape, uint32_t first)
{
    struct shapes_walk walk = shapes_walk_begin(shape);
    uint32_t leaf = first;
    for (program_shape *part; (part = shapes_walk_next(&walk)) != NULL && leaf < work->types.leaves.count; leaf++)
        if (work->types.leaves.items[leaf].type != 0) /* tokens and opaque values have none that could change */
            part->element_type = cast_types_of(&work->types, leaf);
}

/* ---- converts ---- */

/* The operand in another type: a convert, which is written where it is needed first. */
static int64_t converted(struct work *work, const program_instruction *operand, Xla__PrimitiveType type)
{
    struct program *program = work->program;
    uint64_t key = hash_number((uint64_t)type, hash_number((uint64_t)operand->id, 0));
    struct map_slot *slot = map_at(&work->converts, key);
    if (slot->value != MAP_FREE)
        return (int64_t)slot->value;
    program_shape *shape = program_copy_shape(program, operand->shape);
    shape->element_type = type;
    program_instruction *convert = program_new(program, "convert", "convert", shape, operand);
    program_set_operands(program, convert, &operand->id, 1);
    convert->id = program_new_id(program, work->body);
    put_out(work, convert);
    map_fill(&work->converts, slot, key, (uint64_t)convert->id);
    return convert->id;
}

/* An array of one of the two types: the only ones that are converted. */
static bool is_of_types(const struct work *work, const program_shape *shape)
{
    return shapes_is_array(shape) && (shape->element_type == work->types.from || shape->element_type == work->types.to);
}

static void convert_operand(struct work *work, program_instruction *reader, size_t at, Xla__PrimitiveType wanted)
{
    const program_instruction *operand = program_operand(work->body, reader, at);
    if (is_of_types(work, operand->shape) && operand->shape->element_type != wanted)
        reader->operand_ids[at] = converted(work, operand, wanted);
}

/* ---- combining computations ---- */

static int64_t combiner_of(struct work *work, int64_t id)
{
    struct program *program = work->program;
    struct map_slot *slot = map_at(&work->combiners, (uint64_t)id);
    if (slot->value != MAP_FREE)
        return (int64_t)slot->value;
    const struct program_body *body = program_body_of(program, id);
    program_computation *clone = program_clone_computation(program, body->computation);
    for (size_t i = 0; i < clone->n_instructions; i++)
        clone->instructions[i]->shape->element_type = work->types.to;
    if (clone->program_shape != NULL) {
        for (size_t i = 0; i < clone->program_shape->n_parameters; i++)
            clone->program_shape->parameters[i]->element_type = work->types.to;
        clone->program_shape->result->element_type = work->types.to;
    }
    work->added =
        arena_grown(program->arena, work->added, work->added_count + 1, &work->added_capacity, sizeof *work->added);
    work->added[work->added_count++] = clone;
    map_fill(&work->combiners, slot, (uint64_t)id, (uint64_t)clone->id);
    return clone->id;
}

/* ---- one instruction ---- */

static bool is_any(const program_instruction *instruction, const char *const *opcodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (program_is(instruction, opcodes[i]))
            return true;
    return false;
}

static const program_shape *result_of(const program_instruction *instruction, size_t at)
{
    const program_shape *shape = instruction->shape;
    if (shape == NULL || !shapes_is_tuple(shape))
        return shape;
    return shape->n_tuple_shapes > 0 ? shape->tuple_shapes[at % shape->n_tuple_shapes] : NULL;
}

/* The shape that a computation which is called takes. */
static const program_shape *cast_taken(const struct work *work, const program_instruction *call, size_t number)
{
    const struct program_body *callee = program_body_of(work->program, call->called_computation_ids[0]);
    for (size_t i = 0; i < callee->computation->n_instructions; i++) {
        const program_instruction *parameter = callee->computation->instructions[i];
        if (program_is(parameter, "parameter") && parameter->parameter_number == (int64_t)number)
            return parameter->shape;
    }
    return NULL;
}

/* What an operand has to be, or NULL: whatever it is. */
static const program_shape *wanted_of(const struct work *work, const program_instruction *instruction, size_t at)
{
    static const char *const any[] = {"convert",     "is-finite", "get-tuple-element",
                                      "opt-barrier", "while",     "conditional"};
    if (is_any(instruction, any, sizeof any / sizeof *any))
        return NULL;
    assert(instruction->shape != NULL); /* verified before the edit */
    if (program_is(instruction, "tuple"))
        return instruction->shape->tuple_shapes[at];
    return program_is(instruction, "call") ? cast_taken(work, instruction, at) : result_of(instruction, at);
}

/* Operands get the types that the instruction needs for its result, which has its type already. */
static void fit_operands(struct work *work, program_instruction *instruction)
{
    static const char *const former[] = {"compare", "custom-call", "bitcast-convert"};
    bool is_former = is_any(instruction, former, sizeof former / sizeof *former);
    for (size_t i = 0; i < instruction->n_operand_ids; i++) {
        const program_shape *wanted = is_former ? NULL : wanted_of(work, instruction, i);
        if (is_former)
            convert_operand(work, instruction, i, work->types.from);
        else if (wanted != NULL && is_of_types(work, wanted))
            convert_operand(work, instruction, i, wanted->element_type);
    }
}

static void fit_combiner(struct work *work, program_instruction *instruction)
{
    static const char *const runs[] = {"while", "call", "conditional", "fusion", "custom-call"};
    const program_shape *result = result_of(instruction, 0);
    if (is_any(instruction, runs, sizeof runs / sizeof *runs) || result == NULL ||
        result->element_type != work->types.to)
        return;
    for (size_t i = 0; i < instruction->n_called_computation_ids; i++)
        if (cast_types_is_combiner(&work->types,
                                   program_body_of(work->program, instruction->called_computation_ids[i])))
            instruction->called_computation_ids[i] = combiner_of(work, instruction->called_computation_ids[i]);
}

/* ---- the program's results ---- */

/* A result that takes an argument's memory has its type; others that of what is given. */
static void set_result_types(struct work *work)
{
    struct program *program = work->program;
    if (!shapes_is_tuple(program->root->shape) || !program_is(program->root, "tuple"))
        return;
    for (size_t i = 0; i < program->root->n_operand_ids; i++)
        program->root->shape->tuple_shapes[i] =
            program_copy_shape(program, program_operand(program->entry, program->root, i)->shape);
    const Xla__HloInputOutputAliasProto *aliases = program->module->input_output_alias;
    for (size_t i = 0; aliases != NULL && i < aliases->n_entries; i++) {
        const Xla__HloInputOutputAliasProto__AliasEntryProto *entry = aliases->entries[i];
        if (entry->n_output_shape_index == 1 && entry->n_parameter_shape_index == 0)
            program->root->shape->tuple_shapes[entry->output_shape_index[0]]->element_type =
                program->parameters[entry->parameter_number]->shape->element_type;
    }
}

/* The only result, where it takes an argument's memory: a convert behind the root. */
static void convert_only_result(struct work *work)
{
    struct program *program = work->program;
    const Xla__HloInputOutputAliasProto *aliases = program->module->input_output_alias;
    if (aliases == NULL || aliases->n_entries != 1 || aliases->entries[0]->n_output_shape_index != 0 ||
        aliases->entries[0]->n_parameter_shape_index != 0)
        return;
    Xla__PrimitiveType wanted = program->parameters[aliases->entries[0]->parameter_number]->shape->element_type;
    if (is_of_types(work, program->root->shape) && program->root->shape->element_type != wanted)
        program->entry->computation->root_id = converted(work, program->root, wanted);
}

static void cast_rewrite(struct work *work)
{
    struct program *program = work->program;
    for (uint32_t at = 0; at < work->types.graph.hlo.instruction_count; at++)
        set_types(work, work->types.instructions[at]->shape, work->types.leaves.first[at]);
    set_result_types(work);
    for (size_t i = 0; i < program->module->n_computations; i++) {
        work->body = &program->bodies[i];
        program_computation *computation = work->body->computation;
        work->out = NULL;
        work->out_count = work->out_capacity = 0;
        map_init(&work->converts, program->arena, 64);
        for (size_t j = 0; j < computation->n_instructions; j++) {
            fit_operands(work, computation->instructions[j]);
            fit_combiner(work, computation->instructions[j]);
            put_out(work, computation->instructions[j]);
        }
        if (work->body == program->entry)
            convert_only_result(work);
        computation->instructions = work->out;
        computation->n_instructions = work->out_count;
    }
    program_computation **all =
        arena_array(program->arena, program_computation *, program->module->n_computations + work->added_count);
    if (work->added_count > 0)
        memcpy(all, work->added, work->added_count * sizeof *all);
    memcpy(all + work->added_count, program->module->computations, program->module->n_computations * sizeof *all);
    program->module->computations = all;
    program->module->n_computations += work->added_count;
}

/* ---- whether the source would do the same ---- */

/* Makes one value of one or two, of the type to which JAX promotes them. */
static bool is_promoted(const program_instruction *instruction)
{
    static const char *const opcodes[] = {"add",     "subtract",   "multiply",    "divide",        "maximum",
                                          "minimum", "negate",     "sqrt",        "rsqrt",         "power",
                                          "abs",     "broadcast",  "reshape",     "select",        "get-tuple-element",
                                          "tuple",   "call",       "transpose",   "slice",         "parameter",
                                          "copy",    "clamp",      "opt-barrier", "dynamic-slice", "reverse",
                                          "pad",     "concatenate"};
    return is_any(instruction, opcodes, sizeof opcodes / sizeof *opcodes);
}

/* Does the new type reach what the source may say another type of: products, sums, loops, casts, new arrays? */
static bool is_far_reaching(const struct work *work)
{
    for (uint32_t at = 0; at < work->types.graph.hlo.instruction_count; at++)
        for (uint32_t leaf = work->types.leaves.first[at]; leaf < work->types.leaves.first[at + 1]; leaf++)
            if (work->types.leaves.items[leaf].type == (uint8_t)work->types.from &&
                cast_types_of(&work->types, leaf) == work->types.to && work->types.leaves.items[leaf].rank > 0 &&
                !is_promoted(work->types.instructions[at]))
                return true;
    return false;
}

/* ---- the edit ---- */

static bool select_one(struct program *program, int64_t number, const struct edit *edit, bool *is_selected,
                       Xla__PrimitiveType from)
{
    const program_shape *shape = program->parameters[number]->shape;
    char text[120];
    if (shapes_is_array(shape) && shape->element_type == from && shape->n_dimensions > 0) {
        program->changed_count += !is_selected[number];
        is_selected[number] = true;
        return true;
    }
    return edit->is_every ||
           err_set(program->err, ERR_conflict, ERR_NO_OFFSET, "argument %lld (%s): %s is no f32 array",
                   (long long)number, program_parameter_name(program, number), shapes_text(shape, text, sizeof text));
}

bool cast_apply(struct program *program, const struct edit *edit)
{
    const Xla__PrimitiveType from = XLA__PRIMITIVE_TYPE__F32, to = (Xla__PrimitiveType)edit->element_type;
    unsigned bits = shapes_element_bits(to);
    if (to == from || bits == 0 || bits >= 32 || bits < 8)
        return err_set(program->err, ERR_argument, ERR_NO_OFFSET, "cast: to a type of 8 or 16 bits");
    bool *is_selected = arena_array(program->arena, bool, program->parameter_count + 1);
    uint64_t before = program->changed_count;
    for (size_t i = 0; i < edit->parameter_count; i++)
        if (!program_has_parameter(program, edit->parameters[i]) ||
            !select_one(program, edit->parameters[i], edit, is_selected, from))
            return false;
    program->left_count += edit->parameter_count - (program->changed_count - before);
    if (program->changed_count == before)
        return err_set(program->err, ERR_conflict, ERR_NO_OFFSET, "cast: none of the arguments is an f32 array");
    struct work work = {.program = program};
    program_drop_marks(program, "xla.sdy.FuncResultSharding");
    if (!program_index(program) ||
        !cast_types_find(&work.types, program, is_selected, from, to, bits == 16 && shapes_is_float(to)))
        return false;
    map_init(&work.combiners, program->arena, 64);
    if (program->partial == NULL && is_far_reaching(&work))
        program->partial = "the program does not say which types its source asks for: where it names float32, the "
                           "printed change leaves that as it is, or raises a TypeError, and here all that is computed "
                           "from these arguments was cast";
    cast_rewrite(&work);
    if (!program_index(program))
        return false;
    program_follow_shapes(program);
    return true;
}
