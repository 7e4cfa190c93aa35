/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/torch_join.h"

#include "arena.h"
#include "read/torch/torch_snapshot.h"

#define MIB (INT64_C(1) << 20)

static struct oom_failure asked(double mib, const char *device)
{
    struct oom_failure failure = {.family = OOM_FAMILY_torch_gpu, .device.text = str_of(device)};
    failure.figures[OOM_needed_bytes] =
        (struct oom_figure){.value = (uint64_t)(mib * (double)MIB), .half_unit = 5243, .length = 9, .is_known = true};
    return failure;
}

/* A request of `bytes` that failed on GPU `device`; the device had 1 MiB free. */
static struct torch_join join_of(const struct oom_failure *failure, int64_t bytes, int64_t device)
{
    static const struct torch_snapshot snapshot;
    static struct memory_profile_failure one;
    static struct memory_profile_pool pool;
    static struct memory_profile trace;
    struct torch_join join = {.pool = NULL};
    ARENA_MUST_NOT_JUMP();
    one = (struct memory_profile_failure){
        .requested_bytes = bytes, .device_free_bytes = MIB, .free_bytes = MIB, .reserved_bytes = 9 * MIB};
    trace = (struct memory_profile){.pools = &pool, .pool_count = 1, .events.snapshot = &snapshot};
    pool = (struct memory_profile_pool){
        .profile = &trace, .name = STR("GPU"), .device = device, .count = 1, .failures = &one, .failure_count = 1};
    torch_join_find(failure, &trace, &arena, &join);
    return join;
}

START_TEST(the_size_counts_within_the_rounding_of_the_text)
{
    const struct oom_failure failure = asked(26, "0");
    ck_assert_ptr_nonnull(join_of(&failure, 26 * MIB, 0).failure);
    ck_assert_ptr_nonnull(join_of(&failure, 51 * MIB / 2, 0).failure); /* of its segment */
    ck_assert_ptr_nonnull(join_of(&failure, 26 * MIB + 5000, 0).failure);
    ck_assert_ptr_null(join_of(&failure, 26 * MIB + 6000, 0).pool);
    ck_assert_ptr_null(join_of(&failure, 24 * MIB, 0).pool);
}
END_TEST

START_TEST(the_device_has_to_be_the_one_where_both_name_it)
{
    const struct oom_failure failure = asked(26, "3"), unnamed = asked(26, "");
    ck_assert_ptr_nonnull(join_of(&failure, 26 * MIB, 3).pool);
    ck_assert_ptr_null(join_of(&failure, 26 * MIB, 0).pool);
    ck_assert_ptr_nonnull(join_of(&failure, 26 * MIB, -1).pool);
    ck_assert_ptr_nonnull(join_of(&unnamed, 26 * MIB, 7).pool);
}
END_TEST

START_TEST(what_is_not_of_it_says_why)
{
    struct oom_failure failure = asked(26, "0"), other = failure;
    ck_assert_ptr_nonnull(strstr(join_of(&failure, 64 * MIB, 0).reason, "26.00 MiB on GPU 0: 64.00 MiB"));
    other.family = OOM_FAMILY_gpu_xla;
    ck_assert_ptr_null(join_of(&other, 26 * MIB, 0).pool);
    failure.figures[OOM_free_bytes] = (struct oom_figure){.value = (uint64_t)MIB, .half_unit = 5243, .is_known = true};
    ck_assert_uint_eq(join_of(&failure, 26 * MIB, 0).agree_count, 1);
    failure.figures[OOM_free_bytes].value = 3 * MIB; /* another run, which asked for as much */
    ck_assert_ptr_null(join_of(&failure, 26 * MIB, 0).pool);
    ck_assert_ptr_nonnull(strstr(join_of(&failure, 26 * MIB, 0).reason, "of that size"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("torch_join");
    TCase *tests = tcase_create("join");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, the_size_counts_within_the_rounding_of_the_text);
    tcase_add_test(tests, the_device_has_to_be_the_one_where_both_name_it);
    tcase_add_test(tests, what_is_not_of_it_says_why);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
