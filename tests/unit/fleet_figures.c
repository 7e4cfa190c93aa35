/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fleet/capacity_trend.h"
#include "model/fleet/level_steps.h"
#include "model/fleet/robust.h"

#include "base/sum.h"

#include "arena.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define MIB ((int64_t)1 << 20)
#define GIB ((int64_t)1 << 30)
#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

enum { VALUES_MAX = 512, TRIES = 300 };

/* ---- made up, always the same ---- */

static uint64_t state = 1;

/* 0 to 1. */
static double uniform(void)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

/* A normal number with deviation 1. */
static double normal(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum - 6;
}

/* ---- steps of a sequence ---- */

static struct level_step *steps_of(const int64_t *values, size_t count, size_t *step_count)
{
    return level_steps_find(values, count, &arena, step_count);
}

static size_t count_of(const int64_t *values, size_t count)
{
    size_t step_count;
    steps_of(values, count, &step_count);
    return step_count;
}

START_TEST(a_median_is_the_middle)
{
    int64_t odd[] = {5, 1, 9}, even[] = {4, 1, 9, 5}, large[] = {SUM_MAX_BYTES_TOGETHER, SUM_MAX_BYTES_TOGETHER};
    int64_t around[] = {10, 12, 10, 100}, space[4];
    double parts[] = {4, 1, 3, 2, 5};
    ck_assert_int_eq(robust_median(odd, 3), 5);
    ck_assert_int_eq(robust_median(even, 4), 4);
    ck_assert_int_eq(robust_median(large, 2), SUM_MAX_BYTES_TOGETHER);
    ck_assert_int_eq(robust_deviation(around, 4, 11, space), 1);
    ck_assert(robust_quantile(parts, 5, 0.5) == 3 && robust_quantile(parts, 5, 1) == 5);
}
END_TEST

START_TEST(a_step_that_stays_is_found_where_it_is)
{
    const int64_t up[] = {9 * GIB, 9 * GIB, 9 * GIB, 12 * GIB, 12 * GIB, 12 * GIB};
    size_t count;
    const struct level_step *steps = steps_of(up, 6, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(steps[0].at, 3);
    ck_assert_int_eq(steps[0].before_bytes, 9 * GIB);
    ck_assert_int_eq(steps[0].after_bytes, 12 * GIB);
    ck_assert_uint_eq(steps[0].before_count, 3);
    ck_assert_uint_eq(steps[0].after_count, 3);
    ck_assert_int_eq(steps[0].noise_bytes, 0);
    ck_assert_int_eq(steps[0].threshold_bytes, 9 * GIB / 100);
    ck_assert(steps[0].is_lasting);
}
END_TEST

START_TEST(an_improvement_is_a_step_too)
{
    const int64_t down[] = {12 * GIB, 12 * GIB, 12 * GIB, 8 * GIB, 8 * GIB};
    size_t count;
    const struct level_step *steps = steps_of(down, 5, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(steps[0].after_bytes - steps[0].before_bytes, -4 * GIB);
}
END_TEST

START_TEST(a_step_there_and_back_is_two)
{
    const int64_t values[] = {9 * GIB, 9 * GIB, 9 * GIB, 12 * GIB, 12 * GIB, 12 * GIB, 9 * GIB, 9 * GIB, 9 * GIB};
    size_t count;
    const struct level_step *steps = steps_of(values, 9, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(steps[1].at, 6);
    ck_assert_int_eq(steps[1].before_bytes, 12 * GIB);
}
END_TEST

START_TEST(a_lone_peak_is_no_step)
{
    const int64_t values[] = {9 * GIB, 9 * GIB, 9 * GIB, 40 * GIB, 9 * GIB, 9 * GIB};
    ck_assert_uint_eq(count_of(values, 6), 0);
}
END_TEST

START_TEST(the_last_commit_may_be_a_step_that_is_not_known_to_last)
{
    const int64_t values[] = {9 * GIB, 9 * GIB, 9 * GIB, 9 * GIB, 10 * GIB}, two[] = {9 * GIB, 10 * GIB};
    size_t count;
    const struct level_step *steps = steps_of(values, 5, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert(!steps[0].is_lasting);
    steps = steps_of(two, 2, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert(!steps[0].is_lasting);
}
END_TEST

START_TEST(what_is_within_the_tolerance_is_no_step)
{
    const int64_t one_percent[] = {100 * GIB, 100 * GIB, 100 * GIB, 101 * GIB, 101 * GIB};
    const int64_t more[] = {100 * GIB, 100 * GIB, 100 * GIB, 101 * GIB + 1, 101 * GIB + 1};
    const int64_t small[] = {MIB, MIB, MIB, 2 * MIB, 2 * MIB}, larger[] = {MIB, MIB, MIB, 2 * MIB + 1, 2 * MIB + 1};
    ck_assert_uint_eq(count_of(one_percent, 5), 0);
    ck_assert_uint_eq(count_of(more, 5), 1);
    ck_assert_uint_eq(count_of(small, 5), 0);
    ck_assert_uint_eq(count_of(larger, 5), 1);
}
END_TEST

START_TEST(what_never_changes_has_no_step)
{
    int64_t values[VALUES_MAX];
    const int64_t all[] = {0, 1, GIB, SUM_MAX_BYTES_TOGETHER};
    for (int kind = 0; kind < 4; kind++)
        for (size_t count = 0; count <= VALUES_MAX; count = count * 2 + 1) {
            for (size_t i = 0; i < count; i++)
                values[i] = all[kind];
            ck_assert_uint_eq(count_of(values, count), 0);
        }
}
END_TEST

START_TEST(the_largest_values_do_not_wrap)
{
    const int64_t values[] = {0, 0, 0, SUM_MAX_BYTES_TOGETHER, SUM_MAX_BYTES_TOGETHER, SUM_MAX_BYTES_TOGETHER, 0, 0};
    size_t count;
    const struct level_step *steps = steps_of(values, 8, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(steps[0].after_bytes - steps[0].before_bytes, SUM_MAX_BYTES_TOGETHER);
    ck_assert_int_eq(steps[1].after_bytes - steps[1].before_bytes, -SUM_MAX_BYTES_TOGETHER);
}
END_TEST

START_TEST(a_real_number_of_any_size_becomes_a_whole_one)
{
    ck_assert_int_eq(sum_of_real(2.9), 2);
    ck_assert_int_eq(sum_of_real(-2.9), -2);
    ck_assert_int_eq(sum_of_real(0x1p62), INT64_C(1) << 62);
    ck_assert_int_eq(sum_of_real(0x1p63), INT64_MAX);
    ck_assert_int_eq(sum_of_real(-0x1p63), INT64_MIN);
    ck_assert_int_eq(sum_of_real(1e300), INT64_MAX);
    ck_assert_int_eq(sum_of_real(-HUGE_VAL), INT64_MIN);
    ck_assert_int_eq(sum_of_real((double)NAN), 0);
}
END_TEST

/* Four times the noise of these values is more than an integer holds. */
START_TEST(the_largest_noise_hides_every_step)
{
    int64_t values[12];
    for (int i = 0; i < 12; i++)
        values[i] = i % 2 == 0 ? 0 : SUM_MAX_BYTES_TOGETHER;
    ck_assert_uint_eq(count_of(values, 12), 0);
    ck_assert_int_eq(level_steps_threshold(0, 4 * (double)SUM_MAX_BYTES_TOGETHER), INT64_MAX);
}
END_TEST

START_TEST(slow_growth_is_no_step)
{
    int64_t values[40];
    for (int i = 0; i < 40; i++)
        values[i] = 10 * GIB + i * 5 * MIB;
    ck_assert_uint_eq(count_of(values, 40), 0);
}
END_TEST

/* Noise of 3 % would be a step every other commit for a fixed tolerance of 1 %. */
START_TEST(noise_alone_has_no_lasting_step)
{
    size_t lasting = 0;
    for (int try = 0; try < TRIES; try++) {
        int64_t values[40];
        size_t count;
        for (int i = 0; i < 40; i++)
            values[i] = 10 * GIB + (int64_t)(normal() * 0.03 * 10 * (double)GIB);
        const struct level_step *steps = steps_of(values, 40, &count);
        for (size_t i = 0; i < count; i++)
            lasting += steps[i].is_lasting;
        arena_end();
        arena_begin();
    }
    ck_assert_uint_le(lasting, TRIES / 100);
}
END_TEST

START_TEST(a_planted_step_is_found_in_noise)
{
    size_t found = 0;
    for (int try = 0; try < TRIES; try++) {
        int64_t values[40];
        size_t count, planted = 10 + (size_t)try % 20;
        for (size_t i = 0; i < 40; i++)
            values[i] = (i < planted ? 10 : 14) * GIB + (int64_t)(normal() * 0.02 * 10 * (double)GIB);
        const struct level_step *steps = steps_of(values, 40, &count);
        for (size_t i = 0; i < count; i++)
            found += steps[i].at == planted && steps[i].is_lasting;
        arena_end();
        arena_begin();
    }
    ck_assert_uint_ge(found, TRIES * 98 / 100);
}
END_TEST

/* Holds for any sequence. */
START_TEST(every_step_is_what_it_says)
{
    for (int try = 0; try < TRIES; try++) {
        int64_t values[60];
        size_t count, length = 1 + (size_t)(uniform() * 59);
        for (size_t i = 0; i < length; i++)
            values[i] = (int64_t)(uniform() * (double)(INT64_C(1) << (try % 61)));
        const struct level_step *steps = steps_of(values, length, &count);
        for (size_t i = 0; i < count; i++) {
            int64_t change = llabs(steps[i].after_bytes - steps[i].before_bytes);
            ck_assert_int_gt(change, steps[i].threshold_bytes);
            ck_assert_uint_gt(steps[i].at, i == 0 ? 0 : steps[i - 1].at);
            ck_assert_uint_le(steps[i].at + steps[i].after_count, length);
        }
        arena_end();
        arena_begin();
    }
}
END_TEST

/* ---- what fails next ---- */

static struct capacity_trend trend_of_line(size_t count, double bytes_per_day, int64_t capacity)
{
    struct capacity_trend_point points[VALUES_MAX] = {{0}};
    for (size_t i = 0; i < count; i++)
        points[i] = (struct capacity_trend_point){(int64_t)i * DAY_MS, 10 * GIB + (int64_t)(bytes_per_day * (double)i)};
    return capacity_trend_find(points, count, capacity, &arena);
}

START_TEST(a_line_reaches_its_capacity_when_it_does)
{
    struct capacity_trend trend = trend_of_line(11, 100.0 * (double)MIB, 10 * GIB + 2000 * MIB);
    ck_assert_int_eq(trend.kind, CAPACITY_TREND_REACHES);
    ck_assert_double_eq_tol(trend.days, 10, 0.001);
    ck_assert_double_eq_tol(trend.soonest_days, 10, 0.001);
    ck_assert_double_eq_tol(trend.latest_days, 10, 0.001);
    ck_assert_double_eq_tol(trend.bytes_per_day, 100.0 * (double)MIB, 1);
}
END_TEST

START_TEST(it_is_said_why_nothing_is_foretold)
{
    double slope = 100.0 * (double)MIB;
    ck_assert_int_eq(trend_of_line(4, slope, 100 * GIB).kind, CAPACITY_TREND_TOO_FEW);
    ck_assert_int_eq(trend_of_line(1, slope, 100 * GIB).kind, CAPACITY_TREND_TOO_FEW);
    ck_assert_int_eq(trend_of_line(0, slope, 100 * GIB).kind, CAPACITY_TREND_TOO_FEW);
    ck_assert_int_eq(trend_of_line(10, slope, 0).kind, CAPACITY_TREND_CAPACITY_UNKNOWN);
    ck_assert_int_eq(trend_of_line(10, slope, -1).kind, CAPACITY_TREND_CAPACITY_UNKNOWN);
    ck_assert_int_eq(trend_of_line(10, slope, 10 * GIB).kind, CAPACITY_TREND_OVER);
    ck_assert_int_eq(trend_of_line(1, slope, GIB).kind, CAPACITY_TREND_OVER);
    ck_assert_int_eq(trend_of_line(10, 0, 11 * GIB).kind, CAPACITY_TREND_STEADY);
    ck_assert_int_eq(trend_of_line(10, -slope, 11 * GIB).kind, CAPACITY_TREND_STEADY);
    ck_assert_int_eq(trend_of_line(10, slope, SUM_MAX_BYTES_TOGETHER).kind, CAPACITY_TREND_FAR);
    ck_assert_double_lt(trend_of_line(10, slope, SUM_MAX_BYTES_TOGETHER).days, 0);
}
END_TEST

START_TEST(a_single_step_and_a_lone_peak_are_no_trend)
{
    struct capacity_trend_point step[20], peak[20], hour[20];
    for (int i = 0; i < 20; i++) {
        step[i] = (struct capacity_trend_point){i * DAY_MS, (i < 10 ? 10 : 12) * GIB};
        peak[i] = (struct capacity_trend_point){i * DAY_MS, (i == 15 ? 15 : 10) * GIB};
        hour[i] = (struct capacity_trend_point){i * DAY_MS / 24 / 20, 10 * GIB + i * MIB};
    }
    ck_assert_int_eq(capacity_trend_find(step, 20, 16 * GIB, &arena).kind, CAPACITY_TREND_STEADY);
    ck_assert_int_eq(capacity_trend_find(peak, 20, 16 * GIB, &arena).kind, CAPACITY_TREND_STEADY);
    ck_assert_int_eq(capacity_trend_find(hour, 20, 16 * GIB, &arena).kind, CAPACITY_TREND_TOO_FEW);
}
END_TEST

START_TEST(the_trend_of_growth_in_noise_is_about_right)
{
    for (int try = 0; try < TRIES; try++) {
        struct capacity_trend_point points[30];
        for (int i = 0; i < 30; i++)
            points[i] = (struct capacity_trend_point){i * DAY_MS, 10 * GIB + i * 200 * MIB +
                                                                      (int64_t)(normal() * 300 * (double)MIB)};
        struct capacity_trend trend = capacity_trend_find(points, 30, 20 * GIB, &arena);
        double left = (double)(20 * GIB - points[29].bytes) / (double)(200 * MIB);
        ck_assert_int_eq(trend.kind, CAPACITY_TREND_REACHES);
        ck_assert_double_eq_tol(trend.days, left, left / 5);
        ck_assert_double_le(trend.soonest_days, trend.days);
        ck_assert(trend.latest_days < 0 || trend.latest_days >= trend.days);
    }
}
END_TEST

START_TEST(points_of_one_moment_have_no_slope)
{
    struct capacity_trend_point points[10];
    for (int i = 0; i < 10; i++)
        points[i] = (struct capacity_trend_point){i < 9 ? 0 : 2 * DAY_MS, (10 + i) * GIB};
    struct capacity_trend trend = capacity_trend_find(points, 10, 30 * GIB, &arena);
    ck_assert(isfinite(trend.bytes_per_day));
    ck_assert_int_ne(trend.kind, CAPACITY_TREND_TOO_FEW);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet_figures");
    TCase *tcase = tcase_create("fleet_figures");
    tcase_add_checked_fixture(tcase, arena_begin, arena_end);
    tcase_add_test(tcase, a_median_is_the_middle);
    tcase_add_test(tcase, a_step_that_stays_is_found_where_it_is);
    tcase_add_test(tcase, an_improvement_is_a_step_too);
    tcase_add_test(tcase, a_step_there_and_back_is_two);
    tcase_add_test(tcase, a_lone_peak_is_no_step);
    tcase_add_test(tcase, the_last_commit_may_be_a_step_that_is_not_known_to_last);
    tcase_add_test(tcase, what_is_within_the_tolerance_is_no_step);
    tcase_add_test(tcase, what_never_changes_has_no_step);
    tcase_add_test(tcase, the_largest_values_do_not_wrap);
    tcase_add_test(tcase, a_real_number_of_any_size_becomes_a_whole_one);
    tcase_add_test(tcase, the_largest_noise_hides_every_step);
    tcase_add_test(tcase, slow_growth_is_no_step);
    tcase_add_test(tcase, noise_alone_has_no_lasting_step);
    tcase_add_test(tcase, a_planted_step_is_found_in_noise);
    tcase_add_test(tcase, every_step_is_what_it_says);
    tcase_add_test(tcase, a_line_reaches_its_capacity_when_it_does);
    tcase_add_test(tcase, it_is_said_why_nothing_is_foretold);
    tcase_add_test(tcase, a_single_step_and_a_lone_peak_are_no_trend);
    tcase_add_test(tcase, the_trend_of_growth_in_noise_is_about_right);
    tcase_add_test(tcase, points_of_one_moment_have_no_slope);
    suite_add_tcase(suite, tcase);
    return bytes_run(suite);
}
