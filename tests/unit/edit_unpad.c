/* SPDX-License-Identifier: Apache-2.0
 * Edits that move short dimensions outward: what follows by itself, what works between two transposes, and what is
 * refused. */
#include "edited.h"

#define TILES "tests/fixtures/dumps/d-tile-padding/module_0179.jit_f.cl_1014260217.before_optimizations.hlo.pb"
#define MLP "tests/fixtures/modules/mlp-adam/module_0000.jit_step.cl_1014260217.before_optimizations.hlo.pb"

static const int64_t stacked[] = {64, 1024, 1024, 8, 3}, labels[] = {256, 10}, image[] = {64, 128, 128, 16};
static const struct edit_shape of_tiles = {stacked, 5}, of_mlp = {labels, 2}, of_cnn = {image, 4};

static struct edit unpadding(const struct edit_shape *shape)
{
    return (struct edit){.kind = EDIT_UNPAD, .shapes = shape, .shape_count = 1};
}

static void is_shape(const struct program *program, const char *name, const char *wanted)
{
    char text[120];
    shapes_text(named(program, name)->shape, text, sizeof text);
    ck_assert_str_eq(text, wanted);
}

static size_t count_of(const struct program *program, const char *opcode)
{
    size_t count = 0;
    for (size_t i = 0; i < program->module->n_computations; i++)
        for (size_t j = 0; j < program->module->computations[i]->n_instructions; j++)
            count += program_is(program->module->computations[i]->instructions[j], opcode);
    return count;
}

START_TEST(all_arrays_that_have_the_dimensions_follow)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = unpadding(&of_tiles);
    struct program program = edited(load(TILES), &edit, 1);
    is_shape(&program, "x.1", "f32[64,1024,1024]");
    is_shape(&program, "mul.19", "f32[8,64,1024,1024]");
    is_shape(&program, "stack.4", "f32[8,1,64,1024,1024]");
    is_shape(&program, "stack.7", "f32[8,3,64,1024,1024]");
    is_shape(&program, "Arg_0.1", "f32[8,3,64,1024,1024]");
    is_shape(&program, "reduce_sum.7", "f32[8,64,1024,1024]");
    ck_assert_uint_eq(count_of(&program, "transpose"), 0);
    ck_assert_int_eq(named(&program, "mul.15")->dimensions[0], 1); /* it was broadcast along the first three */
    ck_assert_int_eq(named(&program, "mul.15")->dimensions[2], 3);
    ck_assert_int_eq(named(&program, "mul.18")->dimensions[0], 0);
    ck_assert_int_eq(named(&program, "stack.7")->dimensions[0], 1);
    ck_assert_int_eq(named(&program, "sort.5")->dimensions[0], 2);
    ck_assert_int_eq(named(&program, "reduce_sum.7")->dimensions[0], 1);
    const Xla__Window *window = named(&program, "reduce_window_sum.7")->window;
    ck_assert_int_eq(window->dimensions[0]->size, 1);
    ck_assert_int_eq(window->dimensions[1]->size, 64); /* sums along what was the first */
    const program_shape *result = program.module->host_program_shape->result;
    ck_assert_int_eq(result->dimensions[0], 8);
    ck_assert_int_eq(result->layout->minor_to_major[0], 3);
    bytes_close(&input);
}
END_TEST

START_TEST(what_no_rule_is_known_of_works_on_the_former_order)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edits[] = {unpadding(&of_mlp), unpadding(&of_cnn)};
    struct program program = edited(load(MLP), edits, 1);
    ck_assert_uint_gt(count_of(&program, "transpose"), 2);
    for (size_t i = 0; i < program.entry->computation->n_instructions; i++) {
        const program_instruction *dot = program.entry->computation->instructions[i];
        for (size_t k = 0; program_is(dot, "dot") && k < 2; k++) { /* no product got a weight of another order */
            const program_shape *operand = program_operand(program.entry, dot, k)->shape;
            ck_assert(operand->dimensions[0] != 10 || operand->dimensions[1] != 256 ||
                      program_is(program_operand(program.entry, dot, k), "transpose"));
        }
    }
    bytes_close(&input);
    program = edited(load(CNN), edits + 1, 1);
    is_shape(&program, "x.1", "f32[16,64,128,128]");
    const program_instruction *convolution = named(&program, "conv_general_dilated.23");
    ck_assert_str_eq(program_operand(program.entry, convolution, 0)->opcode, "transpose");
    ck_assert_int_eq(program_operand(program.entry, convolution, 0)->shape->dimensions[3], 16);
    bytes_close(&input);
}
END_TEST

START_TEST(what_has_no_such_array_is_refused)
{
    ARENA_MUST_NOT_JUMP();
    static const int64_t none[] = {64, 1024, 1024, 8, 4}, long_last[] = {64, 128, 128, 128};
    const struct edit_shape shapes[] = {{none, 5}, {long_last, 4}, {NULL, 0}};
    for (size_t i = 0; i < 3; i++) {
        const struct edit edit = unpadding(&shapes[i]);
        must_refuse(load(i == 1 ? CNN : TILES), &edit, 1, ERR_conflict, "no array before the compiler's work");
        bytes_close(&input);
    }
    const int64_t first[] = {0};
    const struct edit edits[] = {sharding(first, 1, 2, true), unpadding(&of_cnn)};
    must_refuse(load(CNN), edits, 2, ERR_conflict, "split over devices");
    bytes_close(&input);
}
END_TEST

START_TEST(done_twice_there_is_nothing_left)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edits[] = {unpadding(&of_tiles), unpadding(&of_tiles)};
    must_refuse(load(TILES), edits, 2, ERR_conflict, "no array before the compiler's work");
    bytes_close(&input);
}
END_TEST

static bool is_edited(struct str bytes, const struct edit *edit)
{
    struct arena small;
    struct err fault = ERR_INIT;
    struct edit_outcome outcome;
    volatile bool is_good = false;
    arena_init(&small, 8 << 20, &fault);
    arena_allot_work(&small, 1 << 24);
    if (setjmp(small.trap) == 0)
        is_good = edit_apply(bytes, KIND_HLO_PROTO, edit, 1, &small, &outcome, &fault);
    ck_assert(is_good || (err_is_set(&fault) && fault.text[0] != '\0' && fault.code != ERR_internal));
    arena_free(&small);
    return is_good;
}

/* Bytes that are broken anywhere: a program that verifies, or a reason. */
START_TEST(broken_programs_end)
{
    ARENA_MUST_NOT_JUMP();
    const struct str whole = load(TILES);
    char *bytes = malloc(whole.length);
    const struct edit edit = unpadding(&of_tiles);
    uint64_t edited_count = 0;
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < 1500; i++) {
        memcpy(bytes, whole.data, whole.length);
        bytes[i * 7919 % whole.length] ^= (char)(1 << i % 8);
        edited_count += is_edited((struct str){bytes, whole.length}, &edit);
    }
    ck_assert_uint_gt(edited_count, 100); /* names and metadata may be anything */
    free(bytes);
    bytes_close(&input);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("edit_unpad");
    TCase *tests = tcase_create("edit_unpad");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, all_arrays_that_have_the_dimensions_follow);
    tcase_add_test(tests, what_no_rule_is_known_of_works_on_the_former_order);
    tcase_add_test(tests, what_has_no_such_array_is_refused);
    tcase_add_test(tests, broken_programs_end);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, done_twice_there_is_nothing_left);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
