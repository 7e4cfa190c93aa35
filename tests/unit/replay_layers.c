/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory_profile/replay_program.h"

#include "recorded.h"

/* ---- attention ---- */

/* Scores of 16 MiB twice, the result of 4 MiB; going backward twice the scores, and 16 MiB or 4 MiB of another. */
static void attend(const char *softmax, int64_t other_bytes)
{
    uint64_t scores = ask(SCORES, 16 * MIB), weights = ask(softmax, 16 * MIB), result = ask(RESULT, 4 * MIB);
    uint64_t other = ask(FORWARD, other_bytes);
    let_go(scores);
    uint64_t first = ask(BACKWARD, 16 * MIB), second = ask(BACKWARD, 16 * MIB), last = ask(BACKWARD, 4 * MIB);
    let_go(first);
    let_go(second);
    let_go(last);
    let_go(weights);
    let_go(result);
    let_go(other);
}

START_TEST(a_fused_kernel_stores_no_scores)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 1 * MIB);
    attend(SOFTMAX, 2 * MIB);
    /* weight, rows, result, other, and the gradient */
    ck_assert_int_eq(changed(&program, "attention=sdpa").requested_bytes, 11 * MIB + 4 * MIB / 64);
    ck_assert_uint_eq(program->bounds, 0);
}
END_TEST

START_TEST(what_is_as_large_as_scores_stays_going_backward)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 1 * MIB);
    attend(SOFTMAX, 16 * MIB);
    ck_assert_int_eq(changed(&program, "attention=sdpa").requested_bytes, 57 * MIB + 4 * MIB / 64);
    ck_assert_uint_eq(program->bounds, REPLAY_AT_MOST);
    ck_assert_msg(strstr(program->reason, "32.00 MiB of the size of scores stay") != NULL, "%s", program->reason);
}
END_TEST

START_TEST(scores_grow_with_the_square_of_the_tokens)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 1 * MIB);
    attend(SOFTMAX, 2 * MIB);
    /* weight 1; 4 and 4 of scores, half of result and of the other; going backward 4 and 4 and half of 4 */
    ck_assert_int_eq(changed(&program, "sequence=0.5").requested_bytes, 18 * MIB);
    ck_assert_uint_eq(program->bounds, 0);
}
END_TEST

/* Without a module around it nothing tells that what the function asks for is of a batch. */
START_TEST(scores_that_no_batch_is_told_of_grow_with_the_square_too)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 1 * MIB);
    ask(FORWARD, 2 * MIB);
    uint64_t scores = ask(OWN_ATTENTION, 8 * MIB), weights = ask(SOFTMAX_OF(OWN_ATTENTION), 16 * MIB);
    uint64_t passing = ask(OWN_ATTENTION, 3 * MIB);
    let_go(passing);
    let_go(scores);
    let_go(weights);
    ck_assert_int_eq(changed(&program, "sequence=0.5").requested_bytes, 11 * MIB);
    ck_assert_msg(strstr(program->reason, "3.00 MiB") != NULL, "%s", program->reason);
}
END_TEST

START_TEST(without_tokens_there_is_no_sequence)
{
    ask(MODULE, 4 * MIB);
    let_go(ask(FORWARD, 2 * MIB));
    refused("sequence=0.5", "nothing shows tokens");
}
END_TEST

START_TEST(a_softmax_of_what_others_made_is_no_attention)
{
    ask(MODULE, 1 * MIB);
    attend(ROUTER, 2 * MIB);
    refused("attention=sdpa", "no function is seen");
}
END_TEST

/* What makes what a softmax takes, the softmax, and what takes it. */
static void weigh(const char *before, const char *softmax, const char *after)
{
    ask(MODULE, 1 * MIB);
    uint64_t scores = ask(before, 16 * MIB), weights = ask(softmax, 16 * MIB), result = ask(after, 4 * MIB);
    let_go(scores);
    let_go(weights);
    let_go(result);
}

START_TEST(a_softmax_is_of_attention_where_something_says_so)
{
    static const struct {
        const char *before, *softmax, *after;
        bool is_attention;
    } rows[] = {
        {SAMPLED, SOFTMAX_OF(SAMPLED), SAMPLED, false},
        {GATE BLOCK("9"), SOFTMAX_OF(BLOCK("10")), BLOCK("11"), false},
        {PRODUCT("matmul") PRODUCT("linear") BLOCK("9"), SOFTMAX_OF(BLOCK("10")), PRODUCT("bmm") BLOCK("12"), false},
        {PRODUCT("bmm") BLOCK("9"), SOFTMAX_OF(BLOCK("10")), BLOCK("12"), false},
        {PRODUCT("bmm") BLOCK("9"), SOFTMAX_OF(BLOCK("10")), PRODUCT("matmul") BLOCK("12"), true},
        {SCORES, SOFTMAX, RESULT, true},
    };
    struct replay_program *program;
    weigh(rows[_i].before, rows[_i].softmax, rows[_i].after);
    if (rows[_i].is_attention)
        ck_assert_int_eq(changed(&program, "attention=sdpa").requested_bytes, 5 * MIB + 4 * MIB / 64);
    else
        refused("attention=sdpa", "known to belong to attention");
}
END_TEST

/* ---- checkpoint ---- */

/* Two calls of a module that saves 8 MiB and gives 2 MiB back, and asks for 3 MiB in between. */
static void layers(const char *first, uint32_t calls, bool has_backward)
{
    uint64_t saved[4], results[4];
    for (uint32_t i = 0; i < calls; i++) {
        saved[i] = ask(first, 8 * MIB);
        uint64_t passing = ask(SECOND, 3 * MIB);
        results[i] = ask(SECOND, 2 * MIB);
        let_go(passing);
    }
    uint64_t last = ask(FORWARD, 1 * MIB);
    for (uint32_t i = calls; i-- > 0 && has_backward;) {
        uint64_t gradient = ask(BACKWARD, 1 * MIB);
        let_go(results[i]);
        let_go(saved[i]);
        let_go(gradient);
    }
    for (uint32_t i = 0; i < calls && !has_backward; i++) {
        let_go(results[i]);
        let_go(saved[i]);
    }
    let_go(last);
}

START_TEST(a_checkpoint_keeps_results_and_makes_the_rest_again)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 1 * MIB);
    layers(FIRST, 3, true);
    /* In the third call: a weight, two results, 8, 3 and 2 MiB; as recorded all of the three, a gradient: 33 MiB. */
    ck_assert_int_eq(changed(&program, "checkpoint").requested_bytes, 18 * MIB);
    ck_assert(program->is_checkpointed);
}
END_TEST

START_TEST(a_module_that_is_called_once_is_no_layer)
{
    layers(FIRST, 1, true);
    refused("checkpoint", "more than once");
}
END_TEST

START_TEST(no_frames_of_modules_are_no_layers)
{
    layers(FORWARD, 0, true);
    refused("checkpoint", "more than once");
}
END_TEST

START_TEST(what_no_backward_pass_waits_for_is_not_held)
{
    layers(FIRST, 3, false);
    refused("checkpoint", "hold anything until a backward pass");
}
END_TEST

START_TEST(what_is_computed_again_is_checkpointed_already)
{
    layers(FIRST, 3, true);
    let_go(ask(UNPACK, 8 * MIB));
    refused("checkpoint", "already");
}
END_TEST

/* The result of the second call is freed last: what it had passed is asked for again then. */
START_TEST(what_comes_behind_the_last_event_is_run)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    uint64_t results[2];
    for (uint32_t i = 0; i < 2; i++) {
        ask(FIRST, 8 * MIB);
        uint64_t passing = ask(SECOND, 3 * MIB);
        results[i] = ask(SECOND, 2 * MIB);
        let_go(passing);
    }
    ask(FORWARD, 10 * MIB);
    ask(BACKWARD, 1 * MIB);
    let_go(results[1]);
    /* the first result, the second call's 8 MiB, 10, 1 and 3 again; as the backward pass begins 23 MiB */
    ck_assert_int_eq(changed(&program, "checkpoint").requested_bytes, 24 * MIB);
    ck_assert_uint_eq(program->extras[program->extra_count - 1].at, program->pool->count);
}
END_TEST

START_TEST(changes_follow_each_other)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    struct memory_profile_replay_change after;
    ask(MODULE, 5 * MIB);
    layers(FIRST, 3, true);
    changed(&program, "checkpoint");
    ck_assert(replay_program_apply(program, "batch=0.5", &err));
    const struct memory_profile_replay *replay = memory_profile_replay_of(&profile.pools[0], &arena);
    memory_profile_replay_run(replay, &replay->settings, program, false, &arena, &after);
    ck_assert_int_eq(after.requested_bytes, 13 * MIB + MIB / 2);
    struct err own_err = ERR_INIT;
    ck_assert(!replay_program_apply(program, "checkpoint", &own_err));
    ck_assert_ptr_nonnull(strstr(own_err.text, "an earlier change"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay_layers");
    TCase *tests = tcase_create("replay_layers");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, a_fused_kernel_stores_no_scores);
    tcase_add_test(tests, what_is_as_large_as_scores_stays_going_backward);
    tcase_add_test(tests, scores_grow_with_the_square_of_the_tokens);
    tcase_add_test(tests, scores_that_no_batch_is_told_of_grow_with_the_square_too);
    tcase_add_test(tests, without_tokens_there_is_no_sequence);
    tcase_add_test(tests, a_softmax_of_what_others_made_is_no_attention);
    tcase_add_loop_test(tests, a_softmax_is_of_attention_where_something_says_so, 0, 6);
    tcase_add_test(tests, a_checkpoint_keeps_results_and_makes_the_rest_again);
    tcase_add_test(tests, a_module_that_is_called_once_is_no_layer);
    tcase_add_test(tests, no_frames_of_modules_are_no_layers);
    tcase_add_test(tests, what_no_backward_pass_waits_for_is_not_held);
    tcase_add_test(tests, what_is_computed_again_is_checkpointed_already);
    tcase_add_test(tests, what_comes_behind_the_last_event_is_run);
    tcase_add_test(tests, changes_follow_each_other);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
