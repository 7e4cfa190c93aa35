/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/torch_choice.h"

#include "bytes.h"

static const char *sentence(const struct torch_choice *choice, struct arena *arena)
{
    const char *text = torch_choice_sentence(choice, arena);
    return text != NULL ? text : "(none)";
}

START_TEST(the_name_of_the_text_comes_first)
{
    const char *names[] = {"a.pickle", "rank3.pickle.gz", "rank33.pickle", "rank3.pickle"};
    struct torch_choice choice = {.text = "rank3.log"};
    size_t order[4];
    ck_assert_uint_eq(torch_choice_order(&choice, names, 4, order), 4);
    static const size_t wanted[] = {1, 3, 0, 2};
    ck_assert_mem_eq(order, wanted, sizeof(wanted));
    choice.text = NULL;
    ck_assert_uint_eq(torch_choice_order(&choice, names, 4, order), 4);
    ck_assert_uint_eq(order[0], 0);
}
END_TEST

START_TEST(no_more_are_read_than_may_be)
{
    const char *names[TORCH_CHOICE_READ_MAX + 3];
    size_t order[TORCH_CHOICE_READ_MAX + 3];
    for (size_t i = 0; i < TORCH_CHOICE_READ_MAX + 3; i++)
        names[i] = "other.pickle";
    names[TORCH_CHOICE_READ_MAX + 2] = "rank0.pickle";
    struct torch_choice choice = {.text = "rank0.log"};
    ck_assert_uint_eq(torch_choice_order(&choice, names, TORCH_CHOICE_READ_MAX + 3, order), TORCH_CHOICE_READ_MAX);
    ck_assert_uint_eq(order[0], TORCH_CHOICE_READ_MAX + 2);
    ck_assert_uint_eq(choice.left_count, 3);
}
END_TEST

START_TEST(what_shares_most_is_taken_then_the_name_then_the_first)
{
    struct torch_choice choice = {.text = "b.log"};
    ck_assert(torch_choice_take(&choice, "a.pickle", 2, "one figure"));
    ck_assert(!torch_choice_take(&choice, "c.pickle", 2, "one figure"));
    ck_assert(!torch_choice_take(&choice, "d.pickle", 0, "another size"));
    ck_assert(torch_choice_take(&choice, "b.pickle", 2, "its figure"));
    ck_assert(!torch_choice_take(&choice, "b.pickle.gz", 1, "less"));
    ck_assert(torch_choice_take(&choice, "e.pickle", 3, "two figures"));
    ck_assert_str_eq(choice.taken, "e.pickle");
    ck_assert_uint_eq(choice.fitting_count, 5);
}
END_TEST

START_TEST(the_sentence_names_what_was_taken_and_what_was_not)
{
    struct arena arena;
    struct err err = ERR_INIT;
    arena_init(&arena, 1 << 20, &err);
    struct torch_choice choice = {.text = "b.log"};
    ck_assert_str_eq(sentence(&choice, &arena), "(none)");
    torch_choice_take(&choice, "a.pickle", 0, "another size");
    ck_assert_str_eq(sentence(&choice, &arena),
                     "The allocator snapshot a.pickle is here and was not used: another size.");
    torch_choice_take(&choice, "b.pickle", 2, "as large");
    ck_assert_str_eq(sentence(&choice, &arena),
                     "The allocator snapshot b.pickle belongs to this failure: as large. a.pickle was "
                     "not used: another size.");
    torch_choice_take(&choice, "c.pickle", 1, "as large");
    choice.left_count = 2;
    ck_assert_str_eq(
        sentence(&choice, &arena),
        "The allocator snapshot b.pickle belongs to this failure: as large. Several match; this one shares most "
        "figures with the text, and its name. a.pickle was not used: another size. 2 more were not examined.");
    arena_free(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("torch_choice");
    TCase *tests = tcase_create("torch_choice");
    tcase_add_test(tests, the_name_of_the_text_comes_first);
    tcase_add_test(tests, no_more_are_read_than_may_be);
    tcase_add_test(tests, what_shares_most_is_taken_then_the_name_then_the_first);
    tcase_add_test(tests, the_sentence_names_what_was_taken_and_what_was_not);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
