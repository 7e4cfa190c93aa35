/* SPDX-License-Identifier: Apache-2.0
 * What a program or a recording needs, held against devices that it may not have been made for. */
#include "verdict/device_fit.h"

#include "arena.h"
#include "bytes.h"

#define GIB ((int64_t)1 << 30)

static struct device_fit row;

static struct device_fit_job program_of(int64_t total_bytes)
{
    return (struct device_fit_job){.is_program = true, .total_bytes = total_bytes, .part_count = 1};
}

static struct device_fit_job recording_of(int64_t peak_bytes, int64_t failed_bytes)
{
    return (struct device_fit_job){.total_bytes = peak_bytes, .failed_bytes = failed_bytes, .part_count = 1};
}

static struct device_fit *judge(const struct device_fit_job *job, const char *device, int64_t compiled_bytes)
{
    ARENA_MUST_NOT_JUMP();
    device_fit_judge(job, device_named(device), compiled_bytes, &arena, &row);
    return &row;
}

static const char *sentence(const struct device_fit_job *job)
{
    ARENA_MUST_NOT_JUMP();
    return device_fit_sentence(job, &arena);
}

START_TEST(a_program_that_is_over_has_room_to_keep_to)
{
    const struct device_fit_job job = program_of(100 * GIB);
    ck_assert_str_eq(judge(&job, "v5e", -1)->word, "over");
    ck_assert_str_eq(row.source, "plan");
    ck_assert(!row.is_fitting);
    ck_assert_int_eq(row.fit.capacity.bytes, GIB * 63 / 4);
    ck_assert_int_eq(row.headroom_bytes, GIB * 63 / 4 - 100 * GIB);
    ck_assert_int_eq(row.room_bytes, GIB * 63 / 4);
    ck_assert_str_eq(sentence(&job), "needs 100.00 GiB (by this dump's plan).");
}
END_TEST

START_TEST(of_a_gpu_the_room_is_the_share)
{
    const struct device_fit_job job = program_of(120 * GIB);
    ck_assert_str_eq(judge(&job, "H200", -1)->word, "over by default");
    ck_assert_int_gt(row.headroom_bytes, 0);
    ck_assert_int_gt(row.fit.share_bytes, 0);
    ck_assert_int_eq(row.room_bytes, row.fit.share_bytes);
}
END_TEST

START_TEST(a_compiler_has_the_last_word)
{
    const struct device_fit_job job = program_of(100 * GIB);
    ck_assert_str_eq(judge(&job, "v5e", GIB)->word, "fits");
    ck_assert_str_eq(row.source, "compiled");
    ck_assert(row.is_fitting);
    ck_assert_int_eq(row.fit.needed_bytes, GIB);
    ck_assert_int_eq(row.room_bytes, -1);
}
END_TEST

START_TEST(its_own_device_has_what_the_dump_states)
{
    struct device_fit_job job = program_of(GIB);
    job.own_device = "H200";
    job.own_bytes = 140 * (uint64_t)GIB;
    ck_assert_str_eq(judge(&job, "H200", -1)->source, "own plan");
    ck_assert_int_eq(row.fit.capacity.bytes, 140 * GIB);
    ck_assert(!device_fit_may_compile(&job, "H200"));
    ck_assert_str_eq(judge(&job, "H100-80G", -1)->source, "plan");
    ck_assert_int_eq(row.fit.capacity.bytes, device_named("H100-80G")->physical_bytes);
    ck_assert(device_fit_may_compile(&job, "H100-80G"));
}
END_TEST

START_TEST(a_request_that_failed_is_a_least_need)
{
    struct device_fit_job job = recording_of(80 * GIB, 4 * GIB);
    ck_assert_str_eq(judge(&job, "H200", -1)->word, "perhaps");
    ck_assert(!row.is_fitting);
    ck_assert_int_eq(row.fit.needed_bytes, 84 * GIB);
    ck_assert_int_eq(row.fit.share_bytes, -1); /* that is JAX's */
    ck_assert_int_eq(row.room_bytes, -1);
    ck_assert_str_eq(judge(&job, "H100-80G", -1)->word, "over");
    ck_assert_str_eq(sentence(&job), "needs at least 84.00 GiB (PyTorch's segments and the request that failed).");
    job = recording_of(80 * GIB, -1);
    ck_assert_str_eq(judge(&job, "H200", -1)->word, "fits");
    ck_assert_str_eq(row.source, "replay");
    ck_assert(!device_fit_may_compile(&job, "H200"));
    ck_assert_str_eq(sentence(&job), "needs 80.00 GiB (PyTorch's segments at their peak).");
}
END_TEST

START_TEST(a_split_is_a_bound)
{
    struct device_fit_job job = program_of(GIB);
    job.part_count = 8;
    job.is_confirmed = true;
    ck_assert(!device_fit_may_compile(&job, "v5e"));
    ck_assert_str_eq(sentence(&job), "needs 1.00 GiB of each device (by this dump's plan).");
    ck_assert_str_eq(device_fit_note(&job), "By this dump's plan, predicted for the split and not compiled: a bound.");
}
END_TEST

START_TEST(sizes_without_end_do_not_wrap)
{
    const struct device_fit_job job = recording_of(INT64_MAX, INT64_MAX);
    ck_assert_int_eq(judge(&job, "v5e", -1)->fit.needed_bytes, INT64_MAX);
    ck_assert_str_eq(row.word, "over");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device_fit");
    TCase *tests = tcase_create("device_fit");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, a_program_that_is_over_has_room_to_keep_to);
    tcase_add_test(tests, of_a_gpu_the_room_is_the_share);
    tcase_add_test(tests, a_compiler_has_the_last_word);
    tcase_add_test(tests, its_own_device_has_what_the_dump_states);
    tcase_add_test(tests, a_request_that_failed_is_a_least_need);
    tcase_add_test(tests, a_split_is_a_bound);
    tcase_add_test(tests, sizes_without_end_do_not_wrap);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
