/* SPDX-License-Identifier: Apache-2.0
 * The arrays of a program without a buffer assignment: which are listed, the least that it takes at one time, and what
 * a verdict makes of them. */
#include "plan/program_arrays.h"

#include "made.h"
#include "program.h"

/* What a program's arrays come to. */
struct arrays_case {
    const char *program;
    int64_t least, arguments, results, shared, donatable, batch;
    uint32_t fused;
    const char *listed[5]; /* "result f32[8]", in order; NULL ends them */
};

static const struct arrays_case cases[] = {
    /* one argument, one result: both at one time, and the result could take the argument's memory */
    {"unplanned main { x = f32[64,16] parameter(0) \"x\" ROOT y = f32[64,16] add(x, x) }",
     8192,
     4096,
     4096,
     0,
     4096,
     4096,
     0,
     {"argument f32[64,16]", "result f32[64,16]"}},
    /* which a donated one gives already, or may give */
    {"unplanned alias=0:0 main { x = f32[64,16] parameter(0) \"x\" ROOT y = f32[64,16] add(x, x) }",
     4096,
     4096,
     4096,
     4096,
     0,
     4096,
     0,
     {"argument f32[64,16]", "result f32[64,16]"}},
    {"unplanned donor=0 main { x = f32[64,16] parameter(0) \"x\" ROOT y = f32[64,16] add(x, x) }",
     4096,
     4096,
     4096,
     4096,
     0,
     4096,
     0,
     {"argument f32[64,16]", "result f32[64,16]"}},
    /* an argument that is given back, and one value that is two results, take memory once */
    {"unplanned main { x = f32[64,16] parameter(0) \"x\" y = f32[64] add(x, x)"
     " ROOT r = (f32[64,16], f32[64], f32[64]) tuple(x, y, y) }",
     4096 + 256,
     4096,
     256,
     0,
     0,
     4096,
     0,
     {"argument f32[64,16]", "result f32[64]"}},
    /* what is annotated is no array of its own; what may lie in the host's memory is none of the device */
    {"unplanned main { x = f32[64,16] parameter(0) \"x\" y = f32[32,16] dot(x, x) s = f32[32,16] custom-call(y) "
     "target=Sharding h = f32[64,16] parameter(1) \"h\" m = f32[64,16] custom-call(h) target=annotate_device_placement"
     " ROOT r = (f32[32,16], f32[64,16]) tuple(s, m) }",
     4096 + 2048,
     4096,
     2048,
     0,
     0,
     8192,
     0,
     {"argument f32[64,16]", "result f32[32,16]"}},
    /* products and their operands are listed, what is computed element by element or the same everywhere is not */
    {"unplanned main { x = f32[64,16] parameter(0) \"x\" a = f32[64,16] exponential(x) b = f32[64,16] negate(a)"
     " c = f32[] constant() d = f32[16,16] broadcast(c) e = f32[64,16] dot(b, d) ROOT f = f32[64] reduce(e, c) }",
     4096 + 256,
     4096,
     256,
     0,
     0,
     4096,
     2,
     {"argument f32[64,16]", "between f32[64,16]", "between f32[64,16]", "result f32[64]", "between f32[]"}},
    /* of a program that is not split yet each device has at least its part; without arguments nothing is donated */
    {"unplanned devices=8 main { i = f32[64,16] iota() ROOT y = f32[64,16] add(i, i) }",
     512,
     0,
     4096,
     0,
     0,
     0,
     1,
     {"result f32[64,16]"}},
    /* replicas have it whole, each; of partitions with replicas each has its part; numbers that cannot be are none */
    {"unplanned devices=1 replicas=8 main { i = f32[64,16] iota() ROOT y = f32[64,16] add(i, i) }",
     4096,
     0,
     4096,
     0,
     0,
     0,
     1,
     {"result f32[64,16]"}},
    {"unplanned devices=2 replicas=4 main { i = f32[64,16] iota() ROOT y = f32[64,16] add(i, i) }",
     2048,
     0,
     4096,
     0,
     0,
     0,
     1,
     {"result f32[64,16]"}},
    {"unplanned devices=65536 replicas=2 main { i = f32[64,16] iota() ROOT y = f32[64,16] add(i, i) }",
     4096,
     0,
     4096,
     0,
     0,
     0,
     1,
     {"result f32[64,16]"}},
    /* a result that one device's part was made of is as large as all of them together; where nothing changes its shape,
     * as before */
    {"unplanned devices=8 main { x = f32[64,16] parameter(0) \"x\" l = f32[8,16] custom-call(x) "
     "target=SPMDFullToShardShape y = f32[8,16] dot(l, l) ROOT g = f32[64,16] custom-call(y) "
     "target=SPMDShardToFullShape }",
     1024,
     4096,
     4096,
     0,
     4096,
     4096,
     0,
     {"argument f32[64,16]", "result f32[64,16]"}},
    {"unplanned devices=8 main { x = f32[64,16] parameter(0) \"x\" l = f32[64,16] custom-call(x) target=Sharding"
     " y = f32[8,16] dot(l, l) ROOT g = f32[8,16] custom-call(y) target=Sharding }",
     576,
     4096,
     512,
     0,
     0,
     4096,
     0,
     {"argument f32[64,16]", "result f32[8,16]"}},
    /* of several at once each is its own operand's */
    {"unplanned devices=8 main { x = f32[64,16] parameter(0) \"x\" y = f32[8,16] dot(x, x) z = f32[4] dot(x, x)"
     " g = (f32[64,16], f32[32]) custom-call(y, z) target=xla.sdy.LocalToGlobalShape"
     " a = f32[64,16] get-tuple-element(g) index=0 b = f32[32] get-tuple-element(g) index=1"
     " ROOT r = (f32[64,16], f32[32]) tuple(a, b) }",
     1040,
     4096,
     4096 + 128,
     0,
     4096,
     4096,
     0,
     {"argument f32[64,16]", "result f32[64,16]", "result f32[32]"}},
    /* of an optimized program results and temporaries in the host's memory are none of the device, those in its own are
     */
    {"unplanned main { x = f32[64,16]{1,0} parameter(0) \"x\" y = f32[64,16]{1,0} fusion(x)"
     " h = f32[64,16]{1,0:S(5)} copy(y) z = f32[32]{0:S(5)} fusion(x) w = f32[16]{0} fusion(z)"
     " ROOT r = (f32[64,16]{1,0:S(5)}, f32[16]{0}) tuple(h, w) }",
     4096 + 64,
     4096,
     64,
     0,
     0,
     4096,
     0,
     {"argument f32[64,16]", "between f32[64,16]", "result f32[16]"}},
    {"unplanned main { x = f32[64,16]{1,0} parameter(0) \"x\" y = f32[64,16]{1,0} fusion(x)"
     " h = f32[64,16]{1,0} copy(y) z = f32[32]{0} fusion(x) w = f32[16]{0} fusion(z)"
     " ROOT r = (f32[64,16]{1,0}, f32[16]{0}) tuple(h, w) }",
     4096 + 4096 + 64,
     4096,
     4096 + 64,
     0,
     4096,
     4096,
     0,
     {"argument f32[64,16]", "result f32[64,16]", "between f32[64,16]", "between f32[32]", "result f32[16]"}},
    /* a batch of one, a scalar and a key of random numbers have no batch */
    {"unplanned main { x = s32[1,64] parameter(0) \"tokens\" k = u32[2] parameter(1) \"key\" n = f32[] parameter(2) "
     "\"n\" ROOT y = s32[64] reshape(x) }",
     256 + 8 + 4 + 256,
     268,
     256,
     0,
     0,
     0,
     0,
     {"argument s32[1,64]", "result s32[64]", "argument u32[2]", "argument f32[]"}},
    /* sizes that cannot be, and a root that is not there */
    {"unplanned main { x = f32[9000000000,9000000000] parameter(0) \"x\" ROOT y = f32[4] add(x, nowhere) }",
     16,
     0,
     16,
     0,
     0,
     0,
     0,
     {"result f32[4]"}},
};

START_TEST(arrays_of_a_program)
{
    const struct arrays_case *wanted = &cases[_i];
    struct buf file;
    struct plan plan;
    program_read(wanted->program, &file, &plan);
    const struct program_arrays *arrays = plan.unplanned;
    ck_assert_ptr_nonnull(arrays);
    ck_assert_int_eq(arrays->least_bytes, wanted->least);
    ck_assert_int_eq(arrays->argument_bytes, wanted->arguments);
    ck_assert_int_eq(arrays->result_bytes, wanted->results);
    ck_assert_int_eq(arrays->shared_bytes, wanted->shared);
    ck_assert_int_eq(arrays->donatable_bytes, wanted->donatable);
    ck_assert_int_eq(arrays->batch_bytes, wanted->batch);
    ck_assert_uint_eq(arrays->fused_count, wanted->fused);
    for (uint32_t i = 0; i < 5 && wanted->listed[i] != NULL; i++) {
        char said[64];
        ck_assert_uint_lt(i, arrays->count);
        snprintf(said, sizeof(said), "%s %s", program_arrays_role_name(arrays->items[i].role), arrays->items[i].shape);
        ck_assert_str_eq(said, wanted->listed[i]);
    }
    ck_assert_ptr_nonnull(strstr(arrays->sentence, "No buffer assignment"));
    buf_free(&file);
}
END_TEST

START_TEST(a_planned_program_has_none)
{
    struct buf file;
    struct plan plan;
    program_read("main { x = f32[64,16] parameter(0) \"x\" !arg ROOT y = f32[64,16] add(x, x) !out }", &file, &plan);
    ck_assert_ptr_null(plan.unplanned);
    buf_free(&file);
}
END_TEST

/* Equal arrays of layers are listed once, with their line; arguments by the common part of their names. */
START_TEST(equal_arrays_stand_together)
{
    struct buf file;
    struct plan plan;
    program_read(
        "unplanned main { a = f32[64,16] parameter(0) \"p['layers'][0]['w']\" b = f32[64,16] parameter(1) "
        "\"p['layers'][1]['w']\" c = f32[64,64] dot(a, b) \"jit(f)/dot_general\" line=11 d = f32[64,64] dot(b, a) "
        "\"jit(f)/dot_general\" line=11 e = f32[64,64] dot(c, d) \"jit(f)/dot_general\" line=12 ROOT r = f32[] "
        "reduce(e) }",
        &file, &plan);
    const struct program_arrays *arrays = plan.unplanned;
    ck_assert_uint_eq(arrays->items[0].count, 2);
    ck_assert_str_eq(arrays->items[0].source, "models.py:11");
    ck_assert_str_eq(arrays->items[0].name, "dot_general");
    ck_assert_str_eq(arrays->items[1].source, "models.py:12");
    ck_assert_str_eq(arrays->items[2].name, "p['layers'][{i}]['w']");
    ck_assert_ptr_nonnull(strstr(arrays->sentence, "2 × 16.0 KiB f32[64,64] (computed on the way, models.py:11)"));
    buf_free(&file);
}
END_TEST

/* Steps of a program whose argument one custom call reads `reader_count` times. */
static uint64_t work_of(uint32_t target_length, uint32_t reader_count)
{
    struct buf program = BUF_INIT, file;
    struct plan plan;
    buf_text(&program, "unplanned main { x = f32[64,16] parameter(0) \"x\" y = f32[64,16] custom-call(");
    for (uint32_t i = 0; i < reader_count; i++)
        buf_text(&program, "x, ");
    buf_text(&program, ") target=");
    for (uint32_t i = 0; i < target_length; i++)
        buf_char(&program, 'T');
    buf_text(&program, " ROOT r = f32[64] reduce(y) }");
    buf_char(&program, '\0');
    arena_allot_work(&arena, UINT64_C(1) << 40);
    program_read(program.data, &file, &plan);
    ck_assert_ptr_nonnull(plan.unplanned);
    buf_free(&file);
    buf_free(&program);
    return (UINT64_C(1) << 40) - arena_work_left(&arena);
}

/* What a custom call is costs work by its length, and no more where all others read it. */
START_TEST(custom_calls_are_looked_at_once)
{
    const uint32_t length = 1 << 20;
    uint64_t read_once = work_of(length, 1) - work_of(1, 1), read_often = work_of(length, 1000) - work_of(1, 1000);
    ck_assert_uint_ge(read_once, length);
    ck_assert_uint_eq(read_often, read_once);
}
END_TEST

/* ---- the verdict ---- */

#define BEFORE "tests/fixtures/dumps/f5-vmem-matmul-blocks/module_0003.jit_f5.cl_1014260217.before_optimizations.hlo.pb"

static struct made verdict_before(const char *content, double capacity_bytes)
{
    struct asked asked;
    struct bytes bytes;
    asked_open(&asked, BEFORE);
    struct analysis_verdict_parts parts = {.module = asked.module,
                                           .around.capacity.bytes = (uint64_t)capacity_bytes,
                                           .around.capacity.is_of_gpu = content != NULL,
                                           .around.capacity.is_physical = content != NULL,
                                           .around.capacity.source = "as chosen"};
    struct analysis_subject *subject = content != NULL ? read_text(content, &bytes) : NULL;
    if (subject != NULL)
        parts.failure = &analysis_text_report(subject)->meanings[0];
    struct made made = make(&parts);
    analysis_subject_free(subject);
    if (content != NULL)
        bytes_close(&bytes);
    asked_close(&asked);
    return made;
}

/* It takes 128 MiB of arguments and 256 MiB of a result, made by a kernel. */
START_TEST(what_cannot_fit_is_said)
{
    struct made made = verdict_before(NULL, 0.3 * (double)GIB);
    ck_assert_str_eq(text(made.root, "fits"), "no");
    ck_assert_ptr_nonnull(
        strstr(text(made.root, "verdict"), "cannot fit: its arguments and results alone take at least 384.00 MiB"));
    ck_assert_str_eq(cause_of(&made), "outputs");
    ck_assert_ptr_nonnull(strstr(text(member(made.root, "cause"), "text"),
                                 "Arguments take 128.00 MiB, results at least 256.00 MiB more, all at one time"));
    ck_assert_ptr_nonnull(advice_of(&made, "shard"));
    ck_assert_ptr_null(advice_of(&made, "larger_chip"));
    ck_assert_ptr_nonnull(strstr(made.text, "What are its largest arrays?"));
    made_free(&made);

    made = verdict_before(NULL, 0.2 * (double)GIB); /* the result alone is larger */
    ck_assert_str_eq(cause_of(&made), "one_buffer");
    ck_assert_str_eq(first_of(&made), "limit");
    ck_assert_ptr_nonnull(strstr(text(member(made.root, "cause"), "text"), "No setting makes room for it"));
    made_free(&made);
}
END_TEST

START_TEST(what_may_fit_is_not_known)
{
    struct made made = verdict_before(NULL, (double)GIB);
    ck_assert_str_eq(text(made.root, "fits"), "unknown");
    ck_assert_str_eq(cause_of(&made), "unknown");
    ck_assert_ptr_nonnull(strstr(text(made.root, "verdict"),
                                 "No buffer assignment: what the compiler would have placed is not known. "
                                 "The largest arrays of the program are 256.00 MiB"));
    ck_assert_int_eq(cJSON_GetArraySize(member(made.root, "advice")), 0);
    ck_assert_ptr_null(strstr(made.text, "Largest: "));
    for (const char *at = strstr(made.text, "No buffer assignment"); at != NULL; at = NULL)
        ck_assert_ptr_null(strstr(at + 1, "No buffer assignment")); /* it is there once */
    made_free(&made);
}
END_TEST

/* A request at run time that is larger than the device: no share of the device is large enough, and freeing makes no
 * room. */
START_TEST(a_request_past_the_device)
{
    static const char *const none[] = {"preallocation", "leak", "donate", "larger_chip", "flags"};
    struct made made = verdict_before(
        "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 256.02MiB with allocator GPU_0_bfc on device 0.",
        0.2 * (double)GIB);
    ck_assert_str_eq(cause_of(&made), "one_buffer");
    ck_assert_str_eq(first_of(&made), "limit");
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        ck_assert_msg(advice_of(&made, none[i]) == NULL, "%s", none[i]);
    ck_assert_ptr_nonnull(advice_of(&made, "shard"));
    made_free(&made);

    /* its twin fits a device of 1 GiB: what else is there may have filled it */
    made = verdict_before(
        "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 256.02MiB with allocator GPU_0_bfc on device 0.",
        (double)GIB);
    ck_assert_ptr_nonnull(advice_of(&made, "preallocation"));
    ck_assert_ptr_nonnull(advice_of(&made, "leak"));
    ck_assert_ptr_null(advice_of(&made, "limit"));
    made_free(&made);
}
END_TEST

/* Arguments and results take 384 MiB: of a GPU of 400 MiB JAX takes 300, which is all that the text tells. */
START_TEST(a_limit_is_not_the_device)
{
    struct made made = verdict_before("Allocating 325058560 bytes exceeds the memory limit of 314572800 bytes.", 0);
    ck_assert_str_eq(cause_of(&made), "unknown");
    ck_assert_ptr_nonnull(advice_of(&made, "preallocation"));
    ck_assert_ptr_nonnull(advice_of(&made, "leak"));
    ck_assert_ptr_nonnull(
        strstr(made.text, "the device has about 400.00 MiB, if the allocator's limit of 300.00 MiB is"));
    made_free(&made);

    made =
        verdict_before("Allocating 325058560 bytes exceeds the memory limit of 283115520 bytes.", 0); /* 270 of 360 */
    ck_assert_str_eq(cause_of(&made), "outputs");
    ck_assert_ptr_null(advice_of(&made, "preallocation"));
    ck_assert_ptr_null(advice_of(&made, "leak"));
    ck_assert_ptr_null(advice_of(&made, "limit")); /* no one array is larger */
    ck_assert_ptr_nonnull(strstr(made.text, "Split it over at least 2 devices"));
    made_free(&made);
}
END_TEST

/* The request alone is past the device: of the arrays that fit no number of devices follows. */
START_TEST(a_request_past_the_device_of_a_program_that_fits)
{
    struct made made = verdict_before("Allocating 3221225472 bytes exceeds the memory limit of 2147483648 bytes.", 0);
    ck_assert_ptr_nonnull(advice_of(&made, "limit"));
    ck_assert_ptr_null(strstr(made.text, "at least 2 devices"));
    ck_assert_ptr_null(strstr(made.text, "at least, and a device has"));
    made_free(&made);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("program_arrays");
    TCase *tests = tcase_create("program_arrays");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, arrays_of_a_program, 0, sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(tests, a_planned_program_has_none);
    tcase_add_test(tests, equal_arrays_stand_together);
    tcase_add_test(tests, custom_calls_are_looked_at_once);
    tcase_add_test(tests, what_cannot_fit_is_said);
    tcase_add_test(tests, what_may_fit_is_not_known);
    tcase_add_test(tests, a_request_past_the_device);
    tcase_add_test(tests, a_limit_is_not_the_device);
    tcase_add_test(tests, a_request_past_the_device_of_a_program_that_fits);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
