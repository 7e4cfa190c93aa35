/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/thin.h"

#include "arena.h"

static int64_t curve[10000];

static int64_t value(const void *context, uint32_t step) { return ((const int64_t *)context)[step]; }

static void begin(void)
{
    uint32_t state = 7;
    arena_begin();
    for (size_t i = 0; i < 10000; i++) {
        state = state * 1664525 + 1013904223;
        curve[i] = 1000 + (int64_t)(state >> 24);
    }
    curve[4321] = 99999; /* one step wide */
    curve[8765] = 0;
}

START_TEST(extremes_survive_any_width)
{
    static const uint32_t widths[] = {1, 2, 7, 64, 1000, 2499, 2500, 5000};
    ARENA_MUST_NOT_JUMP();
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        uint32_t count;
        volatile bool has_top = false, has_bottom = false;
        uint32_t *steps = thin_steps(value, curve, 0, 10000, widths[i], &arena, &count);
        ck_assert_uint_le(count, widths[i] * 4 > 10000 ? 10000 : widths[i] * 4);
        for (uint32_t j = 0; j < count; j++) {
            ck_assert(j == 0 || steps[j] > steps[j - 1]);
            if (steps[j] == 4321)
                has_top = true;
            if (steps[j] == 8765)
                has_bottom = true;
        }
        ck_assert(has_top && has_bottom);
        ck_assert_uint_eq(steps[0], 0);
        ck_assert_uint_eq(steps[count - 1], 9999);
    }
}
END_TEST

START_TEST(what_fits_is_given_whole)
{
    uint32_t count;
    ARENA_MUST_NOT_JUMP();
    uint32_t *steps = thin_steps(value, curve, 100, 140, 10, &arena, &count);
    ck_assert_uint_eq(count, 40);
    ck_assert_uint_eq(steps[39], 139);
    thin_steps(value, curve, 50, 50, 10, &arena, &count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(local_peaks_stand_out_by_the_asked_height)
{
    static const int64_t hills[] = {0, 5, 9, 9, 3, 4, 3, 8, 2, 2, 7};
    uint32_t count;
    ARENA_MUST_NOT_JUMP();
    uint32_t *peaks = thin_peaks(value, hills, 11, 3, 10, &arena, &count);
    ck_assert_uint_eq(count, 3); /* the 4 between two 3 is no peak */
    ck_assert_uint_eq(peaks[0], 2);
    ck_assert_uint_eq(peaks[1], 7);
    ck_assert_uint_eq(peaks[2], 10);
    thin_peaks(value, hills, 11, 3, 1, &arena, &count);
    ck_assert_uint_eq(count, 1);
    thin_peaks(value, hills, 0, 3, 1, &arena, &count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("thin");
    TCase *tests = tcase_create("thin");
    tcase_add_checked_fixture(tests, begin, arena_end);
    tcase_add_test(tests, extremes_survive_any_width);
    tcase_add_test(tests, what_fits_is_given_whole);
    tcase_add_test(tests, local_peaks_stand_out_by_the_asked_height);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
