/* SPDX-License-Identifier: Apache-2.0
 * Two device profiles side by side: sums are exact, and the figures are those of Device Memory's own comparison. */
#include "analysis/analysis.h"

#include "bytes.h"
#include "subject.h"

#include <cjson/cJSON.h>

#define PROFILES "tests/fixtures/memprof/"
static const char first[] = PROFILES "memory1.prof", last[] = PROFILES "memory9.prof",
                  executables[] = PROFILES "memory-executables.prof", tpu[] = "build/fixtures/profile-tpu.pb",
                  go[] = "build/fixtures/profile-go-heap.pb";
static struct err err;

static void begin(void) { err = (struct err)ERR_INIT; }

static struct analysis_subject *profile_read(const char *path)
{
    struct bytes bytes;
    bytes_load(&bytes, path);
    struct analysis_subject *profile = subject_profile(&bytes.source, 0, &err);
    ck_assert_msg(profile != NULL, "%s: %s", path, err.text);
    bytes_close(&bytes);
    return profile;
}

/* The answer on A and B, to be deleted; NULL with err set. */
static cJSON *ask_tool(const char *a, const char *b, const char *tool, const char *view,
                       const struct analysis_param *params, size_t count)
{
    struct analysis_subject *profiles[] = {profile_read(a), profile_read(b)};
    struct analysis_use uses[] = {{.subject = profiles[0], .id = "a", .name = "a.prof"},
                                  {.subject = profiles[1], .id = "b", .name = "b.prof"}};
    struct buf out = BUF_INIT;
    uses[0].is_base = strcmp(tool, "device_memory") == 0;
    const struct analysis_question question = {
        .tool = tool, .view = view, .uses = uses, .use_count = 2, .params = params, .param_count = count};
    cJSON *root = analysis_answer(&question, &out, &err) ? cJSON_ParseWithLength(out.data, out.length) : NULL;
    ck_assert(root != NULL || err_is_set(&err));
    buf_free(&out);
    analysis_subject_free(profiles[0]);
    analysis_subject_free(profiles[1]);
    return root;
}

static cJSON *ask(const char *a, const char *b, const char *view, const struct analysis_param *params, size_t count)
{
    return ask_tool(a, b, "compare_profiles", view, params, count);
}

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    ck_assert_msg(cJSON_IsNumber(item), "%s is no number", name);
    return item->valuedouble;
}

static const char *text(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static double sum_of(const cJSON *list, const char *name)
{
    const cJSON *item;
    double sum = 0;
    cJSON_ArrayForEach(item, list) sum += number(item, name);
    return sum;
}

static const struct {
    const char *a, *b;
} pairs[] = {{first, last}, {last, first}, {first, executables}, {first, first}, {tpu, first}, {last, tpu}, {tpu, tpu}};
enum { PAIR_COUNT = sizeof(pairs) / sizeof(pairs[0]) };

START_TEST(sums_are_exact)
{
    cJSON *root = ask(pairs[_i].a, pairs[_i].b, "diff", NULL, 0);
    double change = number(root, "total_after") - number(root, "total_before");
    ck_assert_double_eq(sum_of(cJSON_GetObjectItem(root, "waterfall"), "bytes"), change);
    ck_assert_double_eq(sum_of(cJSON_GetObjectItem(root, "matches"), "delta_bytes"), change);
    ck_assert_double_eq(sum_of(cJSON_GetObjectItem(root, "stacks"), "delta_bytes"), change);
    ck_assert_double_eq(sum_of(cJSON_GetObjectItem(root, "kinds"), "a_bytes"), number(root, "total_before"));
    ck_assert_double_eq(sum_of(cJSON_GetObjectItem(root, "kinds"), "b_bytes"), number(root, "total_after"));
    ck_assert_double_eq(number(cJSON_GetObjectItem(root, "a"), "total"), number(root, "total_before"));
    cJSON_Delete(root);
}
END_TEST

/* The figures of the view "top" of device_memory for each of the user's lines, with A as its base. */
START_TEST(lines_have_the_figures_of_device_memory)
{
    static const struct analysis_param all[] = {{"limit", "1000"}};
    cJSON *own = ask(pairs[_i].a, pairs[_i].b, "sites", all, 1);
    cJSON *other = ask_tool(pairs[_i].a, pairs[_i].b, "device_memory", "top", all, 1), *row, *line;
    const cJSON *sites = cJSON_GetObjectItem(cJSON_GetObjectItem(own, "data"), "groups");
    const cJSON *lines = cJSON_GetObjectItem(cJSON_GetObjectItem(other, "data"), "rows");
    int compared = 0;
    cJSON_ArrayForEach(line, lines)
    {
        const char *id = text(cJSON_GetObjectItem(line, "frame"), "id");
        double change = 0, before = 0;
        cJSON_ArrayForEach(row, sites)
        {
            if (strcmp(text(cJSON_GetObjectItem(row, "frame"), "id"), id) != 0)
                continue;
            change += number(row, "delta_bytes");
            before += cJSON_IsNumber(cJSON_GetObjectItem(row, "a_bytes")) ? number(row, "a_bytes") : 0;
            compared++;
        }
        ck_assert_double_eq(change, number(line, "self"));
        ck_assert_double_eq(before, number(line, "before_self"));
    }
    ck_assert_int_eq(compared, cJSON_GetArraySize(sites));
    cJSON_Delete(own);
    cJSON_Delete(other);
}
END_TEST

START_TEST(the_sentence_says_which_line_has_grown)
{
    cJSON *root = ask(first, last, "summary", NULL, 0);
    const cJSON *data = cJSON_GetObjectItem(root, "data"), *counts = cJSON_GetObjectItem(data, "counts");
    ck_assert_str_eq(text(data, "sentence"), "B holds 1.68 MiB more, 9.35 MiB instead of 7.67 MiB: anotherfunc "
                                             "memprof.py:19 \xE2\x80\xBA normal has grown (+1.68 MiB).");
    ck_assert_double_eq(number(counts, "grown"), 2); /* buffers, and executables of unknown size that are more */
    ck_assert_double_eq(number(counts, "new") + number(counts, "gone"), 0);
    cJSON_Delete(root);
}
END_TEST

START_TEST(what_is_new_and_what_is_gone_is_told)
{
    cJSON *root = ask(first, executables, "summary", NULL, 0);
    const char *said = text(cJSON_GetObjectItem(root, "data"), "sentence");
    ck_assert_ptr_nonnull(
        strstr(said, "B holds 7.13 MiB less, 553.1 KiB instead of 7.67 MiB: afunction memprof.py:14"));
    ck_assert_ptr_nonnull(strstr(said, " is gone (\xE2\x88\x92"
                                       "7.63 MiB). New: 3 call sites (+553.1 KiB). Gone: 5 call"));
    cJSON_Delete(root);
    root = ask(first, first, "summary", NULL, 0);
    said = text(cJSON_GetObjectItem(root, "data"), "sentence");
    ck_assert_str_eq(said, "A and B hold the same: 7.67 MiB; 0 of 5 call sites differ.");
    cJSON_Delete(root);
}
END_TEST

/* A state alone; a site opens to its stacks. */
START_TEST(tables_are_narrowed_and_opened)
{
    static const struct analysis_param grown[] = {{"state", "grown"}, {"filter", "kind:buffer"}};
    cJSON *root = ask(first, last, "sites", grown, 2);
    const cJSON *data = cJSON_GetObjectItem(root, "data");
    const cJSON *site = cJSON_GetArrayItem(cJSON_GetObjectItem(data, "groups"), 0);
    ck_assert_double_eq(number(data, "matched_count"), 1);
    ck_assert_double_eq(number(data, "matched_delta_bytes"), 1760000);
    ck_assert_double_eq(number(site, "a_count"), 1);
    ck_assert_double_eq(number(site, "b_count"), 9);
    char group[24];
    snprintf(group, sizeof(group), "%.0f", number(site, "group"));
    const struct analysis_param one[] = {{"group", group}};
    cJSON *opened = ask(first, last, "stacks", one, 1);
    const cJSON *stacks = cJSON_GetObjectItem(cJSON_GetObjectItem(opened, "data"), "rows");
    ck_assert_double_eq(sum_of(stacks, "delta_bytes"), number(site, "delta_bytes"));
    ck_assert_double_eq(cJSON_GetArraySize(stacks), number(site, "stack_count"));
    ck_assert_str_eq(text(cJSON_GetArrayItem(stacks, 0), "stack"),
                     "<module> memprof.py:22 \xE2\x80\xBA anotherfunc memprof.py:19");
    cJSON_Delete(opened);
    cJSON_Delete(root);
}
END_TEST

static const struct {
    const char *view, *name, *value;
} refused[] = {
    {"sites", "state", "newer"}, {"stacks", "group", "-1"},     {"diff", "format", "xml"},
    {"summary", "by", "letter"}, {"sites", "filter", "siez:1"}, {"summary", "space", "0"},
};

START_TEST(broken_questions_are_refused)
{
    const struct analysis_param param = {refused[_i].name, refused[_i].value};
    ck_assert_ptr_null(ask(first, last, refused[_i].view, &param, 1));
    ck_assert_int_eq(err.code, ERR_argument);
}
END_TEST

START_TEST(profiles_without_a_common_type_are_refused)
{
    ck_assert_ptr_null(ask(first, go, "summary", NULL, 0));
    ck_assert(err.text[0] != '\0');
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare_profiles");
    TCase *tests = tcase_create("compare_profiles");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_loop_test(tests, sums_are_exact, 0, PAIR_COUNT);
    tcase_add_loop_test(tests, lines_have_the_figures_of_device_memory, 0, PAIR_COUNT);
    tcase_add_test(tests, the_sentence_says_which_line_has_grown);
    tcase_add_test(tests, what_is_new_and_what_is_gone_is_told);
    tcase_add_test(tests, tables_are_narrowed_and_opened);
    tcase_add_loop_test(tests, broken_questions_are_refused, 0, (int)(sizeof(refused) / sizeof(refused[0])));
    tcase_add_test(tests, profiles_without_a_common_type_are_refused);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
