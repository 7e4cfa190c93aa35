/* SPDX-License-Identifier: Apache-2.0
 * What each opcode makes of the shapes of its operands: one rule a row, which says what is wrong or nothing. */
#include "edit/verify_rules.h"

#include <stdlib.h>

static const program_shape *operand_shape(const struct verify_asked *asked, size_t at)
{
    return program_operand(asked->body, asked->instruction, at)->shape;
}

/* ---- element by element ---- */

static const char *as_operands(const struct verify_asked *asked)
{
    for (size_t i = 0; i < asked->count; i++)
        if (!shapes_equal(operand_shape(asked, i), asked->shape))
            return "its shape is not that of its operands";
    return asked->count > 0 ? NULL : "it has no operand";
}

static const char *other_type(const struct verify_asked *asked)
{
    for (size_t i = 0; i < asked->count; i++)
        if (!shapes_same_dimensions(operand_shape(asked, i), asked->shape))
            return "its dimensions are not those of its operands";
    return asked->count > 0 ? NULL : "it has no operand";
}

static const char *verify_shape_compare(const struct verify_asked *asked)
{
    if (asked->count != 2 || !shapes_equal(asked->operands[0], asked->operands[1]))
        return "it compares two shapes that differ";
    return asked->shape->element_type == XLA__PRIMITIVE_TYPE__PRED ? other_type(asked) : "it gives no pred";
}

static bool is_scalar_or(const program_shape *shape, const program_shape *as)
{
    return shape->n_dimensions == 0 || shapes_same_dimensions(shape, as);
}

static const char *select_one(const struct verify_asked *asked)
{
    if (asked->count != 3 || asked->operands[0]->element_type != XLA__PRIMITIVE_TYPE__PRED ||
        !is_scalar_or(asked->operands[0], asked->shape))
        return "it does not select by a pred of its dimensions";
    return shapes_equal(asked->operands[1], asked->shape) && shapes_equal(asked->operands[2], asked->shape)
               ? NULL
               : "its shape is not that of what it selects";
}

static const char *clamp(const struct verify_asked *asked)
{
    if (asked->count != 3 || !shapes_equal(asked->operands[1], asked->shape))
        return "its shape is not that of what it clamps";
    for (size_t i = 0; i < 3; i += 2)
        if (!verify_same_type(asked->operands[i], asked->shape) || !is_scalar_or(asked->operands[i], asked->shape))
            return "its bounds are not of its shape";
    return NULL;
}

/* ---- tuples, constants ---- */

static const char *tuple(const struct verify_asked *asked)
{
    if (!shapes_is_tuple(asked->shape) || asked->shape->n_tuple_shapes != asked->count)
        return "it has another number of elements than operands";
    for (size_t i = 0; i < asked->count; i++)
        if (!shapes_equal(asked->shape->tuple_shapes[i], operand_shape(asked, i)))
            return "an element is not its operand";
    return NULL;
}

static const char *get_tuple_element(const struct verify_asked *asked)
{
    uint64_t at = (uint64_t)asked->instruction->tuple_index;
    if (asked->count != 1 || at >= asked->operands[0]->n_tuple_shapes)
        return "its operand has no such element";
    return shapes_equal(asked->operands[0]->tuple_shapes[at], asked->shape) ? NULL
                                                                            : "its shape is not that of the element";
}

static const char *constant(const struct verify_asked *asked)
{
    const Xla__LiteralProto *literal = asked->instruction->literal;
    return literal == NULL || shapes_equal(literal->shape, asked->shape) ? NULL
                                                                         : "its shape is not that of its literal";
}

static const char *verify_shape_iota(const struct verify_asked *asked)
{
    const program_instruction *instruction = asked->instruction;
    return instruction->n_dimensions == 1 && (uint64_t)instruction->dimensions[0] < asked->shape->n_dimensions
               ? NULL
               : "it counts along no dimension of its own";
}

/* ---- the same elements elsewhere ---- */

static const char *verify_shape_broadcast(const struct verify_asked *asked)
{
    const program_instruction *instruction = asked->instruction;
    if (asked->count != 1 || !verify_same_type(asked->operands[0], asked->shape) ||
        instruction->n_dimensions != asked->operands[0]->n_dimensions)
        return "it does not place each dimension of its operand";
    for (size_t i = 0; i < instruction->n_dimensions; i++) {
        uint64_t to = (uint64_t)instruction->dimensions[i];
        if (to >= asked->shape->n_dimensions || asked->shape->dimensions[to] != asked->operands[0]->dimensions[i])
            return "a dimension of its operand is another one in it";
    }
    return NULL;
}

static const char *verify_shape_reshape(const struct verify_asked *asked)
{
    if (asked->count != 1 || !verify_same_type(asked->operands[0], asked->shape))
        return "its element type is not that of its operand";
    int64_t elements = shapes_elements(asked->shape);
    return elements >= 0 && elements == shapes_elements(asked->operands[0])
               ? NULL
               : "it has another number of elements than its operand";
}

static const char *verify_shape_transpose(const struct verify_asked *asked)
{
    const program_instruction *instruction = asked->instruction;
    const program_shape *operand = asked->operands[0];
    if (asked->count != 1 || !verify_same_type(operand, asked->shape) ||
        instruction->n_dimensions != operand->n_dimensions || asked->shape->n_dimensions != operand->n_dimensions)
        return "it does not place each dimension of its operand";
    for (size_t i = 0; i < instruction->n_dimensions; i++) {
        uint64_t from = (uint64_t)instruction->dimensions[i];
        if (from >= operand->n_dimensions || asked->shape->dimensions[i] != operand->dimensions[from])
            return "a dimension is not that of its operand";
    }
    return NULL;
}

static const char *verify_shape_slice(const struct verify_asked *asked)
{
    const program_instruction *instruction = asked->instruction;
    const program_shape *operand = asked->operands[0];
    if (asked->count != 1 || !verify_same_type(operand, asked->shape) ||
        instruction->n_slice_dimensions != operand->n_dimensions || asked->shape->n_dimensions != operand->n_dimensions)
        return "it does not cut each dimension of its operand";
    for (size_t i = 0; i < operand->n_dimensions; i++) {
        int64_t start = instruction->slice_dimensions[i]->start, limit = instruction->slice_dimensions[i]->limit;
        int64_t stride = instruction->slice_dimensions[i]->stride;
        if (start < 0 || limit < start || limit > operand->dimensions[i] || stride < 1)
            return "it reaches past its operand";
        if ((limit - start) / stride + ((limit - start) % stride > 0) != asked->shape->dimensions[i])
            return "a dimension is not as long as what it cuts out";
    }
    return NULL;
}

static const char *dynamic_slice(const struct verify_asked *asked)
{
    const program_instruction *instruction = asked->instruction;
    const program_shape *operand = asked->operands[0];
    if (asked->count < 1 || !verify_same_type(operand, asked->shape) ||
        instruction->n_dynamic_slice_sizes != operand->n_dimensions ||
        asked->shape->n_dimensions != operand->n_dimensions)
        return "it does not cut each dimension of its operand";
    for (size_t i = 0; i < operand->n_dimensions; i++)
        if (instruction->dynamic_slice_sizes[i] != asked->shape->dimensions[i] ||
            asked->shape->dimensions[i] > operand->dimensions[i])
            return "a dimension is not as long as what it cuts out";
    return NULL;
}

static const char *dynamic_update_slice(const struct verify_asked *asked)
{
    if (asked->count < 2 || !shapes_equal(asked->operands[0], asked->shape))
        return "its shape is not that of what it updates";
    const program_shape *update = asked->operands[1];
    if (!verify_same_type(update, asked->shape) || update->n_dimensions != asked->shape->n_dimensions)
        return "the update is of another kind";
    for (size_t i = 0; i < update->n_dimensions; i++)
        if (update->dimensions[i] > asked->shape->dimensions[i])
            return "the update is larger than what it updates";
    return NULL;
}

static const char *concatenate(const struct verify_asked *asked)
{
    const program_instruction *instruction = asked->instruction;
    if (instruction->n_dimensions != 1 || (uint64_t)instruction->dimensions[0] >= asked->shape->n_dimensions)
        return "it joins along no dimension of its own";
    size_t along = (size_t)instruction->dimensions[0];
    int64_t sum = 0;
    for (size_t i = 0; i < asked->count; i++) {
        const program_shape *operand = operand_shape(asked, i);
        if (!verify_same_type(operand, asked->shape) || operand->n_dimensions != asked->shape->n_dimensions ||
            __builtin_add_overflow(sum, operand->dimensions[along], &sum))
            return "an operand is of another kind";
        for (size_t j = 0; j < operand->n_dimensions; j++)
            if (j != along && operand->dimensions[j] != asked->shape->dimensions[j])
                return "an operand differs in a dimension that is not joined";
    }
    return sum == asked->shape->dimensions[along] ? NULL : "it is not as long as its operands together";
}

static const char *verify_shape_pad(const struct verify_asked *asked)
{
    const Xla__PaddingConfig *config = asked->instruction->padding_config;
    const program_shape *operand = asked->operands[0];
    if (asked->count != 2 || config == NULL || config->n_dimensions != operand->n_dimensions ||
        asked->shape->n_dimensions != operand->n_dimensions || !verify_same_type(operand, asked->shape))
        return "it does not pad each dimension of its operand";
    for (size_t i = 0; i < operand->n_dimensions; i++) {
        const Xla__PaddingConfig__PaddingConfigDimension *by = config->dimensions[i];
        __int128 gaps = operand->dimensions[i] > 0 ? operand->dimensions[i] - 1 : 0;
        if ((__int128)operand->dimensions[i] + by->edge_padding_low + by->edge_padding_high +
                gaps * by->interior_padding !=
            asked->shape->dimensions[i])
            return "a dimension is not as long as what it pads";
    }
    return NULL;
}

/* ---- reductions ---- */

/* The dimensions of `from` that are not in the list, in order. */
static bool is_left_of(const program_shape *from, const int64_t *without, size_t count, const program_shape *left)
{
    size_t at = 0;
    for (size_t i = 0; i < from->n_dimensions; i++) {
        bool is_out = false;
        for (size_t j = 0; j < count; j++)
            is_out |= without[j] == (int64_t)i;
        if (is_out)
            continue;
        if (at == left->n_dimensions || left->dimensions[at++] != from->dimensions[i])
            return false;
    }
    return at == left->n_dimensions;
}

static const char *verify_shape_reduce(const struct verify_asked *asked)
{
    const program_instruction *instruction = asked->instruction;
    bool is_tuple = shapes_is_tuple(asked->shape);
    size_t inputs = asked->count / 2;
    if (asked->count == 0 || asked->count % 2 != 0 || (is_tuple && asked->shape->n_tuple_shapes != inputs) ||
        (!is_tuple && inputs != 1))
        return "it has not a result and a beginning for each operand";
    for (size_t i = 0; i < inputs; i++) {
        const program_shape *result = is_tuple ? asked->shape->tuple_shapes[i] : asked->shape;
        const program_shape *operand = operand_shape(asked, i), *begin = operand_shape(asked, inputs + i);
        if (!verify_same_type(operand, result) || !verify_same_type(begin, result) || begin->n_dimensions != 0)
            return "its element type is not that of its operand";
        if (!is_left_of(operand, instruction->dimensions, instruction->n_dimensions, result))
            return "its dimensions are not those of its operand that it leaves";
    }
    return NULL;
}

/* ---- by opcode ---- */

static const struct rule {
    const char *opcode;
    verify_rule *rule;
} rules[] = {
    /* in the order of strcmp */
    {"abs", other_type},
    {"add", as_operands},
    {"and", as_operands},
    {"atan2", as_operands},
    {"broadcast", verify_shape_broadcast},
    {"cbrt", as_operands},
    {"ceil", as_operands},
    {"clamp", clamp},
    {"compare", verify_shape_compare},
    {"concatenate", concatenate},
    {"constant", constant},
    {"convert", other_type},
    {"convolution", verify_convolution},
    {"copy", as_operands},
    {"cosine", as_operands},
    {"divide", as_operands},
    {"dot", verify_dot},
    {"dynamic-slice", dynamic_slice},
    {"dynamic-update-slice", dynamic_update_slice},
    {"erf", as_operands},
    {"exponential", as_operands},
    {"exponential-minus-one", as_operands},
    {"floor", as_operands},
    {"gather", verify_gather},
    {"get-tuple-element", get_tuple_element},
    {"iota", verify_shape_iota},
    {"is-finite", other_type},
    {"log", as_operands},
    {"log-plus-one", as_operands},
    {"logistic", as_operands},
    {"maximum", as_operands},
    {"minimum", as_operands},
    {"multiply", as_operands},
    {"negate", as_operands},
    {"not", as_operands},
    {"opt-barrier", as_operands},
    {"or", as_operands},
    {"pad", verify_shape_pad},
    {"power", as_operands},
    {"reduce", verify_shape_reduce},
    {"reduce-precision", as_operands},
    {"reduce-window", verify_reduce_window},
    {"remainder", as_operands},
    {"reshape", verify_shape_reshape},
    {"reverse", as_operands},
    {"round-nearest-afz", as_operands},
    {"round-nearest-even", as_operands},
    {"rsqrt", as_operands},
    {"scatter", verify_scatter},
    {"select", select_one},
    {"shift-left", as_operands},
    {"shift-right-arithmetic", as_operands},
    {"shift-right-logical", as_operands},
    {"sign", as_operands},
    {"sine", as_operands},
    {"slice", verify_shape_slice},
    {"sqrt", as_operands},
    {"subtract", as_operands},
    {"tan", as_operands},
    {"tanh", as_operands},
    {"transpose", verify_shape_transpose},
    {"tuple", tuple},
    {"xor", as_operands},
};

static int compare_opcode(const void *opcode, const void *row)
{
    return strcmp(opcode, ((const struct rule *)row)->opcode);
}

bool verify_shape(const struct program *program, const struct program_body *body,
                  const program_instruction *instruction)
{
    const struct rule *row =
        bsearch(instruction->opcode, rules, sizeof rules / sizeof *rules, sizeof *rules, compare_opcode);
    if (row == NULL)
        return true;
    struct verify_asked asked = {
        .program = program, .body = body, .instruction = instruction, .shape = instruction->shape};
    asked.count = instruction->n_operand_ids;
    for (size_t i = 0; i < asked.count && i < VERIFY_OPERANDS_SEEN; i++)
        asked.operands[i] = operand_shape(&asked, i);
    const char *reason = row->rule(&asked);
    char text[80];
    return reason == NULL || err_set(program->err, ERR_malformed, ERR_NO_OFFSET, "%s = %s %s: %s", instruction->name,
                                     shapes_text(instruction->shape, text, sizeof text), instruction->opcode, reason);
}
