/* SPDX-License-Identifier: Apache-2.0
 * Donation as jax.jit(donate_argnums=…) asks for it: each donated parameter goes to the first result of its shape and
 * element type that no other has, and the module says so in input_output_alias (jax/_src/interpreters/mlir.py,
 * _set_up_aliases). Nothing else changes: the compiler decides whether they share. */
#include "edit/edits.h"
#include "edit/shapes.h"

typedef Xla__HloInputOutputAliasProto__AliasEntryProto alias_entry;

struct donation {
    struct program *program;
    bool *is_given;   /* by parameter: it is donated already */
    bool *is_claimed; /* by result: a parameter lives in it already */
    size_t result_count;
    bool is_tuple; /* the root has results as the elements of a tuple; else it is the one result */
};

static const program_shape *result_shape(const struct donation *donation, size_t at)
{
    const program_shape *shape = donation->program->root->shape;
    return donation->is_tuple ? shape->tuple_shapes[at] : shape;
}

static void take_in_present(struct donation *donation)
{
    const program_module *module = donation->program->module;
    size_t parameters = donation->program->parameter_count;
    for (size_t i = 0; module->input_output_alias != NULL && i < module->input_output_alias->n_entries; i++) {
        const alias_entry *entry = module->input_output_alias->entries[i];
        size_t result = entry->n_output_shape_index > 0 ? (size_t)entry->output_shape_index[0] : 0;
        if (entry->parameter_number >= 0 && (uint64_t)entry->parameter_number < parameters)
            donation->is_given[entry->parameter_number] = true;
        if (result < donation->result_count)
            donation->is_claimed[result] = true;
    }
    for (size_t i = 0; module->buffer_donor != NULL && i < module->buffer_donor->n_entries; i++) {
        int64_t number = module->buffer_donor->entries[i]->parameter_number;
        if (number >= 0 && (uint64_t)number < parameters)
            donation->is_given[number] = true;
    }
}

static void add_entry(struct donation *donation, int64_t parameter, size_t result)
{
    struct program *program = donation->program;
    program_module *module = program->module;
    if (module->input_output_alias == NULL) {
        module->input_output_alias = arena_alloc(program->arena, 1, sizeof *module->input_output_alias);
        xla__hlo_input_output_alias_proto__init(module->input_output_alias);
    }
    Xla__HloInputOutputAliasProto *aliases = module->input_output_alias;
    alias_entry **entries = arena_array(program->arena, alias_entry *, aliases->n_entries + 1);
    for (size_t i = 0; i < aliases->n_entries; i++)
        entries[i] = aliases->entries[i];
    alias_entry *entry = arena_alloc(program->arena, 1, sizeof *entry);
    xla__hlo_input_output_alias_proto__alias_entry_proto__init(entry);
    entry->parameter_number = parameter;
    entry->kind = XLA__ALIAS_KIND__MAY_ALIAS;
    if (donation->is_tuple) {
        entry->n_output_shape_index = 1;
        entry->output_shape_index = arena_array(program->arena, int64_t, 1);
        entry->output_shape_index[0] = (int64_t)result;
    }
    entries[aliases->n_entries++] = entry;
    aliases->entries = entries;
}

static bool is_claimable(const struct donation *donation, size_t result, const program_shape *shape)
{
    return !donation->is_claimed[result] && shapes_equal(result_shape(donation, result), shape);
}

/* Why a parameter cannot be donated, or that it is. */
static bool donate_one(struct donation *donation, int64_t number, bool is_every)
{
    struct program *program = donation->program;
    const program_shape *shape = program->parameters[number]->shape;
    char text[120];
    if (donation->is_given[number])
        return is_every || err_set(program->err, ERR_conflict, ERR_NO_OFFSET, "argument %lld (%s) is donated already",
                                   (long long)number, program_parameter_name(program, number));
    size_t result = 0, equal = 0;
    for (; result < donation->result_count && !is_claimable(donation, result, shape); result++)
        equal += shapes_equal(result_shape(donation, result), shape);
    if (result == donation->result_count)
        return is_every ||
               err_set(program->err, ERR_conflict, ERR_NO_OFFSET,
                       equal > 0 ? "argument %lld (%s): every result of its shape %s has another argument's memory"
                                 : "argument %lld (%s): no result has its shape %s",
                       (long long)number, program_parameter_name(program, number),
                       shapes_text(shape, text, sizeof text));
    add_entry(donation, number, result);
    donation->is_given[number] = donation->is_claimed[result] = true;
    program->changed_count++;
    return true;
}

bool donate_apply(struct program *program, const struct edit *edit)
{
    const program_shape *root = program->root->shape;
    struct donation donation = {.program = program, .is_tuple = shapes_is_tuple(root)};
    donation.result_count = donation.is_tuple ? root->n_tuple_shapes : 1;
    donation.is_given = arena_array(program->arena, bool, program->parameter_count);
    donation.is_claimed = arena_array(program->arena, bool, donation.result_count);
    take_in_present(&donation);
    uint64_t before = program->changed_count;
    for (size_t i = 0; i < edit->parameter_count; i++) {
        arena_work(program->arena, donation.result_count);
        if (!program_has_parameter(program, edit->parameters[i]) ||
            !donate_one(&donation, edit->parameters[i], edit->is_every))
            return false;
    }
    program->left_count += edit->parameter_count - (program->changed_count - before);
    return program->changed_count > before ||
           err_set(program->err, ERR_conflict, ERR_NO_OFFSET,
                   "nothing to donate: each argument is donated already, or no result has its shape");
}
