/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"
#include "bytes.h"
#include "subject.h"

static struct err err;
static struct bytes bytes;

static void begin(void) { err = (struct err)ERR_INIT; }

/* The answer to a question, as text; free() it. */
static char *answer_of(const char *path, const char *view, const struct analysis_param *params, size_t count)
{
    struct buf buf = BUF_INIT;
    bytes_load(&bytes, path);
    struct analysis_subject *trace = subject_trace(&bytes.source, NULL, 0, &err);
    ck_assert_ptr_nonnull(trace);
    ck_assert_msg(subject_answer(trace, "memory_profile", view, params, count, &buf, &err), "%s", err.text);
    buf_char(&buf, '\0');
    analysis_subject_free(trace);
    bytes_close(&bytes);
    return buf.data;
}

static void says(const char *answer, const char *words)
{
    ck_assert_msg(strstr(answer, words) != NULL, "no %s in %s", words, answer);
}

/* XProf sees none of them, so its answer has none. */
START_TEST(xprof_sees_no_figures_in_names)
{
    char *answer = answer_of("build/fixtures/trace-encoded.pb", "xprof", NULL, 0);
    says(answer, "\"memoryIds\":[]");
    ck_assert_ptr_null(strstr(answer, "GPU_0_bfc"));
    free(answer);
}
END_TEST

START_TEST(a_pool_without_a_name_can_be_asked_for)
{
    const struct analysis_param param = {"memory", "(none)"};
    char *answer = answer_of("build/fixtures/trace-encoded.pb", "timeline", &param, 1);
    says(answer, "\"memory\":\"(none)\"");
    free(answer);
}
END_TEST

/* Three steps each. In the first trace another line goes on after them; in the second nothing tells what was live at
 * the end of the last one. */
START_TEST(growth_leaves_out_what_was_not_recorded)
{
    char *answer = answer_of("build/fixtures/trace-steps.pb", "growth", NULL, 0);
    says(answer, "\"boundary_count\":3");
    free(answer);
    answer = answer_of("build/fixtures/trace-open-step.pb", "growth", NULL, 0);
    says(answer, "\"boundary_count\":2");
    says(answer, "\"time_ps\":[1000,2000]");
    says(answer, "\"last_bytes\":0"); /* 256 in the step that is left out */
    says(answer, "\"code\":\"step_beyond_end\",\"count\":1");
    free(answer);
}
END_TEST

/* The module that the trace's GPU ran most often: jit_step, three times. */
START_TEST(growth_goes_from_launch_to_launch_of_gpus)
{
    char *answer = answer_of("build/fixtures/trace-gpu.pb", "growth", NULL, 0);
    says(answer, "\"boundary\":\"launch\",\"boundary_count\":3");
    says(answer, "\"time_ps\":[1160,1230,1410]");
    free(answer);
}
END_TEST

/* 640 bytes on top of 30 GiB, and of 29: the runtime holds the memory from the start. */
START_TEST(a_flat_line_of_a_tpu_says_why)
{
    char *answer = answer_of("build/fixtures/trace-flat-tpu.pb", "summary", NULL, 0);
    says(answer, "\"memory\":\"0\",\"kind\":\"device\",\"event_count\":12");
    says(answer, "\"in_use_bytes\":32212255360,\"stack_bytes\":0,\"heap_bytes\":32212255360,\"free_bytes\":1342176640");
    says(answer, "\"capacity_bytes\":33554432000");
    says(answer, "\"finding\":{\"kind\":\"flat_line\",\"sentence\":\"The line is flat: the TPU runtime reserves HBM at "
                 "start. What fills it is in the compiler's plan.\",\"parts\":[");
    says(answer, "\"spread_bytes\":1073741824");
    free(answer);
    answer = answer_of("build/fixtures/trace-flat-tpu.pb", "lanes", NULL, 0);
    says(answer, "\"launch_count\":6");
    says(answer, "jit_train_step(17250123456789012345)");
    free(answer);
    answer = answer_of("build/fixtures/trace-tpu.pb", "summary", NULL, 0); /* 1 to 3 KiB */
    ck_assert_ptr_null(strstr(answer, "flat_line"));
    free(answer);
}
END_TEST

/* 256 bytes a step in another line, which are left out if they are too few to matter. */
START_TEST(what_grows_is_told_first)
{
    char *answer = answer_of("build/fixtures/trace-steps.pb", "summary", NULL, 0);
    says(answer, "\"finding\":{\"kind\":\"grows\",\"sentence\":\"grows 256 B a step in 2 of 2 steps: ");
    says(answer, "\"evidence\":{\"view\":\"growth\",\"params\":{\"memory\":\"GPU_0_bfc\",\"boundary\":\"step\"}}");
    free(answer);
}
END_TEST

/* 5,400 of 10,000 bytes are free in two pieces, and 4,000 were asked for before. */
START_TEST(fragmentation_is_told_with_request_and_hole)
{
    char *answer = answer_of("build/fixtures/trace-holes.pb", "summary", NULL, 0);
    says(answer,
         "\"kind\":\"fragmentation\",\"sentence\":\"a request of 3.9 KiB, the largest, would have met a largest hole "
         "of 2.9 KiB at 0.0 ms with 5.3 KiB free: fragmentation, not shortage\"");
    says(answer,
         "\"evidence\":{\"view\":\"holes\",\"params\":{\"memory\":\"GPU_0_bfc\",\"event\":\"7\",\"time\":\"9000\"}}");
    free(answer);
}
END_TEST

/* Scarce, but whole: of 10,000 bytes 2,400 are free at the peak; of 31 GiB 1.2, all but 25 bytes in one piece. In
 * pieces, but not scarce: a quarter of nearly a MiB lies elsewhere, beside 6 KiB in use. Not known: no event tells what
 * is free. */
START_TEST(free_memory_in_pieces_matters_where_it_is_scarce)
{
    static const char *const paths[] = {"build/fixtures/trace-holes.pb", "build/fixtures/trace-flat-tpu.pb",
                                        "build/fixtures/trace-steps.pb", "build/fixtures/trace-gpu.pb"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char *answer = answer_of(paths[i], "summary", NULL, 0);
        says(answer, "\"is_peak_free_in_pieces\":false");
        ck_assert_ptr_null(strstr(answer, "\"is_peak_free_in_pieces\":true"));
        says(answer, "\"is_fragmentation_shown\":false"); /* and none of them has a request that failed */
        free(answer);
    }
}
END_TEST

/* The fewest bytes between holes: at event 8 the log of 100 bytes, at event 7 the log and what is behind it. */
START_TEST(the_fewest_bytes_pin_the_holes)
{
    const struct analysis_param last[] = {{"event", "8"}}, before[] = {{"event", "7"}};
    const struct analysis_param small[] = {{"event", "8"}, {"request", "3000"}},
                                huge[] = {{"event", "8"}, {"request", "9000"}};
    char *answer = answer_of("build/fixtures/trace-holes.pb", "holes", last, 1);
    says(answer, "1 allocation, 100 B, lies between holes that would be one of 6.0 KiB without it");
    says(answer, "\"hole_count\":2,\"holes_bytes\":6000");
    says(answer,
         "\"pin_count\":1,"
         "\"pinned_bytes\":100,"
         "\"joined_bytes\":6100,\"pins\":[{\"address\":\"0x10fa0\",\"size_bytes\":100,\"event\":4,\"op\":\"log\"");
    says(answer, "\"born_ps\":6000,\"age_ps\":4000,\"hole_before_bytes\":3000,\"hole_after_bytes\":3000");
    free(answer);
    answer = answer_of("build/fixtures/trace-holes.pb", "holes", before, 1);
    says(answer, "\"pin_count\":2,\"pinned_bytes\":3100,\"joined_bytes\":6100");
    free(answer);
    answer = answer_of("build/fixtures/trace-holes.pb", "holes", small, 2);
    says(answer, "\"kind\":\"fits\",\"sentence\":\"a request of 2.9 KiB fits: the largest hole has 2.9 KiB\"");
    says(answer, "\"pin_count\":0,\"pinned_bytes\":0,\"pins\":[]");
    free(answer);
    answer = answer_of("build/fixtures/trace-holes.pb", "holes", huge, 2);
    says(answer, "\"kind\":\"short\",\"sentence\":\"a request of 8.8 KiB meets a largest hole of 2.9 KiB\"");
    free(answer);
}
END_TEST

START_TEST(a_hole_of_more_bytes_than_a_size_has_room_for_is_said)
{
    const struct analysis_param asked[] = {{"event", "2"}, {"request", "9000"}};
    char *answer = answer_of("build/fixtures/trace-high-holes.pb", "holes", asked, 2);
    says(answer, "\"size_bytes\":18446744073709538328");
    says(answer, "\"kind\":\"fits\",\"sentence\":\"a request of 8.8 KiB fits: the largest hole has more than ");
    free(answer);
}
END_TEST

/* TPU 1: two allocations and a free that tells an address alone: the allocation tells what was freed. */
START_TEST(a_free_shows_what_it_frees)
{
    const struct analysis_param params[] = {{"memory", "1"}, {"details", "1"}};
    char *answer = answer_of("build/fixtures/trace-tpu.pb", "timeline", params, 2);
    says(answer, "\"activity\":[\"allocation\",\"allocation\",\"deallocation\"]");
    says(answer, "\"requested_bytes\":[2042,1018,2042]");
    says(answer, "\"op\":[0,-1,0]");
    says(answer, "\"shape\":[2,-1,2]");
    free(answer);
}
END_TEST

/* Names of events come after the events: a trace that is cut before them has no events, and says why. */
START_TEST(a_trace_that_is_cut_says_so_before_all_else)
{
    struct bytes whole;
    bytes_load(&whole, "build/fixtures/trace-tpu.pb");
    for (size_t length = 100; length <= 200; length += 100) {
        const char *code, *text;
        bytes_open(&bytes, whole.data, length);
        struct analysis_subject *trace = subject_trace(&bytes.source, NULL, 0, &err);
        ck_assert_ptr_nonnull(trace);
        ck_assert(analysis_trace_reason(trace, &code, &text));
        ck_assert_str_eq(code, "cut");
        analysis_subject_free(trace);
        bytes_close(&bytes);
    }
    bytes_close(&whole);
}
END_TEST

/* Event 7 leaves 5,888 bytes in use at 22,400 ps; event 8 frees 1,024 of them at 22,900. */
START_TEST(the_peak_of_a_window_may_be_the_level_at_its_start)
{
    struct analysis_param window[] = {{"from", "22500"}, {"to", "27000"}};
    char *answer = answer_of("build/fixtures/trace-steps.pb", "timeline", window, 2);
    says(answer, "\"window_peak\":{\"time_ps\":22500,\"event\":7,\"in_use_bytes\":5888,");
    free(answer);
    window[1].value = "22600"; /* no event is in it */
    answer = answer_of("build/fixtures/trace-steps.pb", "timeline", window, 2);
    says(answer, "\"event_count\":0");
    says(answer, "\"window_peak\":{\"time_ps\":22500,\"event\":7,\"in_use_bytes\":5888,");
    free(answer);
    window[0].value = "0"; /* before the first event there are 4,096; the peak is an event of the window */
    window[1].value = "2400";
    answer = answer_of("build/fixtures/trace-steps.pb", "timeline", window, 2);
    says(answer, "\"window_peak\":{\"time_ps\":2400,\"event\":1,\"in_use_bytes\":5376,");
    free(answer);
}
END_TEST

/* At width 1 the first event, the smallest, the largest and the last are drawn: 0, 2, 7, 9. Of those from 2 to 6 the
 * largest fragmentation is 0.25, that of the events 2 and 3. */
START_TEST(a_thinned_timeline_tells_the_largest_fragmentation_of_what_it_leaves_out)
{
    const struct analysis_param params[] = {{"width", "1"}};
    char *answer = answer_of("build/fixtures/trace-steps.pb", "timeline", params, 1);
    says(answer, "\"is_thinned\":true");
    says(answer, "\"event\":[0,2,7,9]");
    says(answer, "\"fragmentation\":[0,0.25,0.25,0.25]");
    says(answer, "\"largest_fragmentation\":[0.25,0.25,0.25,0.25]"); /* event 1 has 0.25 */
    free(answer);
    answer = answer_of("build/fixtures/trace-steps.pb", "timeline", NULL, 0);
    ck_assert_ptr_null(strstr(answer, "largest_fragmentation")); /* each event is there */
    free(answer);
}
END_TEST

START_TEST(a_file_without_a_byte_says_so)
{
    const char *code, *text;
    bytes_open(&bytes, "", 0);
    struct analysis_subject *trace = subject_trace(&bytes.source, NULL, 0, &err);
    ck_assert_ptr_nonnull(trace);
    ck_assert(analysis_trace_reason(trace, &code, &text));
    ck_assert_str_eq(code, "empty_file");
    analysis_subject_free(trace);
    bytes_close(&bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_profile_views");
    TCase *tests = tcase_create("memory_profile_views");
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_test(tests, xprof_sees_no_figures_in_names);
    tcase_add_test(tests, a_pool_without_a_name_can_be_asked_for);
    tcase_add_test(tests, growth_leaves_out_what_was_not_recorded);
    tcase_add_test(tests, growth_goes_from_launch_to_launch_of_gpus);
    tcase_add_test(tests, a_flat_line_of_a_tpu_says_why);
    tcase_add_test(tests, what_grows_is_told_first);
    tcase_add_test(tests, fragmentation_is_told_with_request_and_hole);
    tcase_add_test(tests, free_memory_in_pieces_matters_where_it_is_scarce);
    tcase_add_test(tests, the_fewest_bytes_pin_the_holes);
    tcase_add_test(tests, a_hole_of_more_bytes_than_a_size_has_room_for_is_said);
    tcase_add_test(tests, a_free_shows_what_it_frees);
    tcase_add_test(tests, a_trace_that_is_cut_says_so_before_all_else);
    tcase_add_test(tests, the_peak_of_a_window_may_be_the_level_at_its_start);
    tcase_add_test(tests, a_thinned_timeline_tells_the_largest_fragmentation_of_what_it_leaves_out);
    tcase_add_test(tests, a_file_without_a_byte_says_so);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
