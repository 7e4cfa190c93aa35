/* SPDX-License-Identifier: Apache-2.0
 * The verdict of a text, a plan, profiles, and of all together: its cause, its rows, its advice, and what is never
 * advised. What its predictions are worth is told by tests/golden/verdict.py. */
#include "made.h"

#define H_LONG_CONTEXT ASKED_DUMP "h-long-context/module_0011.jit__lambda.cl_1014260217.after_optimizations.hlo.pb.gz"
#define SEED ASKED_DUMP "seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb"
#define PADDED ASKED_DUMP "d-tile-padding/module_0179.jit_f.cl_1014260217.after_optimizations.hlo.pb"
#define MLP "tests/fixtures/modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz"

/* ---- plans ---- */

START_TEST(a_program_without_a_backward_pass)
{
    struct asked asked;
    asked_open(&asked, H_LONG_CONTEXT);
    const struct analysis_verdict_parts parts = {.module = asked.module,
                                                 .around.capacity.bytes = (uint64_t)(15.75 * (double)GIB),
                                                 .around.capacity.source = "as chosen"};
    struct made made = make(&parts);
    ck_assert_str_eq(cause_of(&made), "attention_logits");
    ck_assert_str_eq(text(made.root, "fits"), "no");
    ck_assert_str_eq(first_of(&made), "fused_attention");
    const cJSON *first = advice_of(&made, "fused_attention");
    ck_assert_str_eq(text(first, "change"), "without=attention_scores");
    ck_assert_double_eq_tol(number(first, "lands_at_bytes") / (double)GIB, 4.95, 0.2 * 4.95);
    ck_assert_double_eq(number(first, "lands_at_bytes") + number(first, "saves_bytes"),
                        number(member(made.root, "fit"), "needed_bytes"));
    ck_assert_str_eq(text(first, "fits"), "yes");
    ck_assert_ptr_null(advice_of(&made, "checkpoint"));
    ck_assert_ptr_null(advice_of(&made, "donate"));
    ck_assert_ptr_null(advice_of(&made, "leak"));
    ck_assert_ptr_null(advice_of(&made, "block_size"));
    /* what holds bytes at the peak is shown beside what its absence would save */
    const cJSON *pattern = cJSON_GetArrayItem(member(member(made.root, "peak"), "patterns"), 0);
    ck_assert_double_le(number(pattern, "saves_bytes"), number(pattern, "bytes"));
    made_free(&made);
    asked_close(&asked);
}
END_TEST

START_TEST(memory_of_a_kernel_gets_no_advice_for_the_device)
{
    static const char content[] =
        "RESOURCE_EXHAUSTED: Allocation (size=268435456) would exceed memory (size=134217728) :: "
        "#allocation3 [shape = 'f32[16384,4096]{1,0:T(8,128)}', space=vmem, size = 0x10000000, "
        "scoped, tag = 'scratch operand'] :: f.1\n";
    struct asked asked;
    asked_open(&asked, H_LONG_CONTEXT); /* a program with much advice about HBM */
    struct made made = make_of_text(content, asked.module);
    const cJSON *advice = member(made.root, "advice");
    ck_assert_str_eq(cause_of(&made), "kernel_scratch");
    ck_assert_int_eq(cJSON_GetArraySize(advice), 1);
    ck_assert_str_eq(first_of(&made), "block_size");
    ck_assert_double_eq(number(advice_of(&made, "block_size"), "saves_bytes"), 134217728);
    ck_assert_ptr_nonnull(
        strstr(text(advice_of(&made, "block_size"), "do"), "f32[4096,4096] (64.00 MiB) instead of f32[16384,4096]"));
    ck_assert_str_eq(text(member(made.root, "fit"), "space"), "VMEM");
    ck_assert_int_eq(cJSON_GetArraySize(member(member(made.root, "peak"), "groups")), 0);
    made_free(&made);
    /* a text that names no space, about less than any device has */
    made = make_of_text("Allocation (size=17825792) would exceed memory (size=16777216)\n", NULL);
    ck_assert_str_eq(cause_of(&made), "kernel_scratch");
    ck_assert_ptr_null(advice_of(&made, "larger_chip"));
    made_free(&made);
    asked_close(&asked);
}
END_TEST

/* A program of about 8 MiB that trains. */
START_TEST(the_limit_decides_to_the_byte)
{
    struct asked asked;
    asked_open(&asked, MLP);
    struct analysis_verdict_parts parts = {.module = asked.module};
    struct made made = make(&parts);
    int64_t needed = (int64_t)number(member(made.root, "fit"), "needed_bytes");
    ck_assert_str_eq(text(made.root, "fits"), "unknown");
    ck_assert(cJSON_IsNull(member(member(made.root, "fit"), "capacity_bytes")));
    made_free(&made);
    parts.around.capacity.source = "as chosen";
    for (int64_t more = -1; more <= 1; more++) {
        parts.around.capacity.bytes = (uint64_t)(needed + more);
        made = make(&parts);
        const cJSON *fit = member(made.root, "fit");
        ck_assert_str_eq(text(made.root, "fits"), more < 0 ? "no" : "yes");
        ck_assert_double_eq(number(fit, "over_bytes"), more < 0 ? 1 : 0);
        ck_assert_double_eq(number(fit, "free_bytes"), more > 0 ? 1 : 0);
        ck_assert_ptr_nonnull(strstr(text(made.root, "verdict"), more < 0 ? "over by 1 B" : "it fits"));
        made_free(&made);
    }
    asked_close(&asked);
}
END_TEST

static int rank_of(const cJSON *one)
{
    const char *fits = text(one, "fits");
    return strcmp(fits, "no") == 0                                                       ? 2
           : strcmp(fits, "perhaps") == 0 && cJSON_IsNull(member(one, "lands_at_bytes")) ? 1
                                                                                         : 0;
}

START_TEST(what_suffices_alone_stands_first_then_what_is_surer)
{
    static const char *const sureness[] = {"confirmed", "exact", "model", "bound", "guess"};
    struct asked asked;
    asked_open(&asked, MLP);
    struct analysis_verdict_parts parts = {.module = asked.module, .around.capacity.source = "as chosen"};
    int seen = 0;
    for (uint64_t capacity = 1 << 20; capacity < 9 << 20; capacity += 1 << 20) {
        int last = -1, last_rank = -1;
        parts.around.capacity.bytes = capacity;
        struct made made = make(&parts);
        const cJSON *advice = member(made.root, "advice"), *one;
        cJSON_ArrayForEach(one, advice)
        {
            int sure = 0, rank = rank_of(one);
            while (strcmp(text(one, "confidence"), sureness[sure]) != 0)
                sure++;
            ck_assert_int_ge(rank, last_rank);
            ck_assert(rank > last_rank || sure >= last);
            last = sure;
            last_rank = rank;
            if (cJSON_IsString(member(one, "change")) && strcmp(text(made.root, "fits"), "no") == 0)
                ck_assert_int_eq(strcmp(text(one, "fits"), "no") == 0,
                                 number(one, "lands_at_bytes") > (double)capacity);
            seen++;
        }
        made_free(&made);
    }
    ck_assert_int_gt(seen, 20);
    asked_close(&asked);
}
END_TEST

START_TEST(where_nothing_is_enough_the_best_two_are_named)
{
    static const char nothing[] = "Nothing found here is enough alone.";
    struct asked asked;
    asked_open(&asked, PADDED);
    struct analysis_verdict_parts parts = {.module = asked.module, .around.capacity.source = "as chosen"};
    for (int shift = 20; shift <= 30; shift += 10) { /* 1 MiB, 1 GiB */
        parts.around.capacity.bytes = UINT64_C(1) << shift;
        struct made made = make(&parts);
        const char *sentence = text(made.root, "advice_sentence");
        ck_assert_msg(strncmp(sentence, nothing, strlen(nothing)) == 0, "%s", sentence);
        ck_assert_msg(strstr(sentence, "unpad=*") != NULL && strstr(sentence, "shard=*:128") != NULL, "%s", sentence);
        ck_assert_msg(strstr(sentence, shift == 20 ? " over." : " fit, by prediction.") != NULL, "%s", sentence);
        ck_assert_ptr_nonnull(strstr(made.text, sentence));
        made_free(&made);
    }
    asked_close(&asked);
}
END_TEST

START_TEST(the_smallest_chip_on_which_it_fits)
{
    struct asked asked;
    asked_open(&asked, H_LONG_CONTEXT);
    struct analysis_verdict_parts parts = {
        .module = asked.module, .around.capacity.bytes = 15 * GIB, .around.capacity.source = "as chosen"};
    struct made made = make(&parts);
    const cJSON *larger = advice_of(&made, "larger_chip");
    int64_t needed = (int64_t)number(member(made.root, "fit"), "needed_bytes"), least = INT64_MAX;
    struct analysis_device device, best = {.name = NULL};
    for (size_t at = 0; analysis_device_at(at, &device); at++) {
        int64_t has = (int64_t)(device.available_bytes > 0 ? device.available_bytes : device.physical_bytes);
        if (strcmp(device.platform, "tpu") == 0 && has >= needed && has < least) {
            least = has;
            best = device;
        }
    }
    ck_assert_ptr_nonnull(larger);
    ck_assert_ptr_nonnull(strstr(text(larger, "title"), best.title));
    made_free(&made);
    asked_close(&asked);
    asked_open(&asked, SEED); /* 300 GiB: no chip has this much */
    parts.module = asked.module;
    made = make(&parts);
    ck_assert_ptr_null(advice_of(&made, "larger_chip"));
    ck_assert_str_eq(first_of(&made), "shard");
    ck_assert_str_eq(cause_of(&made), "one_buffer");
    made_free(&made);
    asked_close(&asked);
}
END_TEST

START_TEST(figures_that_differ_are_named)
{
    struct asked asked;
    asked_open(&asked, SEED);
    struct made made = make_of_text(
        "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required "
        "for HLO temporaries (400.00G) exceeds available HBM (15.75G). HLO module: jit_f.\n",
        asked.module);
    const cJSON *notes = member(made.root, "notes"), *note;
    bool is_named = false;
    cJSON_ArrayForEach(note, notes) is_named |= strcmp(text(note, "kind"), "disagreement") == 0 &&
                                                strstr(text(note, "text"), "400.00 GiB") &&
                                                strstr(text(note, "text"), "300.00 GiB");
    ck_assert(is_named);
    ck_assert_double_eq(number(member(made.root, "fit"), "needed_bytes"), 400.0 * (double)GIB);
    ck_assert_double_eq(number(made.root, "where_bytes"), 400.0 * (double)GIB);
    made_free(&made);
    asked_close(&asked);
}
END_TEST

START_TEST(a_trace_in_pieces)
{
    struct bytes bytes;
    bytes_load(&bytes, "build/fixtures/trace-pieces.pb");
    struct analysis_subject *trace = subject_trace(&bytes.source, NULL, 0, &err);
    struct made made = make(&(struct analysis_verdict_parts){.trace = trace});
    ck_assert_str_eq(cause_of(&made), "fragmentation");
    ck_assert_ptr_nonnull(advice_of(&made, "fragmentation"));
    made_free(&made);
    analysis_subject_free(trace);
    bytes_close(&bytes);
}
END_TEST

START_TEST(nothing_at_all)
{
    const struct analysis_verdict_parts parts = {.failure = NULL};
    struct made made = make(&parts);
    ck_assert_str_eq(text(made.root, "fits"), "unknown");
    ck_assert_str_eq(cause_of(&made), "unknown");
    ck_assert_int_eq(cJSON_GetArraySize(member(made.root, "advice")), 0);
    ck_assert(cJSON_IsNull(member(member(made.root, "ledger"), "balances")));
    made_free(&made);
}
END_TEST

/* ---- profiles ---- */

enum { PROFILES = 9 };

START_TEST(arrays_that_grow_from_profile_to_profile)
{
    struct bytes bytes[PROFILES];
    struct analysis_subject *subjects[PROFILES];
    struct analysis_use uses[PROFILES];
    char names[PROFILES][32], path[80];
    for (int i = 0; i < PROFILES; i++) {
        snprintf(names[i], sizeof(names[i]), "memory%d.prof", i + 1);
        snprintf(path, sizeof(path), "tests/fixtures/demo/leak/%s", names[i]);
        bytes_load(&bytes[i], path);
        subjects[i] = subject_profile(&bytes[i].source, 0, &err);
        ck_assert_msg(subjects[i] != NULL, "%s", err.text);
        uses[i] = (struct analysis_use){.subject = subjects[i], .id = names[i], .name = names[i]};
    }
    struct analysis_verdict_parts parts = {.profiles = uses, .profile_count = PROFILES};
    struct made made = make(&parts);
    ck_assert_str_eq(cause_of(&made), "leak");
    ck_assert_str_eq(first_of(&made), "leak");
    ck_assert_ptr_nonnull(strstr(text(made.root, "verdict"), "from memory1.prof to memory9.prof"));
    ck_assert_ptr_nonnull(strstr(text(advice_of(&made, "leak"), "title"), "anotherfunc"));
    const cJSON *bar = cJSON_GetArrayItem(member(member(made.root, "ledger"), "bars"), 0);
    ck_assert_str_eq(text(bar, "kind"), "live_arrays");
    made_free(&made);
    parts.profile_count = 2; /* two tell no trend */
    made = make(&parts);
    ck_assert_str_eq(cause_of(&made), "live_arrays");
    ck_assert_ptr_null(advice_of(&made, "leak"));
    made_free(&made);
    for (int i = 0; i < PROFILES; i++) {
        analysis_subject_free(subjects[i]);
        bytes_close(&bytes[i]);
    }
}
END_TEST

/* ---- capacities as people write them ---- */

START_TEST(a_capacity_is_a_device_or_a_size)
{
    struct analysis_device device;
    uint64_t size;
    ck_assert(analysis_capacity_read("V5E", &size, &device));
    ck_assert_str_eq(device.name, "v5e");
    ck_assert_uint_eq(size, device.available_bytes);
    ck_assert(analysis_capacity_read("15.75GiB", &size, &device));
    ck_assert_uint_eq(size, UINT64_C(16911433728));
    ck_assert_ptr_null(device.name);
    ck_assert(analysis_capacity_read("16G", &size, &device) && size == 16 * (uint64_t)GIB);
    ck_assert(analysis_capacity_read("1024", &size, &device) && size == 1024);
    static const char *const wrong[] = {"", "v99", "-1", "5 apples", "1e300", "nan", "G"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_msg(!analysis_capacity_read(wrong[i], &size, &device), "%s", wrong[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verdict");
    TCase *tests = tcase_create("verdict");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_program_without_a_backward_pass);
    tcase_add_test(tests, memory_of_a_kernel_gets_no_advice_for_the_device);
    tcase_add_test(tests, the_limit_decides_to_the_byte);
    tcase_add_test(tests, what_suffices_alone_stands_first_then_what_is_surer);
    tcase_add_test(tests, where_nothing_is_enough_the_best_two_are_named);
    tcase_add_test(tests, the_smallest_chip_on_which_it_fits);
    tcase_add_test(tests, figures_that_differ_are_named);
    tcase_add_test(tests, a_trace_in_pieces);
    tcase_add_test(tests, nothing_at_all);
    tcase_add_test(tests, arrays_that_grow_from_profile_to_profile);
    tcase_add_test(tests, a_capacity_is_a_device_or_a_size);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
