/* SPDX-License-Identifier: Apache-2.0
 * arena.c: tests of base/arena: what ends work. The rest is in base.c. */
#include "arena.h"

static atomic_int wanted;

static void work_for_ever(void *context)
{
    struct arena *charged = context;
    for (uint64_t done = 0;; done += 1000) {
        arena_work(charged, 1000);
        if (done == 5000000)
            wanted = 0;
    }
}

static void take_for_ever(void *context)
{
    struct arena *charged = context;
    for (int blocks = 0;; blocks++) {
        wanted = blocks < 3;
        arena_raw(charged, 1 << 16);
    }
}

/* Each in an arena, in its child, and in a share. */
START_TEST(work_that_is_not_wanted_any_more_ends)
{
    void (*const works[])(void *) = {work_for_ever, take_for_ever};
    for (size_t i = 0; i < 6; i++) {
        struct arena share;
        struct err share_err = ERR_INIT;
        wanted = 1;
        arena_begin_limited(1 << 30);
        arena_allot_work(&arena, 1 << 30);
        arena_watch(&arena, &wanted);
        arena_share(&share, &arena, 2, &share_err);
        struct arena *child = arena_child(&arena), *of = i / 2 == 0 ? &arena : i / 2 == 1 ? child : &share;
        ck_assert(!arena_try(of == child ? &arena : of, works[i % 2], of));
        ck_assert_int_eq(of == &share ? share_err.code : err.code, ERR_stopped);
        ck_assert_uint_gt(arena_work_left(of), (uint64_t)1 << 28); /* it was not done to its end */
        arena_free(&share);
        arena_end();
    }
}
END_TEST

static void take_in_child_of_child(void *context) { take_for_ever(arena_child(arena_child(context))); }

/* Its limit and its trap are those of the whole. */
START_TEST(a_child_of_a_child_keeps_to_the_limit)
{
    wanted = 1;
    arena_begin_limited(1 << 20);
    ck_assert(!arena_try(&arena, take_in_child_of_child, &arena));
    ck_assert_int_eq(err.code, ERR_limit);
    ck_assert(arena.is_full);
    arena_end();
}
END_TEST

static bool is_inner_done;

static void try_within(void *context)
{
    is_inner_done = arena_try(context, take_for_ever, context);
    take_for_ever(context);
}

START_TEST(a_trial_within_a_trial_leaves_the_outer_trap)
{
    wanted = 1;
    is_inner_done = true;
    arena_begin_limited(1 << 20);
    ck_assert(!arena_try(&arena, try_within, &arena));
    ck_assert(!is_inner_done);
    arena_end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arena");
    TCase *tests = tcase_create("arena");
    tcase_add_test(tests, work_that_is_not_wanted_any_more_ends);
    tcase_add_test(tests, a_child_of_a_child_keeps_to_the_limit);
    tcase_add_test(tests, a_trial_within_a_trial_leaves_the_outer_trap);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
