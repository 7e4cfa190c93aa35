/* SPDX-License-Identifier: Apache-2.0
 * Two programs side by side: sums are exact, equal values find each other, refusals say why, equal keys cost no square.
 */
#include "analysis/analysis.h"

#include "bytes.h"
#include "subject.h"

#include <cjson/cJSON.h>

#define PROGRAMS "tests/fixtures/programs/"
#define FILE_NAME "/module_0001.jit_train_step.after_optimizations.hlo.pb.gz"
static const char base[] = PROGRAMS "z-base" FILE_NAME, plus_one[] = PROGRAMS "z-plus1" FILE_NAME;
static const char no_trace[] = "build/fixtures/hlo-no-trace.pb", small[] = "build/fixtures/hlo-two-buffers.pb";
static struct err err;

static void begin(void) { err = (struct err)ERR_INIT; }

struct opened {
    struct bytes bytes;
    struct analysis_contents *contents;
    struct analysis_subject *module;
};

static void opened_open(struct opened *opened, const char *path)
{
    bytes_load(&opened->bytes, path);
    opened->contents = analysis_contents_read(&opened->bytes.source, &err);
    ck_assert_msg(opened->contents != NULL, "%s: %s", path, err.text);
    opened->module = subject_module(&opened->bytes.source, &opened->contents->programs[0], 0, &err);
    ck_assert_msg(opened->module != NULL, "%s: %s", path, err.text);
}

static void opened_close(struct opened *opened)
{
    analysis_subject_free(opened->module);
    analysis_contents_free(opened->contents);
    bytes_close(&opened->bytes);
}

/* The answer of a view on two files, to be deleted; NULL with err set. */
static cJSON *ask(const char *a, const char *b, const char *view, const struct analysis_param *params, size_t count)
{
    struct opened opened[2];
    struct buf out = BUF_INIT;
    opened_open(&opened[0], a);
    opened_open(&opened[1], b);
    const struct analysis_use uses[] = {{.subject = opened[0].module}, {.subject = opened[1].module}};
    const struct analysis_question question = {
        .tool = "compare", .view = view, .uses = uses, .use_count = 2, .params = params, .param_count = count};
    cJSON *root = analysis_answer(&question, &out, &err) ? cJSON_ParseWithLength(out.data, out.length) : NULL;
    ck_assert(root != NULL || err_is_set(&err));
    buf_free(&out);
    opened_close(&opened[0]);
    opened_close(&opened[1]);
    return root;
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

static const struct {
    const char *a, *b;
} pairs[] = {{base, plus_one}, {plus_one, base}, {base, base}, {base, small}, {no_trace, small}};
enum { PAIR_COUNT = sizeof(pairs) / sizeof(pairs[0]) };

/* Waterfall and pairs lead from A's figure to B's; each buffer is there once. */
START_TEST(sums_are_exact)
{
    cJSON *root = ask(pairs[_i].a, pairs[_i].b, "diff", NULL, 0), *item;
    double sum = number(root, "total_before"), fragmentation = 0, live = 0;
    const cJSON *list = cJSON_GetObjectItem(root, "waterfall");
    cJSON_ArrayForEach(item, list)
    {
        sum += number(item, "bytes");
        if (strcmp(text(item, "category"), "fragmentation") == 0)
            fragmentation = number(item, "bytes");
    }
    ck_assert_double_eq(sum, number(root, "total_after"));
    list = cJSON_GetObjectItem(root, "matches");
    cJSON_ArrayForEach(item, list) live += number(item, "delta_bytes");
    ck_assert_double_eq(live + fragmentation, number(root, "total_after") - number(root, "total_before"));
    const cJSON *a = cJSON_GetObjectItem(root, "a"), *b = cJSON_GetObjectItem(root, "b");
    double buffers = 0;
    cJSON_ArrayForEach(item, list)
    {
        buffers += cJSON_IsString(cJSON_GetObjectItem(item, "a"));
        buffers += cJSON_IsString(cJSON_GetObjectItem(item, "b"));
    }
    ck_assert_double_eq(buffers, number(a, "live_count") + number(b, "live_count"));
    cJSON_Delete(root);
}
END_TEST

START_TEST(a_program_is_the_same_as_itself)
{
    cJSON *root = ask(base, base, "summary", NULL, 0);
    const cJSON *data = cJSON_GetObjectItem(root, "data"), *counts = cJSON_GetObjectItem(data, "counts");
    ck_assert_double_eq(number(data, "matched_bytes"), number(data, "compared_bytes"));
    ck_assert_double_eq(number(counts, "same"), number(data, "pair_count"));
    ck_assert_ptr_nonnull(strstr(text(data, "sentence"), "A and B need the same: 3.92 GiB; 0 of "));
    ck_assert(!cJSON_IsTrue(cJSON_GetObjectItem(data, "peak_has_moved")));
    cJSON_Delete(root);
}
END_TEST

/* One more layer: the four old ones keep their partners, though the new one is between them on the way back. */
START_TEST(a_further_layer_shifts_no_other)
{
    cJSON *root = ask(base, plus_one, "diff", NULL, 0), *item;
    const cJSON *list = cJSON_GetObjectItem(root, "matches");
    int of_new = 0;
    cJSON_ArrayForEach(item, list)
    {
        const char *a = text(item, "a"), *b = text(item, "b");
        if (strstr(b, "layers___4___") != NULL) {
            ck_assert_str_eq(a, "");
            ck_assert_str_eq(text(item, "key"), "new");
            of_new++;
        } else if (strstr(b, "layers___") != NULL) {
            ck_assert_str_eq(a, b);
            ck_assert_str_eq(text(item, "key"), "scope_shape");
        }
    }
    ck_assert_int_eq(of_new, 24);
    ck_assert_ptr_nonnull(strstr(text(root, "sentence"), "B needs 437.59 MiB more, 4.35 GiB instead of 3.92 GiB: "));
    cJSON_Delete(root);
}
END_TEST

/* Groups hold each pair once, and opening one gives its pairs. */
START_TEST(groups_open_to_their_pairs)
{
    static const struct analysis_param all[] = {{"limit", "1000"}};
    cJSON *root = ask(base, plus_one, "groups", all, 1);
    cJSON *group = cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetObjectItem(root, "data"), "groups"), 0), *item;
    char at[24];
    snprintf(at, sizeof(at), "%.0f", number(group, "group"));
    const struct analysis_param one[] = {{"group", at}};
    cJSON *opened = ask(base, plus_one, "buffers", one, 1);
    const cJSON *rows = cJSON_GetObjectItem(cJSON_GetObjectItem(opened, "data"), "rows");
    double sum = 0;
    cJSON_ArrayForEach(item, rows) sum += number(item, "delta_bytes");
    ck_assert_double_eq(sum, number(group, "delta_bytes"));
    ck_assert_double_eq(cJSON_GetArraySize(rows), number(group, "count"));
    cJSON_Delete(opened);
    cJSON_Delete(root);
}
END_TEST

/* Places never go back, on either side, and both reach into the axis. */
START_TEST(curves_share_an_axis)
{
    static const char *const ways[] = {"scope", "position"};
    const struct analysis_param params[] = {{"align", ways[_i]}, {"width", "64"}};
    cJSON *root = ask(base, plus_one, "curve", params, 2), *item;
    const cJSON *data = cJSON_GetObjectItem(root, "data");
    for (int side = 0; side < 2; side++) {
        const cJSON *curve = cJSON_GetObjectItem(data, side == 0 ? "a" : "b");
        double last = 0, highest = 0;
        const cJSON *columns = cJSON_GetObjectItem(curve, "columns");
        const cJSON *places = cJSON_GetObjectItem(columns, "place"), *bytes = cJSON_GetObjectItem(columns, "bytes");
        cJSON_ArrayForEach(item, places)
        {
            ck_assert_double_ge(item->valuedouble, last);
            last = item->valuedouble;
        }
        cJSON_ArrayForEach(item, bytes) highest = item->valuedouble > highest ? item->valuedouble : highest;
        ck_assert_double_le(last, number(data, "axis_length"));
        ck_assert_double_eq(highest, number(curve, "bytes"));
    }
    cJSON_Delete(root);
}
END_TEST

/* Two steps of one program: what is live is compared, and nothing is lost in between. */
START_TEST(steps_of_one_program_are_compared)
{
    static const struct analysis_param steps[] = {{"step_a", "0"}, {"step_b", "peak"}};
    cJSON *root = ask(base, base, "diff", steps, 2), *item;
    const cJSON *waterfall = cJSON_GetObjectItem(root, "waterfall");
    double sum = number(root, "total_before");
    ck_assert(cJSON_IsTrue(cJSON_GetObjectItem(root, "is_of_steps")));
    cJSON_ArrayForEach(item, waterfall) sum += number(item, "bytes");
    ck_assert_double_eq(sum, number(root, "total_after"));
    ck_assert_double_eq(number(cJSON_GetArrayItem(waterfall, cJSON_GetArraySize(waterfall) - 1), "bytes"), 0);
    ck_assert_double_lt(number(root, "total_before"), number(root, "total_after"));
    cJSON_Delete(root);
}
END_TEST

static const struct {
    const char *view, *name, *value;
    enum err_code code;
} refused[] = {
    {"diff", "space_b", "77", ERR_conflict},    {"diff", "step_a", "first", ERR_argument},
    {"diff", "step_a", "999999", ERR_argument}, {"diff", "format", "xml", ERR_argument},
    {"curve", "align", "time", ERR_argument},   {"groups", "state", "newer", ERR_argument},
    {"buffers", "group", "-1", ERR_argument},   {"summary", "space", "0", ERR_argument},
};

START_TEST(broken_questions_are_refused_by_name)
{
    const struct analysis_param param = {refused[_i].name, refused[_i].value};
    cJSON *root = ask(base, base, refused[_i].view, &param, 1);
    ck_assert_ptr_null(root);
    ck_assert_msg(err.code == refused[_i].code, "%s=%s: %s", refused[_i].name, refused[_i].value, err.text);
}
END_TEST

START_TEST(what_has_no_plan_cannot_be_compared)
{
    ck_assert_ptr_null(ask(base, "build/fixtures/hlo-module.pb", "diff", NULL, 0));
    ck_assert_int_eq(err.code, ERR_conflict);
    ck_assert_ptr_nonnull(strstr(err.text, "B holds no buffer assignment"));
}
END_TEST

START_TEST(two_programs_are_wanted)
{
    struct opened opened;
    struct buf out = BUF_INIT;
    opened_open(&opened, small);
    ck_assert(!subject_answer(opened.module, "compare", "diff", NULL, 0, &out, &err));
    ck_assert_int_eq(err.code, ERR_argument);
    buf_free(&out);
    opened_close(&opened);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare");
    TCase *tests = tcase_create("compare");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_loop_test(tests, sums_are_exact, 0, PAIR_COUNT);
    tcase_add_test(tests, a_program_is_the_same_as_itself);
    tcase_add_test(tests, a_further_layer_shifts_no_other);
    tcase_add_test(tests, groups_open_to_their_pairs);
    tcase_add_loop_test(tests, curves_share_an_axis, 0, 2);
    tcase_add_test(tests, steps_of_one_program_are_compared);
    tcase_add_loop_test(tests, broken_questions_are_refused_by_name, 0, (int)(sizeof(refused) / sizeof(refused[0])));
    tcase_add_test(tests, what_has_no_plan_cannot_be_compared);
    tcase_add_test(tests, two_programs_are_wanted);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
