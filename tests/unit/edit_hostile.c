/* SPDX-License-Identifier: Apache-2.0
 * Programs that are made to break an edit, or to keep it busy: each ends, with a program that verifies or a reason. */
#include "edited.h"

/* An edit of broken bytes ends, with a program that verifies or with a reason. */
static void must_end(struct str bytes)
{
    struct arena small;
    struct err fault = ERR_INIT;
    const int64_t all[] = {0, 1, 2, 3};
    const struct edit_dimension batch[] = {{0, 0}, {1, 0}, {2, 0}};
    const struct edit edits[] = {donation(all, 4, true), resizing(batch, 3, 1, 2), sharding(all, 4, 2, true)};
    struct edit_outcome outcome;
    arena_init(&small, 8 << 20, &fault);
    if (setjmp(small.trap) == 0 && edit_apply(bytes, KIND_HLO_PROTO, edits, 3, &small, &outcome, &fault))
        ck_assert_uint_gt(outcome.module.length, 0);
    else
        ck_assert(err_is_set(&fault) && fault.text[0] != '\0' && fault.code != ERR_internal);
    arena_free(&small);
}

/* KV with another shape or id of one instruction. */
static void must_refuse_odd(int nth, const char *reason)
{
    const struct edit_dimension batch = {0, 0};
    const struct edit edit = resizing(&batch, 1, 1, 2);
    static int64_t many[SHAPES_RANK_MAX + 1];
    struct program program;
    struct edit_outcome outcome;
    err = (struct err)ERR_INIT;
    ck_assert(program_read(&program, load(KV), KIND_HLO_PROTO, &arena, &err));
    program_instruction *k = named(&program, "k.1");
    if (nth == 0) {
        k->shape->dimensions[0] = -k->shape->dimensions[0];
    } else if (nth == 1) {
        k->shape->dimensions = many;
        k->shape->n_dimensions = SHAPES_RANK_MAX + 1;
    } else if (nth == 2) {
        k->shape->tuple_shapes = &named(&program, "exp.1")->shape;
        k->shape->n_tuple_shapes = 1;
    } else {
        k->id = INT64_MAX;
    }
    ck_assert(!edit_apply(program_write(&program), KIND_HLO_MODULE, &edit, 1, &arena, &outcome, &err));
    ck_assert_msg(strstr(err.text, reason) != NULL, "%s", err.text);
    bytes_close(&input);
}

START_TEST(what_no_program_has_is_refused)
{
    ARENA_MUST_NOT_JUMP();
    must_refuse_odd(0, "negative dimension");
    must_refuse_odd(1, "more dimensions than arrays have");
    must_refuse_odd(2, "elements like a tuple");
    must_refuse_odd(3, "its id 9223372036854775807 is none");
}
END_TEST

/* Two thousand comparisons of one tuple of two thousand arrays. */
START_TEST(shapes_that_many_read_are_not_compared_for_ever)
{
    enum { COUNT = 2000 };
    ARENA_MUST_NOT_JUMP();
    struct program program;
    const int64_t x = 0;
    const struct edit edit = donation(&x, 1, false);
    ck_assert(program_read(&program, load(KV), KIND_HLO_PROTO, &arena, &err));
    program_instruction *exp = named(&program, "exp.1");
    program_shape *pred = arena_alloc(&arena, 1, sizeof *pred);
    xla__shape_proto__init(pred);
    pred->element_type = XLA__PRIMITIVE_TYPE__TUPLE;
    program_instruction *tuple = program_new(&program, "many", "tuple", program_copy_shape(&program, pred), exp);
    tuple->shape->tuple_shapes = arena_array(&arena, program_shape *, COUNT);
    tuple->shape->n_tuple_shapes = tuple->n_operand_ids = COUNT;
    tuple->operand_ids = arena_array(&arena, int64_t, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        tuple->shape->tuple_shapes[i] = exp->shape;
        tuple->operand_ids[i] = exp->id;
    }
    entry_fill(&program, exp, 2); /* their places */
    program_instruction **entry = program.entry->computation->instructions;
    size_t place = program_place(program.entry, exp->id);
    tuple->id = entry[place + 1]->id;
    entry[place + 1] = tuple;
    pred->element_type = XLA__PRIMITIVE_TYPE__PRED;
    program_instruction *compare = program_new(&program, "compare", "compare", pred, exp);
    compare->id = entry[place + 2]->id;
    program_set_operands(&program, compare, (int64_t[]){tuple->id, tuple->id}, 2);
    entry[place + 2] = compare;
    ck_assert(program_index(&program));
    entry_fill(&program, compare, COUNT);
    must_run_out(program_write(&program), &edit, 1 << 20);
    bytes_close(&input);
}
END_TEST

START_TEST(cut_and_flipped_programs_end)
{
    struct str bytes = load(KV);
    for (size_t cut = 0; cut < bytes.length; cut++)
        must_end((struct str){bytes.data, cut});
    for (size_t at = 0; at < bytes.length; at++)
        for (int bit = 0; bit < 8; bit += 3) {
            input.data[at] = (char)(input.data[at] ^ 1 << bit);
            must_end(bytes);
            input.data[at] = (char)(input.data[at] ^ 1 << bit);
        }
    bytes_close(&input);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("edit_hostile");
    TCase *tests = tcase_create("edit_hostile");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, what_no_program_has_is_refused);
    tcase_add_test(tests, shapes_that_many_read_are_not_compared_for_ever);
    tcase_add_test(tests, cut_and_flipped_programs_end);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
