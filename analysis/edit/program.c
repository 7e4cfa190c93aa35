/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/program.h"

#include "wire/wire.h"

/* ---- bytes ---- */

static void *allocate(void *arena, size_t size) { return arena_raw(arena, size); }

static void program_forget(void *arena, void *pointer)
{
    (void)arena;
    (void)pointer;
}

/* What is given back stays in the arena: it is all released at once. */
static ProtobufCAllocator allocator_of(struct arena *arena)
{
    return (ProtobufCAllocator){.alloc = allocate, .free = program_forget, .allocator_data = arena};
}

static const ProtobufCMessageDescriptor *inner_descriptor(const ProtobufCMessageDescriptor *outer, uint32_t number)
{
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(outer, number);
    return field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE ? field->descriptor : NULL;
}

/* protobuf-c recurses, so the depth of the messages that it would open is looked at before. */
static bool is_depth_bounded(struct str bytes, struct err *err)
{
    struct {
        const ProtobufCMessageDescriptor *descriptor;
        struct wire wire;
    } stack[PROGRAM_DEPTH_MAX];
    size_t depth = 1;
    stack[0].descriptor = &xla__hlo_module_proto__descriptor;
    stack[0].wire = wire_open(bytes, 0, err);
    while (depth > 0) {
        struct wire *wire = &stack[depth - 1].wire;
        if (!wire_next(wire)) {
            depth--;
            continue;
        }
        const ProtobufCMessageDescriptor *inner = inner_descriptor(stack[depth - 1].descriptor, wire->number);
        if (inner == NULL || wire->type != WIRE_BYTES)
            continue;
        if (depth == PROGRAM_DEPTH_MAX)
            return err_set(err, ERR_unsupported, wire_bytes_offset(wire), "messages nest deeper than %d",
                           PROGRAM_DEPTH_MAX);
        stack[depth].wire = wire_message(wire);
        stack[depth].descriptor = inner;
        depth++;
    }
    return !err_is_set(err);
}

/* The module within a HloProto: its field 1. If that is there several times, the last one counts. */
static bool module_bytes(struct str bytes, enum kind kind, struct str *module, struct err *err)
{
    *module = bytes;
    if (kind == KIND_HLO_MODULE)
        return true;
    if (kind != KIND_HLO_PROTO)
        return err_set(err, ERR_unsupported, ERR_NO_OFFSET, "only HLO programs can be edited, this is %s",
                       kind_name(kind));
    struct wire wire = wire_open(bytes, 0, err);
    size_t count = 0;
    while (wire_next(&wire))
        if (wire.number == 1 && wire.type == WIRE_BYTES) {
            *module = wire_text(&wire);
            count++;
        }
    if (err_is_set(err))
        return false;
    return count == 1 || err_set(err, ERR_unsupported, ERR_NO_OFFSET, "the file holds %zu modules, not one", count);
}

struct str program_write(const struct program *program)
{
    size_t size = xla__hlo_module_proto__get_packed_size(program->module);
    uint8_t *data = arena_raw(program->arena, size + 1);
    xla__hlo_module_proto__pack(program->module, data);
    return (struct str){(const char *)data, size};
}

bool program_read(struct program *program, struct str bytes, enum kind kind, struct arena *arena, struct err *err)
{
    *program = (struct program){.arena = arena, .err = err, .partitions = 1};
    struct str module;
    if (!module_bytes(bytes, kind, &module, err) || !is_depth_bounded(module, err))
        return false;
    ProtobufCAllocator allocator = allocator_of(arena);
    program->module = xla__hlo_module_proto__unpack(&allocator, module.length, (const uint8_t *)module.data);
    if (program->module == NULL)
        return err_set(err, ERR_malformed, ERR_NO_OFFSET, "protobuf-c cannot read the program");
    size_t written = xla__hlo_module_proto__get_packed_size(program->module);
    if (written != module.length)
        return err_set(
            err, ERR_unsupported, ERR_NO_OFFSET,
            "%zu bytes of the program would be %zu when they are written back: it cannot be edited without loss",
            module.length, written);
    return program_index(program);
}

/* ---- index ---- */

static uint64_t trailing_number(const char *name)
{
    size_t length = strlen(name), digits = 0;
    while (digits < length && digits < 18 && name[length - digits - 1] >= '0' && name[length - digits - 1] <= '9')
        digits++;
    uint64_t number = 0;
    for (size_t i = length - digits; i < length; i++)
        number = number * 10 + (uint64_t)(name[i] - '0');
    return number;
}

static bool index_body(struct program *program, struct program_body *body)
{
    program_computation *computation = body->computation;
    map_init(&body->places, program->arena, computation->n_instructions);
    arena_work(program->arena, computation->n_instructions);
    for (size_t i = 0; i < computation->n_instructions; i++) {
        program_instruction *instruction = computation->instructions[i];
        if (instruction->id < 0 || instruction->id >= PROGRAM_ID_MAX)
            return err_set(program->err, ERR_malformed, ERR_NO_OFFSET, "%s: its id %lld is none", instruction->name,
                           (long long)instruction->id);
        if (!map_put(&body->places, (uint64_t)instruction->id, (uint32_t)i, false))
            return err_set(program->err, ERR_malformed, ERR_NO_OFFSET, "%s: its id %lld is another instruction's too",
                           instruction->name, (long long)instruction->id);
        uint64_t number = trailing_number(instruction->name);
        if (number >= program->next_name)
            program->next_name = number + 1;
    }
    return true;
}

static bool index_parameters(struct program *program)
{
    const program_computation *entry = program->entry->computation;
    size_t count = 0;
    for (size_t i = 0; i < entry->n_instructions; i++)
        count += program_is(entry->instructions[i], "parameter");
    program->parameter_count = count;
    program->parameters = arena_array(program->arena, program_instruction *, count);
    for (size_t i = 0; i < entry->n_instructions; i++) {
        program_instruction *instruction = entry->instructions[i];
        if (!program_is(instruction, "parameter"))
            continue;
        int64_t number = instruction->parameter_number;
        if (number < 0 || (uint64_t)number >= count || program->parameters[number] != NULL)
            return err_set(program->err, ERR_malformed, ERR_NO_OFFSET, "%s: its number %lld among %zu parameters",
                           instruction->name, (long long)number, count);
        program->parameters[number] = instruction;
    }
    return true;
}

bool program_index(struct program *program)
{
    program_module *module = program->module;
    program->next_id = 0;
    program->cloned_count = 0;
    program->bodies = arena_array(program->arena, struct program_body, module->n_computations);
    map_init(&program->places, program->arena, module->n_computations);
    for (size_t i = 0; i < module->n_computations; i++) {
        program->bodies[i].computation = module->computations[i];
        if (module->computations[i]->id < 0 || module->computations[i]->id >= PROGRAM_COMPUTATION_ID_MAX)
            return err_set(program->err, ERR_malformed, ERR_NO_OFFSET, "%s: its id %lld is none",
                           module->computations[i]->name, (long long)module->computations[i]->id);
        if (!map_put(&program->places, (uint64_t)module->computations[i]->id, (uint32_t)i, false))
            return err_set(program->err, ERR_malformed, ERR_NO_OFFSET, "two computations have the id %lld",
                           (long long)module->computations[i]->id);
        if (!index_body(program, &program->bodies[i]))
            return false;
    }
    program->entry = program_body_of(program, module->entry_computation_id);
    if (program->entry == NULL)
        return err_set(program->err, ERR_malformed, ERR_NO_OFFSET,
                       "the module has no computation of its entry's id %lld", (long long)module->entry_computation_id);
    program->root = program_find(program->entry, program->entry->computation->root_id);
    if (program->root == NULL)
        return err_set(program->err, ERR_malformed, ERR_NO_OFFSET, "%s has no root", program->entry->computation->name);
    return index_parameters(program);
}

struct program_body *program_body_of(const struct program *program, int64_t computation_id)
{
    uint32_t place = map_get(&program->places, (uint64_t)computation_id);
    return place == MAP_NONE ? NULL : &program->bodies[place];
}

uint32_t program_place(const struct program_body *body, int64_t id) { return map_get(&body->places, (uint64_t)id); }

program_instruction *program_find(const struct program_body *body, int64_t id)
{
    uint32_t place = program_place(body, id);
    return place == MAP_NONE ? NULL : body->computation->instructions[place];
}

program_instruction *program_operand(const struct program_body *body, const program_instruction *user, size_t at)
{
    return at < user->n_operand_ids ? program_find(body, user->operand_ids[at]) : NULL;
}

bool program_is(const program_instruction *instruction, const char *opcode)
{
    return strcmp(instruction->opcode, opcode) == 0;
}

const char *program_parameter_name(const struct program *program, int64_t number)
{
    const program_instruction *parameter = program->parameters[number];
    bool has_op_name = parameter->metadata != NULL && parameter->metadata->op_name[0] != '\0';
    return has_op_name ? parameter->metadata->op_name : parameter->name;
}

bool program_has_parameter(const struct program *program, int64_t number)
{
    return (number >= 0 && (uint64_t)number < program->parameter_count) ||
           err_set(program->err, ERR_argument, ERR_NO_OFFSET, "the program has no parameter %lld, it has %zu",
                   (long long)number, program->parameter_count);
}

/* ---- new instructions ---- */

/* Through the bytes, as protobuf-c has no copy of its own. */
static void *copy_message(const struct program *program, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = arena_raw(program->arena, size + 1);
    protobuf_c_message_pack(message, bytes);
    ProtobufCAllocator allocator = allocator_of(program->arena);
    return protobuf_c_message_unpack(message->descriptor, &allocator, size, bytes);
}

program_shape *program_copy_shape(const struct program *program, const program_shape *shape)
{
    return copy_message(program, &shape->base);
}

static char *new_name(struct program *program, const char *base)
{
    size_t length = strlen(base);
    while (length > 0 && base[length - 1] >= '0' && base[length - 1] <= '9')
        length--;
    if (length == 0 || base[length - 1] != '.')
        length = strlen(base);
    else
        length--;
    return arena_format(program->arena, "%.*s.%llu", (int)length, base, (unsigned long long)program->next_name++);
}

program_instruction *program_new(struct program *program, const char *base, const char *opcode, program_shape *shape,
                                 const program_instruction *like)
{
    program_instruction *instruction = arena_alloc(program->arena, 1, sizeof *instruction);
    xla__hlo_instruction_proto__init(instruction);
    instruction->name = new_name(program, base);
    instruction->opcode = arena_text(program->arena, str_of(opcode));
    instruction->shape = shape;
    instruction->metadata = like != NULL ? like->metadata : NULL;
    return instruction;
}

program_instruction *program_clone(struct program *program, const program_instruction *instruction)
{
    program_instruction *clone = copy_message(program, &instruction->base);
    clone->name = new_name(program, instruction->name);
    return clone;
}

void program_name_recomputed(struct program *program, program_instruction *clone)
{
    if (clone->metadata == NULL)
        return;
    const char *name = clone->metadata->op_name, *from = strstr(name, "jvp(");
    if (from == NULL)
        return;
    size_t before = (size_t)(from - name), length = strcspn(from, "/");
    clone->metadata->op_name = arena_format(program->arena, "%.*stranspose(%.*s)/rematted_computation%s", (int)before,
                                            name, (int)length, from, from + length);
}

void program_set_operands(struct program *program, program_instruction *instruction, const int64_t *ids, size_t count)
{
    instruction->operand_ids = arena_array(program->arena, int64_t, count);
    instruction->n_operand_ids = count;
    if (count > 0)
        memcpy(instruction->operand_ids, ids, count * sizeof *ids);
}

static int64_t greatest_id(const program_computation *computation)
{
    int64_t greatest = 0;
    for (size_t i = 0; i < computation->n_instructions; i++)
        if (computation->instructions[i]->id > greatest)
            greatest = computation->instructions[i]->id;
    return greatest;
}

/* Ids of newer files are (computation's id << 32) | local id; those of older ones are counted through the module. */
int64_t program_new_id(struct program *program, struct program_body *body)
{
    if (body->next_id == 0) {
        int64_t greatest = greatest_id(body->computation);
        body->next_id = greatest >> 32 != 0 ? greatest + 1 : -1;
    }
    if (body->next_id > 0)
        return body->next_id++;
    bool is_first = program->next_id == 0;
    for (size_t i = 0; is_first && i < program->module->n_computations; i++) {
        int64_t greatest = greatest_id(program->module->computations[i]);
        if (greatest >= program->next_id)
            program->next_id = greatest + 1;
    }
    return program->next_id++;
}

void program_drop_marks(struct program *program, const char *target)
{
    program_computation *entry = program->entry->computation;
    program_instruction **left = arena_array(program->arena, program_instruction *, entry->n_instructions);
    struct map instead;
    size_t kept = 0;
    map_init(&instead, program->arena, 64);
    for (size_t i = 0; i < entry->n_instructions; i++) {
        program_instruction *instruction = entry->instructions[i], *operand;
        for (size_t j = 0; j < instruction->n_operand_ids; j++) {
            struct map_slot *slot = map_at(&instead, (uint64_t)instruction->operand_ids[j]);
            if (slot->value != MAP_FREE)
                instruction->operand_ids[j] = (int64_t)slot->value;
        }
        if (program_is(instruction, "custom-call") && strcmp(instruction->custom_call_target, target) == 0 &&
            instruction->n_operand_ids == 1 && instruction->id != entry->root_id &&
            (operand = program_operand(program->entry, instruction, 0)) != NULL &&
            shapes_equal(instruction->shape, operand->shape)) {
            uint64_t id = (uint64_t)instruction->id;
            map_fill(&instead, map_at(&instead, id), id, (uint64_t)instruction->operand_ids[0]);
            continue;
        }
        left[kept++] = instruction;
    }
    entry->instructions = left;
    entry->n_instructions = kept;
}

/* ---- copies of computations, their shapes ---- */

program_computation *program_clone_computation(struct program *program, const program_computation *computation)
{
    program_computation *clone = copy_message(program, &computation->base);
    int64_t greatest = 0;
    arena_work(program->arena, program->module->n_computations + computation->n_instructions);
    for (size_t i = 0; i < program->module->n_computations; i++)
        if (program->module->computations[i]->id > greatest)
            greatest = program->module->computations[i]->id;
    program->cloned_count++;
    clone->id = greatest + (int64_t)program->cloned_count;
    clone->name = new_name(program, computation->name);
    bool is_local = greatest_id(computation) >> 32 != 0;
    struct map ids;
    map_init(&ids, program->arena, clone->n_instructions);
    for (size_t i = 0; i < clone->n_instructions; i++) {
        program_instruction *instruction = clone->instructions[i];
        int64_t id = is_local ? clone->id << 32 | (int64_t)(i + 1) : program_new_id(program, program->entry);
        map_put(&ids, (uint64_t)instruction->id, (uint32_t)i, false);
        if (instruction->id == computation->root_id)
            clone->root_id = id;
        instruction->id = id;
        instruction->name = new_name(program, instruction->name);
        for (size_t j = 0; j < instruction->n_operand_ids; j++)
            instruction->operand_ids[j] = clone->instructions[map_get(&ids, (uint64_t)instruction->operand_ids[j])]->id;
    }
    return clone;
}

static bool take_shape(program_shape *to, const program_shape *of)
{
    if (to->n_dimensions != of->n_dimensions ||
        (to->element_type == of->element_type && shapes_same_dimensions(to, of)))
        return false;
    to->element_type = of->element_type;
    if (to->n_dimensions > 0)
        memcpy(to->dimensions, of->dimensions, to->n_dimensions * sizeof *to->dimensions);
    return true;
}

static void take_shapes(program_shape *into, program_shape *from)
{
    struct shapes_walk a = shapes_walk_begin(into), b = shapes_walk_begin(from);
    for (program_shape *to = shapes_walk_next(&a), *of = shapes_walk_next(&b); to != NULL && of != NULL;
         to = shapes_walk_next(&a), of = shapes_walk_next(&b))
        if (take_shape(to, of) && to->layout != NULL)
            to->layout->n_tiles = 0;
}

static void follow_shape(const struct program_body *body, Xla__ProgramShapeProto *shape)
{
    const program_computation *computation = body->computation;
    for (size_t i = 0; i < computation->n_instructions; i++) {
        const program_instruction *instruction = computation->instructions[i];
        if (program_is(instruction, "parameter") && (uint64_t)instruction->parameter_number < shape->n_parameters)
            take_shapes(shape->parameters[instruction->parameter_number], instruction->shape);
    }
    const program_instruction *root = program_find(body, computation->root_id);
    assert(root != NULL); /* verified before any edit */
    take_shapes(shape->result, root->shape);
}

void program_follow_shapes(struct program *program)
{
    for (size_t i = 0; i < program->module->n_computations; i++)
        if (program->bodies[i].computation->program_shape != NULL)
            follow_shape(&program->bodies[i], program->bodies[i].computation->program_shape);
    if (program->module->host_program_shape != NULL)
        follow_shape(program->entry, program->module->host_program_shape);
}

bool program_is_split_by(const Xla__OpSharding *sharding)
{
    if (sharding == NULL || sharding->type == XLA__OP_SHARDING__TYPE__REPLICATED)
        return false;
    bool is_any = sharding->type != XLA__OP_SHARDING__TYPE__TUPLE;
    for (size_t i = 0; i < sharding->n_tuple_shardings; i++)
        is_any |= sharding->tuple_shardings[i]->type != XLA__OP_SHARDING__TYPE__REPLICATED;
    return is_any;
}

bool program_is_split(const struct program *program)
{
    for (size_t i = 0; i < program->module->n_computations; i++)
        for (size_t j = 0; j < program->module->computations[i]->n_instructions; j++)
            if (program_is_split_by(program->module->computations[i]->instructions[j]->sharding))
                return true;
    return false;
}
