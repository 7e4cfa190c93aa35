/* SPDX-License-Identifier: Apache-2.0
 * What the compiler is asked where a person asks for changes, and what is made of its answer. That it answers so is
 * told by tests/confirm. */
#include "edit/program.h"
#include "whatif/confirmation.h"
#include "wire/wire.h"

#include "asked.h"

#define FOLDER "tests/fixtures/modules/mlp-adam/module_0000.jit_step.cl_1014260217."

static struct asked asked;
static struct bytes before;

static void open_both(void)
{
    asked_open(&asked, FOLDER "after_optimizations.hlo.pb.gz");
    bytes_load(&before, FOLDER "before_optimizations.hlo.pb");
    err = (struct err)ERR_INIT;
}

static void close_both(void)
{
    asked_close(&asked);
    bytes_close(&before);
}

static bool change(const char *const *changes, size_t count, struct analysis_changed *changed)
{
    err = (struct err)ERR_INIT;
    return analysis_change(asked.module, (struct str){before.data, before.length}, changes, count, changed, &err);
}

static void must_refuse(const char *text, enum err_code code, const char *reason)
{
    struct analysis_changed changed;
    ck_assert_msg(!change(&text, 1, &changed), "%s is done", text);
    ck_assert_msg(err.code == code && strstr(err.text, reason) != NULL, "%s: %s", err_name(err.code), err.text);
    ck_assert_ptr_null(changed.program.data);
}

/* The rows of all arguments of the changed program, added up. */
static int64_t argument_bytes(const struct analysis_changed *changed)
{
    struct err report = ERR_INIT;
    struct arena arena;
    struct program program;
    int64_t bytes = 0;
    arena_init(&arena, 0, &report);
    arena_allot_work(&arena, (uint64_t)1 << 30);
    ck_assert_msg(program_read(&program, (struct str){changed->program.data, changed->program.length}, KIND_HLO_MODULE,
                               &arena, &report),
                  "%s", report.text);
    for (size_t i = 0; i < program.parameter_count; i++) {
        int64_t elements = program.parameters[i]->shape->element_type == XLA__PRIMITIVE_TYPE__BF16 ? 2 : 4;
        for (size_t k = 0; k < program.parameters[i]->shape->n_dimensions; k++)
            elements *= program.parameters[i]->shape->dimensions[k];
        bytes += elements;
    }
    arena_free(&arena);
    return bytes;
}

static int64_t argument_bytes_after(const char *text, struct analysis_changed *changed)
{
    ck_assert_msg(change(&text, text[0] != '\0', changed), "%s: %s", text, err.text);
    int64_t bytes = argument_bytes(changed);
    analysis_changed_free(changed);
    return bytes;
}

START_TEST(what_is_asked_is_what_is_predicted)
{
    struct analysis_changed changed;
    open_both();
    int64_t all = argument_bytes_after("", &changed);
    ck_assert_uint_eq(changed.changed_count, 0);
    cJSON *root, *data = ask(&asked, "whatif", "change", "batch=0.5", &root);
    int64_t data_bytes = 2 * (all - argument_bytes_after("batch=0.5", &changed));
    ck_assert_int_gt(data_bytes, 0);
    ck_assert_uint_gt(changed.changed_count, 10); /* shapes */
    ck_assert_double_eq(number(data, "total_bytes_after"), (double)changed.predicted_total_bytes);
    cJSON_Delete(root);
    /* the explicit form is the same; on top of each other they are a quarter */
    static const char *const twice[] = {"batch=0.5", "batch=0.5"};
    ck_assert(change(twice, 2, &changed));
    ck_assert_int_eq(all - argument_bytes(&changed), data_bytes * 3 / 4);
    analysis_changed_free(&changed);
    int64_t cast = argument_bytes_after("cast=*.mu*:bf16", &changed);
    ck_assert_int_lt(cast, all);
    ck_assert_int_gt(cast, all / 4);
    close_both();
}
END_TEST

START_TEST(devices_are_told)
{
    struct analysis_changed changed;
    const char *text = "shard=*:4";
    open_both();
    ck_assert_msg(change(&text, 1, &changed), "%s", err.text);
    ck_assert_int_eq(changed.partition_count, 4);
    ck_assert_uint_gt(changed.changed_count, 0);
    analysis_changed_free(&changed);
    text = "batch=0.5";
    ck_assert(change(&text, 1, &changed));
    ck_assert_int_eq(changed.partition_count, 0);
    analysis_changed_free(&changed);
    close_both();
}
END_TEST

START_TEST(what_the_compiler_cannot_be_asked_is_refused)
{
    open_both();
    must_refuse("offload=*", ERR_argument, "the compiler cannot be asked: where the host's memory");
    must_refuse("batches=0.5", ERR_argument, "did you mean \"batch\"");
    must_refuse("shard=nothing_here:4", ERR_argument, "nothing has this name");
    must_refuse("batch=0.5@no_such:0", ERR_argument, "no argument \"no_such\"");
    before.length /= 2;
    must_refuse("batch=0.5", ERR_truncated, "");
    close_both();
}
END_TEST

/* sentences */

static struct confirmation good(void)
{
    const struct confirmed_figures dump = {4 << 20, 2 << 20, 1 << 20, 3 << 20},
                                   less = {2 << 20, 2 << 20, 1 << 20, 1 << 20};
    return (struct confirmation){.dump = dump,
                                 .dump_peak_bytes = 8 << 20,
                                 .base = {"done", "Compiled.", "v5e:2x2", true, true, dump, 0, 0, 8 << 20, 1234, 0},
                                 .changed = {"done", "Compiled.", "v5e:2x2", true, true, less, 0, 0, 4 << 20, 100, 0},
                                 .predicted_bytes = 5 << 20,
                                 .compiler_version = "0.0.52",
                                 .topology = "v5e:2x2"};
}

static void must_say(const struct confirmation *confirmation, enum confirmation_state state, const char *sentence)
{
    struct buf out = BUF_INIT, text = BUF_INIT;
    struct json json = JSON_INIT(&text);
    ck_assert_int_eq(confirmation_state(confirmation), state);
    confirmation_sentence(confirmation, &out);
    buf_char(&out, '\0');
    ck_assert_str_eq(out.data, sentence);
    confirmation_write(confirmation, &json);
    cJSON *tree = cJSON_ParseWithLength(text.data, text.length);
    ck_assert_str_eq(cJSON_GetObjectItem(tree, "sentence")->valuestring, sentence);
    ck_assert_str_eq(cJSON_GetObjectItem(tree, "state")->valuestring, confirmation_state_name(state));
    cJSON_Delete(tree);
    buf_free(&out);
    buf_free(&text);
}

START_TEST(only_the_program_of_the_dump_confirms)
{
    struct confirmation asked_of = good();
    must_say(&asked_of, CONFIRMATION_CONFIRMED,
             "Confirmed by the compiler: 8.00 MiB becomes 4.00 MiB (predicted: 5.00 MiB), which saves 4.00 MiB.");
    asked_of.base.figures.temporary_bytes += 1024;
    must_say(
        &asked_of, CONFIRMATION_DIFFERENT,
        "Not confirmed: the unchanged program compiles to other figures than those of the dump; temporaries 1,024 B "
        "more; in all 1,024 B more. By this compiler 8.00 MiB becomes 4.00 MiB (predicted: "
        "5.00 MiB), which saves 4.00 MiB.");
}
END_TEST

START_TEST(another_program_confirms_and_refutes_nothing)
{
    struct confirmation asked_of = good();
    asked_of.partial = "it was split otherwise";
    must_say(&asked_of, CONFIRMATION_PARTIAL,
             "Not confirmed: what was compiled is not surely the printed change, because it was split otherwise. As "
             "compiled, 8.00 MiB becomes 4.00 MiB (predicted: 5.00 MiB), which saves 4.00 MiB.");
    ck_assert(!confirmation_is_of_dump(&asked_of));
    asked_of.changed.figures.argument_bytes += 3 << 20;
    ck_assert_int_eq(confirmation_state(&asked_of), CONFIRMATION_PARTIAL);
    asked_of.base.figures.argument_bytes += 1;
    ck_assert_int_eq(confirmation_state(&asked_of), CONFIRMATION_DIFFERENT);
}
END_TEST

/* At most half of the saving; or no room, where the prediction saw some. Less than predicted alone refutes nothing. */
START_TEST(a_prediction_that_does_not_hold_is_refuted)
{
    struct confirmation asked_of = good();
    asked_of.changed.figures.argument_bytes += 2560 << 10; /* saves 1.50 MiB of 3.00 */
    must_say(&asked_of, CONFIRMATION_REFUTED,
             "Refuted by the compiler: 8.00 MiB becomes 6.50 MiB (predicted: 5.00 MiB), which saves 1.50 MiB.");
    ck_assert(confirmation_is_of_dump(&asked_of));
    asked_of.changed.figures.argument_bytes -= 1;
    ck_assert_int_eq(confirmation_state(&asked_of), CONFIRMATION_CONFIRMED);
    asked_of.changed.figures.argument_bytes = 12 << 20;
    ck_assert_int_eq(confirmation_state(&asked_of), CONFIRMATION_REFUTED);
    asked_of.predicted_bytes = 9 << 20; /* that it would cost, no saving was */
    ck_assert_int_eq(confirmation_state(&asked_of), CONFIRMATION_CONFIRMED);
    asked_of.predicted_bytes = -1;
    ck_assert_int_eq(confirmation_state(&asked_of), CONFIRMATION_CONFIRMED);

    asked_of = good();
    asked_of.changed.does_fit = false;
    asked_of.changed.available_bytes = 5 << 20;
    must_say(
        &asked_of, CONFIRMATION_REFUTED,
        "Refuted by the compiler: 8.00 MiB becomes 4.00 MiB (predicted: 5.00 MiB), which saves 4.00 MiB; that does "
        "not fit this chip.");
    asked_of.changed.available_bytes -= 1;
    ck_assert_int_eq(confirmation_state(&asked_of), CONFIRMATION_CONFIRMED);
    asked_of.base.figures.argument_bytes += 1;
    ck_assert_int_eq(confirmation_state(&asked_of), CONFIRMATION_DIFFERENT);
    ck_assert(!confirmation_is_of_dump(&asked_of));
}
END_TEST

/* Without a GPU only temporaries may differ, up to a thousandth of the total: autotuning chooses otherwise there. */
START_TEST(without_a_gpu_temporaries_may_differ_a_little)
{
    struct confirmation asked_of = good();
    asked_of.is_gpu = true;
    asked_of.compiler_version = "0.11.2";
    asked_of.topology = "NVIDIA H200";
    must_say(
        &asked_of, CONFIRMATION_CONFIRMED,
        "Confirmed by the compiler: 8.00 MiB becomes 4.00 MiB (predicted: 5.00 MiB), which saves 4.00 MiB. Compiled "
        "without a GPU, so kernels were not autotuned: on the device the temporaries may differ (unchanged: not by a "
        "byte).");
    asked_of.base.figures.temporary_bytes -= 8388;
    must_say(
        &asked_of, CONFIRMATION_CONFIRMED,
        "Confirmed by the compiler: 7.99 MiB becomes 4.00 MiB (predicted: 5.00 MiB), which saves 3.99 MiB. Compiled "
        "without a GPU, so kernels were not autotuned: on the device the temporaries may differ (unchanged: 8,388 B "
        "less here).");
    asked_of.base.figures.temporary_bytes -= 1;
    ck_assert_int_eq(confirmation_state(&asked_of), CONFIRMATION_DIFFERENT);
    asked_of = good();
    asked_of.is_gpu = true;
    asked_of.base.figures.argument_bytes += 1;
    must_say(
        &asked_of, CONFIRMATION_DIFFERENT,
        "Not confirmed: the unchanged program compiles to other figures than those of the dump; arguments 1 B more; "
        "in all 1 B more (compiled without a GPU, so nothing was autotuned; another release of XLA, or other flags, "
        "differ as well). By this compiler 8.00 MiB becomes 4.00 MiB (predicted: 5.00 MiB), which saves 4.00 MiB.");
}
END_TEST

START_TEST(what_the_figures_are_not_of_is_said)
{
    struct confirmation asked_of = good();
    asked_of.left_count = 1;
    must_say(
        &asked_of, CONFIRMATION_CONFIRMED,
        "Confirmed by the compiler: 8.00 MiB becomes 4.00 MiB (predicted: 5.00 MiB), which saves 4.00 MiB. 1 argument "
        "or layer that was asked for stays as it is.");
    asked_of.left_count = 1200;
    asked_of.changed.topology = "v5e:2x4";
    must_say(&asked_of, CONFIRMATION_CONFIRMED,
             "Confirmed by the compiler: 8.00 MiB becomes 4.00 MiB (predicted: 5.00 MiB), which saves 4.00 MiB. 1,200 "
             "arguments or layers that were asked for stay as they are. The changed program was compiled for v5e:2x4, "
             "which has the chips that it is split over.");
}
END_TEST

/* What a library and a dump say is put into sentences. */
START_TEST(no_text_of_others_moves_the_cursor)
{
    struct confirmation asked_of = good();
    struct buf out = BUF_INIT;
    asked_of.compiler_version = "0.0\x1b[2J";
    asked_of.plan = "a\rfolder";
    confirmation_text(&asked_of, &out);
    asked_of.changed =
        (struct confirmation_compile){.status = "refused", .sentence = "It says \x1b]0;a\a.", .peak_bytes = -1};
    confirmation_text(&asked_of, &out);
    asked_of.obstacle_status = "no_program";
    asked_of.obstacle = "\x1b[1mno\n.";
    confirmation_text(&asked_of, &out);
    for (size_t at = 0; at < out.length; at++)
        ck_assert_msg(!str_is_control(out.data[at]) || out.data[at] == '\n', "byte %zu of %.*s", at, (int)out.length,
                      out.data);
    buf_char(&out, '\0');
    ck_assert_ptr_nonnull(strstr(out.data, "by libtpu 0.0\\u001b[2J for v5e:2x2\n"));
    ck_assert_ptr_nonnull(strstr(out.data, "its plan: a\\u000dfolder\n"));
    ck_assert_ptr_nonnull(strstr(out.data, "It says \\u001b]0;a\\u0007.\n"));
    ck_assert_ptr_nonnull(strstr(out.data, "\\u001b[1mno\\u000a.\n"));
    buf_free(&out);
}
END_TEST

START_TEST(a_program_that_does_not_fit_is_an_answer)
{
    struct confirmation asked_of = good();
    asked_of.changed =
        (struct confirmation_compile){"does_not_fit", "…", "v5e:2x2", false, false, {0}, 16 << 20, 0, -1, 100, 0};
    must_say(
        &asked_of, CONFIRMATION_REFUTED,
        "Refuted by the compiler: 8.00 MiB becomes 16.00 MiB (predicted: 5.00 MiB), which costs 8.00 MiB; that does "
        "not fit this chip.");
    asked_of.base =
        (struct confirmation_compile){"does_not_fit", "…", "v5e:2x2", false, false, {0}, 32 << 20, 0, -1, 100, 0};
    must_say(&asked_of, CONFIRMATION_DIFFERENT,
             "Not confirmed: of the unchanged program the compiler tells only that it does not fit. By this compiler "
             "32.00 MiB becomes 16.00 MiB (predicted: 5.00 MiB), which saves 16.00 MiB; that does not fit this chip.");
}
END_TEST

START_TEST(without_an_answer_the_prediction_stands)
{
    struct confirmation asked_of = good();
    asked_of.changed =
        (struct confirmation_compile){.status = "timed_out", .sentence = "It took longer than 1 s.", .peak_bytes = -1};
    must_say(&asked_of, CONFIRMATION_UNANSWERED,
             "Not confirmed; the prediction remains. The changed program: It took longer than 1 s.");
    asked_of.base = asked_of.changed;
    asked_of.changed = (struct confirmation_compile){.peak_bytes = -1};
    must_say(&asked_of, CONFIRMATION_UNANSWERED,
             "Not confirmed; the prediction remains. The unchanged program: It took longer than 1 s.");
    asked_of.obstacle_status = "no_program";
    asked_of.obstacle = "It is not there.";
    must_say(&asked_of, CONFIRMATION_UNANSWERED, "Not confirmed; the prediction remains. It is not there.");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("confirm");
    TCase *tests = tcase_create("confirm");
    tcase_add_test(tests, what_is_asked_is_what_is_predicted);
    tcase_add_test(tests, devices_are_told);
    tcase_add_test(tests, what_the_compiler_cannot_be_asked_is_refused);
    tcase_add_test(tests, only_the_program_of_the_dump_confirms);
    tcase_add_test(tests, another_program_confirms_and_refutes_nothing);
    tcase_add_test(tests, a_prediction_that_does_not_hold_is_refuted);
    tcase_add_test(tests, without_a_gpu_temporaries_may_differ_a_little);
    tcase_add_test(tests, what_the_figures_are_not_of_is_said);
    tcase_add_test(tests, no_text_of_others_moves_the_cursor);
    tcase_add_test(tests, a_program_that_does_not_fit_is_an_answer);
    tcase_add_test(tests, without_an_answer_the_prediction_stands);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
