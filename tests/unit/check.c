/* SPDX-License-Identifier: Apache-2.0
 * Checks for continuous integration: what is a finding and what is none, and that every format prints the same
 * decision. */
#include "check/write.h"

#include "program.h"

#include <cjson/cJSON.h>

/* 4,096 bytes each of the state and of what the fusion makes; `inner` is computed inside of the fusion. */
#define FUSED(alias)                                                                                                   \
    "scheduled module=jit_step " alias " fused { a = f32[1024] parameter(0) "                                          \
    "inner = f32[1024] tanh(a) \"jit(step)/layer_0/tanh\" "                                                            \
    "ROOT outer = f32[1024] multiply(inner, a) \"jit(step)/layer_0/mul\" } "                                           \
    "main { w = f32[1024] parameter(0) \"state['w']\" !arg x = f32[8] parameter(1) \"batch\" !arg "                    \
    "y = f32[1024] fusion(w) calls=fused \"jit(step)/layer_0/mul\" !temp "                                             \
    "z = f32[1024] add(y, w) \"jit(step)/add\" !out ROOT t = (f32[1024]) tuple(z) }"
#define APART(alias)                                                                                                   \
    "scheduled module=jit_step " alias " main { w = f32[1024] parameter(0) \"state['w']\" !arg "                       \
    "x = f32[8] parameter(1) \"batch\" !arg "                                                                          \
    "inner = f32[1024] tanh(w) \"jit(step)/layer_0/tanh\" line=11 !temp "                                              \
    "y = f32[1024] multiply(inner, w) \"jit(step)/layer_0/mul\" !temp "                                                \
    "z = f32[1024] add(y, w) \"jit(step)/add\" !out ROOT t = (f32[1024]) tuple(z) }"

static struct check_module module;

/* Decides about `after`; `before` NULL: no baseline. */
static void decide(const char *before, const char *after, int64_t max_total_bytes, uint64_t tolerance_ppm)
{
    struct buf files[2] = {BUF_INIT, BUF_INIT}, scratch = BUF_INIT;
    struct plan *plans[2] = {arena_array(&arena, struct plan, 1), arena_array(&arena, struct plan, 1)};
    const struct check_limits limits = {max_total_bytes, before != NULL, tolerance_ppm, false, false};
    module = (struct check_module){.file = "dump/a.hlo.pb", .name = "jit_step"};
    if (before != NULL)
        program_read(before, &files[0], plans[0]);
    program_read(after, &files[1], plans[1]);
    check_decide(&limits, plans[1], &(struct check_baseline){before != NULL ? plans[0] : NULL, NULL}, &arena, &arena,
                 &scratch, &module);
    buf_free(&files[0]);
    buf_free(&files[1]);
    buf_free(&scratch);
}

/* The same where only what the baseline needed is known. */
static void decide_by_figures(const char *after, const struct check_before *before)
{
    struct buf file = BUF_INIT, scratch = BUF_INIT;
    struct plan *plan = arena_array(&arena, struct plan, 1);
    const struct check_limits limits = {-1, true, 0, false, false};
    module = (struct check_module){.file = "dump/a.hlo.pb", .name = "jit_step"};
    program_read(after, &file, plan);
    check_decide(&limits, plan, &(struct check_baseline){NULL, before}, &arena, &arena, &scratch, &module);
    buf_free(&file);
    buf_free(&scratch);
}

static const struct check_finding *finding(enum check_rule rule)
{
    for (uint32_t i = 0; i < module.finding_count; i++)
        if (module.findings[i].rule == rule)
            return &module.findings[i];
    return NULL;
}

START_TEST(the_limit_is_what_a_module_may_need)
{
    decide(NULL, FUSED(""), 12320, 0);
    ck_assert_int_eq(module.total_bytes, 12320);
    ck_assert_uint_eq(module.finding_count, 0);
    decide(NULL, FUSED(""), 12319, 0);
    ck_assert_uint_eq(module.finding_count, 1);
    ck_assert_int_eq(finding(CHECK_OVER)->bytes, 1);
    ck_assert_ptr_nonnull(strstr(finding(CHECK_OVER)->sentence, "jit_step needs 12.0 KiB of "));
    ck_assert_ptr_nonnull(strstr(finding(CHECK_OVER)->sentence, " are allowed: over by 1 B."));
    ck_assert_int_eq(module.baseline_bytes, -1);
    decide(NULL, FUSED(""), -1, 0);
    ck_assert_uint_eq(module.finding_count, 0);
}
END_TEST

START_TEST(a_program_has_nothing_against_itself)
{
    decide(FUSED("alias=0:0"), FUSED("alias=0:0"), -1, 0);
    ck_assert_uint_eq(module.finding_count, 0);
    ck_assert_int_eq(module.baseline_bytes, module.total_bytes);
}
END_TEST

START_TEST(growth_up_to_the_tolerance_is_none)
{
    decide(FUSED(""), APART(""), -1, 332467); /* 4,096 of 12,320 bytes are 332,467.5 millionths */
    ck_assert_ptr_nonnull(finding(CHECK_GROWN));
    ck_assert_int_eq(finding(CHECK_GROWN)->bytes, 4096);
    ck_assert_ptr_nonnull(
        strstr(finding(CHECK_GROWN)->sentence, "B needs 4.0 KiB more, 16.0 KiB instead of 12.0 KiB: "));
    decide(FUSED(""), APART(""), -1, 332468);
    ck_assert_uint_eq(module.finding_count, 0);
    decide(APART(""), FUSED(""), -1, 0);
    ck_assert_uint_eq(module.finding_count, 0);
}
END_TEST

START_TEST(a_lost_donation_is_told_by_its_argument)
{
    decide(FUSED("alias=0:0"), FUSED(""), -1, 0);
    const struct check_finding *lost = finding(CHECK_DONATION_LOST);
    ck_assert_ptr_nonnull(lost);
    ck_assert_str_eq(lost->sentence,
                     "1 argument, 4.0 KiB, gave its memory to results in the baseline and no longer does: "
                     "state['w']. jax.jit(step, donate_argnames=(\"state\",))");
    ck_assert_int_eq(lost->bytes, 4096);
    ck_assert_uint_eq(lost->count, 1);
    decide(FUSED(""), FUSED("alias=0:0"), -1, 0);
    ck_assert_uint_eq(module.finding_count, 0);
}
END_TEST

START_TEST(a_value_that_left_its_fusion_is_found)
{
    decide(FUSED(""), APART(""), -1, 0);
    const struct check_finding *lost = finding(CHECK_FUSION_LOST);
    ck_assert_ptr_nonnull(lost);
    ck_assert_int_eq(lost->bytes, 4096);
    ck_assert_uint_eq(lost->count, 1);
    ck_assert_int_eq(lost->source_line, 11);
    ck_assert_ptr_nonnull(strstr(lost->sentence, "1 value, 4.0 KiB at the peak, stays inside fusions in the baseline "
                                                 "and now takes memory of its own: f32[1024]"));
    decide(APART(""), APART(""), -1, 0);
    ck_assert_ptr_null(finding(CHECK_FUSION_LOST));
}
END_TEST

/* ---- formats ---- */

static struct check_report report_of(struct check_module *modules, size_t count)
{
    struct check_report report = {.limits = {.max_total_bytes = 1000, .has_baseline = true, .tolerance_ppm = 20000},
                                  .modules = modules,
                                  .count = count};
    for (size_t i = 0; i < count; i++) {
        report.finding_count += modules[i].finding_count;
        report.fault_count += modules[i].fault != NULL;
        report.compared_count += modules[i].baseline_bytes >= 0;
    }
    return report;
}

/* A module with names as hostile as files may have them, one that could not be read, one without a baseline. */
static struct check_module hostile[] = {
    {.file = "a,b:%\n.pb",
     .name = "jit_<f>&\"|\x01\xFF",
     .space_name = "HBM",
     .total_bytes = 2000,
     .baseline_bytes = 1000,
     .findings = {{CHECK_OVER, "over | by\n::error::1 % @team", NULL, -1, 1000, 0},
                  {CHECK_GROWN, "B <needs>", "m.py", 7, 1000, 0}},
     .finding_count = 2},
    {.file = "c.pb", .name = "::error::g", .fault = "it is no program", .baseline_bytes = -1},
    {.file = "d.pb", .name = "jit_h", .space_name = "HBM", .total_bytes = 10, .baseline_bytes = -1},
};

static struct buf written(const char *format)
{
    const struct check_report report = report_of(hostile, 3);
    enum write_format found;
    struct buf out = BUF_INIT;
    ck_assert(write_format_find(format, &found, &err));
    write_report(&report, found, &out);
    buf_char(&out, '\0');
    ck_assert(!out.failed);
    return out;
}

START_TEST(json_has_every_figure)
{
    struct buf out = written("json");
    cJSON *root = cJSON_Parse(out.data);
    ck_assert_ptr_nonnull(root);
    ck_assert_str_eq(
        cJSON_GetObjectItem(root, "sentence")->valuestring,
        "1 of 3 modules has a finding: jit_<f>&\"|\x01\xEF\xBF\xBD (over the limit, plan grown); 1 could not be "
        "checked; 1 not in the baseline.");
    ck_assert_int_eq(cJSON_GetObjectItem(root, "finding_count")->valueint, 2);
    ck_assert_double_eq(cJSON_GetObjectItem(root, "tolerance_percent")->valuedouble, 2);
    const cJSON *modules = cJSON_GetObjectItem(root, "modules");
    ck_assert_int_eq(cJSON_GetArraySize(modules), 3);
    const cJSON *found = cJSON_GetObjectItem(cJSON_GetArrayItem(modules, 0), "findings");
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(found, 1), "rule")->valuestring, "grown");
    ck_assert_int_eq(cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetArrayItem(found, 1), "source"), "line")->valueint,
                     7);
    ck_assert(!cJSON_HasObjectItem(cJSON_GetArrayItem(modules, 1), "total_bytes"));
    cJSON_Delete(root);
    buf_free(&out);
}
END_TEST

START_TEST(no_name_breaks_out_of_a_format)
{
    struct buf junit = written("junit"), github = written("github"), markdown = written("markdown"),
               text = written("text");
    ck_assert_ptr_nonnull(strstr(junit.data, "tests=\"6\" failures=\"2\" errors=\"1\""));
    ck_assert_ptr_nonnull(
        strstr(junit.data, "classname=\"jit_&lt;f&gt;&amp;&quot;|\\u0001\xEF\xBF\xBD\" name=\"over\""));
    ck_assert_ptr_nonnull(strstr(junit.data, "message=\"over | by&#10;::error::1 % @team\""));
    ck_assert_ptr_nonnull(strstr(junit.data, "<error type=\"not_checked\" message=\"it is no program\"/>"));
    ck_assert_ptr_nonnull(strstr(github.data, "::error file=a%2Cb%3A%25%0A.pb,title=memory%3A over the limit ("));
    ck_assert_ptr_nonnull(strstr(github.data, "::over | by%0A::error::1 %25 @team\n"));
    ck_assert_ptr_nonnull(strstr(github.data, "::error file=m.py,line=7,title=memory%3A plan grown ("));
    ck_assert_ptr_nonnull(strstr(markdown.data, "| jit\\_\\<f\\>&amp;\"\\|\\\\u0001"));
    ck_assert_ptr_nonnull(strstr(markdown.data, "over \\| by\\\\u000a::error::1 % @&#8203;team"));
    ck_assert_ptr_nonnull(strstr(text.data, "\n\\u003a:error::g  not checked: c.pb: it is no program\n"));
    ck_assert_ptr_null(strchr(text.data, '\x01'));
    buf_free(&junit);
    buf_free(&github);
    buf_free(&markdown);
    buf_free(&text);
}
END_TEST

START_TEST(an_unknown_format_is_refused)
{
    enum write_format found;
    ck_assert(!write_format_find("jsno", &found, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "did you mean \"json\""));
}
END_TEST

START_TEST(figures_alone_tell_growth_and_nothing_that_was_lost)
{
    decide(NULL, APART(""), -1, 0);
    const int64_t total = module.total_bytes;
    const char *space = module.space_name;
    const struct check_limits limits = {-1, true, 0, false, false};
    decide_by_figures(APART(""), &(struct check_before){space, total});
    ck_assert_uint_eq(module.finding_count, 0);
    ck_assert_int_eq(module.baseline_bytes, total);
    ck_assert(check_applies(&limits, &module, CHECK_GROWN) && !check_applies(&limits, &module, CHECK_DONATION_LOST));
    decide_by_figures(APART(""), &(struct check_before){space, total - 1});
    ck_assert_uint_eq(module.finding_count, 1);
    ck_assert_int_eq(finding(CHECK_GROWN)->bytes, 1);
    ck_assert_ptr_nonnull(strstr(finding(CHECK_GROWN)->sentence, "whose program cannot be read"));
    decide_by_figures(APART(""), &(struct check_before){"another memory", total - 1});
    ck_assert_int_eq(module.baseline_bytes, -1);
    ck_assert_uint_eq(module.finding_count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check");
    TCase *tests = tcase_create("check");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, the_limit_is_what_a_module_may_need);
    tcase_add_test(tests, a_program_has_nothing_against_itself);
    tcase_add_test(tests, growth_up_to_the_tolerance_is_none);
    tcase_add_test(tests, a_lost_donation_is_told_by_its_argument);
    tcase_add_test(tests, a_value_that_left_its_fusion_is_found);
    tcase_add_test(tests, json_has_every_figure);
    tcase_add_test(tests, no_name_breaks_out_of_a_format);
    tcase_add_test(tests, an_unknown_format_is_refused);
    tcase_add_test(tests, figures_alone_tell_growth_and_nothing_that_was_lost);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
