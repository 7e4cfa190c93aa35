/* SPDX-License-Identifier: Apache-2.0
 * profile.c: tests of device profiles through analysis.h. */
#include "analysis.h"

#include "bytes.h"
#include "model/trend.h"
#include "profile_ask.h"
#include "read/library.h"
#include "subject.h"

#include <cjson/cJSON.h>

static struct analysis_subject *read_profile(const char *path)
{
    struct bytes bytes;
    struct err err = ERR_INIT;
    bytes_load(&bytes, path);
    struct analysis_subject *profile = subject_profile(&bytes.source, 0, &err);
    ck_assert_msg(profile != NULL, "%s", err.text);
    free(bytes.data);
    return profile;
}

static double number_in(const cJSON *object, const char *name)
{
    const cJSON *value = cJSON_GetObjectItem(object, name);
    ck_assert_msg(cJSON_IsNumber(value), "%s is no number", name);
    return value->valuedouble;
}

static const cJSON *row_of(const cJSON *data, const char *function)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(data, "rows"))
    {
        if (strcmp(cJSON_GetObjectItem(cJSON_GetObjectItem(row, "frame"), "function")->valuestring, function) == 0)
            return row;
    }
    ck_abort_msg("no row of %s", function);
    return NULL;
}

START_TEST(unknown_sizes_are_counted_and_never_subtracted)
{
    struct analysis_subject *profile = read_profile("build/fixtures/profile-tpu.pb");
    cJSON *tree, *data = profile_ask(profile, "summary", NULL, 0, &tree);
    ck_assert_double_eq(number_in(data, "total"), 2516);
    ck_assert_double_eq(number_in(data, "executable_count"), 3);
    ck_assert_double_eq(number_in(data, "executable_unknown_count"), 3);
    ck_assert_double_eq(number_in(data, "buffer_count"), 5);
    ck_assert_double_eq(number_in(data, "stackless_count"), 1);
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(data, "devices")), 2);
    ck_assert_str_eq(
        cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "notes"), 0), "code")->valuestring,
        "unknown_size");
    cJSON_Delete(tree);
    analysis_subject_free(profile);
}
END_TEST

START_TEST(machinery_is_folded_into_the_users_frame)
{
    struct analysis_subject *profile = read_profile("build/fixtures/profile-tpu.pb");
    const struct analysis_param shown[] = {{"machinery", "1"}};
    cJSON *tree, *data = profile_ask(profile, "top", NULL, 0, &tree);
    const cJSON *row = row_of(data, "init_state");
    ck_assert_double_eq(number_in(row, "self"), 2000);
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetObjectItem(row, "frame"), "file")->valuestring, "/home/u/train.py");
    ck_assert_double_eq(number_in(row, "each_min"), 1000);
    cJSON_Delete(tree);
    data = profile_ask(profile, "top", shown, 1, &tree);
    ck_assert_double_eq(number_in(row_of(data, "init_state"), "self"), 0);
    ck_assert_double_eq(number_in(row_of(data, "apply_primitive"), "self"), 2000);
    cJSON_Delete(tree);
    analysis_subject_free(profile);
}
END_TEST

START_TEST(the_last_packages_folder_of_a_path_says_whose_code_it_is)
{
    ck_assert_int_eq(library_of(STR("/usr/lib/python3/dist-packages/tool/site-packages/optax/a.py"), STR("")),
                     LIBRARY_MACHINERY);
    ck_assert_int_eq(library_of(STR("/usr/lib/python3/site-packages/tool/dist-packages/optax/a.py"), STR("")),
                     LIBRARY_MACHINERY);
    ck_assert_int_eq(library_of(STR("/venv/site-packages/optax/dist-packages/mine/a.py"), STR("")), LIBRARY_PACKAGE);
    ck_assert_int_eq(library_of(STR("/venv/dist-packages/optax/site-packages/mine/a.py"), STR("")), LIBRARY_PACKAGE);
    ck_assert_int_eq(library_of(STR("/home/u/train.py"), STR("")), LIBRARY_USER);
}
END_TEST

START_TEST(a_frame_that_calls_itself_counts_once)
{
    struct analysis_subject *profile = read_profile("build/fixtures/profile-tpu.pb");
    cJSON *tree, *data = profile_ask(profile, "top", NULL, 0, &tree);
    const cJSON *row = row_of(data, "<lambda>");
    ck_assert_double_eq(number_in(row, "self"), 16);
    ck_assert_double_eq(number_in(row, "total"), 16);
    ck_assert_double_eq(number_in(row, "each_max"), 8);
    ck_assert_double_eq(number_in(row_of(data, "(no stack)"), "self"), 500);
    cJSON_Delete(tree);
    analysis_subject_free(profile);
}
END_TEST

START_TEST(copies_on_several_devices_are_counted)
{
    struct analysis_subject *profile = read_profile("build/fixtures/profile-tpu.pb");
    const struct analysis_param params[] = {{"filter", "each:1000"}};
    cJSON *tree, *data = profile_ask(profile, "buffers", params, 1, &tree);
    ck_assert_double_eq(number_in(data, "matched_count"), 2);
    ck_assert_double_eq(number_in(cJSON_GetArrayItem(cJSON_GetObjectItem(data, "rows"), 0), "copies"), 2);
    cJSON_Delete(tree);
    analysis_subject_free(profile);
}
END_TEST

START_TEST(labels_that_no_expression_can_name_are_filtered_by_value)
{
    struct analysis_subject *profile = read_profile("build/fixtures/profile-tpu.pb");
    const struct analysis_param one[] = {{"tag", "device=TPU_0(process=0,(0,0,0,0))"}};
    const struct analysis_param without[] = {{"tag", "-kind=executable"},
                                             {"tag", "-device=TPU_0(process=0,(0,0,0,0))"}};
    cJSON *tree, *data = profile_ask(profile, "top", one, 1, &tree);
    ck_assert_double_eq(number_in(data, "total"), 1016);
    cJSON_Delete(tree);
    data = profile_ask(profile, "top", without, 2, &tree);
    ck_assert_double_eq(number_in(data, "total"), 1500);
    cJSON_Delete(tree);
    analysis_subject_free(profile);
}
END_TEST

START_TEST(a_go_heap_profile_opens_on_what_is_in_use)
{
    struct analysis_subject *profile = read_profile("build/fixtures/profile-go-heap.pb");
    const struct analysis_param all[] = {{"metric", "alloc_space"}, {"tagfocus", "bytes=1kb:"}, {"machinery", "1"}};
    cJSON *tree, *data = profile_ask(profile, "top", NULL, 0, &tree);
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetObjectItem(data, "metric"), "name")->valuestring, "inuse_space");
    ck_assert_double_eq(number_in(row_of(data, "main.grow"), "self"), 2048);
    ck_assert_double_eq(number_in(row_of(data, "main.fill"), "total"), 2048);
    cJSON_Delete(tree);
    data = profile_ask(profile, "buffers", NULL, 0, &tree);
    ck_assert_double_eq(number_in(data, "matched_total"), 2048);
    const cJSON *row = cJSON_GetObjectItem(data, "rows")->child;
    ck_assert_double_eq(number_in(row, "total"), 2048);
    ck_assert_double_eq(number_in(row, "count"), 2);
    ck_assert_double_eq(number_in(row, "each"), 1024);
    cJSON_Delete(tree);
    data = profile_ask(profile, "buffers", all, 1, &tree);
    ck_assert_double_eq(number_in(data, "matched_total"), 4160);
    row = cJSON_GetObjectItem(data, "rows")->child;
    ck_assert_double_eq(number_in(row, "count"), 4);
    ck_assert_double_eq(number_in(row, "each"), 1024);
    cJSON_Delete(tree);
    data = profile_ask(profile, "top", all, 3, &tree);
    ck_assert_double_eq(number_in(data, "percent_base"), 4160);
    ck_assert_double_eq(number_in(data, "total"), 4096);
    cJSON_Delete(tree);
    analysis_subject_free(profile);
}
END_TEST

/* Figures of pprof b9395ee, -noinlines with and without -hide and -focus. */
START_TEST(inlined_functions_can_count_as_their_callers)
{
    struct analysis_subject *profile = read_profile("build/fixtures/profile-inlined.pb");
    const struct analysis_param all[] = {{"machinery", "1"}};
    const struct analysis_param outer[] = {{"machinery", "1"}, {"noinlines", "1"}};
    const struct analysis_param hidden[] = {{"machinery", "1"}, {"noinlines", "1"}, {"hide", "outer|^caller"}};
    const struct analysis_param focused[] = {
        {"machinery", "1"}, {"noinlines", "1"}, {"by", "function"}, {"focus", "innermost"}};
    cJSON *tree, *data = profile_ask(profile, "top", all, 1, &tree);
    ck_assert_double_eq(number_in(data, "total_count"), 10);
    ck_assert_double_eq(number_in(row_of(data, "innermost"), "self"), 131);
    cJSON_Delete(tree);
    data = profile_ask(profile, "top", outer, 2, &tree);
    ck_assert_double_eq(number_in(data, "total_count"), 6);
    ck_assert_double_eq(number_in(row_of(data, "outer"), "self"), 131);
    ck_assert_double_eq(number_in(row_of(data, "alloc"), "total"), 50011);
    cJSON_Delete(tree);
    data = profile_ask(profile, "top", hidden, 3, &tree);
    ck_assert_double_eq(number_in(row_of(data, "inner"), "self"), 131);
    cJSON_Delete(tree);
    data = profile_ask(profile, "top", focused, 4, &tree);
    ck_assert_double_eq(number_in(row_of(data, "caller"), "total"), 50120);
    ck_assert_double_eq(number_in(row_of(data, "main"), "total"), 50120);
    cJSON_Delete(tree);
    analysis_subject_free(profile);
}
END_TEST

/* Figures of pprof b9395ee. */
START_TEST(frames_that_a_profile_drops_are_held_by_their_callers)
{
    struct analysis_subject *profile = read_profile("build/fixtures/profile-dropped.pb");
    const struct analysis_param params[] = {{"machinery", "1"}};
    cJSON *tree, *data = profile_ask(profile, "top", params, 1, &tree);
    ck_assert_double_eq(number_in(data, "total_count"), 6);
    ck_assert_double_eq(number_in(row_of(data, "caller"), "self"), 50027);
    ck_assert_double_eq(number_in(row_of(data, "outer"), "self"), 111);
    ck_assert_double_eq(number_in(row_of(data, "alloc"), "total"), 11);
    ck_assert_double_eq(number_in(row_of(data, "main"), "total"), 50130);
    ck_assert_str_eq(
        cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "notes"), 0), "code")->valuestring,
        "frame_filter");
    cJSON_Delete(tree);
    analysis_subject_free(profile);
}
END_TEST

static const char *verdict_of(const int64_t *values, uint32_t count)
{
    return trend_kind_name(trend_of(values, count).kind);
}

START_TEST(a_series_has_a_word_for_what_becomes_of_it)
{
    static const int64_t grows[] = {1, 2, 3, 4}, noisy[] = {10, 22, 29, 41, 38, 60, 72, 79, 90},
                         steady[] = {100, 100, 100};
    static const int64_t nearly[] = {1000, 1005, 1001}, step[] = {5, 5, 9, 9}, shrinks[] = {9, 7, 7, 2},
                         odd[] = {5, 90, 3, 70, 4};
    static const int64_t slow[] = {1000, 1004, 1008, 1012, 1016, 1020}, two[] = {1, 9}, nothing[] = {0, 0, 0};
    ck_assert_str_eq(verdict_of(grows, 4), "grows");
    ck_assert_str_eq(verdict_of(noisy, 9), "grows");
    ck_assert_str_eq(verdict_of(slow, 6), "grows");
    ck_assert_str_eq(verdict_of(steady, 3), "steady");
    ck_assert_str_eq(verdict_of(nearly, 3), "steady");
    ck_assert_str_eq(verdict_of(nothing, 3), "steady");
    ck_assert_str_eq(verdict_of(step, 4), "steps_once");
    ck_assert_str_eq(verdict_of(shrinks, 4), "shrinks");
    ck_assert_str_eq(verdict_of(odd, 5), "irregular");
    ck_assert_str_eq(verdict_of(two, 2), "too_few");
    ck_assert_double_eq(trend_of(grows, 4).slope, 1);
    ck_assert_int_eq(trend_of(NULL, 0).kind, TREND_TOO_FEW);
}
END_TEST

/* The first finding about the profiles with these numbers, or "null". */
static char *series_finding(const int *numbers, size_t count)
{
    enum { PROFILES_MAX = 5 };
    struct analysis_subject *subjects[PROFILES_MAX];
    struct analysis_use uses[PROFILES_MAX];
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    char path[64];
    ck_assert_uint_le(count, PROFILES_MAX);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "tests/fixtures/memprof/memory%d.prof", numbers[i]);
        subjects[i] = read_profile(path);
        uses[i] = (struct analysis_use){.subject = subjects[i], .id = "0", .name = "p"};
    }
    const struct analysis_question question = {
        .tool = "device_memory", .view = "series", .uses = uses, .use_count = count};
    ck_assert_msg(analysis_answer(&question, &out, &err), "%s", err.text);
    cJSON *root = cJSON_ParseWithLength(out.data, out.length);
    const cJSON *finding = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "data"), "finding");
    char *sentence = strdup(finding == NULL ? "null" : cJSON_GetObjectItem(finding, "sentence")->valuestring);
    cJSON_Delete(root);
    buf_free(&out);
    for (size_t i = 0; i < count; i++)
        analysis_subject_free(subjects[i]);
    return sentence;
}

START_TEST(a_series_says_first_what_grows)
{
    static const struct {
        int numbers[5];
        size_t count;
        const char *sentence;
    } cases[] = {
        {{1}, 1, "null"},
        {{1, 3}, 2, "2 profiles: change +195.3 KiB; a trend needs 3"},
        {{1, 2, 3},
         3,
         "1 call site grows over 3 profiles: anotherfunc memprof.py:19 \xE2\x80\xBA normal, +97.7 KiB each, 100 % of "
         "the growth"},
        {{1, 2, 3, 4, 5},
         5,
         "1 call site grows over 5 profiles: anotherfunc memprof.py:19 \xE2\x80\xBA normal, faster each time: +78.1 "
         "KiB at first, +195.3 KiB at last, 100 % of the growth"},
        {{1, 1, 1, 2}, 4, "no call site grows over 4 profiles; the total changes by +78.1 KiB"},
        {{4, 4, 4}, 3, "no call site grows over 3 profiles; the total is the same at both ends"},
    };
    char *sentence = series_finding(cases[_i].numbers, cases[_i].count);
    ck_assert_str_eq(sentence, cases[_i].sentence);
    free(sentence);
}
END_TEST

/* Three profiles with one call site, whose only sample has the least value, none, the largest. */
START_TEST(a_series_of_the_largest_values_grows)
{
    enum { PROFILES = 3, VARINT = 10 };
    /* types: texts 1 in 2; sample: place 1, a value; place 1: function 1; function 1: name 1; texts "", "f", "bytes" */
    static const char begin[] = "\x0a\x04\x08\x01\x10\x02\x12\x0f\x0a\x01\x01\x12\x0a";
    static const char end[] = "\x22\x06\x08\x01\x22\x02\x08\x01\x2a\x04\x08\x01\x10\x01\x32\x00\x32\x01"
                              "f\x32\x05"
                              "bytes";
    static const char values[PROFILES][VARINT + 1] = {"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x01",
                                                      "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",
                                                      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"};
    char file[sizeof(begin) + VARINT + sizeof(end)];
    const size_t begin_size = sizeof(begin) - 1, end_size = sizeof(end) - 1;
    struct analysis_subject *subjects[PROFILES];
    struct analysis_use uses[PROFILES];
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    for (int i = 0; i < PROFILES; i++) {
        struct bytes bytes;
        memcpy(file, begin, begin_size);
        memcpy(file + begin_size, values[i], VARINT);
        memcpy(file + begin_size + VARINT, end, end_size);
        bytes_open(&bytes, file, begin_size + VARINT + end_size);
        subjects[i] = subject_profile(&bytes.source, 0, &err);
        ck_assert_msg(subjects[i] != NULL, "%s", err.text);
        uses[i] = (struct analysis_use){.subject = subjects[i], .id = "0", .name = "p"};
        bytes_close(&bytes);
    }
    const struct analysis_question question = {
        .tool = "device_memory", .view = "series", .uses = uses, .use_count = PROFILES};
    ck_assert_msg(analysis_answer(&question, &out, &err), "%s", err.text);
    buf_char(&out, '\0');
    ck_assert_msg(strstr(out.data, ", +8.00 EiB each") != NULL, "%s", out.data);
    buf_free(&out);
    for (int i = 0; i < PROFILES; i++)
        analysis_subject_free(subjects[i]);
}
END_TEST

/* Bytes that are refused, and what the refusal says. */
static const struct {
    const char *bytes;
    size_t length;
    const char *text;
} refused[] = {
/* clang-format off */
#define BYTES(literal) literal, sizeof(literal) - 1
    {BYTES("hello, world\n"), "not a profile"},
    {BYTES("\x0a\x04\x08\x01\x10\x02\x12\x7f"), "length"},
    /* clang-format on */
};

START_TEST(damage_is_named)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct bytes bytes;
        struct err err = ERR_INIT;
        bytes_open(&bytes, refused[i].bytes, refused[i].length);
        ck_assert_msg(subject_profile(&bytes.source, 0, &err) == NULL, "%zu: %s", i, refused[i].text);
        ck_assert_msg(strstr(err.text, refused[i].text) != NULL, "%zu: %s instead of %s", i, err.text, refused[i].text);
        free(bytes.data);
    }
}
END_TEST

/* Profiles of equal types are compared type by type: that must stay little work. */
START_TEST(too_many_sample_types_are_refused)
{
    static const char head[] = "\x32\x00\x32\x05"
                               "bytes",
                      type[] = "\x0a\x04\x08\x01\x10\x01";
    char file[sizeof(head) + 65 * (sizeof(type) - 1)];
    memcpy(file, head, sizeof(head) - 1);
    for (size_t count = 1; count <= 65; count++) {
        struct bytes bytes;
        struct err err = ERR_INIT;
        memcpy(file + sizeof(head) - 1 + (count - 1) * (sizeof(type) - 1), type, sizeof(type) - 1);
        bytes_open(&bytes, file, sizeof(head) - 1 + count * (sizeof(type) - 1));
        struct analysis_subject *profile = subject_profile(&bytes.source, 0, &err);
        ck_assert_int_eq(profile != NULL, count <= 64);
        ck_assert_int_eq(err.code, count <= 64 ? ERR_none : ERR_limit);
        analysis_subject_free(profile);
        free(bytes.data);
    }
}
END_TEST

START_TEST(no_samples_are_no_error)
{
    static const char empty[] = "\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x05space\x32\x05"
                                "bytes";
    struct bytes bytes;
    struct err err = ERR_INIT;
    bytes_open(&bytes, empty, sizeof(empty) - 1);
    struct analysis_subject *profile = subject_profile(&bytes.source, 0, &err);
    ck_assert_msg(profile != NULL, "%s", err.text);
    cJSON *tree, *data = profile_ask(profile, "summary", NULL, 0, &tree);
    ck_assert_double_eq(number_in(data, "total"), 0);
    ck_assert_str_eq(
        cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "notes"), 0), "code")->valuestring,
        "no_sample");
    cJSON_Delete(tree);
    analysis_subject_free(profile);
    free(bytes.data);
}
END_TEST

/* A long text that thousands of samples name would be hashed again and again. */
START_TEST(a_small_file_cannot_cost_much_through_long_texts)
{
    enum { SAMPLES = 20000, TEXT = 1 << 20 };
    static const char head[] = "\x0a\x04\x08\x01\x10\x01"; /* one type */
    static const char sample[] = "\x12\x08\x10\x05\x1a\x04\x08\x01\x10\x02";
    static const char texts[] = "\x32\x00\x32\x05"
                                "bytes"
                                "\x32\x80\x80\x40"; /* "", "bytes" and one of a MiB */
    static uint8_t file[SAMPLES * (sizeof(sample) - 1) + TEXT + 64];
    struct bytes bytes;
    struct err err = ERR_INIT;
    size_t at = sizeof(head) - 1;
    memcpy(file, head, at);
    for (int i = 0; i < SAMPLES; i++, at += sizeof(sample) - 1)
        memcpy(file + at, sample, sizeof(sample) - 1);
    memcpy(file + at, texts, sizeof(texts) - 1);
    at += sizeof(texts) - 1;
    memset(file + at, 'x', TEXT);
    bytes_open(&bytes, file, at + TEXT);
    ck_assert_ptr_null(subject_profile(&bytes.source, 0, &err));
    ck_assert_msg(err.code == ERR_limit, "%s", err.text);
    free(bytes.data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("profile");
    TCase *tests = tcase_create("profile");
    tcase_add_test(tests, unknown_sizes_are_counted_and_never_subtracted);
    tcase_add_test(tests, machinery_is_folded_into_the_users_frame);
    tcase_add_test(tests, the_last_packages_folder_of_a_path_says_whose_code_it_is);
    tcase_add_test(tests, a_frame_that_calls_itself_counts_once);
    tcase_add_test(tests, copies_on_several_devices_are_counted);
    tcase_add_test(tests, labels_that_no_expression_can_name_are_filtered_by_value);
    tcase_add_test(tests, inlined_functions_can_count_as_their_callers);
    tcase_add_test(tests, frames_that_a_profile_drops_are_held_by_their_callers);
    tcase_add_test(tests, a_go_heap_profile_opens_on_what_is_in_use);
    tcase_add_test(tests, a_series_has_a_word_for_what_becomes_of_it);
    tcase_add_loop_test(tests, a_series_says_first_what_grows, 0, 6);
    tcase_add_test(tests, a_series_of_the_largest_values_grows);
    tcase_add_test(tests, damage_is_named);
    tcase_add_test(tests, too_many_sample_types_are_refused);
    tcase_add_test(tests, no_samples_are_no_error);
    tcase_add_test(tests, a_small_file_cannot_cost_much_through_long_texts);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
