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

/* jit_step has two programs; one fits each launch: sizes and their order decide. */
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
    rows_say("GPU_0_bfc", "confidence:unknown", 2, "\"role\":\"3 programs have this size\",");
    rows_say("GPU_0_bfc", "confidence:unknown", 2, "\"role\":\"2 programs have this size\",");
}
END_TEST

/* 3,000,000 bytes on a thread that launches nothing, once as asked for and once as rounded; and what was there before.
 */
START_TEST(a_size_of_one_program_alone_names_it)
{
    rows_say("GPU_0_bfc", "thread:tf* role:temporaries", 2, "");
    rows_say("GPU_0_bfc", "freed:before", 1, "\"program\":\"jit_step\",\"role\":\"output\",");
}
END_TEST

START_TEST(small_sizes_and_named_allocations_are_left_alone)
{
    const struct analysis_param small[] = {{"memory", "GPU_0_bfc"}, {"filter", "size:256B"}};
    const struct analysis_param named[] = {{"memory", "GPU_0_bfc"}, {"filter", "op:jit*"}};
    rows_say("GPU_0_bfc", "size:256B", 1, "");
    rows_say("GPU_0_bfc", "op:jit*", 1, "");
    for (int at = 0; at < 2; at++) {
        char *answer = answer_of(SIZE_MAX, "events", at == 0 ? small : named, 2);
        const char *rows = strstr(answer, "\"rows\":");
        ck_assert_ptr_nonnull(rows);
        ck_assert_ptr_null(strstr(rows, "\"confidence\""));
        free(answer);
    }
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
    ck_assert_ptr_nonnull(strstr(answer, "\"size_bytes\":6524416,\"count\":3"));
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
    ck_assert_ptr_nonnull(strstr(answer, "\"stacked\":{\"by\":\"program\""));
    ck_assert_ptr_nonnull(strstr(answer, "\"label\":\"jit_step(1)\",\"confidence\":\"guess\",\"before_bytes\":0"));
    ck_assert_ptr_nonnull(strstr(answer, "\"label\":\"jit(f)\""));
    free(answer);
    params[1].value = "op";
    answer = answer_of(SIZE_MAX, "timeline", params, 2);
    ck_assert_ptr_nonnull(strstr(answer, "\"label\":\"temporaries of jit_step(2)\",\"confidence\":\"guess\""));
    ck_assert_ptr_nonnull(strstr(answer, "\"label\":\"jit(f)/add\""));
    free(answer);
    params[1].value = "trend";
    answer = answer_of(SIZE_MAX, "timeline", params, 2);
    ck_assert_ptr_nonnull(strstr(answer, "\"by\":\"trend\",\"reason\":{\"code\":\"no_steps\""));
    free(answer);
    params[1].value = "colour";
    ck_assert_ptr_null(answer_of(SIZE_MAX, "timeline", params, 2));
}
END_TEST

/* ---- programs in other files of the session ---- */

/* The trace without its last plane, which holds the programs: from the two bytes before its name's length on, of which
 * the first is the tag of a plane. */
static void without_programs(struct bytes *out)
{
    static const char name[] = "/host:metadata";
    struct bytes whole;
    bytes_load(&whole, path);
    char *at = memmem(whole.data, whole.length, name, sizeof(name) - 1);
    ck_assert_ptr_nonnull(at);
    at -= 2; /* the field of the name */
    while ((at[-1] & 0x80) != 0 || at[-1] != 0x0A)
        at--; /* the length of the plane, and its tag */
    bytes_open(out, whole.data, (size_t)(at - 1 - whole.data));
    bytes_close(&whole);
}

struct beside {
    struct bytes files[4];
    size_t opened_count;
};

static const struct source *beside_open(void *context, size_t at)
{
    struct beside *beside = context;
    beside->opened_count++;
    return beside->files[at].length > 0 ? &beside->files[at].source : NULL;
}

/* A view of the trace without programs, with files beside it; free() it. */
static char *answer_beside(struct beside *beside, size_t count, const char *view)
{
    struct err err = ERR_INIT;
    struct buf buf = BUF_INIT;
    struct bytes trace;
    without_programs(&trace);
    const struct analysis_beside files = {count, beside, beside_open};
    const struct analysis_reading reading = {.kind = ANALYSIS_TRACE, .beside = &files};
    struct analysis_subject *subject = analysis_subject_read(&trace.source, &reading, &err);
    ck_assert_msg(subject != NULL, "%s", err.text);
    ck_assert_msg(subject_answer(subject, "memory_profile", view, NULL, 0, &buf, &err), "%s", err.text);
    buf_char(&buf, '\0');
    analysis_subject_free(subject);
    bytes_close(&trace);
    return buf.data;
}

static const char step_one_output[] = "\"program\":\"jit_step(1)\",\"role\":\"output\"",
                  note[] = "\"code\":\"programs_beside\"";

START_TEST(programs_of_another_host_name_what_the_trace_does_not)
{
    struct beside beside = {.opened_count = 0};
    char *alone = answer_beside(&beside, 0, "events");
    ck_assert_ptr_null(strstr(alone, "jit_step(1)"));
    ck_assert_ptr_null(strstr(alone, note));
    /* one that cannot be opened, one that is no trace, and two equal ones: each program counts once */
    bytes_open(&beside.files[1], "nothing of note", 15);
    bytes_load(&beside.files[2], path);
    bytes_load(&beside.files[3], path);
    char *named = answer_beside(&beside, 4, "events"), *whole = answer_of(SIZE_MAX, "events", NULL, 0);
    ck_assert_uint_eq(beside.opened_count, 4);
    ck_assert_ptr_nonnull(strstr(named, step_one_output));
    ck_assert_ptr_nonnull(strstr(named, note));
    /* the rows say what they say of the trace that holds the programs itself */
    const char *of_named = strstr(named, "\"rows\":"), *of_whole = strstr(whole, "\"rows\":");
    size_t length = (size_t)(strstr(of_whole, "]") - of_whole);
    ck_assert_mem_eq(of_named, of_whole, length);
    free(alone);
    free(named);
    free(whole);
    for (int i = 1; i < 4; i++)
        bytes_close(&beside.files[i]);
}
END_TEST

START_TEST(an_hlo_file_beside_the_trace_names_too)
{
    struct beside beside = {.opened_count = 0};
    struct err err = ERR_INIT;
    struct bytes whole;
    bytes_load(&whole, path);
    struct analysis_contents *contents = analysis_contents_read(&whole.source, &err);
    ck_assert_ptr_nonnull(contents);
    const struct analysis_program *program = &contents->programs[0];
    bytes_open(&beside.files[0], whole.data + program->offset_bytes, program->size_bytes);
    char *named = answer_beside(&beside, 1, "events");
    ck_assert_msg(strstr(named, "\"program\":\"jit_step\",\"role\":\"output\"") != NULL, "%s", named);
    free(named);
    analysis_contents_free(contents);
    bytes_close(&beside.files[0]);
    bytes_close(&whole);
}
END_TEST

/* What a trace says of its own programs is not asked of others. */
START_TEST(other_files_are_left_alone_where_the_trace_tells)
{
    struct beside beside = {.opened_count = 0};
    struct err err = ERR_INIT;
    struct bytes whole;
    bytes_load(&whole, path);
    const struct analysis_beside files = {4, &beside, beside_open};
    const struct analysis_reading reading = {.kind = ANALYSIS_TRACE, .beside = &files};
    struct analysis_subject *subject = analysis_subject_read(&whole.source, &reading, &err);
    ck_assert_ptr_nonnull(subject);
    ck_assert_uint_eq(beside.opened_count, 0);
    analysis_subject_free(subject);
    bytes_close(&whole);
}
END_TEST

/* A file beside that is cut anywhere names some, or nothing. */
START_TEST(a_file_beside_that_is_cut_does_no_harm)
{
    struct bytes whole;
    bytes_load(&whole, path);
    for (size_t cut = whole.length - 900; cut < whole.length; cut += 11) {
        struct beside beside = {.opened_count = 0};
        bytes_open(&beside.files[0], whole.data, cut);
        char *answer = answer_beside(&beside, 1, "summary");
        ck_assert_ptr_nonnull(answer);
        free(answer);
        bytes_close(&beside.files[0]);
    }
    bytes_close(&whole);
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
    tcase_add_test(tests, programs_of_another_host_name_what_the_trace_does_not);
    tcase_add_test(tests, an_hlo_file_beside_the_trace_names_too);
    tcase_add_test(tests, other_files_are_left_alone_where_the_trace_tells);
    tcase_add_test(tests, a_file_beside_that_is_cut_does_no_harm);
    tcase_add_test(tests, a_trace_that_is_cut_is_still_answered);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
