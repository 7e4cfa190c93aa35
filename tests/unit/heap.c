/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/heap.h"

#include "arena.h"

enum { BUFFERS = 6 };
static const int64_t bytes_of[BUFFERS] = {10, 20, 40, 80, 160, 320};
static const int64_t unpadded_of[BUFFERS] = {1, 2, 4, 8, 16, 32};
static struct heap heap;

#define ALLOC(buffer) {HEAP_ALLOC, buffer, HEAP_NONE}
#define FREE(buffer) {HEAP_FREE, buffer, HEAP_NONE}
#define SHARE(buffer, with) {HEAP_SHARE, buffer, with}

/* The holds that are open after a step add up to the curve: at every step, on any input. */
static void sums_balance(void)
{
    for (uint32_t step = 0; step < heap.event_count; step++) {
        int64_t sum = 0;
        if (heap.failure != HEAP_FINE && step >= heap.failure_at)
            break;
        for (uint32_t i = 0; i < heap.hold_count; i++)
            if (heap.holds[i].born <= step && step < heap.holds[i].dies)
                sum += bytes_of[heap.holds[i].root_at];
        ck_assert_int_eq(sum, heap.series[step + 1]);
    }
}

#define REPLAY(...)                                                                                                    \
    do {                                                                                                               \
        const struct heap_event events[] = {__VA_ARGS__};                                                              \
        ARENA_MUST_NOT_JUMP();                                                                                         \
        heap_replay(events, sizeof(events) / sizeof(events[0]), bytes_of, unpadded_of, BUFFERS, &arena, &heap);        \
    } while (0)

START_TEST(series_holds_sizes_before_events)
{
    REPLAY(ALLOC(0), ALLOC(1), FREE(0), ALLOC(2), FREE(1), FREE(2));
    static const int64_t expected[] = {0, 10, 30, 20, 60, 40, 0};
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(heap.series[i], expected[i]);
    ck_assert_uint_eq(heap.peak_at, 3);
    ck_assert_int_eq(heap.peak_bytes, 60);
    ck_assert_int_eq(heap.peak_unpadded_bytes, 6);
    ck_assert_uint_eq(heap.unfreed_count, 0);
    sums_balance();
}
END_TEST

START_TEST(peak_is_the_first_maximum)
{
    REPLAY(ALLOC(2), FREE(2), ALLOC(2), FREE(2));
    ck_assert_uint_eq(heap.peak_at, 0);
}
END_TEST

START_TEST(shared_memory_counts_once_and_goes_with_its_last_user)
{
    REPLAY(ALLOC(0), SHARE(1, 0), FREE(0), ALLOC(2), FREE(1), FREE(2));
    ck_assert_int_eq(heap.series[3], 10); /* the sharer still holds it */
    ck_assert_int_eq(heap.series[5], 40);
    ck_assert_uint_eq(heap.hold_count, 2);
    ck_assert_uint_eq(heap.holds[0].dies, 4);
    ck_assert_uint_eq(heap.spans[0].limit, 4);
    sums_balance();
}
END_TEST

START_TEST(memory_that_is_used_again_belongs_to_the_sharer)
{
    REPLAY(ALLOC(0), FREE(0), SHARE(1, 0), FREE(1), ALLOC(2));
    ck_assert_uint_eq(heap.hold_count, 3);
    ck_assert_uint_eq(heap.holds[1].buffer_at, 1);
    ck_assert_uint_eq(heap.holds[1].root_at, 0);
    ck_assert_uint_eq(heap.spans[0].limit, 1); /* the first owner's span stays where it ended */
    ck_assert_uint_eq(heap.spans[1].start, 2);
    ck_assert_uint_eq(heap.spans[1].limit, 3);
    ck_assert_uint_eq(heap.unfreed_count, 1);
    sums_balance();
}
END_TEST

START_TEST(chains_of_sharing_end_at_one_root)
{
    REPLAY(ALLOC(3), SHARE(0, 3), SHARE(1, 0), SHARE(2, 1), FREE(3), FREE(0), FREE(1), FREE(2));
    ck_assert_int_eq(heap.series[7], 80);
    ck_assert_int_eq(heap.series[8], 0);
    ck_assert_int_eq(heap.failure, HEAP_FINE);
    sums_balance();
}
END_TEST

enum { CHAIN = 10000, CHAIN_EVENTS = 100000 };
static struct heap_event chain[CHAIN + CHAIN_EVENTS];
static int64_t chain_bytes[CHAIN];

/* Buffer 0 is allocated, each other one shares the memory of the one before it. */
static void chain_fill(void)
{
    chain[0] = (struct heap_event)ALLOC(0);
    for (uint32_t i = 1; i < CHAIN; i++)
        chain[i] = (struct heap_event)SHARE(i, i - 1);
    for (uint32_t i = 0; i < CHAIN; i++)
        chain_bytes[i] = 8;
}

START_TEST(long_chains_of_sharing_cost_a_few_steps_an_event)
{
    enum { STEPS_AN_EVENT = 4 };
    chain_fill();
    for (uint32_t i = CHAIN; i < CHAIN + CHAIN_EVENTS; i++)
        chain[i] = i % 2 == 0 ? (struct heap_event)FREE(CHAIN - 1) : (struct heap_event)SHARE(CHAIN - 1, CHAIN - 2);
    ARENA_MUST_NOT_JUMP();
    arena_allot_work(&arena, (uint64_t)(CHAIN + CHAIN_EVENTS) * STEPS_AN_EVENT);
    heap_replay(chain, CHAIN + CHAIN_EVENTS, chain_bytes, chain_bytes, CHAIN, &arena, &heap);
    ck_assert_int_eq(heap.failure, HEAP_FINE); /* however long the chain is */
    ck_assert_int_eq(heap.peak_bytes, 8);
    ck_assert_uint_eq(heap.unfreed_count, 1);
}
END_TEST

/* The middle of the chain shares with one buffer, then with another: the lower half is walked anew each time. */
START_TEST(chains_that_change_are_charged_for_each_link)
{
    chain_fill();
    for (uint32_t i = CHAIN; i < CHAIN + CHAIN_EVENTS; i += 4) {
        chain[i] = (struct heap_event)ALLOC(0);
        chain[i + 1] = (struct heap_event)SHARE(CHAIN / 2, i % 8 == 0 ? 0 : 1);
        chain[i + 2] = (struct heap_event)SHARE(CHAIN - 1, CHAIN - 2);
        chain[i + 3] = (struct heap_event)FREE(CHAIN - 1);
    }
    if (setjmp(arena.trap) == 0) {
        arena_allot_work(&arena, (uint64_t)(CHAIN + CHAIN_EVENTS) * 100);
        heap_replay(chain, CHAIN + CHAIN_EVENTS, chain_bytes, chain_bytes, CHAIN, &arena, &heap);
        ck_abort_msg("half a chain was walked %d times on %d steps an event", CHAIN_EVENTS / 4, 100);
    }
    ck_assert_int_eq(err.code, ERR_limit);
}
END_TEST

START_TEST(a_buffer_that_shares_anew_takes_its_sharers_with_it)
{
    REPLAY(ALLOC(0), SHARE(1, 0), SHARE(2, 1), FREE(2), ALLOC(3), SHARE(1, 3), SHARE(2, 1), FREE(3), FREE(1));
    ck_assert_int_eq(heap.failure, HEAP_FINE);
    ck_assert_int_eq(heap.series[8], 90); /* 2 holds the memory of 3 by 1, */
    ck_assert_int_eq(heap.series[9], 90);
    REPLAY(ALLOC(0), SHARE(1, 0), SHARE(2, 1), SHARE(1, 2));
    ck_assert_int_eq(heap.failure, HEAP_BAD_SHARING); /* where the circle closes */
    ck_assert_uint_eq(heap.failure_at, 3);
}
END_TEST

START_TEST(unknown_buffers_pass_without_effect)
{
    REPLAY(ALLOC(HEAP_NONE), ALLOC(1), FREE(HEAP_NONE), SHARE(0, HEAP_NONE), FREE(1));
    ck_assert_uint_eq(heap.unknown_count, 3);
    ck_assert_uint_eq(heap.event_count, 5);
    ck_assert_int_eq(heap.peak_bytes, 20);
    ck_assert_uint_eq(heap.peak_at, 1);
}
END_TEST

START_TEST(impossible_traces_are_named)
{
    REPLAY(ALLOC(0), FREE(0), FREE(0));
    ck_assert_int_eq(heap.failure, HEAP_FREED_TOO_OFTEN);
    ck_assert_uint_eq(heap.failure_at, 2);
    REPLAY(FREE(4));
    ck_assert_int_eq(heap.failure, HEAP_FREED_TOO_OFTEN);
    REPLAY(SHARE(0, 1), SHARE(1, 0));
    ck_assert_int_eq(heap.failure, HEAP_BAD_SHARING);
    REPLAY(SHARE(0, 0));
    ck_assert_int_eq(heap.failure, HEAP_BAD_SHARING);
    REPLAY(ALLOC(0), {HEAP_UNKNOWN_KIND, 0, HEAP_NONE}, ALLOC(1));
    ck_assert_int_eq(heap.failure, HEAP_BAD_KIND);
    ck_assert_int_eq(heap.series[3], 10); /* the rest repeats the last value */
}
END_TEST

START_TEST(sums_that_would_wrap_are_named)
{
    static const int64_t huge[1] = {INT64_C(1) << 48};
    static struct heap_event events[40000];
    for (int i = 0; i < 40000; i++)
        events[i] = (struct heap_event){HEAP_ALLOC, 0, HEAP_NONE};
    ARENA_MUST_NOT_JUMP();
    heap_replay(events, 40000, huge, huge, 1, &arena, &heap);
    ck_assert_int_eq(heap.failure, HEAP_TOO_LARGE);
    for (uint32_t i = 0; i <= heap.event_count; i++)
        ck_assert_int_ge(heap.series[i], 0);
}
END_TEST

START_TEST(any_trace_balances)
{
    uint32_t state = (uint32_t)_i * 2654435761U + 1;
    struct heap_event events[200];
    for (int i = 0; i < 200; i++) {
        state = state * 1664525 + 1013904223;
        uint32_t what = state >> 20;
        events[i].kind = what % 3 == 0 ? HEAP_ALLOC : what % 3 == 1 ? HEAP_FREE : HEAP_SHARE;
        events[i].buffer_at = (what >> 2) % BUFFERS;
        events[i].canonical_at = (what >> 5) % BUFFERS;
    }
    ARENA_MUST_NOT_JUMP();
    heap_replay(events, 200, bytes_of, unpadded_of, BUFFERS, &arena, &heap);
    for (uint32_t i = 0; i <= heap.event_count; i++)
        ck_assert_int_ge(heap.series[i], 0);
    for (uint32_t i = 0; i < heap.span_count; i++)
        ck_assert_uint_le(heap.spans[i].start, heap.spans[i].limit);
}
END_TEST

START_TEST(an_empty_trace_is_fine)
{
    ARENA_MUST_NOT_JUMP();
    heap_replay(NULL, 0, bytes_of, unpadded_of, BUFFERS, &arena, &heap);
    ck_assert(!heap.has_peak);
    ck_assert_int_eq(heap.series[0], 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("heap");
    TCase *tests = tcase_create("heap");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, series_holds_sizes_before_events);
    tcase_add_test(tests, peak_is_the_first_maximum);
    tcase_add_test(tests, shared_memory_counts_once_and_goes_with_its_last_user);
    tcase_add_test(tests, memory_that_is_used_again_belongs_to_the_sharer);
    tcase_add_test(tests, chains_of_sharing_end_at_one_root);
    tcase_add_test(tests, long_chains_of_sharing_cost_a_few_steps_an_event);
    tcase_add_test(tests, chains_that_change_are_charged_for_each_link);
    tcase_add_test(tests, a_buffer_that_shares_anew_takes_its_sharers_with_it);
    tcase_add_test(tests, unknown_buffers_pass_without_effect);
    tcase_add_test(tests, impossible_traces_are_named);
    tcase_add_test(tests, sums_that_would_wrap_are_named);
    tcase_add_loop_test(tests, any_trace_balances, 0, 200);
    tcase_add_test(tests, an_empty_trace_is_fine);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
