/* SPDX-License-Identifier: Apache-2.0
 * A cause that is a category names its arrays: the largest, with line and padding; what was copied, and why. */
#include "program.h"

#include "subject.h"

#include "door/analysis_verdict.h"

#define GIB (INT64_C(1) << 30)

static const char *cause_of(const char *program)
{
    struct buf file, json = BUF_INIT;
    struct plan plan;
    struct bytes bytes;
    program_read(program, &file, &plan);
    bytes_open(&bytes, file.data, file.length);
    struct analysis_contents *contents = analysis_contents_read(&bytes.source, &err);
    ck_assert_msg(contents != NULL, "%s", err.text);
    struct analysis_subject *subject = subject_module(&bytes.source, &contents->programs[0], 0, &err);
    ck_assert_msg(subject != NULL, "%s", err.text);
    const struct analysis_verdict_parts parts = {
        .module = subject, .around.capacity.bytes = GIB, .around.capacity.source = "as chosen"};
    ck_assert_msg(analysis_verdict(&parts, ANALYSIS_VERDICT_JSON, &json, &err), "%s", err.text);
    const char *found = strstr(json.data, "\"cause\":");
    const char *text =
        found == NULL ? "" : arena_text(&arena, (struct str){found, strlen(found) < 900 ? strlen(found) : 900});
    buf_free(&json);
    analysis_subject_free(subject);
    analysis_contents_free(contents);
    bytes_close(&bytes);
    buf_free(&file);
    return text;
}

#define MUST_SAY(program, words) ck_assert_msg(strstr(cause_of(program), words) != NULL, "%s", cause_of(program))

START_TEST(a_copy_for_its_layout)
{
    MUST_SAY("scheduled main { c = f32[256,128,64]{2,1,0} parameter(0) \"table\" !arg "
             "n = f32[256,128,64]{0,1,2} copy(c) !temp m = f32[256,128,64]{1,0,2} copy(c) !temp "
             "y = f32[64] dot(n, m) \"jit(f)/dot_general\" !out }",
             "8.00 MiB are table, copied into the layout {");
}
END_TEST

START_TEST(workspace_is_named)
{
    MUST_SAY("scheduled main { x = f32[64] parameter(0) \"x\" !arg a = f32[1000,128] exponential(x) \"jit(f)/a\" !temp "
             "b = f32[1000,100] tanh(a) \"jit(f)/b\" !temp c = f32[900,64] negate(b) \"jit(f)/c\" !temp "
             "d = f32[64] dot(b, c) \"jit(f)/dot_general\" !temp y = f32[64] dot(a, d) \"jit(f)/dot_general\" !out }",
             "The largest: 500.0 KiB in f32[1000,128]; 390.6 KiB in f32[1000,100]; 225.0 KiB in f32[900,64].");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cause_named");
    TCase *tests = tcase_create("cause_named");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, a_copy_for_its_layout);
    tcase_add_test(tests, workspace_is_named);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
