/* SPDX-License-Identifier: Apache-2.0
 * What processes of a running job have in use: lines of files, the peak, what grows, and files that are damaged. */
#include "model/live/live.h"
#include "analysis/analysis.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MIB = INT64_C(1) << 20, GIB = INT64_C(1) << 30;
static const char ONE[] = "device 0 allocator 17179869184 cuda:0\n";

static struct analysis_live *read_one(struct str text)
{
    struct err err = ERR_INIT;
    const struct live_text one = {STR("rank3.4711"), text};
    struct analysis_live *live = analysis_live_read(&one, 1, &err);
    ck_assert_msg(live != NULL, "%s", err.text);
    return live;
}

static struct analysis_live *read_text(const char *text) { return read_one(str_of(text)); }

/* A sample a second: a step takes up to `step_bytes` and gives it back, on top of base_bytes + at * grown_bytes. */
static void samples_add(struct buf *text, int from, int count, int64_t base_bytes, int64_t grown_bytes,
                        int64_t step_bytes)
{
    for (int at = from; at < from + count; at++) {
        int64_t now = base_bytes + at * grown_bytes + step_bytes * (at * 7 % 4) / 3;
        buf_format(text, "at %d000 0 %" PRId64 " %" PRId64 " - -\n", at, now, now);
    }
}

/* The sentence of what grows, or "-"; free() */
static char *growth_of(struct buf *text)
{
    struct analysis_live *live = read_one((struct str){text->data, text->length});
    const struct finding *finding = analysis_live_model(live)->lines[0].finding;
    ck_assert_int_eq(analysis_live_model(live)->lines[0].grown_per_minute_bytes > 0, finding != NULL);
    char *sentence = strdup(finding != NULL ? finding->sentence : "-");
    analysis_live_free(live);
    buf_free(text);
    return sentence;
}

static void check_growth(struct buf *text, const char *expected)
{
    char *sentence = growth_of(text);
    ck_assert_str_eq(sentence, expected);
    free(sentence);
}

START_TEST(a_line_tells_now_and_the_peak)
{
    struct analysis_live *live =
        read_text("device 0 allocator 17179869184 cuda:0\n"
                  "at 1000 0 1073741824 2147483648 3221225472 8589934592\npeak 1000 0 2147483648\n"
                  "at 2000 0 1073741824 1073741824 3221225472 8589934592\n");
    const struct live *model = analysis_live_model(live);
    ck_assert_uint_eq(model->count, 1);
    const struct live_line *line = &model->lines[0];
    ck_assert_str_eq(line->sentence,
                     "cuda:0: 1.00 GiB in use, peak 2.00 GiB, 8.00 GiB of 16.00 GiB free, 3.00 GiB reserved");
    ck_assert_str_eq(line->process, "rank3.4711");
    ck_assert_int_eq(line->peak_ms, 1000);
    ck_assert_int_eq(line->peak_bytes, 2 * GIB);
    ck_assert_int_eq(line->room_bytes, 10 * GIB); /* free, and reserved but not in use */
    ck_assert_ptr_eq(model->highest, line);
    ck_assert(!line->is_ended && line->reason == NULL);
    analysis_live_free(live);
}
END_TEST

START_TEST(what_is_not_known_is_not_said)
{
    struct analysis_live *live = read_text(
        "device 0 arrays - cpu\nat 1000 0 1024 1024 - -\ndevice 1 allocator 2048 tpu:0\nat 1000 1 1024 1024 - -\n"
        "failed RuntimeError: gone\nend 3000\n");
    const struct live *model = analysis_live_model(live);
    ck_assert_uint_eq(model->count, 2);
    ck_assert_str_eq(model->lines[0].sentence, "tpu:0: 1.0 KiB in use of 2.0 KiB, peak 1.0 KiB");
    ck_assert_str_eq(model->lines[1].sentence, "cpu: 1.0 KiB of live arrays, peak 1.0 KiB");
    ck_assert_int_eq(model->lines[1].room_bytes, -1);
    ck_assert_str_eq(model->lines[1].reason, "RuntimeError: gone");
    ck_assert(model->lines[1].is_ended);
    analysis_live_free(live);
}
END_TEST

START_TEST(the_fullest_is_first_and_who_has_ended_last)
{
    struct err err = ERR_INIT;
    const struct live_text texts[] = {{STR("rank0.1"), STR("device 0 allocator 100 cuda:0\nat 1 0 99 99 - -\nend 2\n")},
                                      {STR("rank10.1"), STR("device 0 allocator 100 cuda:0\nat 1 0 50 50 - -\n")},
                                      {STR("rank2.1"), STR("device 0 allocator 100 cuda:0\nat 1 0 50 50 - -\n")},
                                      {STR("rank3.1"), STR("device 0 allocator 100 cuda:0\nat 1 0 20 80 60 10\n")}};
    struct analysis_live *live = analysis_live_read(texts, 4, &err);
    const struct live *model = analysis_live_model(live);
    static const char *const order[] = {"rank3.1", "rank2.1", "rank10.1", "rank0.1"};
    for (size_t at = 0; at < 4; at++)
        ck_assert_str_eq(model->lines[at].process, order[at]);
    ck_assert_str_eq(model->highest->process, "rank0.1");
    analysis_live_free(live);
}
END_TEST

START_TEST(growth_is_found_below_what_steps_take)
{
    struct buf text = BUF_INIT;
    buf_text(&text, ONE);
    samples_add(&text, 0, 320, GIB, 10 * MIB, 3 * GIB);
    check_growth(&text,
                 "grows 601.88 MiB a minute: the least in use went from 1.00 GiB to 3.93 GiB in 5 min; at this rate "
                 "it is full in 19 min");
}
END_TEST

START_TEST(of_a_process_that_has_ended_nothing_is_foretold)
{
    struct buf text = BUF_INIT;
    buf_text(&text, ONE);
    samples_add(&text, 0, 320, GIB, 10 * MIB, 0);
    buf_text(&text, "end 320000\n");
    check_growth(&text, "grows 601.88 MiB a minute: the least in use went from 1.00 GiB to 3.93 GiB in 5 min");
}
END_TEST

START_TEST(what_the_start_took_hides_no_growth)
{
    struct buf text = BUF_INIT;
    buf_text(&text, ONE);
    samples_add(&text, 0, 20, 0, 0, 0);
    samples_add(&text, 20, 620, 8 * GIB, 2 * MIB, GIB);
    char *sentence = growth_of(&text);
    ck_assert_msg(strncmp(sentence, "grows 120.", 10) == 0 && strstr(sentence, " a minute: "), "%s", sentence);
    free(sentence);
}
END_TEST

START_TEST(level_and_short_lines_do_not_grow)
{
    struct buf text = BUF_INIT;
    buf_text(&text, ONE);
    samples_add(&text, 0, 320, GIB, 0, 3 * GIB);
    check_growth(&text, "-");
    buf_text(&text, ONE);
    samples_add(&text, 0, 63, GIB, 10 * MIB, 0);
    check_growth(&text, "-");
    buf_text(&text, ONE); /* one step up, and level from there on */
    samples_add(&text, 0, 100, 0, 0, 0);
    samples_add(&text, 100, 500, 8 * GIB, 0, GIB);
    check_growth(&text, "-");
}
END_TEST

START_TEST(damaged_lines_are_left_out)
{
    static const char *const damaged[] = {"at 2000 0 5 4 - -\n",
                                          "at 500 0 7 7 - -\n",
                                          "at 2000 1 7 7 - -\n",
                                          "at 2000 64 7 7 - -\n",
                                          "at 2000 0 -5 7 - -\n",
                                          "at 2000 0 7 7 -\n",
                                          "at 2000 0 7 7 - - -\n",
                                          "at 999999999999999 0 7 7 - -\n",
                                          "at 2000 0 7 999999999999999999 - -\n",
                                          "device 0 allocator 5 again\n",
                                          "at 2000 0 - - - -\n",
                                          "at 2000 0 9 9 - -",
                                          "device 3 allocator x y\n",
                                          "device 2 allocator 5\n",
                                          "peak x 0 9\n",
                                          "\n \nat\ndevice\npeak\n"};
    for (size_t at = 0; at < sizeof(damaged) / sizeof(damaged[0]); at++) {
        struct buf text = BUF_INIT;
        buf_format(&text, "%sat 1000 0 1 1 - -\n%s", ONE, damaged[at]);
        struct analysis_live *live = read_one((struct str){text.data, text.length});
        const struct live *model = analysis_live_model(live);
        ck_assert_msg(model->count == 1 && model->lines[0].count == 1 && model->lines[0].peak_bytes == 1, "%s",
                      damaged[at]);
        analysis_live_free(live);
        buf_free(&text);
    }
    struct analysis_live *live = read_text("");
    ck_assert(analysis_live_model(live)->count == 0 && analysis_live_model(live)->highest == NULL);
    analysis_live_free(live);
}
END_TEST

START_TEST(json_has_what_is_known)
{
    struct buf out = BUF_INIT;
    struct json json = JSON_INIT(&out);
    struct analysis_live *live = read_text("device 0 arrays - cpu\nat 1000 0 1 2 - -\nat 2000 0 1 1 - -\n");
    json_object_begin(&json);
    analysis_live_write(live, true, &json);
    json_object_end(&json);
    buf_char(&out, '\0');
    ck_assert_str_eq(
        out.data,
        "{\"lines\":[{\"process\":\"rank3.4711\",\"device\":\"cpu\",\"name\":\"cpu of rank3.4711\",\"kind\":\"arrays\","
        "\"sentence\":\"cpu: 1 B of live arrays, peak 2 B\","
        "\"at_ms\":2000,\"used_bytes\":1,\"peak_bytes\":2,\"peak_ms\":1000,"
        "\"has_ended\":false,\"samples\":{\"at_ms\":[1000,2000],\"low_bytes\":[1,1],\"high_bytes\":[2,1],"
        "\"reserved_bytes\":[null,null],\"free_bytes\":[null,null]}}],\"left_out_count\":0}");
    buf_free(&out);
    analysis_live_free(live);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("live");
    TCase *live = tcase_create("live");
    tcase_add_test(live, a_line_tells_now_and_the_peak);
    tcase_add_test(live, what_is_not_known_is_not_said);
    tcase_add_test(live, the_fullest_is_first_and_who_has_ended_last);
    tcase_add_test(live, growth_is_found_below_what_steps_take);
    tcase_add_test(live, of_a_process_that_has_ended_nothing_is_foretold);
    tcase_add_test(live, what_the_start_took_hides_no_growth);
    tcase_add_test(live, level_and_short_lines_do_not_grow);
    tcase_add_test(live, damaged_lines_are_left_out);
    tcase_add_test(live, json_has_what_is_known);
    suite_add_tcase(suite, live);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count > 0;
}
