/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"
#include "bytes.h"
#include "subject.h"

static const char path[] = "build/fixtures/trace-gpu-programs.pb";

/* The answer about some bytes of the trace, as text; free() it. NULL: it is refused. */
static char *answer_of(size_t length, const char *view, const struct analysis_param *params, size_t count)
{
    struct err err = ERR_INIT;
    struct buf buf = BUF_INIT;
    struct bytes whole, part;
    bytes_load(&whole, path);
    bytes_open(&part, whole.data, length < whole.length ? length : whole.length);
    struct analysis_subject *trace = subject_trace(&part.source, NULL, 0, &err);
    bool is = trace != NULL && subject_answer(trace, "memory_profile", view, params, count, &buf, &err);
    buf_char(&buf, '\0');
    analysis_subject_free(trace);
    bytes_close(&part);
    bytes_close(&whole);
    if (!is)
        buf_free(&buf);
    return is ? buf.data : NULL;
}

/* Do the rows of the pool that the filter leaves say all this? */
static void rows_say(const char *memory, const char *filter, int count, const char *words)
{
    const struct analysis_param params[] = {{"memory", memory}, {"filter", filter}};
    char *answer = answer_of(SIZE_MAX, "events", params, 2), matched[40];
    snprintf(matched, sizeof(matched), "\"matched_count\":%d,", count);
    ck_assert_ptr_nonnull(answer);
    ck_assert_msg(strstr(answer, matched) != NULL, "no %s of %s in %s", matched, filter, answer);
    ck_assert_msg(strstr(answer, words) != NULL, "no %s of %s in %s", words, filter, answer);
    free(answer);
}

/* jit_step has two programs, of which one fits each launch: sizes and their order decide. */
START_TEST(what_a_launch_allocates_is_named_by_its_program)
{
    rows_say("GPU_0_bfc", "program:jit_step(1) role:output", 1,
             "\"program\":\"jit_step(1)\",\"role\":\"output\",\"confidence\":\"guess\"");
    rows_say("GPU_0_bfc", "program:jit_step(2) role:output", 1, "\"event\":5,");
    rows_say("GPU_0_bfc", "program:jit_step(2) role:temporaries", 1, "\"size_bytes\":2000128,");
    rows_say("GPU_0_bfc", "program:jit_init(3)", 1, "\"time_ps\":1150,\"size_bytes\":1048576,");
}
END_TEST

/* Both programs of the name have it: the id is not told. */
START_TEST(arguments_are_named_by_the_call_that_brings_them)
{
    rows_say("GPU_0_bfc", "role:argument*", 1, "\"program\":\"jit_step\",\"role\":\"argument 1 x\",");
    rows_say("xla_gpu_host_bfc", "role:argument*", 1, "\"role\":\"argument 1 x, in host memory\",");
}
END_TEST

START_TEST(a_size_that_several_programs_have_names_none)
{
    rows_say("GPU_0_bfc", "confidence:unknown", 2, "\"program\":null,\"role\":\"3 programs have this size\",");
    rows_say("GPU_0_bfc", "confidence:unknown", 2, "\"program\":null,\"role\":\"2 programs have this size\",");
}
END_TEST

/* 3,000,000 bytes on a thread that launches nothing, once as asked for and once as rounded; and what was there before. */
START_TEST(a_size_of_one_program_alone_names_it)
{
    rows_say("GPU_0_bfc", "thread:tf* role:temporaries", 2, "\"requested_bytes\":null,");
    rows_say("GPU_0_bfc", "freed:before", 1, "\"program\":\"jit_step\",\"role\":\"output\",");
}
END_TEST

START_TEST(small_sizes_and_named_allocations_are_left_alone)
{
    rows_say("GPU_0_bfc", "size:256B", 1, "\"program\":null,\"role\":null,\"confidence\":null");
    rows_say("GPU_0_bfc", "op:jit*", 1, "\"program\":null,\"role\":null,\"confidence\":null");
}
END_TEST

START_TEST(an_event_says_what_its_name_rests_on)
{
    struct analysis_param params[] = {{"memory", "GPU_0_bfc"}, {"id", "2"}};
    static const char *const expected[][2] = {{"2", "\"rule\":\"launch\""},
                                              {"0", "\"rule\":\"call\""},
                                              {"8", "\"rule\":\"ambiguous\""},
                                              {"10", "\"rule\":\"size\""}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        params[1].value = expected[i][0];
        char *answer = answer_of(SIZE_MAX, "event", params, 2);
        ck_assert_ptr_nonnull(answer);
        ck_assert_msg(strstr(answer, expected[i][1]) != NULL, "%s: %s", expected[i][0], answer);
        free(answer);
    }
}
END_TEST

START_TEST(live_and_growth_and_summary_tell_of_programs)
{
    const struct analysis_param group[] = {{"memory", "GPU_0_bfc"}, {"group", "program"}, {"time", "3000"}};
    char *answer = answer_of(SIZE_MAX, "live", group, 3);
    ck_assert_ptr_nonnull(strstr(answer, "\"size_bytes\":6524416,\"requested_bytes\":null,\"count\":3"));
    ck_assert_ptr_nonnull(strstr(answer, "\"matches_curve\":true"));
    free(answer);
    answer = answer_of(SIZE_MAX, "summary", NULL, 0);
    ck_assert_msg(strstr(answer, "named from the plans of jit_step and 1 more (guess)") != NULL, "%s", answer);
    ck_assert_msg(strstr(answer, "All 8.0 KiB named from the plan of jit_step (guess)") != NULL, "%s", answer);
    free(answer);
    answer = answer_of(SIZE_MAX, "growth", NULL, 0);
    ck_assert_ptr_nonnull(strstr(answer, "\"name\":\"program\""));
    free(answer);
}
END_TEST

/* Its bands are what is in use: the programs, the op's own, what nothing names, and what was there before. */
START_TEST(the_timeline_is_stacked_by_program_and_op)
{
    struct analysis_param params[] = {{"memory", "GPU_0_bfc"}, {"stack", "program"}};
    char *answer = answer_of(SIZE_MAX, "timeline", params, 2);
    ck_assert_ptr_nonnull(strstr(answer, "\"stacked\":{\"by\":\"program\",\"reason\":null"));
    ck_assert_ptr_nonnull(strstr(answer, "\"label\":\"jit_step(1)\",\"confidence\":\"guess\",\"before_bytes\":0"));
    ck_assert_ptr_nonnull(strstr(answer, "\"label\":\"jit(f)\",\"confidence\":null"));
    free(answer);
    params[1].value = "op";
    answer = answer_of(SIZE_MAX, "timeline", params, 2);
    ck_assert_ptr_nonnull(strstr(answer, "\"label\":\"temporaries of jit_step(2)\",\"confidence\":\"guess\""));
    ck_assert_ptr_nonnull(strstr(answer, "\"label\":\"jit(f)/add\",\"confidence\":null"));
    free(answer);
    params[1].value = "trend";
    answer = answer_of(SIZE_MAX, "timeline", params, 2);
    ck_assert_ptr_nonnull(strstr(answer, "\"by\":\"trend\",\"reason\":{\"code\":\"no_steps\""));
    free(answer);
    params[1].value = "colour";
    ck_assert_ptr_null(answer_of(SIZE_MAX, "timeline", params, 2));
}
END_TEST

/* However much of the programs is there: no name, or some. */
START_TEST(a_trace_that_is_cut_is_still_answered)
{
    struct bytes whole;
    bytes_load(&whole, path);
    size_t length = whole.length, answered = 0;
    bytes_close(&whole);
    for (size_t cut = 0; cut < length; cut += 7) {
        char *answer = answer_of(cut, "summary", NULL, 0);
        answered += answer != NULL;
        free(answer);
    }
    ck_assert_uint_gt(answered, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("naming");
    TCase *tests = tcase_create("naming");
    tcase_add_test(tests, what_a_launch_allocates_is_named_by_its_program);
    tcase_add_test(tests, arguments_are_named_by_the_call_that_brings_them);
    tcase_add_test(tests, a_size_that_several_programs_have_names_none);
    tcase_add_test(tests, a_size_of_one_program_alone_names_it);
    tcase_add_test(tests, small_sizes_and_named_allocations_are_left_alone);
    tcase_add_test(tests, an_event_says_what_its_name_rests_on);
    tcase_add_test(tests, live_and_growth_and_summary_tell_of_programs);
    tcase_add_test(tests, the_timeline_is_stacked_by_program_and_op);
    tcase_add_test(tests, a_trace_that_is_cut_is_still_answered);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
