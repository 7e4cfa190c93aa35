/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory_profile/replay_program.h"

#include "recorded.h"

/* A weight of 4 MiB; 4 MiB and 8 MiB are saved; the gradient of an activation, 4 MiB, and that of the weight. */
static void pass(bool is_added)
{
    uint64_t saved[] = {ask(FORWARD, 4 * MIB), ask(FORWARD, 8 * MIB)};
    uint64_t passing = ask(BACKWARD, 4 * MIB), gradient = ask(BACKWARD, 4 * MIB);
    let_go(passing);
    let_go(saved[1]);
    let_go(saved[0]);
    if (is_added)
        let_go(gradient);
}

START_TEST(a_batch_resizes_what_is_of_examples)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 4 * MIB);
    pass(false);
    ask(FORWARD, 1 * MIB);
    struct memory_profile_replay_change after = changed(&program, "batch=0.5");
    /* weight 4, saved 2 + 4, gradients 2 and 4 */
    ck_assert_int_eq(after.requested_bytes, 16 * MIB);
    ck_assert_uint_eq(program->bounds, 0);
}
END_TEST

START_TEST(gradients_that_are_added_are_of_no_batch)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 4 * MIB);
    pass(false);
    pass(true);
    ask(FORWARD, 1 * MIB);
    struct memory_profile_replay_change after = changed(&program, "batch=0.5");
    ck_assert_int_eq(after.requested_bytes, 20 * MIB); /* and the gradient of before */
}
END_TEST

/* 8 MiB are saved, and the pass backward is not ended: the gradients of an activation, and of a weight of 4 MiB. */
START_TEST(an_open_gradient_is_of_a_weight_by_its_size)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    if (_i > 0)
        ask(MODULE, 4 * MIB);
    ask(FORWARD, 8 * MIB);
    let_go(ask(OWN, 1 * MIB));
    ask(BACKWARD, 8 * MIB);
    ask(BACKWARD, 4 * MIB);
    int64_t peak_bytes = changed(&program, _i < 2 ? "batch=0.5" : "accumulate=2").requested_bytes;
    /* without a weight nothing tells which one it is */
    ck_assert_int_eq(peak_bytes, (_i < 2 ? 16 : 20) * MIB);
    ck_assert_int_eq(program->extra_count, _i < 2 ? 0 : 2);
}
END_TEST

START_TEST(what_nothing_tells_stays_and_makes_a_bound)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    static const struct {
        const char *change;
        int64_t bytes;
        uint8_t bounds;
    } rows[] = {
        {"batch=0.5", 32 * MIB, REPLAY_AT_MOST}, {"batch=1", 40 * MIB, 0}, {"batch=2", 56 * MIB, REPLAY_AT_LEAST}};
    ask(OWN, 16 * MIB);
    ask(MODULE, 4 * MIB);
    pass(false);
    struct memory_profile_replay_change after = changed(&program, rows[_i].change);
    ck_assert_int_eq(after.requested_bytes, rows[_i].bytes);
    ck_assert_uint_eq(program->bounds, rows[_i].bounds);
    ck_assert_msg(strstr(program->reason, " 16.00 MiB at the peak are left as they are: ") != NULL, "%s",
                  program->reason);
}
END_TEST

START_TEST(a_batch_of_weights_alone_is_refused)
{
    ask(MODULE, 4 * MIB);
    refused("batch=0.5", "no forward pass, backward pass or input was recorded");
}
END_TEST

/* ---- optimizer ---- */

/* A weight of 4 MiB with two states, and what the step makes; the norm of gradients does not belong to an optimizer. */
static void step_with(bool has_state, int64_t norm_bytes)
{
    ask(MODULE, 4 * MIB);
    uint64_t gradient = ask(BACKWARD, 4 * MIB);
    if (has_state) {
        ask(INIT_STATE, 4 * MIB);
        ask(INIT_STATE, 4 * MIB);
    }
    uint64_t norm = ask(CLIP, norm_bytes), passing = ask(STEP, 3 * MIB);
    let_go(passing);
    let_go(norm);
    let_go(gradient);
}

static void step(bool has_state) { step_with(has_state, 2 * MIB); }

START_TEST(an_optimizer_without_state_asks_for_none)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    step(true);
    ck_assert_int_eq(changed(&program, "optimizer=sgd").requested_bytes, 10 * MIB);
    ck_assert_uint_eq(program->bounds, 0);
}
END_TEST

START_TEST(state_of_8_bits_is_a_quarter_and_its_scales)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    step(true);
    ck_assert_int_eq(changed(&program, "optimizer=8bit").requested_bytes, 12 * MIB + 2 * (4 * MIB / 256));
}
END_TEST

/* State of `state_bytes` for a weight of 4 MiB. */
static void step_of(const char *state, int64_t state_bytes)
{
    ask(MODULE, 4 * MIB);
    uint64_t gradient = ask(BACKWARD, 4 * MIB);
    ask(state, state_bytes);
    let_go(ask(STEP, 3 * MIB));
    let_go(gradient);
}

START_TEST(state_of_8_bits_does_not_become_smaller)
{
    step_of(_i == 0 ? QUANTIZED : QUANTIZED_TORCHAO, 1 * MIB);
    refused("optimizer=8bit", "8 bits already");
}
END_TEST

START_TEST(state_below_its_weight_is_not_of_32_bits)
{
    ARENA_MUST_NOT_JUMP();
    static const int64_t sizes[] = {4 * MIB, 2 * MIB, 1 * MIB, 3 * MIB};
    struct replay_program *program;
    step_of(INIT_STATE, sizes[_i]);
    changed(&program, "optimizer=8bit");
    ck_assert_uint_eq(program->bounds, _i == 1 || _i == 2 ? REPLAY_AT_LEAST : 0);
    ck_assert(!replay_program_apply(program, "optimizer=sgd", &err));
    ck_assert_ptr_nonnull(strstr(err.text, "an earlier change"));
}
END_TEST

START_TEST(factors_of_a_matrix_are_its_sides)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    int64_t norm_bytes = _i == 0 ? 2 * MIB : 5 * MIB;
    step_with(true, norm_bytes);
    /* a row and a column of 1,024 floats for each state; what the step makes stays */
    ck_assert_int_eq(changed(&program, "optimizer=adafactor").requested_bytes, 11 * MIB + norm_bytes + 2 * 8192);
    ck_assert_uint_eq(program->bounds, REPLAY_AT_MOST | REPLAY_AT_LEAST);
}
END_TEST

START_TEST(an_optimizer_that_keeps_nothing_cannot_keep_less)
{
    step(false);
    refused("optimizer=sgd", "no optimizer state");
}
END_TEST

START_TEST(parts_begin_with_the_gradients_of_those_before)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 5 * MIB);
    uint64_t saved = ask(FORWARD, 8 * MIB), passing = ask(BACKWARD, 2 * MIB), gradient = ask(BACKWARD, 5 * MIB);
    let_go(passing);
    let_go(saved);
    let_go(ask(FORWARD, 1 * MIB));
    let_go(gradient);
    /* weight, gradient of before, saved 4, passing 1, and the gradient that is added; in one part: 5 + 8 + 2 + 5 */
    ck_assert_int_eq(changed(&program, "accumulate=2").requested_bytes, 20 * MIB);
    ck_assert_int_eq(program->extra_count, 2);
    ck_assert(!replay_program_apply(program, "accumulate=2", &err));
    ck_assert_msg(strstr(err.text, "an earlier change") != NULL, "%s", err.text);
}
END_TEST

START_TEST(parts_without_gradients_are_refused)
{
    ask(MODULE, 5 * MIB);
    let_go(ask(FORWARD, 8 * MIB));
    refused("accumulate=2", "no gradients");
}
END_TEST

START_TEST(no_device_serves_a_batch_of_batches)
{
    ARENA_MUST_NOT_JUMP();
    ask(MODULE, 4 * MIB);
    pass(false);
    struct replay_program *program = replay_program_begin(replay_of(), &arena);
    struct err own_err = ERR_INIT;
    ck_assert(replay_program_apply(program, "batch=1000", &own_err));
    ck_assert(replay_program_apply(program, "batch=1000", &own_err));
    ck_assert(replay_program_apply(program, "batch=1", &own_err));
    ck_assert(!replay_program_apply(program, "batch=1000", &own_err) ||
              !replay_program_apply(program, "batch=1000", &own_err));
    ck_assert_ptr_nonnull(strstr(own_err.text, "more than any device"));
}
END_TEST

/* Two weights of 6 MiB and an embedding of 4 MiB, which is not cast; `cast_bytes` of each for the pass. */
static void cast_pass(int64_t cast_bytes)
{
    ask(MODULE, 6 * MIB);
    ask(MODULE, 6 * MIB);
    ask(MODULE, 4 * MIB);
    uint64_t casts[] = {ask(FORWARD, cast_bytes), ask(FORWARD, cast_bytes)}, saved = ask(FORWARD, 8 * MIB);
    let_go(ask(BACKWARD, 1 * MIB));
    let_go(saved);
    let_go(casts[1]);
    let_go(casts[0]);
}

START_TEST(weights_that_autocast_casts_are_of_no_batch)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    cast_pass(3 * MIB);
    ck_assert_int_eq(changed(&program, "batch=0.5").requested_bytes, 26 * MIB + MIB / 2);
}
END_TEST

START_TEST(activations_of_another_size_are_no_casts)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    cast_pass(5 * MIB);
    ck_assert_int_eq(changed(&program, "batch=0.5").requested_bytes, 25 * MIB + MIB / 2);
}
END_TEST

START_TEST(the_cache_of_a_server_is_of_no_batch)
{
    ARENA_MUST_NOT_JUMP();
    static const char SERVER[] = "{\"name\":\"_allocate_kv_cache\",\"filename\":\"/x/vllm/worker.py\",\"line\":9}";
    static const char OWN_CACHE[] = "{\"name\":\"update\",\"filename\":\"/x/transformers/cache_utils.py\",\"line\":9}";
    struct replay_program *program;
    ask(MODULE, 5 * MIB);
    ask(SERVER, 8 * MIB);
    ask(OWN_CACHE, 4 * MIB);
    ask(FORWARD, 2 * MIB);
    ck_assert_int_eq(changed(&program, "batch=0.5").requested_bytes, 16 * MIB);
    ck_assert_uint_eq(program->bounds, REPLAY_AT_MOST);
}
END_TEST

/* Steps that a change takes of a recording with requests from a stack of so many frames, whose path is so long. */
static uint64_t work_of(const char *change, int path_length, int frame_count, int request_count)
{
    struct buf frames = BUF_INIT;
    struct err own_err = ERR_INIT;
    begin();
    for (int i = 0; i < frame_count; i++)
        buf_format(&frames, "{\"name\":\"at::f\",\"filename\":\"??\",\"line\":0},");
    buf_format(&frames, "{\"name\":\"update\",\"filename\":\"/transformers/cache_utils%0*d.py\",\"line\":9}",
               path_length, 0);
    let_go(ask(SCORES, 4 * MIB));
    let_go(ask(SOFTMAX, 4 * MIB));
    for (int i = 0; i < request_count; i++)
        let_go(ask(frames.data, MIB));
    struct replay_program *program = replay_program_begin(replay_of(), &arena);
    arena_allot_work(&arena, UINT64_C(1) << 40);
    ck_assert_msg(replay_program_apply(program, change, &own_err), "%s", own_err.text);
    uint64_t work = (UINT64_C(1) << 40) - arena_work_left(&arena);
    end();
    buf_free(&frames);
    return work;
}

/* One look at a path costs one step for each byte: for a frame, not for each request or stack that has the frame. */
START_TEST(frames_are_looked_at_once_and_charged)
{
    const char *const change = _i == 0 ? "batch=2" : "attention=sdpa";
    uint64_t looks = _i == 0 ? 1 : 3;
    uint64_t work = work_of(change, 10, 1, 1), of_path = work_of(change, 10010, 1, 1) - work;
    ck_assert_uint_ge(of_path, looks * 10000);
    ck_assert_uint_le(work_of(change, 10010, 1, 11) - work_of(change, 10, 1, 11), of_path);
    uint64_t of_frames = work_of(change, 10, 401, 1) - work;
    ck_assert_uint_ge(of_frames, (_i == 0 ? 1 : 2) * UINT64_C(400));
    ck_assert_uint_le(work_of(change, 10, 401, 11) - work_of(change, 10, 1, 11), of_frames);
}
END_TEST

START_TEST(a_factor_is_a_number_above_nothing)
{
    ask(MODULE, 4 * MIB);
    pass(false);
    refused("batch=-1", "write batch=0.5");
}
END_TEST

START_TEST(changes_are_known_by_their_names)
{
    ck_assert(replay_program_is_change("batch=2"));
    ck_assert(replay_program_is_change("batch"));
    ck_assert(!replay_program_is_change("batches=2"));
    ck_assert(!replay_program_is_change("expandable_segments"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay_program");
    TCase *tests = tcase_create("replay_program");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, a_batch_resizes_what_is_of_examples);
    tcase_add_test(tests, gradients_that_are_added_are_of_no_batch);
    tcase_add_loop_test(tests, an_open_gradient_is_of_a_weight_by_its_size, 0, 3);
    tcase_add_loop_test(tests, what_nothing_tells_stays_and_makes_a_bound, 0, 3);
    tcase_add_test(tests, a_batch_of_weights_alone_is_refused);
    tcase_add_test(tests, an_optimizer_without_state_asks_for_none);
    tcase_add_test(tests, state_of_8_bits_is_a_quarter_and_its_scales);
    tcase_add_loop_test(tests, state_of_8_bits_does_not_become_smaller, 0, 2);
    tcase_add_loop_test(tests, state_below_its_weight_is_not_of_32_bits, 0, 4);
    tcase_add_loop_test(tests, factors_of_a_matrix_are_its_sides, 0, 2);
    tcase_add_test(tests, an_optimizer_that_keeps_nothing_cannot_keep_less);
    tcase_add_test(tests, parts_begin_with_the_gradients_of_those_before);
    tcase_add_test(tests, parts_without_gradients_are_refused);
    tcase_add_test(tests, no_device_serves_a_batch_of_batches);
    tcase_add_test(tests, weights_that_autocast_casts_are_of_no_batch);
    tcase_add_test(tests, activations_of_another_size_are_no_casts);
    tcase_add_test(tests, the_cache_of_a_server_is_of_no_batch);
    tcase_add_test(tests, a_factor_is_a_number_above_nothing);
    TCase *names = tcase_create("names");
    tcase_add_loop_test(names, frames_are_looked_at_once_and_charged, 0, 2);
    tcase_add_test(names, changes_are_known_by_their_names);
    suite_add_tcase(suite, names);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
