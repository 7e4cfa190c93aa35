/* SPDX-License-Identifier: Apache-2.0
 * Edits that give arguments another element type: how far it goes, and where it ends. */
#include "edited.h"

enum { BF16 = XLA__PRIMITIVE_TYPE__BF16, F32 = XLA__PRIMITIVE_TYPE__F32, S8 = XLA__PRIMITIVE_TYPE__S8 };

static const int64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

static struct edit casting(const int64_t *parameters, size_t count, int type)
{
    return (struct edit){.kind = EDIT_CAST, .parameters = parameters, .parameter_count = count, .element_type = type};
}

static int type_of(const struct program *program, const char *name)
{
    return (int)named(program, name)->shape->element_type;
}

START_TEST(what_is_computed_of_cast_arguments_alone_is_cast_too)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = casting(all, 9, BF16);
    struct program program = edited(load(CNN), &edit, 1);
    ck_assert_int_eq(type_of(&program, "x.1"), BF16);
    ck_assert_int_eq(type_of(&program, "conv_general_dilated.23"), BF16);
    ck_assert_int_eq(type_of(&program, "max.3"), BF16);     /* in the computation that is called */
    ck_assert_int_eq(type_of(&program, "constant.8"), F32); /* a scalar, converted where it is broadcast */
    ck_assert_int_eq(type_of(&program, "sub.8"), BF16);
    ck_assert_int_eq(program.root->shape->tuple_shapes[0]->element_type, BF16);
    ck_assert_int_eq(program.root->shape->tuple_shapes[8]->element_type, F32); /* the loss */
    ck_assert_int_eq(program.module->host_program_shape->parameters[0]->element_type, BF16);
    ck_assert_uint_eq(program.module->host_program_shape->parameters[0]->layout->n_tiles, 0);
    bytes_close(&input);
}
END_TEST

START_TEST(where_another_array_takes_part_its_type_stays)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = casting(all, 1, BF16);
    struct program program = edited(load(CNN), &edit, 1);
    const program_instruction *convolution = named(&program, "conv_general_dilated.23");
    ck_assert_int_eq(type_of(&program, "ps_0___k__.1"), BF16);
    ck_assert_int_eq(convolution->shape->element_type, F32); /* the other operand is f32 */
    ck_assert_str_eq(program_operand(program.entry, convolution, 1)->opcode, "convert");
    /* The result that takes the argument's memory is of its type again. */
    ck_assert_str_eq(program_operand(program.entry, program.root, 0)->opcode, "convert");
    ck_assert_int_eq(program.root->shape->tuple_shapes[0]->element_type, BF16);
    ck_assert_int_eq(program.root->shape->tuple_shapes[1]->element_type, F32);
    bytes_close(&input);
}
END_TEST

START_TEST(eight_bits_are_for_keeping_only)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = casting(all, 9, S8);
    struct program program = edited(load(CNN), &edit, 1);
    ck_assert_int_eq(type_of(&program, "ps_7___k__.1"), S8);
    ck_assert_int_eq(type_of(&program, "conv_general_dilated.30"), F32);
    ck_assert_int_eq(program.root->shape->tuple_shapes[7]->element_type, S8);
    bytes_close(&input);
}
END_TEST

START_TEST(loops_have_one_type_throughout)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = casting(all, 4, BF16);
    struct program program = edited(load("tests/fixtures/edits/scan.before_optimizations.hlo.pb"), &edit, 1);
    ck_assert_int_eq(named(&program, "while.17")->shape->tuple_shapes[1]->element_type, BF16);
    ck_assert_int_eq(named(&program, "arg_tuple.3")->shape->tuple_shapes[1]->element_type, BF16);
    /* Sums over bf16 are by an addition of bf16. */
    const program_instruction *sum = named(&program, "reduce_sum.14");
    const struct program_body *addition = program_body_of(&program, sum->called_computation_ids[0]);
    ck_assert_int_eq(addition->computation->program_shape->result->element_type, BF16);
    bytes_close(&input);
}
END_TEST

/* One that keeps its type, and goes into the loop by a convert, makes the loop keep it. */
START_TEST(arguments_go_into_loops_by_a_convert)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = casting(all, 1, BF16);
    struct program program = edited(load("tests/fixtures/edits/scan.before_optimizations.hlo.pb"), &edit, 1);
    const program_shape *state = named(&program, "while.17")->shape;
    ck_assert_int_eq(state->tuple_shapes[1]->element_type, F32);                /* carried: computed with the others */
    ck_assert_int_eq(state->tuple_shapes[7]->element_type, BF16);               /* the argument as it is */
    ck_assert_int_eq(program.root->shape->tuple_shapes[0]->element_type, BF16); /* it has the argument's memory */
    ck_assert_int_eq(program.root->shape->tuple_shapes[1]->element_type, F32);
    bytes_close(&input);
}
END_TEST

/* The first opcode makes whole numbers from what "max.3" takes, and the others, up to NULL, make numbers again. */
enum { OPCODES_MAX = 3 };
static struct str with_whole_numbers(struct str bytes, const char *const *opcodes)
{
    struct program program;
    ck_assert(program_read(&program, bytes, KIND_HLO_PROTO, &arena, &err));
    program_instruction *reader = named(&program, "max.3"), *last = NULL;
    struct program_body *body = NULL;
    for (size_t i = 0; i < program.module->n_computations; i++)
        for (size_t j = 0; j < program.module->computations[i]->n_instructions; j++)
            if (program.module->computations[i]->instructions[j] == reader)
                body = &program.bodies[i];
    ck_assert_ptr_nonnull(body);
    program_computation *computation = body->computation;
    uint32_t place = program_place(body, reader->id);
    program_instruction **with = arena_array(&arena, program_instruction *, computation->n_instructions + OPCODES_MAX);
    memcpy(with, computation->instructions, place * sizeof *with);
    int64_t operand = reader->operand_ids[0];
    size_t added = 0;
    for (size_t i = 0; i < OPCODES_MAX && opcodes[i] != NULL; i++) {
        last = program_new(&program, i == 0 ? "whole" : "back", opcodes[i], program_copy_shape(&program, reader->shape),
                           NULL);
        last->shape->element_type = i == 0 ? XLA__PRIMITIVE_TYPE__S32 : XLA__PRIMITIVE_TYPE__F32;
        last->id = program_new_id(&program, body);
        program_set_operands(&program, last, &operand, 1);
        operand = last->id;
        with[place + added++] = last;
    }
    memcpy(with + place + added, computation->instructions + place,
           (computation->n_instructions - place) * sizeof *with);
    computation->instructions = with;
    computation->n_instructions += added;
    reader->operand_ids[0] = last->id;
    return program_write(&program);
}

/* Bits of random numbers are of one type; whole numbers that become float32 by themselves do by the source's word. */
START_TEST(what_the_source_makes_wide_stays_wide)
{
    static const struct {
        const char *opcodes[OPCODES_MAX];
        int reader;
    } cases[] = {{{"bitcast-convert", "bitcast-convert"}, BF16},
                 {{"convert", "convert"}, F32},
                 {{"convert", "convert", "opt-barrier"}, F32}};
    ARENA_MUST_NOT_JUMP();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct edit_outcome outcome;
        struct program program;
        const struct edit edit = casting(all, 9, BF16);
        struct str bytes = with_whole_numbers(load(CNN), cases[i].opcodes);
        ck_assert_msg(edit_apply(bytes, KIND_HLO_MODULE, &edit, 1, &arena, &outcome, &err), "%s", err.text);
        ck_assert(program_read(&program, outcome.module, KIND_HLO_MODULE, &arena, &err));
        ck_assert_int_eq(type_of(&program, "max.3"), cases[i].reader);
        bytes_close(&input);
    }
}
END_TEST

/* An optimizer's moment promotes to float32 where gradients come in; where the type reaches products, nothing tells
 * what the source would do. */
START_TEST(a_cast_that_ends_at_once_is_what_the_source_would_do)
{
    ARENA_MUST_NOT_JUMP();
    struct program program;
    struct edit_outcome outcome;
    int64_t moments[16];
    size_t count = 0;
    struct str bytes = load("tests/fixtures/modules/mlp-adam/"
                            "module_0000.jit_step.cl_1014260217.before_optimizations.hlo.pb");
    ck_assert_msg(program_read(&program, bytes, KIND_HLO_PROTO, &arena, &err), "%s", err.text);
    for (size_t i = 0; i < program.parameter_count && count < 16; i++)
        if (strstr(program_parameter_name(&program, (int64_t)i), "mu") != NULL)
            moments[count++] = (int64_t)i;
    ck_assert_uint_gt(count, 0);
    const struct edit moment = casting(moments, count, BF16), every = casting(all, 4, BF16), kept = casting(all, 4, S8);
    const struct {
        const struct edit *edit;
        bool is_partial;
    } cases[] = {{&moment, false}, {&every, true}, {&kept, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(edit_apply(bytes, KIND_HLO_PROTO, cases[i].edit, 1, &arena, &outcome, &err), "%s", err.text);
        ck_assert_uint_gt(outcome.changed_count, 0);
        ck_assert_int_eq(outcome.partial != NULL, cases[i].is_partial);
    }
    bytes_close(&input);
}
END_TEST

START_TEST(arguments_of_other_types_are_refused)
{
    ARENA_MUST_NOT_JUMP();
    struct str bytes = load(KV);
    const struct edit k = casting(all, 1, BF16), wide = casting(all, 1, F32);
    must_refuse(bytes, &k, 1, ERR_conflict, "argument 0 (k): bf16[64,4096,16,128] is no f32 array");
    must_refuse(bytes, &wide, 1, ERR_argument, "a type of 8 or 16 bits");
    bytes_close(&input);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("edit_cast");
    TCase *tests = tcase_create("edit_cast");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, what_is_computed_of_cast_arguments_alone_is_cast_too);
    tcase_add_test(tests, where_another_array_takes_part_its_type_stays);
    tcase_add_test(tests, eight_bits_are_for_keeping_only);
    tcase_add_test(tests, loops_have_one_type_throughout);
    tcase_add_test(tests, arguments_go_into_loops_by_a_convert);
    tcase_add_test(tests, what_the_source_makes_wide_stays_wide);
    tcase_add_test(tests, a_cast_that_ends_at_once_is_what_the_source_would_do);
    tcase_add_test(tests, arguments_of_other_types_are_refused);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
