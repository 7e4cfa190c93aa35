/* SPDX-License-Identifier: Apache-2.0
 * Arguments split over devices, the rest by propagation: each parameter gets a tiled OpSharding, as under
 * jax.jit(in_shardings=NamedSharding(mesh, P("x", …))), and GSPMD finds what follows for all other values.
 *
 * An array is cut along its first dimension that divides and is not of a size that stays whole (whatif/split.h); small
 * arrays stay whole: the line that a person is shown (whatif/call_arguments.c) does the same. A
 * donated argument becomes a buffer donor: which result it fits is known only once the results are split (so does
 * JAX). */
#include "compile.fields.h"
#include "edit/edits.h"
#include "edit/shapes.h"
#include "whatif/change.h"
#include "wire/wire.h"

enum { PARTITIONS_MAX = 65536 };

/* The dimension to cut along, or −1. */
static int64_t dimension_of(const program_shape *shape, const struct split *split)
{
    int64_t elements = 1;
    if (!shapes_is_array(shape))
        return -1;
    for (size_t i = 0; i < shape->n_dimensions; i++)
        if (__builtin_mul_overflow(elements, shape->dimensions[i], &elements))
            elements = -1;
    if (!split_is_large(split, elements))
        return -1;
    for (size_t i = 0; i < shape->n_dimensions; i++)
        if (split_takes(split, shape->dimensions[i]))
            return (int64_t)i;
    return -1;
}

static Xla__OpSharding *tiled(const struct program *program, size_t rank, int64_t along, int64_t partitions)
{
    Xla__OpSharding *sharding = arena_alloc(program->arena, 1, sizeof *sharding);
    xla__op_sharding__init(sharding);
    sharding->type = XLA__OP_SHARDING__TYPE__OTHER;
    sharding->n_tile_assignment_dimensions = rank;
    sharding->tile_assignment_dimensions = arena_array(program->arena, int64_t, rank);
    for (size_t i = 0; i < rank; i++)
        sharding->tile_assignment_dimensions[i] = (int64_t)i == along ? partitions : 1;
    sharding->n_tile_assignment_devices = (size_t)partitions;
    sharding->tile_assignment_devices = arena_array(program->arena, int64_t, (size_t)partitions);
    for (int64_t i = 0; i < partitions; i++)
        sharding->tile_assignment_devices[i] = i;
    return sharding;
}

static bool shard_one(struct program *program, int64_t number, const struct edit *edit)
{
    program_instruction *parameter = program->parameters[number];
    const char *name = program_parameter_name(program, number);
    char text[120];
    if (program_is_split_by(parameter->sharding))
        return edit->is_every || err_set(program->err, ERR_conflict, ERR_NO_OFFSET,
                                         "argument %lld (%s) is sharded already", (long long)number, name);
    int64_t along = dimension_of(parameter->shape, &edit->split);
    if (along < 0)
        return edit->is_every ||
               err_set(program->err, ERR_conflict, ERR_NO_OFFSET,
                       "argument %lld (%s): no dimension of %s divides by %lld", (long long)number, name,
                       shapes_text(parameter->shape, text, sizeof text), (long long)edit->split.devices);
    parameter->sharding = tiled(program, parameter->shape->n_dimensions, along, edit->split.devices);
    program->changed_count++;
    return true;
}

/* Every alias becomes a donor of the same parameter. */
static void donors_for_aliases(struct program *program)
{
    typedef Xla__HloBufferDonorProto__BufferDonorEntryProto donor_entry;
    program_module *module = program->module;
    if (module->input_output_alias == NULL || module->input_output_alias->n_entries == 0)
        return;
    if (module->buffer_donor == NULL) {
        module->buffer_donor = arena_alloc(program->arena, 1, sizeof *module->buffer_donor);
        xla__hlo_buffer_donor_proto__init(module->buffer_donor);
    }
    Xla__HloBufferDonorProto *donors = module->buffer_donor;
    size_t aliases = module->input_output_alias->n_entries;
    donor_entry **entries = arena_array(program->arena, donor_entry *, donors->n_entries + aliases);
    for (size_t i = 0; i < donors->n_entries; i++)
        entries[i] = donors->entries[i];
    for (size_t i = 0; i < aliases; i++) {
        const Xla__HloInputOutputAliasProto__AliasEntryProto *alias = module->input_output_alias->entries[i];
        donor_entry *entry = arena_alloc(program->arena, 1, sizeof *entry);
        xla__hlo_buffer_donor_proto__buffer_donor_entry_proto__init(entry);
        entry->parameter_number = alias->parameter_number;
        entry->n_parameter_shape_index = alias->n_parameter_shape_index;
        entry->parameter_shape_index = alias->parameter_shape_index;
        entries[donors->n_entries++] = entry;
    }
    donors->entries = entries;
    module->input_output_alias->n_entries = 0;
}

/* The value of an attribute of the module if it is that of Shardy's meshes. */
static bool is_meshes(const ProtobufCMessageUnknownField *field, struct str *value, struct err *err)
{
    bool is_found = false;
    size_t digits = 0;
    while (digits < field->len && (field->data[digits] & 0x80) != 0) /* its length comes before it */
        digits++;
    if (field->tag != FRONTEND_ATTRIBUTES_MAP || digits >= field->len)
        return false;
    struct wire entry =
        wire_open((struct str){(const char *)field->data + digits + 1, field->len - digits - 1}, 0, err);
    while (wire_next(&entry)) {
        if (entry.number == FRONTEND_ATTRIBUTES_ENTRY_KEY)
            is_found = str_equal(wire_text(&entry), STR("xla.sdy.meshes"));
        else if (entry.number == FRONTEND_ATTRIBUTES_ENTRY_VALUE)
            *value = wire_text(&entry);
    }
    return is_found;
}

/* JAX names a mesh even where there is none, "{empty_mesh = #sdy.mesh<[]>}": then Shardy would split the program, which
 * does not look at what is written here, so that name goes. False where a mesh has axes: the program is split by it. */
static bool empty_meshes_drop(struct program *program)
{
    Xla__KeptMessage *attributes = program->module->frontend_attributes;
    for (size_t i = 0; attributes != NULL && i < attributes->base.n_unknown_fields; i++) {
        struct str value = {"", 0};
        if (!is_meshes(&attributes->base.unknown_fields[i], &value, program->err))
            continue;
        if (memchr(value.data, '"', value.length) != NULL)
            return false;
        if (program->partial == NULL)
            program->partial = "it was split by GSPMD, and this version of JAX splits programs by Shardy, which may "
                               "choose otherwise";
        attributes->base.n_unknown_fields--;
        for (size_t k = i; k < attributes->base.n_unknown_fields; k++)
            attributes->base.unknown_fields[k] = attributes->base.unknown_fields[k + 1];
        i--;
    }
    return !err_is_set(program->err);
}

bool shard_apply(struct program *program, const struct edit *edit)
{
    if (edit->split.devices < 2 || edit->split.devices > PARTITIONS_MAX)
        return err_set(program->err, ERR_argument, ERR_NO_OFFSET, "shard: over 2 to %d devices, not %lld",
                       PARTITIONS_MAX, (long long)edit->split.devices);
    if (program->partitions > 1 ? program->partitions != edit->split.devices
                                : program_is_split(program) || !empty_meshes_drop(program))
        return err_set(program->err, ERR_conflict, ERR_NO_OFFSET, "shard: the program is split over devices already");
    uint64_t before = program->changed_count;
    for (size_t i = 0; i < edit->parameter_count; i++)
        if (!program_has_parameter(program, edit->parameters[i]) || !shard_one(program, edit->parameters[i], edit))
            return false;
    program->left_count += edit->parameter_count - (program->changed_count - before);
    if (program->changed_count == before)
        return err_set(program->err, ERR_conflict, ERR_NO_OFFSET,
                       "shard: no dimension of the arguments divides by %lld", (long long)edit->split.devices);
    donors_for_aliases(program);
    /* Marks of Shardy on results that were whole: which they are now is found out. */
    program_drop_marks(program, "xla.sdy.FuncResultSharding");
    program->root->sharding = NULL;
    program->partitions = edit->split.devices;
    return true;
}
