/* SPDX-License-Identifier: Apache-2.0
 * Does a program fit: one word, its figures and one sentence. */
#include "plan/memory_fit.h"

#include "arena.h"
#include "bytes.h"

#define GIB ((double)(1 << 30))

static struct memory_fit fit;

static struct memory_fit *judge(struct memory_capacity capacity, double needed_gib, const char *space)
{
    ARENA_MUST_NOT_JUMP();
    memory_fit_judge(&capacity, (int64_t)(needed_gib * GIB), space, &arena, &fit);
    return &fit;
}

static struct memory_capacity stated(double gib)
{
    return (struct memory_capacity){.bytes = (int64_t)(gib * GIB), .asked_bytes = -1, .source = "error.txt"};
}

/* An H200 of whose allocator nothing is known. */
static struct memory_capacity whole_gpu(void)
{
    struct memory_capacity capacity = stated(139.80);
    capacity.is_physical = capacity.is_of_gpu = true;
    return capacity;
}

START_TEST(the_total_is_held_against_the_capacity)
{
    ck_assert_str_eq(judge(stated(15.75), 33.49, "HBM")->sentence,
                     "Needs 33.49 GiB of HBM; 15.75 GiB are available: over by 17.74 GiB.");
    ck_assert_int_eq(fit.word, MEMORY_FIT_OVER);
    ck_assert_int_eq(fit.over_bytes, fit.needed_bytes - fit.capacity.bytes);
    ck_assert_str_eq(judge(stated(100), 33.49, "HBM")->sentence,
                     "It fits: 33.49 GiB of 100.00 GiB of HBM, 66.51 GiB free.");
    ck_assert_int_eq(fit.over_bytes, 0);
    ck_assert_str_eq(judge((struct memory_capacity){.bytes = -1}, 33.49, "HBM")->sentence,
                     "Needs 33.49 GiB of HBM; capacity not known.");
    ck_assert_int_eq(fit.word, MEMORY_FIT_NOT_KNOWN);
}
END_TEST

START_TEST(the_worst_is_the_one_furthest_above_its_capacity)
{
    const int64_t gib = 1 << 30;
    const struct memory_capacity small = stated(1), large = stated(80), none = {.bytes = -1, .asked_bytes = -1};
    struct memory_capacity asked = stated(16);
    asked.asked_bytes = 96 * gib;
    ck_assert(memory_fit_is_worse(&small, 2 * gib, &large, 81 * gib));
    ck_assert(!memory_fit_is_worse(&large, 81 * gib, &small, 2 * gib));
    ck_assert_msg(memory_fit_is_worse(&asked, 0, &small, 5 * gib), "the text asked for six times as much");
    ck_assert(!memory_fit_is_worse(&asked, 0, &small, 7 * gib));
    ck_assert_msg(memory_fit_is_worse(&small, 1, &none, 80 * gib), "a capacity that is known goes before");
    ck_assert(!memory_fit_is_worse(&none, 80 * gib, &small, 1));
    ck_assert(memory_fit_is_worse(&none, 2 * gib, &none, gib));
    ck_assert_msg(!memory_fit_is_worse(&large, gib, &large, gib), "of equals the first stays");
}
END_TEST

START_TEST(of_a_gpu_jax_takes_a_share_by_default)
{
    ck_assert_str_eq(judge(whole_gpu(), 8.14, "Device memory")->sentence,
                     "It fits: 8.14 GiB of the 104.85 GiB of Device memory that JAX takes by default (75 % of "
                     "139.80 GiB), 96.71 GiB free.");
    /* the job of this plan ran out of memory (gpu-h200/runs/decode) */
    ck_assert_str_eq(judge(whole_gpu(), 102.22, "Device memory")->sentence,
                     "Needs 102.22 GiB of Device memory; JAX takes 104.85 GiB by default (75 % of 139.80 GiB): too "
                     "close to tell whether it fits.");
    ck_assert_int_eq(fit.word, MEMORY_FIT_CLOSE);
    ck_assert_str_eq(judge(whole_gpu(), 120, "Device memory")->sentence,
                     "Needs 120.00 GiB of Device memory; JAX takes 104.85 GiB by default (75 % of 139.80 GiB): over by "
                     "15.15 GiB, unless it may take more (XLA_PYTHON_CLIENT_MEM_FRACTION).");
    ck_assert_int_eq(fit.word, MEMORY_FIT_DEFAULT);
    ck_assert_str_eq(judge(whole_gpu(), 400, "Device memory")->sentence,
                     "Needs 400.00 GiB of Device memory; the device has 139.80 GiB: over by at least 260.20 GiB.");
    ck_assert_int_eq(fit.word, MEMORY_FIT_OVER);
    struct memory_capacity limit = whole_gpu(); /* of its allocator */
    limit.is_physical = false;
    ck_assert_int_eq(judge(limit, 120, "Device memory")->word, MEMORY_FIT_FITS);
}
END_TEST

START_TEST(a_device_of_another_kind_has_no_share)
{
    struct memory_capacity capacity = whole_gpu();
    capacity.is_of_gpu = false;
    ck_assert_str_eq(judge(capacity, 120, "Default memory")->sentence,
                     "It fits: 120.00 GiB of 139.80 GiB of Default memory, at most 19.80 GiB free.");
}
END_TEST

START_TEST(within_the_rounding_of_a_text_it_is_not_known)
{
    struct memory_capacity rounded = stated(15.75);
    rounded.half_bytes = 5368709;
    const int64_t needed[] = {0, 5368709, 5368710, -5368709};
    const enum memory_fit_word words[] = {MEMORY_FIT_CLOSE, MEMORY_FIT_CLOSE, MEMORY_FIT_OVER, MEMORY_FIT_FITS};
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(judge(rounded, 15.75 + (double)needed[i] / GIB, "HBM")->word, words[i]);
    judge(rounded, 15.75 + 1043613942 / GIB, "HBM");
    ck_assert_str_eq(fit.sentence, "Needs 16.72 GiB of HBM; 15.75 GiB are available: over by 0.97 GiB.");
    judge(stated(15.75), 15.75 + 1043613942 / GIB, "HBM");
    ck_assert_str_eq(fit.sentence, "Needs 16.72 GiB of HBM; 15.75 GiB are available: over by 995.27 MiB.");
}
END_TEST

START_TEST(a_text_that_asked_for_more_than_the_plan_has_is_believed)
{
    struct memory_capacity scoped = {.bytes = 16 << 20, .asked_bytes = 96 << 20, .source = "error.txt"};
    ck_assert_str_eq(judge(scoped, 0, "VMEM")->sentence,
                     "Needs 0 B of VMEM in this plan, but the error text asks for 96.00 MiB and 16.00 MiB are "
                     "available: over by 80.00 MiB.");
    ck_assert_int_eq(fit.over_bytes, 80 << 20);
}
END_TEST

START_TEST(its_parts_are_the_sentence)
{
    const char *roles[] = {"needed", "share", "capacity", "over"};
    size_t at = 0;
    judge(whole_gpu(), 120, "Device memory");
    for (uint32_t i = 0; i < fit.part_count; i++) {
        ck_assert_int_eq(fit.parts[i].role == NULL, fit.parts[i].bytes < 0);
        if (fit.parts[i].role != NULL)
            ck_assert_str_eq(fit.parts[i].role, roles[at++]);
    }
    ck_assert_uint_eq(at, 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_fit");
    TCase *tests = tcase_create("memory_fit");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, the_total_is_held_against_the_capacity);
    tcase_add_test(tests, the_worst_is_the_one_furthest_above_its_capacity);
    tcase_add_test(tests, of_a_gpu_jax_takes_a_share_by_default);
    tcase_add_test(tests, a_device_of_another_kind_has_no_share);
    tcase_add_test(tests, within_the_rounding_of_a_text_it_is_not_known);
    tcase_add_test(tests, a_text_that_asked_for_more_than_the_plan_has_is_believed);
    tcase_add_test(tests, its_parts_are_the_sentence);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
