/* SPDX-License-Identifier: Apache-2.0
 * ordered_work.c: tests of server/base/ordered_work: each piece is made once and taken in its order, little waits in
 * memory. */
#include "server/base/ordered_work.h"

#include "bytes.h"

#include <sched.h>
#include <stdatomic.h>

enum { COUNT = 3000, COST_BYTES = 10 };

struct trial {
    size_t thread_count, stop_at;
    uint64_t ahead_bytes;
    atomic_int made_count, waiting_count, most_waiting;
    atomic_bool has_bad_thread;
    size_t taken_count;
};

struct piece {
    size_t at;
    struct trial *trial;
};

static void *make(void *context, size_t thread, size_t at, uint64_t *cost_bytes)
{
    struct trial *trial = context;
    struct piece *piece = malloc(sizeof(*piece));
    *piece = (struct piece){at, trial};
    for (size_t turn = 0; turn < at % 7; turn++)
        sched_yield(); /* pieces end in another order than they begin */
    if (thread > 0 && thread >= trial->thread_count)
        atomic_store(&trial->has_bad_thread, true);
    atomic_fetch_add(&trial->made_count, 1);
    int waiting = atomic_fetch_add(&trial->waiting_count, 1) + 1;
    if (waiting > atomic_load(&trial->most_waiting))
        atomic_store(&trial->most_waiting, waiting);
    *cost_bytes = COST_BYTES;
    return piece;
}

static bool take(void *context, void *made)
{
    struct trial *trial = context;
    const struct piece *piece = made;
    ck_assert_uint_eq(piece->at, trial->taken_count);
    return ++trial->taken_count != trial->stop_at;
}

static void free_made(void *made)
{
    struct piece *piece = made;
    atomic_fetch_sub(&piece->trial->waiting_count, 1);
    free(piece);
}

static bool run(struct trial *trial, size_t count)
{
    const struct ordered_work work = {.count = count,
                                      .thread_count = trial->thread_count,
                                      .ahead_bytes = trial->ahead_bytes,
                                      .make = make,
                                      .take = take,
                                      .free_made = free_made,
                                      .context = trial};
    bool is_whole = ordered_work_run(&work);
    ck_assert(!atomic_load(&trial->has_bad_thread));
    ck_assert_int_eq(atomic_load(&trial->waiting_count), 0);
    return is_whole;
}

START_TEST(pieces_are_taken_in_their_order)
{
    struct trial trial = {.thread_count = (size_t)_i, .ahead_bytes = 20 * COST_BYTES};
    ck_assert(run(&trial, COUNT));
    ck_assert_uint_eq(trial.taken_count, COUNT);
    ck_assert_int_eq(atomic_load(&trial.made_count), COUNT);
    ck_assert_int_le(atomic_load(&trial.most_waiting), 21 + _i);
}
END_TEST

START_TEST(without_room_the_next_piece_is_made_nevertheless)
{
    struct trial trial = {.thread_count = 3, .ahead_bytes = 0};
    ck_assert(run(&trial, COUNT));
    ck_assert_uint_eq(trial.taken_count, COUNT);
    struct trial none = {.thread_count = 3};
    ck_assert(run(&none, 0));
}
END_TEST

START_TEST(what_is_not_wanted_any_more_is_not_made)
{
    struct trial trial = {.thread_count = (size_t)_i, .ahead_bytes = 5 * COST_BYTES, .stop_at = 100};
    ck_assert(!run(&trial, COUNT));
    ck_assert_uint_eq(trial.taken_count, 100);
    ck_assert_int_le(atomic_load(&trial.made_count), 100 + 6 + _i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ordered_work");
    TCase *tests = tcase_create("ordered_work");
    tcase_add_loop_test(tests, pieces_are_taken_in_their_order, 0, 6);
    tcase_add_test(tests, without_room_the_next_piece_is_made_nevertheless);
    tcase_add_loop_test(tests, what_is_not_wanted_any_more_is_not_made, 0, 6);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
