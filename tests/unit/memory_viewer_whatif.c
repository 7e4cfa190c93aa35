/* SPDX-License-Identifier: Apache-2.0
 * Changes as the view "whatif" tells them to a person who chooses: each alone, some together, those that do not apply,
 * and how buffers are named in them. What the predictions are worth is told by tests/golden/whatif.py. */
#include "asked.h"

static const char *const program = "tests/fixtures/modules/mlp-adam/"
                                   "module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz";

static const char *text(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    ck_assert_msg(cJSON_IsString(item), "%s is no text", name);
    return item->valuestring;
}

static bool is_null(const cJSON *object, const char *name) { return !cJSON_HasObjectItem(object, name); }

static cJSON *whatif(struct asked *asked, const struct analysis_param *params, size_t count, cJSON **root)
{
    err = (struct err)ERR_INIT;
    return ask_many(asked, "whatif", params, count, root);
}

START_TEST(what_it_saves_alone_is_what_it_saves)
{
    static const struct analysis_param params[] = {{"alone", "1"}};
    static const char *const figures[] = {"saving_bytes", "total_bytes", "peak_bytes", "row_count"};
    struct asked asked;
    cJSON *root, *own, *row;
    int applied = 0, refused = 0;
    double last = 1e300;
    asked_open(&asked, program);
    cJSON *data = whatif(&asked, params, 1, &root);
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(data, "changes")), 0);
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(data, "alone"))
    {
        cJSON *answer = ask(&asked, "whatif", "change", text(row, "change"), &own);
        if (!is_null(row, "refusal")) {
            ck_assert_ptr_null(own);
            ck_assert_str_eq(text(row, "refusal"), err.text);
            ck_assert_double_eq(number(row, "saving_bytes"), 0);
            refused++;
            continue;
        }
        ck_assert_int_eq(refused, 0); /* those that do not apply come last */
        ck_assert_double_le(number(row, "saving_bytes"), last);
        last = number(row, "saving_bytes");
        cJSON *change = cJSON_GetArrayItem(cJSON_GetObjectItem(answer, "changes"), 0);
        for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
            ck_assert_double_eq(number(row, figures[i]), number(change, figures[i]));
        ck_assert_str_eq(text(row, "reason"), text(change, "reason"));
        ck_assert_str_eq(text(row, "call"), text(change, "call"));
        ck_assert(is_null(row, "fits"));
        applied++;
        cJSON_Delete(own);
    }
    ck_assert_int_gt(applied, 2);
    ck_assert_int_gt(refused, 0);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(one_that_does_not_apply_leaves_the_others_as_they_are)
{
    static const struct analysis_param params[] = {
        {"change", "batches=0.5"}, {"change", "batch=0.5"}, {"change", "unpad=nothing_here"}, {"alone", "1"}};
    struct asked asked;
    cJSON *root, *own;
    asked_open(&asked, program);
    cJSON *data = whatif(&asked, params, 4, &root), *alone = ask(&asked, "whatif", "change", "batch=0.5", &own);
    cJSON *changes = cJSON_GetObjectItem(data, "changes");
    ck_assert_double_eq(number(data, "total_bytes_after"), number(alone, "total_bytes_after"));
    ck_assert_str_eq(text(data, "sentence"), text(alone, "sentence"));
    ck_assert_ptr_nonnull(strstr(text(cJSON_GetArrayItem(changes, 0), "refusal"), "did you mean \"batch\""));
    ck_assert_str_eq(text(cJSON_GetArrayItem(changes, 0), "words"), "");
    ck_assert(is_null(cJSON_GetArrayItem(changes, 0), "confidence"));
    ck_assert(is_null(cJSON_GetArrayItem(changes, 1), "refusal"));
    ck_assert_str_eq(text(cJSON_GetArrayItem(changes, 1), "confidence"), "model");
    ck_assert(is_null(cJSON_GetArrayItem(changes, 2), "confidence"));
    ck_assert_ptr_nonnull(strstr(text(cJSON_GetArrayItem(changes, 2), "refusal"), "nothing has this name"));
    /* without alone=1 there is no answer */
    cJSON_Delete(own);
    ck_assert_ptr_null(ask(&asked, "whatif", "change", "batches=0.5", &own));
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(a_refusal_stands_in_the_text)
{
    static const struct analysis_param params[] = {
        {"change", "batches=0.5"}, {"change", "batch=0.5"}, {"alone", "1"}, {"format", "text"}};
    struct asked asked;
    struct buf out = BUF_INIT;
    asked_open(&asked, program);
    ck_assert(subject_answer(asked.module, "memory_viewer", "whatif", params, 4, &out, &err));
    buf_char(&out, '\0');
    ck_assert_ptr_nonnull(strstr(out.data, "  batches=0.5 does not apply\n      change: "));
    ck_assert_ptr_nonnull(strstr(out.data, "did you mean \"batch\""));
    ck_assert_ptr_nonnull(strstr(out.data, "  batch=0.5 saves "));
    ck_assert_ptr_null(strstr(out.data, "exact"));
    buf_free(&out);
    asked_close(&asked);
}
END_TEST

/* What the layers of this program compute again may take more at once than what they keep. */
START_TEST(what_has_no_figure_neither_saves_nor_fits)
{
    static const struct analysis_param params[] = {
        {"change", "checkpoint=*"}, {"change", "donate=all"}, {"capacity_bytes", "1000000000000"}};
    struct asked asked;
    cJSON *root, *own;
    asked_open(&asked, "tests/fixtures/gpu-pairs/optimizer-kept/"
                       "module_0001.jit_step.sm_9.0a_gpu_after_optimizations.hlo.pb.gz");
    cJSON *both = whatif(&asked, params, 3, &root), *donated = ask(&asked, "whatif", "change", "donate=all", &own);
    cJSON *changes = cJSON_GetObjectItem(both, "changes"), *first = cJSON_GetArrayItem(changes, 0);
    ck_assert(cJSON_IsTrue(cJSON_GetObjectItem(first, "has_no_figure")));
    ck_assert(is_null(first, "saving_bytes"));
    ck_assert(is_null(first, "fits"));
    ck_assert(cJSON_IsTrue(cJSON_GetObjectItem(cJSON_GetArrayItem(changes, 1), "fits")));
    ck_assert_double_eq(number(both, "total_bytes_after"), number(donated, "total_bytes_after"));
    ck_assert_int_eq(
        strncmp(text(both, "sentence"), "Without checkpoint=*, whose saving is not known, donate=all saves ", 66), 0);
    ck_assert_ptr_nonnull(strstr(text(both, "sentence"), "(model)"));
    cJSON_Delete(own);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(what_is_asked_stands_among_the_usual_once)
{
    static const struct analysis_param params[] = {{"change", "batch=0.5"}, {"change", "batch=0.75"}, {"alone", "1"}};
    struct asked asked;
    cJSON *root, *row;
    int halves = 0, quarters = 0;
    asked_open(&asked, program);
    const cJSON *alone = cJSON_GetObjectItem(whatif(&asked, params, 3, &root), "alone");
    cJSON_ArrayForEach(row, alone)
    {
        halves += strcmp(text(row, "change"), "batch=0.5") == 0;
        quarters += strcmp(text(row, "change"), "batch=0.75") == 0;
    }
    ck_assert_int_eq(halves, 1);
    ck_assert_int_eq(quarters, 1);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(a_glob_has_its_own_list)
{
    static const struct analysis_param params[] = {{"alone", "1"}, {"glob", "*mu*"}};
    struct asked asked;
    cJSON *root, *row;
    int count = 0;
    asked_open(&asked, program);
    const cJSON *alone = cJSON_GetObjectItem(whatif(&asked, params, 2, &root), "alone");
    cJSON_ArrayForEach(row, alone)
    {
        ck_assert_ptr_nonnull(strstr(text(row, "change"), "=*mu*"));
        count++;
    }
    ck_assert_int_eq(count, 5);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

/* Held against what is left behind the changes, not what there was. */
START_TEST(what_fits_with_changes_needs_no_more)
{
    struct asked asked;
    char capacity[32];
    cJSON *root, *own;
    asked_open(&asked, program);
    cJSON *half = ask(&asked, "whatif", "change", "batch=0.5", &own);
    ck_assert_double_lt(number(half, "total_bytes_after"), number(half, "total_bytes_before"));
    snprintf(capacity, sizeof(capacity), "%.0f", number(half, "total_bytes_after"));
    const struct analysis_param params[] = {{"change", "batch=0.5"}, {"fit", "1"}, {"capacity_bytes", capacity}};
    cJSON *fit = cJSON_GetObjectItem(whatif(&asked, params, 3, &root), "fit");
    ck_assert_ptr_nonnull(strstr(text(fit, "sentence"), "It fits with what is changed: "));
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(fit, "sets")), 0);
    cJSON_Delete(root);
    cJSON_Delete(own);
    asked_close(&asked);
}
END_TEST

/* The GLOB of a buffer or a group, put into a change, finds what it was taken from. */
static void names_itself(struct asked *asked, const cJSON *object, double at_least)
{
    char change[600];
    cJSON *root;
    if (is_null(object, "glob"))
        return;
    snprintf(change, sizeof(change), "offload=%s", text(object, "glob"));
    cJSON *data = ask(asked, "whatif", "change", change, &root);
    if (root == NULL) { /* it may be refused, but never for its name */
        ck_assert_msg(strstr(err.text, "nothing has this name") == NULL, "%s: %s", change, err.text);
        return;
    }
    cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(data, "changes"), 0);
    ck_assert_double_ge(number(first, "row_count"), at_least);
    cJSON_Delete(root);
}

START_TEST(a_buffer_and_a_group_are_named_as_a_change_names_them)
{
    struct asked asked;
    cJSON *root, *own, *row;
    int named = 0;
    asked_open(&asked, program);
    const cJSON *rows = cJSON_GetObjectItem(ask(&asked, "buffers", "limit", "12", &root), "rows");
    cJSON_ArrayForEach(row, rows)
    {
        cJSON *buffer = ask(&asked, "buffer", "id", text(row, "id"), &own);
        named += !is_null(buffer, "glob");
        names_itself(&asked, buffer, 1);
        cJSON_Delete(own);
    }
    ck_assert(is_null(cJSON_GetObjectItem(root, "data"), "glob"));
    cJSON_Delete(root);
    ck_assert_int_gt(named, 6);
    named = 0;
    const cJSON *groups = cJSON_GetObjectItem(ask(&asked, "groups", "by", "whose", &root), "groups");
    cJSON_ArrayForEach(row, groups)
    {
        const struct analysis_param params[] = {{"by", "whose"}, {"key", text(row, "key")}, {"step", "peak"}};
        err = (struct err)ERR_INIT;
        cJSON *group = ask_many(&asked, "buffers", params, 3, &own);
        named += !is_null(group, "glob");
        names_itself(&asked, group, 1);
        cJSON_Delete(own);
    }
    ck_assert_int_gt(named, 3);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

static void answer(const struct asked *asked, const struct analysis_groundwork *groundwork,
                   const struct analysis_param *params, struct buf *out)
{
    const struct analysis_use use = {.subject = asked->module};
    const struct analysis_question question = {.tool = "memory_viewer",
                                               .view = "whatif",
                                               .uses = &use,
                                               .use_count = 1,
                                               .params = params,
                                               .param_count = 4,
                                               .groundwork = groundwork};
    ck_assert(analysis_question_predicts(&question));
    ck_assert_msg(analysis_answer(&question, out, &err), "%s", err.text);
}

/* A program in which the compiler rematerializes nothing, and one in which it does. */
static const char *const grounds[] = {
    "tests/fixtures/programs/z-base/module_0001.jit_train_step.after_optimizations.hlo.pb.gz",
    "tests/fixtures/demo/b-activations-unrolled/module_0282.jit_train_step.cl_1014260217.after_optimizations.hlo.pb.gz",
};

/* However many were answered with it before. */
START_TEST(a_groundwork_changes_no_answer)
{
    static const struct analysis_param params[][4] = {
        {{"change", "checkpoint=*"}, {"change", "offload=*mu*"}, {"rows", "20"}, {"width", "40"}},
        {{"change", "batch=0.5"}, {"change", "cast=*:bf16"}, {"rows", "20"}, {"alone", "1"}},
        {{"capacity_bytes", "2000000000"}, {"fit", "1"}, {"rows", "20"}, {"width", "40"}},
        {{"change", "checkpoint=*"}, {"change", "shard=*:4"}, {"alone", "1"}, {"category_rules", ". parameter"}},
        {{"change", "batch=0.5"}, {"change", "checkpoint=*"}, {"alone", "1"}, {"category_rules", ". batch"}},
        {{"change", "checkpoint=*"}, {"change", "offload=*mu*"}, {"rows", "20"}, {"width", "40"}},
    };
    struct asked asked;
    struct buf with = BUF_INIT, without = BUF_INIT;
    asked_open(&asked, grounds[_i]);
    struct analysis_groundwork *groundwork = analysis_groundwork_make(asked.module, 0, &err);
    ck_assert_ptr_nonnull(groundwork);
    ck_assert_uint_gt(analysis_groundwork_memory_bytes(groundwork), 1000);
    for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
        with.length = without.length = 0;
        answer(&asked, groundwork, params[i], &with);
        answer(&asked, NULL, params[i], &without);
        ck_assert_uint_eq(with.length, without.length);
        ck_assert_mem_eq(with.data, without.data, with.length);
    }
    buf_free(&with);
    buf_free(&without);
    analysis_groundwork_free(groundwork);
    ck_assert_ptr_null(analysis_groundwork_make(asked.module, 1000, &err));
    ck_assert_int_eq(err.code, ERR_memory);
    err = (struct err)ERR_INIT;
    asked_close(&asked);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_viewer_whatif");
    TCase *tests = tcase_create("memory_viewer_whatif");
    tcase_add_test(tests, what_it_saves_alone_is_what_it_saves);
    tcase_add_test(tests, one_that_does_not_apply_leaves_the_others_as_they_are);
    tcase_add_test(tests, a_refusal_stands_in_the_text);
    tcase_add_test(tests, what_has_no_figure_neither_saves_nor_fits);
    tcase_add_test(tests, what_is_asked_stands_among_the_usual_once);
    tcase_add_test(tests, a_glob_has_its_own_list);
    tcase_add_test(tests, what_fits_with_changes_needs_no_more);
    tcase_add_loop_test(tests, a_groundwork_changes_no_answer, 0, sizeof(grounds) / sizeof(grounds[0]));
    tcase_add_test(tests, a_buffer_and_a_group_are_named_as_a_change_names_them);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
