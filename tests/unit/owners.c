/* SPDX-License-Identifier: Apache-2.0
 * A module that was read without owners and completed later gives every answer that one read at once gives. */
#include "asked.h"

#include <stdatomic.h>

static const char *const program = "tests/fixtures/programs/z-base/"
                                   "module_0001.jit_train_step.after_optimizations.hlo.pb.gz";

static struct analysis_subject *without_owners(const struct asked *asked)
{
    const struct analysis_reading reading = {
        .kind = ANALYSIS_MODULE, .program = &asked->contents->programs[0], .without_owners = true};
    struct analysis_subject *module = analysis_subject_read(&asked->bytes.source, &reading, &err);
    ck_assert_msg(module != NULL, "%s", err.text);
    return module;
}

static void answers_alike(const struct analysis_subject *left, const struct analysis_subject *right, const char *view)
{
    const struct analysis_subject *const sides[] = {left, right};
    struct buf outs[] = {BUF_INIT, BUF_INIT};
    struct err errs[] = {ERR_INIT, ERR_INIT};
    for (int i = 0; i < 2; i++)
        subject_answer(sides[i], "memory_viewer", view, NULL, 0, &outs[i], &errs[i]);
    ck_assert_str_eq(errs[0].text, errs[1].text);
    ck_assert_uint_eq(outs[0].length, outs[1].length);
    if (outs[0].length > 0)
        ck_assert_mem_eq(outs[0].data, outs[1].data, outs[0].length);
    buf_free(&outs[0]);
    buf_free(&outs[1]);
}

static void all_answers_alike(const struct analysis_subject *left, const struct analysis_subject *right)
{
    static const char *const views[] = {"summary", "curve", "strips", "buffers", "groups",    "map",
                                        "tree",    "whose", "whatif", "xprof",   "live_range"};
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        answers_alike(left, right, views[i]);
}

static void completes(const char *path)
{
    struct asked asked;
    asked_open(&asked, path);
    struct analysis_subject *module = without_owners(&asked);
    answers_alike(asked.module, module, "xprof");
    ck_assert_msg(analysis_module_complete(module, 0, NULL, &err), "%s: %s", path, err.text);
    all_answers_alike(asked.module, module);
    ck_assert_uint_gt(analysis_subject_memory_bytes(module), 1000);
    analysis_subject_free(module);
    asked_close(&asked);
}

START_TEST(a_module_completed_later_answers_as_one_read_at_once)
{
    for (size_t i = 0; i < sizeof(asked_modules) / sizeof(asked_modules[0]); i++)
        completes(asked_modules[i]);
    completes(program);
}
END_TEST

START_TEST(a_completion_that_failed_leaves_the_module_as_it_was)
{
    const atomic_int nobody = 0;
    struct asked asked;
    asked_open(&asked, program);
    struct analysis_subject *module = without_owners(&asked);
    uint64_t before_bytes = analysis_subject_memory_bytes(module);
    for (uint64_t limit_bytes = 1000; limit_bytes < before_bytes / 16; limit_bytes *= 3) {
        ck_assert(!analysis_module_complete(module, limit_bytes, NULL, &err));
        ck_assert_int_eq(err.code, ERR_memory);
        err = (struct err)ERR_INIT;
    }
    ck_assert(!analysis_module_complete(module, 0, &nobody, &err));
    ck_assert_int_eq(err.code, ERR_stopped);
    err = (struct err)ERR_INIT;
    ck_assert_uint_eq(analysis_subject_memory_bytes(module), before_bytes);
    answers_alike(asked.module, module, "xprof");
    ck_assert_msg(analysis_module_complete(module, 0, NULL, &err), "%s", err.text);
    all_answers_alike(asked.module, module);
    ck_assert_uint_gt(analysis_subject_memory_bytes(module), before_bytes);
    analysis_subject_free(module);
    asked_close(&asked);
}
END_TEST

START_TEST(only_the_answer_of_xprof_needs_no_owners)
{
    struct analysis_view view;
    for (size_t at = 0; analysis_view_at(at, &view); at++) {
        const struct analysis_question question = {.tool = view.tool, .view = view.view};
        bool is_xprof = strcmp(view.tool, "memory_viewer") == 0 && strcmp(view.view, "xprof") == 0;
        ck_assert_int_eq(analysis_question_needs_owners(&question), !is_xprof);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("owners");
    TCase *tests = tcase_create("owners");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_module_completed_later_answers_as_one_read_at_once);
    tcase_add_test(tests, a_completion_that_failed_leaves_the_module_as_it_was);
    tcase_add_test(tests, only_the_answer_of_xprof_needs_no_owners);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
