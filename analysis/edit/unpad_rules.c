/* SPDX-License-Identifier: Apache-2.0
 * Dimensions that instructions name beside their shapes, in another order. */
#include "edit/unpad.h"

#include "read/hlo/elementwise.h"

#include <stdlib.h>

void unpad_default_layout(program_shape *shape)
{
    for (size_t i = 0; shape->layout != NULL && i < shape->layout->n_minor_to_major; i++)
        shape->layout->minor_to_major[i] = (int64_t)(shape->layout->n_minor_to_major - 1 - i);
}

void unpad_turn_shape(const struct program *program, const struct unpad_order *order, program_shape *shape)
{
    int64_t *sizes = arena_array(program->arena, int64_t, order->rank);
    bool has_dynamic = shape->n_is_dynamic_dimension == order->rank;
    protobuf_c_boolean *is_dynamic = arena_array(program->arena, protobuf_c_boolean, order->rank);
    for (uint32_t i = 0; i < order->rank; i++) {
        sizes[i] = shape->dimensions[order->from[i]];
        is_dynamic[i] = has_dynamic && shape->is_dynamic_dimension[order->from[i]];
    }
    shape->dimensions = sizes;
    if (has_dynamic)
        shape->is_dynamic_dimension = is_dynamic;
    unpad_default_layout(shape);
}

static bool are_equal(const struct unpad_order *a, const struct unpad_order *b)
{
    return a->rank == b->rank && memcmp(a->from, b->from, a->rank * sizeof *a->from) == 0;
}

/* The first `count` operands are in the order of the result; scalars are in any. */
static bool are_alike(const struct unpad_asked *asked, size_t count)
{
    for (size_t i = 0; i < count && i < asked->instruction->n_operand_ids; i++)
        if (asked->operands[i]->rank > 0 && !are_equal(asked->operands[i], asked->result))
            return false;
    return asked->instruction->n_operand_ids > 0;
}

static bool dimensions_are_within(const struct unpad_asked *asked, const struct unpad_order *order)
{
    for (size_t i = 0; i < asked->instruction->n_dimensions; i++)
        if (asked->instruction->dimensions[i] < 0 || asked->instruction->dimensions[i] >= order->rank)
            return false;
    return true;
}

static void dimensions_rename(const struct unpad_asked *asked, const struct unpad_order *order)
{
    for (size_t i = 0; i < asked->instruction->n_dimensions; i++)
        asked->instruction->dimensions[i] = order->place_of[asked->instruction->dimensions[i]];
}

static bool same(const struct unpad_asked *asked) { return are_alike(asked, asked->instruction->n_operand_ids); }

static bool along(const struct unpad_asked *asked)
{
    if (!same(asked) || !dimensions_are_within(asked, asked->result))
        return false;
    dimensions_rename(asked, asked->result);
    return true;
}

static bool unpad_rules_iota(const struct unpad_asked *asked)
{
    if (!dimensions_are_within(asked, asked->result))
        return false;
    dimensions_rename(asked, asked->result);
    return true;
}

/* By dimension of the operand: that of the result. */
static bool unpad_rules_broadcast(const struct unpad_asked *asked)
{
    program_instruction *instruction = asked->instruction;
    const struct unpad_order *operand = asked->operands[0];
    if (instruction->n_dimensions != operand->rank || !dimensions_are_within(asked, asked->result))
        return false;
    int64_t *dimensions = arena_array(asked->program->arena, int64_t, operand->rank + 1U);
    for (uint32_t i = 0; i < operand->rank; i++)
        dimensions[i] = asked->result->place_of[instruction->dimensions[operand->from[i]]];
    instruction->dimensions = dimensions;
    return true;
}

static bool unpad_rules_transpose(const struct unpad_asked *asked)
{
    program_instruction *instruction = asked->instruction;
    const struct unpad_order *operand = asked->operands[0];
    if (instruction->n_dimensions != operand->rank || operand->rank != asked->result->rank ||
        !dimensions_are_within(asked, operand))
        return false;
    int64_t *dimensions = arena_array(asked->program->arena, int64_t, operand->rank + 1U);
    for (uint32_t i = 0; i < operand->rank; i++)
        dimensions[i] = operand->place_of[instruction->dimensions[asked->result->from[i]]];
    instruction->dimensions = dimensions;
    return true;
}

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* What is left of the operand's dimensions is in the order of the result. Operands and what they begin with come in
 * turn. */
static bool unpad_rules_reduce(const struct unpad_asked *asked)
{
    program_instruction *instruction = asked->instruction;
    const struct unpad_order *operand = asked->operands[0];
    bool is_gone[SHAPE_RANK_MAX] = {false};
    uint8_t former[SHAPE_RANK_MAX], left = 0;
    if (instruction->n_operand_ids != 2 || !dimensions_are_within(asked, operand) ||
        instruction->n_dimensions + asked->result->rank != operand->rank)
        return false;
    for (size_t i = 0; i < instruction->n_dimensions; i++)
        is_gone[instruction->dimensions[i]] = true;
    for (uint32_t nth = 0, kept = 0; nth < operand->rank; nth++)
        former[nth] = (uint8_t)(is_gone[nth] ? 0 : kept++);
    for (uint32_t i = 0; i < operand->rank; i++)
        if (!is_gone[operand->from[i]] &&
            (left >= asked->result->rank || former[operand->from[i]] != asked->result->from[left++]))
            return false;
    dimensions_rename(asked, operand);
    qsort(instruction->dimensions, instruction->n_dimensions, sizeof *instruction->dimensions, by_number);
    return true;
}

/* Where only dimensions of size 1 come or go, and the others stay in one order. */
static bool unpad_rules_reshape(const struct unpad_asked *asked)
{
    const struct unpad_order *orders[2] = {asked->operands[0], asked->result};
    const program_shape *shapes[2] = {asked->operand, asked->instruction->shape};
    uint8_t long_of[2][SHAPE_RANK_MAX];
    uint32_t counts[2] = {0, 0};
    int64_t sizes[2][SHAPE_RANK_MAX];
    for (unsigned side = 0; side < 2; side++) {
        uint8_t nth_long[SHAPE_RANK_MAX];
        uint32_t count = 0;
        for (uint32_t nth = 0; nth < orders[side]->rank; nth++) { /* in the former order */
            int64_t size = shapes[side]->dimensions[orders[side]->place_of[nth]];
            nth_long[nth] = (uint8_t)count;
            if (size != 1)
                sizes[side][count++] = size;
        }
        for (uint32_t i = 0; i < orders[side]->rank; i++)
            if (shapes[side]->dimensions[i] != 1)
                long_of[side][counts[side]++] = nth_long[orders[side]->from[i]];
    }
    return counts[0] == counts[1] && memcmp(sizes[0], sizes[1], counts[0] * sizeof *sizes[0]) == 0 &&
           memcmp(long_of[0], long_of[1], counts[0] * sizeof *long_of[0]) == 0;
}

/* `items`: a pointer a dimension. */
static bool pointers_turn(const struct unpad_asked *asked, void **items, size_t count)
{
    void *former[SHAPE_RANK_MAX];
    if (count != asked->result->rank)
        return false;
    memcpy(former, items, count * sizeof *former);
    for (size_t i = 0; i < count; i++)
        items[i] = former[asked->result->from[i]];
    return true;
}

static bool window(const struct unpad_asked *asked)
{
    Xla__Window *of = asked->instruction->window;
    return of != NULL && same(asked) && pointers_turn(asked, (void **)of->dimensions, of->n_dimensions);
}

static bool unpad_rules_pad(const struct unpad_asked *asked)
{
    Xla__PaddingConfig *of = asked->instruction->padding_config;
    return of != NULL && same(asked) && pointers_turn(asked, (void **)of->dimensions, of->n_dimensions);
}

static bool unpad_rules_slice(const struct unpad_asked *asked)
{
    return same(asked) &&
           pointers_turn(asked, (void **)asked->instruction->slice_dimensions, asked->instruction->n_slice_dimensions);
}

/* Where it begins: a scalar a dimension, from operand `first` on. */
static bool starts_turn(const struct unpad_asked *asked, size_t first)
{
    int64_t former[SHAPE_RANK_MAX];
    program_instruction *instruction = asked->instruction;
    if (instruction->n_operand_ids != first + asked->result->rank || !are_alike(asked, first))
        return false;
    memcpy(former, instruction->operand_ids + first, asked->result->rank * sizeof *former);
    for (uint32_t i = 0; i < asked->result->rank; i++)
        instruction->operand_ids[first + i] = former[asked->result->from[i]];
    return true;
}

static bool dynamic_slice(const struct unpad_asked *asked)
{
    program_instruction *instruction = asked->instruction;
    if (instruction->n_dynamic_slice_sizes != asked->result->rank || !starts_turn(asked, 1))
        return false;
    for (uint32_t i = 0; i < asked->result->rank; i++)
        instruction->dynamic_slice_sizes[i] = instruction->shape->dimensions[i];
    return true;
}

static bool dynamic_update_slice(const struct unpad_asked *asked) { return starts_turn(asked, 2); }

static const struct {
    const char *opcode;
    bool (*rule)(const struct unpad_asked *asked);
} rules[] = {
    {"broadcast", unpad_rules_broadcast},
    {"transpose", unpad_rules_transpose},
    {"reduce", unpad_rules_reduce},
    {"reshape", unpad_rules_reshape},
    {"iota", unpad_rules_iota},
    {"concatenate", along},
    {"sort", along},
    {"reverse", along},
    {"reduce-window", window},
    {"pad", unpad_rules_pad},
    {"slice", unpad_rules_slice},
    {"dynamic-slice", dynamic_slice},
    {"dynamic-update-slice", dynamic_update_slice},
};

bool unpad_rule(const struct unpad_asked *asked)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (program_is(asked->instruction, rules[i].opcode))
            return (asked->instruction->n_operand_ids > 0 || rules[i].rule == unpad_rules_iota) && rules[i].rule(asked);
    return elementwise_is(str_of(asked->instruction->opcode)) && same(asked);
}
