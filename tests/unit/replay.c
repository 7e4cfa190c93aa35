/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory_profile/replay.h"

#include "model/memory_profile/model.h"
#include "read/torch/torch_snapshot.h"

#include "arena.h"

#define MIB (INT64_C(1) << 20)

/* A request of 12 MiB that stays, and its segment. */
static const char SNAPSHOT[] =
    "{\"segments\":[{\"device\":0,\"address\":1099511627776,\"total_size\":12582912,\"stream\":0,"
    "\"segment_type\":\"large\",\"blocks\":[{\"address\":1099511627776,\"size\":12582912,"
    "\"requested_size\":12582912,\"state\":\"active_allocated\"}]}],"
    "\"device_traces\":[["
    "{\"action\":\"segment_alloc\",\"addr\":1099511627776,\"size\":12582912,\"stream\":0,\"time_us\":1},"
    "{\"action\":\"alloc\",\"addr\":1099511627776,\"size\":12582912,\"stream\":0,\"time_us\":2}]]}";

static struct bytes bytes;
static struct memory_profile profile;

static void begin(void)
{
    static struct memory_events events;
    arena_begin();
    ARENA_MUST_NOT_JUMP();
    bytes_open(&bytes, SNAPSHOT, sizeof(SNAPSHOT) - 1);
    ck_assert_msg(torch_snapshot_read(&bytes.source, &arena, &events, &err), "%s", err.text);
    memory_profile_model_build(&profile, &events, NULL, &arena);
    ck_assert_uint_eq(profile.pool_count, 1);
}

static void end(void)
{
    arena_end();
    bytes_close(&bytes);
}

START_TEST(a_replay_says_what_the_rules_make)
{
    ARENA_MUST_NOT_JUMP();
    const struct memory_profile_replay *replay = memory_profile_replay_of(&profile.pools[0], &arena);
    ck_assert_ptr_null(replay->why_not);
    ck_assert(replay->is_exact && replay->is_whole);
    ck_assert_int_eq(replay->reserved_bytes, 12 * MIB);
    struct memory_profile_replay_change change;
    const struct caching_settings settings = {.is_expandable = true};
    memory_profile_replay_run(replay, &settings, NULL, false, &arena, &change);
    ck_assert_ptr_null(change.why_not);
    ck_assert_int_eq(change.reserved_bytes, 20 * MIB);
}
END_TEST

START_TEST(a_curve_has_the_highest_of_each_part_of_the_time)
{
    ARENA_MUST_NOT_JUMP();
    const struct memory_profile_replay *replay = memory_profile_replay_of(&profile.pools[0], &arena);
    const struct caching_settings settings = {.is_expandable = true};
    struct replay_curve curve;
    const int64_t request_ps = profile.time_ps[profile.pools[0].first];
    replay_curve_begin(&curve, request_ps - 2, request_ps + 2, 4, &arena);
    ck_assert_ptr_null(memory_profile_replay_curve(replay, &settings, NULL, &arena, &curve));
    ck_assert_uint_eq(curve.count, 4);
    const int64_t reserved[] = {0, 0, 20 * MIB, 20 * MIB}, allocated[] = {0, 0, 12 * MIB, 12 * MIB};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(curve.reserved_bytes[i], reserved[i]);
        ck_assert_int_eq(curve.allocated_bytes[i], allocated[i]);
    }
}
END_TEST

START_TEST(a_curve_keeps_a_peak_and_goes_on_with_what_is_held)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_curve curve;
    struct caching caching = {.reserved.bytes = 5, .allocated.bytes = 4};
    replay_curve_begin(&curve, 100, 500, 4, &arena);
    replay_curve_add(&curve, 100, &caching);
    caching.reserved.bytes = caching.allocated.bytes = 9;
    replay_curve_add(&curve, 150, &caching);
    caching.reserved.bytes = caching.allocated.bytes = 1;
    replay_curve_add(&curve, 160, &caching);
    caching.reserved.bytes = 2;
    replay_curve_add(&curve, 450, &caching);
    ck_assert_uint_eq(curve.count, 4);
    const int64_t reserved[] = {9, 1, 1, 2};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(curve.reserved_bytes[i], reserved[i]);
    replay_curve_begin(&curve, 7, 7, 1, &arena); /* no time at all */
    replay_curve_add(&curve, 7, &caching);
    replay_curve_end(&curve);
    ck_assert_int_eq(curve.reserved_bytes[0], 2);
}
END_TEST

static bool is_done_within(uint64_t limit_bytes)
{
    struct err own_err = ERR_INIT;
    struct arena own;
    arena_init(&own, limit_bytes, &own_err);
    if (setjmp(own.trap) != 0)
        ck_abort_msg("%s", own_err.text);
    const struct memory_profile_replay *replay = memory_profile_replay_of(&profile.pools[0], &own);
    ck_assert(!err_is_set(&own_err));
    bool is_done = replay->why_not == NULL;
    ck_assert_str_eq(is_done ? "" : replay->sentence,
                     is_done ? "" : "Not replayed: it takes more memory than one answer may.");
    arena_free(&own);
    return is_done;
}

/* The failure is not kept: the next question with more memory is answered. */
START_TEST(without_room_it_says_so_and_is_asked_again)
{
    ck_assert(!is_done_within(1 << 14));
    ck_assert(is_done_within(1 << 22));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay");
    TCase *tests = tcase_create("replay");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, a_replay_says_what_the_rules_make);
    tcase_add_test(tests, a_curve_has_the_highest_of_each_part_of_the_time);
    tcase_add_test(tests, a_curve_keeps_a_peak_and_goes_on_with_what_is_held);
    tcase_add_test(tests, without_room_it_says_so_and_is_asked_again);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
