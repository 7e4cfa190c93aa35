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
static uint64_t next_address;

static const char *const MODULE = "{\"name\":\"__init__\",\"filename\":\"/x/torch/nn/modules/linear.py\",\"line\":109}";
static const char *const OWN = "{\"name\":\"load\",\"filename\":\"/home/me/train.py\",\"line\":7}";
static const char *const FORWARD = "{\"name\":\"forward\",\"filename\":\"/x/torch/nn/modules/linear.py\",\"line\":134}";
static const char *const BACKWARD = "";

static uint64_t ask(const char *frames, int64_t size_bytes)
{
    uint64_t address = next_address += UINT64_C(1) << 30;
    buf_format(&text, ",{\"action\":\"alloc\",\"addr\":%llu,\"size\":%lld,\"stream\":0,\"frames\":[%s]}",
               (unsigned long long)address, (long long)size_bytes, frames);
    return address;
}

static void let_go(uint64_t address)
{
    buf_format(&text, ",{\"action\":\"free_completed\",\"addr\":%llu,\"size\":0,\"stream\":0,\"frames\":[]}",
               (unsigned long long)address);
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
    tcase_add_test(tests, a_factor_is_a_number_above_nothing);
    TCase *names = tcase_create("names");
    tcase_add_test(names, changes_are_known_by_their_names);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, names);
    return bytes_run(suite);
}
