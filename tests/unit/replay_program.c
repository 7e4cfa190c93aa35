/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory_profile/replay_program.h"

#include "model/memory_profile/categories.h"
#include "model/memory_profile/model_build.h"
#include "read/torch/torch_snapshot.h"

#include "arena.h"

#include "base/buf.h"

#define MIB (INT64_C(1) << 20)

/* What is written of a training: a weight, a forward pass, a backward pass, a step. */
static struct bytes bytes;
static struct memory_profile profile;
static struct buf text;
static const char *frames_of[64]; /* of each address: a free says where its block was asked for */
static uint64_t next_address;

static const char *const MODULE = "{\"name\":\"__init__\",\"filename\":\"/x/torch/nn/modules/linear.py\",\"line\":109}";
static const char *const OWN = "{\"name\":\"load\",\"filename\":\"/home/me/train.py\",\"line\":7}";
static const char *const FORWARD = "{\"name\":\"forward\",\"filename\":\"/x/torch/nn/modules/linear.py\",\"line\":134}";
static const char *const BACKWARD = "";
static const char *const INIT_STATE =
    "{\"name\":\"_init_group\",\"filename\":\"/x/torch/optim/adamw.py\",\"line\":150}";
static const char *const STEP = "{\"name\":\"step\",\"filename\":\"/x/torch/optim/adamw.py\",\"line\":230}";
static const char *const CLIP =
    "{\"name\":\"clip_grad_norm_\",\"filename\":\"/x/torch/nn/utils/clip_grad.py\",\"line\":20}";
#define CALL ",{\"name\":\"_call_impl\",\"filename\":\"/x/torch/nn/modules/module.py\",\"line\":1790}"
#define NET CALL ",{\"name\":\"forward\",\"filename\":\"/home/me/net.py\",\"line\":70}" CALL
#define ATTENTION(line) "{\"name\":\"attention\",\"filename\":\"/home/me/net.py\",\"line\":" line "}" NET
static const char *const SCORES = ATTENTION("12");
static const char *const SOFTMAX =
    "{\"name\":\"softmax\",\"filename\":\"/x/torch/nn/functional.py\",\"line\":2161}," ATTENTION("14");
static const char *const RESULT = ATTENTION("15");
static const char *const ROUTER = "{\"name\":\"softmax\",\"filename\":\"/x/torch/nn/functional.py\",\"line\":2161},"
                                  "{\"name\":\"route\",\"filename\":\"/home/me/net.py\",\"line\":40}" NET;
static const char *const FIRST = "{\"name\":\"forward\",\"filename\":\"/home/me/net.py\",\"line\":30}" NET;
static const char *const SECOND = "{\"name\":\"forward\",\"filename\":\"/home/me/net.py\",\"line\":31}" NET;
static const char *const UNPACK = "{\"name\":\"unpack_hook\",\"filename\":\"/x/torch/utils/checkpoint.py\",\"line\":1}";

static uint64_t ask(const char *frames, int64_t size_bytes)
{
    uint64_t address = next_address += UINT64_C(1) << 30;
    frames_of[(address >> 30) % 64] = frames;
    buf_format(&text, ",{\"action\":\"alloc\",\"addr\":%llu,\"size\":%lld,\"stream\":0,\"frames\":[%s]}",
               (unsigned long long)address, (long long)size_bytes, frames);
    return address;
}

static void let_go(uint64_t address)
{
    buf_format(&text, ",{\"action\":\"free_completed\",\"addr\":%llu,\"size\":0,\"stream\":0,\"frames\":[%s]}",
               (unsigned long long)address, frames_of[(address >> 30) % 64]);
}

static void begin(void)
{
    arena_begin();
    text = (struct buf)BUF_INIT;
    next_address = UINT64_C(1) << 40;
    buf_text(&text, "{\"segments\":[],\"device_traces\":[[{\"action\":\"segment_alloc\",\"addr\":1099511627776,"
                    "\"size\":2097152,\"stream\":0,\"frames\":[]}");
}

static void end(void)
{
    buf_free(&text);
    arena_end();
    bytes_close(&bytes);
}

static const struct memory_profile_replay *replay_of(void)
{
    static struct memory_events events;
    buf_text(&text, "]]}");
    bytes_open(&bytes, text.data, text.length);
    ck_assert_msg(torch_snapshot_read(&bytes.source, &arena, &events, &err), "%s", err.text);
    memory_profile_model_build(&profile, &events, NULL, &arena);
    memory_profile_categories_make(&profile, &arena);
    ck_assert_uint_eq(profile.pool_count, 1);
    const struct memory_profile_replay *replay = memory_profile_replay_of(&profile.pools[0], &arena);
    ck_assert_ptr_null(replay->why_not);
    return replay;
}

static struct memory_profile_replay_change changed(struct replay_program **program, const char *change)
{
    const struct memory_profile_replay *replay = replay_of();
    struct memory_profile_replay_change after;
    *program = replay_program_begin(replay, &arena);
    ck_assert_msg(replay_program_apply(*program, change, &err), "%s", err.text);
    memory_profile_replay_run(replay, &replay->settings, *program, &arena, &after);
    ck_assert_ptr_null(after.why_not);
    return after;
}

static void refused(const char *change, const char *words)
{
    struct err own_err = ERR_INIT;
    ck_assert(!replay_program_apply(replay_program_begin(replay_of(), &arena), change, &own_err));
    ck_assert_int_eq(own_err.code, ERR_argument);
    ck_assert_msg(strstr(own_err.text, words) != NULL, "%s", own_err.text);
}

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
    ck_assert(!program->is_bound);
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

START_TEST(what_nothing_tells_stays_and_makes_a_bound)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(OWN, 16 * MIB);
    ask(MODULE, 4 * MIB);
    pass(false);
    struct memory_profile_replay_change after = changed(&program, "batch=0.5");
    ck_assert_int_eq(after.requested_bytes, 32 * MIB);
    ck_assert(program->is_bound);
    ck_assert_msg(strstr(program->reason, "16.00 MiB") != NULL, "%s", program->reason);
}
END_TEST

START_TEST(a_batch_of_weights_alone_is_refused)
{
    ask(MODULE, 4 * MIB);
    refused("batch=0.5", "no forward pass");
}
END_TEST

/* ---- optimizer ---- */

/* A weight of 4 MiB, two states of it, and what the step makes; the norm of gradients is no optimizer's. */
static void step(bool has_state)
{
    ask(MODULE, 4 * MIB);
    uint64_t gradient = ask(BACKWARD, 4 * MIB);
    if (has_state) {
        ask(INIT_STATE, 4 * MIB);
        ask(INIT_STATE, 4 * MIB);
    }
    uint64_t norm = ask(CLIP, 2 * MIB), passing = ask(STEP, 3 * MIB);
    let_go(passing);
    let_go(norm);
    let_go(gradient);
}

START_TEST(an_optimizer_without_state_asks_for_none)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    step(true);
    ck_assert_int_eq(changed(&program, "optimizer=sgd").requested_bytes, 10 * MIB);
    ck_assert(!program->is_bound);
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

START_TEST(factors_of_a_matrix_are_its_sides)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    step(true);
    /* a row and a column of 1,024 floats for each state; what the step makes stays */
    ck_assert_int_eq(changed(&program, "optimizer=adafactor").requested_bytes, 13 * MIB + 2 * 8192);
    ck_assert(program->is_bound);
}
END_TEST

START_TEST(an_optimizer_that_keeps_nothing_cannot_keep_less)
{
    step(false);
    refused("optimizer=sgd", "no optimizer state");
}
END_TEST

/* ---- attention ---- */

/* Scores of 16 MiB twice, the result of 4 MiB; going backward twice the scores, and 16 MiB or 4 MiB of something else. */
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
    ck_assert(!program->is_bound);
}
END_TEST

START_TEST(what_is_as_large_as_scores_stays_going_backward)
{
    ARENA_MUST_NOT_JUMP();
    struct replay_program *program;
    ask(MODULE, 1 * MIB);
    attend(SOFTMAX, 16 * MIB);
    ck_assert_int_eq(changed(&program, "attention=sdpa").requested_bytes, 57 * MIB + 4 * MIB / 64);
    ck_assert(program->is_bound);
    ck_assert_msg(strstr(program->reason, "32.00 MiB stay") != NULL, "%s", program->reason);
}
END_TEST

START_TEST(a_softmax_of_what_others_made_is_no_attention)
{
    ask(MODULE, 1 * MIB);
    attend(ROUTER, 2 * MIB);
    refused("attention=sdpa", "no softmax is seen");
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
    /* In the third call: a weight, two results, 8, 3 and 2 MiB. As recorded all of the three, and a gradient: 33 MiB. */
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
    refused("checkpoint", "wait for a backward pass");
}
END_TEST

START_TEST(what_is_computed_again_is_checkpointed_already)
{
    layers(FIRST, 3, true);
    let_go(ask(UNPACK, 8 * MIB));
    refused("checkpoint", "already");
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
    memory_profile_replay_run(replay, &replay->settings, program, &arena, &after);
    ck_assert_int_eq(after.requested_bytes, 13 * MIB + MIB / 2);
    struct err own_err = ERR_INIT;
    ck_assert(!replay_program_apply(program, "checkpoint", &own_err));
    ck_assert_ptr_nonnull(strstr(own_err.text, "by a change before"));
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
    ck_assert(program->is_bound);
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
    tcase_add_test(tests, what_nothing_tells_stays_and_makes_a_bound);
    tcase_add_test(tests, a_batch_of_weights_alone_is_refused);
    tcase_add_test(tests, an_optimizer_without_state_asks_for_none);
    tcase_add_test(tests, state_of_8_bits_is_a_quarter_and_its_scales);
    tcase_add_test(tests, factors_of_a_matrix_are_its_sides);
    tcase_add_test(tests, an_optimizer_that_keeps_nothing_cannot_keep_less);
    tcase_add_test(tests, a_fused_kernel_stores_no_scores);
    tcase_add_test(tests, what_is_as_large_as_scores_stays_going_backward);
    tcase_add_test(tests, a_softmax_of_what_others_made_is_no_attention);
    tcase_add_test(tests, a_checkpoint_keeps_results_and_makes_the_rest_again);
    tcase_add_test(tests, a_module_that_is_called_once_is_no_layer);
    tcase_add_test(tests, no_frames_of_modules_are_no_layers);
    tcase_add_test(tests, what_no_backward_pass_waits_for_is_not_held);
    tcase_add_test(tests, what_is_computed_again_is_checkpointed_already);
    tcase_add_test(tests, changes_follow_each_other);
    tcase_add_test(tests, parts_begin_with_the_gradients_of_those_before);
    tcase_add_test(tests, parts_without_gradients_are_refused);
    tcase_add_test(tests, no_device_serves_a_batch_of_batches);
    tcase_add_test(tests, the_cache_of_a_server_is_of_no_batch);
    tcase_add_test(tests, weights_that_autocast_casts_are_of_no_batch);
    tcase_add_test(tests, activations_of_another_size_are_no_casts);
    tcase_add_test(tests, a_factor_is_a_number_above_nothing);
    TCase *names = tcase_create("names");
    tcase_add_test(names, changes_are_known_by_their_names);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, names);
    return bytes_run(suite);
}
