/* SPDX-License-Identifier: Apache-2.0
 * Times of files that no integer of nanoseconds holds, and clocks that are set back. */
#include "server/base/clock.h"

#include "bytes.h"

static const int64_t NS_PER_S = 1000000000;

START_TEST(a_time_of_a_file_is_a_number_of_nanoseconds)
{
    ck_assert_int_eq(clock_file_ns((struct timespec){.tv_sec = 1700000000, .tv_nsec = 5}), 1700000000 * NS_PER_S + 5);
    ck_assert_int_eq(clock_file_ns((struct timespec){.tv_sec = -1}), -NS_PER_S);
}
END_TEST

/* The years 2400 and 1600, and what a damaged file system may say. */
START_TEST(a_time_that_has_no_room_is_the_furthest)
{
    static const int64_t seconds[] = {13569465600, INT64_MAX, -11676096000, INT64_MIN};
    for (int i = 0; i < 4; i++) {
        int64_t time_ns = clock_file_ns((struct timespec){.tv_sec = seconds[i], .tv_nsec = 999999999}), difference;
        ck_assert_int_eq(time_ns > 0, seconds[i] > 0);
        ck_assert(!__builtin_sub_overflow(time_ns, clock_unix_ns(), &difference));
    }
}
END_TEST

START_TEST(two_times_are_apart_in_both_directions)
{
    ck_assert(!clock_is_apart(10, 5, 5) && !clock_is_apart(5, 10, 5));
    ck_assert(clock_is_apart(11, 5, 5) && clock_is_apart(5, 11, 5));
    ck_assert(clock_is_apart(INT64_MIN, INT64_MAX, 5) && clock_is_apart(INT64_MAX, INT64_MIN, INT64_MAX));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("clock");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, a_time_of_a_file_is_a_number_of_nanoseconds);
    tcase_add_test(tests, a_time_that_has_no_room_is_the_furthest);
    tcase_add_test(tests, two_times_are_apart_in_both_directions);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
