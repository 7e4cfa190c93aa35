/* SPDX-License-Identifier: Apache-2.0
 * replay_kept.c: what is kept from pass to pass, lies in the host's memory, or on other devices. */
#include "model/memory_profile/replay_program.h"
#include "model/memory_profile/replay_steps.h"

#include "recorded.h"

#define CACHE "{\"name\":\"update\",\"filename\":\"/x/transformers/cache_utils.py\",\"line\":90}"

/* 8 MiB are saved; the gradient of a weight of 4 MiB is made, and added to the one that is there, if any. */
static uint64_t pass(uint64_t gradient, int64_t saved_bytes)
{
    uint64_t saved = ask(FORWARD, saved_bytes), made = ask(BACKWARD, 4 * MIB);
    let_go(saved);
    if (gradient != 0)
        let_go(made);
    return gradient != 0 ? gradient : made;
}

static void step(void) { let_go(ask(STEP, 1 * MIB)); }

/* A weight of 4 MiB, its gradient in three passes; the second one saves most. */
START_TEST(gradients_that_are_kept_are_freed_before_each_pass)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    uint64_t gradient = 0;
    ask(MODULE, 4 * MIB);
    for (int i = 0; i < 3; i++) {
        gradient = pass(gradient, i == 1 ? 64 * MIB : 8 * MIB);
        step();
    }
    ask(FORWARD, 1 * MIB);
    /* weight, gradient made, what is saved: the one that was kept is gone */
    ck_assert_int_eq(changed(&program, "zero_grad").requested_bytes, 72 * MIB);
    ck_assert_uint_eq(program->bounds, 0);
    ck_assert_uint_gt(program->extra_count, 3);
}
END_TEST

START_TEST(gradients_that_are_added_up_on_purpose_stay)
{
    uint64_t gradient = 0;
    ask(MODULE, 4 * MIB);
    for (int i = 0; i < 3; i++)
        gradient = pass(gradient, 8 * MIB);
    ask(FORWARD, 1 * MIB);
    refused("zero_grad", "added up on purpose");
}
END_TEST

START_TEST(gradients_that_are_freed_are_no_matter)
{
    ask(MODULE, 4 * MIB);
    for (int i = 0; i < 3; i++) {
        uint64_t gradient = pass(0, 8 * MIB);
        step();
        let_go(gradient);
    }
    ask(FORWARD, 1 * MIB);
    refused("zero_grad", "freed already");
}
END_TEST

START_TEST(a_cache_is_not_asked_for)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 4 * MIB);
    ask(CACHE, 16 * MIB);
    pass(0, 8 * MIB);
    ask(FORWARD, 1 * MIB);
    ck_assert_int_eq(changed(&program, "no_cache").requested_bytes, 16 * MIB);
    ck_assert_uint_eq(program->bounds, REPLAY_AT_LEAST);
}
END_TEST

/* Twenty tensors of 8 MiB are saved, each freed behind a gradient of 2 MiB. */
START_TEST(saved_activations_come_back_one_at_a_time)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    uint64_t saved[20];
    ask(MODULE, 4 * MIB);
    for (int i = 0; i < 20; i++)
        saved[i] = ask(FORWARD, 8 * MIB);
    for (int i = 20; i-- > 0;) {
        let_go(ask(BACKWARD, 2 * MIB));
        let_go(saved[i]);
    }
    ask(BACKWARD, 4 * MIB);
    ask(FORWARD, 1 * MIB);
    /* the weight, and seven that wait for their copies beside the one that is made */
    int64_t peak_bytes = changed(&program, "offload=activations").requested_bytes;
    ck_assert_int_eq(peak_bytes, 4 * MIB + 8 * 8 * MIB);
    ck_assert_uint_eq(program->bounds, REPLAY_AT_LEAST);
    ck_assert(program->is_moved);
}
END_TEST

START_TEST(nothing_that_waits_is_not_moved)
{
    ask(MODULE, 4 * MIB);
    let_go(ask(FORWARD, 8 * MIB));
    refused("offload=activations", "held until a backward pass");
}
END_TEST

/* Two weights, of 4 and 12 MiB; gradient and state of the large one. */
START_TEST(weights_are_split_and_the_largest_is_gathered)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 4 * MIB);
    ask(MODULE, 12 * MIB);
    let_go(ask(FORWARD, 1 * MIB));
    ask(BACKWARD, 12 * MIB);
    ask(INIT_STATE, 12 * MIB);
    let_go(ask(STEP, 8 * MIB));
    ask(FORWARD, 1 * MIB);
    /* weights 1 + 12, gradient 12, state 3, what the step makes 2 */
    ck_assert_int_eq(changed(&program, "shard=4").requested_bytes, 30 * MIB);
    ck_assert_uint_eq(program->bounds, REPLAY_AT_LEAST);
}
END_TEST

START_TEST(no_weights_are_not_split)
{
    static const char *const rows[][2] = {
        {"shard=4", "no weights"}, {"shard=1", "write shard=4"}, {"shard=99999", "write"}};
    let_go(ask(FORWARD, 1 * MIB));
    refused(rows[_i][0], rows[_i][1]);
}
END_TEST

/* State of 8 MiB for a weight of 4 MiB. */
START_TEST(state_of_the_host_takes_nothing)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 4 * MIB);
    ask(BACKWARD, 4 * MIB);
    ask(INIT_STATE, 8 * MIB);
    let_go(ask(STEP, 3 * MIB));
    ck_assert_int_eq(changed(&program, "offload=optimizer").requested_bytes, 8 * MIB);
    ck_assert_uint_eq(program->bounds, 0);
}
END_TEST

/* ---- steps ---- */

static struct replay_steps steps_of(const char *const *changes, int64_t capacity_bytes)
{
    struct replay_steps steps;
    replay_steps_begin(&steps, replay_of(), capacity_bytes, &arena);
    ck_assert_msg(replay_steps_begin_program(&steps, &err), "%s", err.text);
    for (; *changes != NULL; changes++)
        ck_assert_msg(replay_steps_apply(&steps, *changes, &err) && replay_steps_run(&steps, &err), "%s", err.text);
    return steps;
}

/* A setting of the collection says that it does nothing alone, beside how sure the program's figure is. */
START_TEST(reasons_stand_beside_each_other)
{
    ARENA_MUST_NOT_JUMP();
    ask(MODULE, 4 * MIB);
    pass(0, 8 * MIB);
    ask(FORWARD, 1 * MIB);
    struct replay_steps steps = steps_of((const char *const[]){"batch=0.5", "gc_threshold=0.6", NULL}, -1);
    const char *reason = steps.items[1].reason;
    ck_assert_msg(strstr(reason, "The requests of the changed program") != NULL, "%s", reason);
    ck_assert_msg(strstr(reason, "Nothing is collected") != NULL, "%s", reason);
}
END_TEST

/* 16 MiB of the program's own are not told of a batch: a bound, at most of half a batch, at least of twice. */
START_TEST(a_bound_on_the_other_side_is_no_answer)
{
    ARENA_MUST_NOT_JUMP();
    static const struct {
        const char *change;
        int64_t capacity_bytes;
        enum replay_fits fits;
    } rows[] = {{"batch=2", 1024 * MIB, REPLAY_FITS_NOT_KNOWN}, {"batch=2", 8 * MIB, REPLAY_FITS_NO},
                {"batch=0.5", 1024 * MIB, REPLAY_FITS_YES},     {"batch=0.5", 8 * MIB, REPLAY_FITS_NOT_KNOWN},
                {"batch=1", 1024 * MIB, REPLAY_FITS_YES},       {"batch=0.5", -1, REPLAY_FITS_NOT_KNOWN}};
    struct memory_fit fit;
    ask(OWN, 16 * MIB);
    ask(MODULE, 4 * MIB);
    pass(0, 8 * MIB);
    ask(FORWARD, 1 * MIB);
    struct replay_steps steps = steps_of((const char *const[]){rows[_i].change, NULL}, rows[_i].capacity_bytes);
    struct memory_profile_replay_change after = replay_steps_after(&steps);
    ck_assert_int_eq(replay_steps_fits(&steps, &after, steps.bounds, &fit), rows[_i].fits);
    bool is_half = strcmp(rows[_i].change, "batch=0.5") == 0; /* takes at most so much: nor is a failure one */
    after.failed_at = 0;
    ck_assert_int_eq(replay_steps_fits(&steps, &after, steps.bounds, &fit),
                     is_half ? REPLAY_FITS_NOT_KNOWN : REPLAY_FITS_NO);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay_kept");
    TCase *tests = tcase_create("replay_kept");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, gradients_that_are_kept_are_freed_before_each_pass);
    tcase_add_test(tests, gradients_that_are_added_up_on_purpose_stay);
    tcase_add_test(tests, gradients_that_are_freed_are_no_matter);
    tcase_add_test(tests, a_cache_is_not_asked_for);
    tcase_add_test(tests, saved_activations_come_back_one_at_a_time);
    tcase_add_test(tests, nothing_that_waits_is_not_moved);
    tcase_add_test(tests, weights_are_split_and_the_largest_is_gathered);
    tcase_add_loop_test(tests, no_weights_are_not_split, 0, 3);
    tcase_add_test(tests, state_of_the_host_takes_nothing);
    tcase_add_test(tests, reasons_stand_beside_each_other);
    tcase_add_loop_test(tests, a_bound_on_the_other_side_is_no_answer, 0, 6);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
