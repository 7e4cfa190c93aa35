/* SPDX-License-Identifier: Apache-2.0
 * What must never be advised, on every program of the fixtures: rules that were found by compiling what was advised. */
#include "asked.h"
#include "model/oom/model.h"

#define GIB (INT64_C(1) << 30)

static const struct {
    const char *path;
    bool has_backward;
} programs[] = {
    {"tests/fixtures/demo/b-activations-unrolled/module_0282.jit_train_step.cl_1014260217.after_optimizations.hlo.pb.gz",
     true},
    {"tests/fixtures/programs/z-base/module_0001.jit_train_step.after_optimizations.hlo.pb.gz", true},
    {"tests/fixtures/modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz", true},
    {ASKED_DUMP "h-long-context/module_0011.jit__lambda.cl_1014260217.after_optimizations.hlo.pb.gz", false},
    {ASKED_DUMP "seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb", false},
    {ASKED_DUMP "d-tile-padding/module_0179.jit_f.cl_1014260217.after_optimizations.hlo.pb", false},
};
enum { PROGRAM_COUNT = sizeof(programs) / sizeof(programs[0]) };

/* Three layers in bfloat16 that a scalar of np.float32 makes float32, at train.py:12. */
#define PROMOTED "tests/fixtures/promotion/np-scalar/module_0000.jit_train_step.after_optimizations.hlo.pb.gz"

static const double capacities_gib[] = {0.001, 1, 15.75};
enum { CAPACITY_COUNT = sizeof(capacities_gib) / sizeof(capacities_gib[0]) };

static const char *text(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static cJSON *made(const struct analysis_verdict_parts *parts)
{
    struct buf json = BUF_INIT;
    err = (struct err)ERR_INIT;
    ck_assert_msg(analysis_verdict(parts, ANALYSIS_VERDICT_JSON, &json, &err), "%s", err.text);
    cJSON *root = cJSON_ParseWithLength(json.data, json.length);
    ck_assert_ptr_nonnull(root);
    buf_free(&json);
    return root;
}

static cJSON *verdict_of(const struct analysis_subject *module, double capacity_gib)
{
    const struct analysis_verdict_parts parts = {.module = module,
                                                 .around.capacity.bytes = (uint64_t)(capacity_gib * (double)GIB),
                                                 .around.capacity.source = "as chosen"};
    return made(&parts);
}

/* Calls `hold` with each program's verdict at each capacity. */
static void each(void (*hold)(const cJSON *verdict, bool has_backward))
{
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        struct asked asked;
        asked_open(&asked, programs[i].path);
        for (size_t at = 0; at < CAPACITY_COUNT; at++) {
            cJSON *verdict = verdict_of(asked.module, capacities_gib[at]);
            hold(verdict, programs[i].has_backward);
            cJSON_Delete(verdict);
        }
        asked_close(&asked);
    }
}

/* The place of the first advice of a kind; -1: there is none. */
static int place_of(const cJSON *verdict, const char *kind)
{
    const cJSON *advice = cJSON_GetObjectItem(verdict, "advice");
    for (int at = 0; at < cJSON_GetArraySize(advice); at++)
        if (strcmp(text(cJSON_GetArrayItem(advice, at), "kind"), kind) == 0)
            return at;
    return -1;
}

static const cJSON *pattern_of(const cJSON *verdict, const char *kind)
{
    const cJSON *patterns = cJSON_GetObjectItem(cJSON_GetObjectItem(verdict, "peak"), "patterns"), *one;
    cJSON_ArrayForEach(one, patterns) if (strcmp(text(one, "kind"), kind) == 0) return one;
    return NULL;
}

/* 26.0 GiB of scores are live at the peak; without them another moment becomes the peak. */
START_TEST(bytes_that_are_held_are_no_saving)
{
    struct asked asked;
    asked_open(&asked, programs[0].path);
    cJSON *verdict = verdict_of(asked.module, 15.75);
    const cJSON *scores = pattern_of(verdict, "attention_scores"), *advice = cJSON_GetObjectItem(verdict, "advice");
    const cJSON *fused = cJSON_GetArrayItem(advice, place_of(verdict, "fused_attention"));
    ck_assert_ptr_nonnull(scores);
    ck_assert_double_gt(number(scores, "bytes"), 25.9 * (double)GIB);
    ck_assert_double_lt(number(scores, "saves_bytes"), number(scores, "bytes") - (double)GIB);
    ck_assert_double_lt(number(fused, "saves_bytes"), number(scores, "bytes") - (double)GIB);
    cJSON_Delete(verdict);
    asked_close(&asked);
}
END_TEST

START_TEST(a_scalar_that_makes_all_float32_is_named)
{
    struct asked asked;
    asked_open(&asked, PROMOTED);
    cJSON *verdict = verdict_of(asked.module, 2.5);
    const cJSON *cast = cJSON_GetArrayItem(cJSON_GetObjectItem(verdict, "advice"), place_of(verdict, "cast"));
    ck_assert_str_eq(text(cast, "title"), "Keep bfloat16 at train.py:12, where a scalar or a cast makes it float32");
    ck_assert_ptr_nonnull(strstr(text(cast, "do"), "scale = float(scale)  # train.py:12"));
    ck_assert_double_lt(number(cast, "lands_at_bytes"), 2.1 * (double)GIB);
    ck_assert_ptr_nonnull(strstr(text(cJSON_GetObjectItem(verdict, "cause"), "text"), "float32 from train.py:12 on"));
    cJSON_Delete(verdict);
    asked_close(&asked);
}
END_TEST

static void hold_unpromoted(const cJSON *verdict, bool has_backward)
{
    const cJSON *cast = cJSON_GetArrayItem(cJSON_GetObjectItem(verdict, "advice"), place_of(verdict, "cast"));
    (void)has_backward;
    ck_assert_ptr_null(strstr(text(cast, "title"), "Keep bfloat16"));
}

START_TEST(no_scalar_is_named_without_one) { each(hold_unpromoted); }
END_TEST

static void hold_savings(const cJSON *verdict, bool has_backward)
{
    const cJSON *advice = cJSON_GetObjectItem(verdict, "advice"), *one;
    double needed = number(cJSON_GetObjectItem(verdict, "fit"), "needed_bytes");
    (void)has_backward;
    cJSON_ArrayForEach(one, advice)
    {
        bool has_both = cJSON_IsNumber(cJSON_GetObjectItem(one, "lands_at_bytes")) &&
                        cJSON_IsNumber(cJSON_GetObjectItem(one, "saves_bytes")); /* a larger chip saves nothing */
        ck_assert_msg(!has_both || number(one, "saves_bytes") <= 0 ||
                          number(one, "lands_at_bytes") + number(one, "saves_bytes") == needed,
                      "%s", text(one, "title"));
    }
}

START_TEST(what_is_saved_is_what_it_lands_below) { each(hold_savings); }
END_TEST

/* A row without a figure says why there is none. */
static void hold_unknown(const cJSON *verdict, bool has_backward)
{
    const cJSON *item;
    (void)has_backward;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(verdict, "advice"))
    {
        if (cJSON_GetObjectItem(item, "change") == NULL || cJSON_GetObjectItem(item, "lands_at_bytes") != NULL)
            continue;
        ck_assert_str_eq(text(item, "confidence"), "guess");
        ck_assert_msg(strncmp(text(item, "reason"), "How much is not known, because ", 31) == 0, "%s",
                      text(item, "reason"));
    }
}

START_TEST(what_is_not_known_has_its_reason) { each(hold_unknown); }
END_TEST

static void hold_backward(const cJSON *verdict, bool has_backward)
{
    const cJSON *advice = cJSON_GetObjectItem(verdict, "advice"), *one;
    cJSON_ArrayForEach(one, advice) if (!has_backward)
        ck_assert_msg(strstr(text(one, "do"), "jax.checkpoint") == NULL && strcmp(text(one, "kind"), "checkpoint") != 0,
                      "%s", text(one, "title"));
}

START_TEST(no_checkpoint_without_a_backward_pass) { each(hold_backward); }
END_TEST

/* Among equally good ones: both fit, or none does. */
START_TEST(of_training_a_checkpoint_stands_before_fused_attention)
{
    for (size_t i = 0; i < 2; i++) {
        struct asked asked;
        asked_open(&asked, programs[i].path);
        cJSON *verdict = verdict_of(asked.module, i == 0 ? 15.75 : 1);
        int checkpoint = place_of(verdict, "checkpoint"), fused = place_of(verdict, "fused_attention");
        ck_assert_int_ge(checkpoint, 0);
        ck_assert_int_gt(fused, checkpoint);
        cJSON_Delete(verdict);
        asked_close(&asked);
    }
}
END_TEST

/* What suffices comes before what may suffice; donation is the first of the latter, and compiler flags come last. */
static void hold_order(const cJSON *verdict, bool has_backward)
{
    const cJSON *advice = cJSON_GetObjectItem(verdict, "advice"), *one;
    bool is_behind_perhaps = false, is_behind_flags = false;
    (void)has_backward;
    cJSON_ArrayForEach(one, advice)
    {
        bool is_flags = strcmp(text(one, "kind"), "flags") == 0, is_perhaps = strcmp(text(one, "fits"), "perhaps") == 0;
        bool is_donation = strcmp(text(one, "kind"), "donate") == 0;
        if (cJSON_IsTrue(cJSON_GetObjectItem(one, "is_of_cause")))
            continue;
        ck_assert_msg(!is_behind_perhaps || (strcmp(text(one, "fits"), "yes") != 0 && !(is_perhaps && is_donation)),
                      "%s", text(one, "title"));
        ck_assert_msg(!is_behind_flags || strcmp(text(one, "fits"), "no") == 0 || is_flags, "%s", text(one, "title"));
        is_behind_perhaps = is_behind_perhaps || (is_perhaps && !is_donation);
        is_behind_flags = is_behind_flags || is_flags;
    }
}

START_TEST(what_costs_nothing_is_the_first_that_may_fit) { each(hold_order); }
END_TEST

static size_t guess_count;

static void hold_guesses(const cJSON *verdict, bool has_backward)
{
    const cJSON *advice = cJSON_GetObjectItem(verdict, "advice"), *one;
    (void)has_backward;
    cJSON_ArrayForEach(one, advice)
    {
        bool is_one = strcmp(text(one, "kind"), "offload") == 0 || strcmp(text(one, "kind"), "flags") == 0;
        guess_count += is_one;
        ck_assert_msg(!is_one ||
                          (strcmp(text(one, "confidence"), "guess") == 0 && strcmp(text(one, "fits"), "yes") != 0),
                      "%s", text(one, "title"));
    }
}

START_TEST(offload_and_flags_are_guesses)
{
    static const char load[] = "E0101: Error loading program 'jit_step': Attempting to reserve 29.49G at the bottom of "
                               "memory. That was not possible. There are 147.64M free, 0B reserved, and 147.64M "
                               "reservable.\n";
    struct bytes bytes;
    guess_count = 0;
    each(hold_guesses);
    ck_assert_uint_gt(guess_count, 0);
    bytes_open(&bytes, load, strlen(load));
    struct analysis_subject *subject = subject_text(&bytes.source, false, &err);
    const struct analysis_verdict_parts parts = {.failure = &analysis_text_report(subject)->meanings[0]};
    cJSON *verdict = made(&parts);
    ck_assert_int_ge(place_of(verdict, "flags"), 0);
    hold_guesses(verdict, false);
    cJSON_Delete(verdict);
    analysis_subject_free(subject);
    bytes_close(&bytes);
}
END_TEST

static void hold_scans(const cJSON *verdict, bool has_backward)
{
    const cJSON *advice = cJSON_GetObjectItem(verdict, "advice"), *one;
    (void)has_backward;
    cJSON_ArrayForEach(one, advice)
    {
        bool is_scan = strstr(text(one, "title"), "scan") != NULL || strstr(text(one, "do"), "scan") != NULL;
        ck_assert_msg(!is_scan || strcmp(text(one, "kind"), "checkpoint") == 0, "%s", text(one, "title"));
    }
}

START_TEST(a_scan_is_never_advised_alone) { each(hold_scans); }
END_TEST

static int place_of_change(const cJSON *verdict, const char *change)
{
    const cJSON *advice = cJSON_GetObjectItem(verdict, "advice");
    for (int at = 0; at < cJSON_GetArraySize(advice); at++)
        if (strcmp(text(cJSON_GetArrayItem(advice, at), "change"), change) == 0)
            return at;
    return -1;
}

/* The first advice that a compiler can judge is confirmed, refuted or not answered; the others stay as they were. */
START_TEST(what_the_compiler_says_takes_the_place_of_predictions)
{
    struct asked asked;
    asked_open(&asked, programs[0].path);
    cJSON *verdict = verdict_of(asked.module, 15.75);
    const cJSON *advice = cJSON_GetObjectItem(verdict, "advice"), *item, *first = NULL;
    cJSON_ArrayForEach(item, advice) if (first == NULL && cJSON_GetObjectItem(item, "change") != NULL &&
                                         cJSON_GetObjectItem(item, "lands_at_bytes") != NULL &&
                                         strcmp(text(item, "fits"), "yes") == 0) first = item;
    ck_assert_ptr_nonnull(first);
    const int count = cJSON_GetArraySize(advice), place = place_of_change(verdict, text(first, "change"));
    const double lands = number(first, "lands_at_bytes");
    const struct {
        int64_t total_bytes;
        bool is_of_dump, is_refuted, is_partial;
        const char *confidence, *fits;
    } cases[] = {{(int64_t)lands + 4096, true, false, false, "confirmed", "yes"},
                 {(int64_t)lands + 4096, false, false, false, text(first, "confidence"), "yes"},
                 {30 * GIB, true, true, false, "confirmed", "no"},
                 {(int64_t)lands + 4096, false, false, true, "bound", "perhaps"},
                 {30 * GIB, false, false, true, "bound", "no"},
                 {-1, false, false, false, text(first, "confidence"), "yes"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct verdict_compiled compiled = {text(first, "change"), cases[i].total_bytes, cases[i].is_of_dump,
                                                  cases[i].is_partial, "What came of it."};
        const struct analysis_verdict_parts parts = {.module = asked.module,
                                                     .around.capacity.bytes = (uint64_t)(15.75 * (double)GIB),
                                                     .around.capacity.source = "as chosen",
                                                     .around.compiled = &compiled,
                                                     .around.compiled_count = 1};
        cJSON *again = made(&parts);
        const cJSON *list = cJSON_GetObjectItem(again, "advice");
        int at = place_of_change(again, text(first, "change"));
        const cJSON *same = cJSON_GetArrayItem(list, at);
        ck_assert_int_eq(cJSON_GetArraySize(list), count);
        if (!cases[i].is_partial)
            ck_assert_int_eq(at, cases[i].is_refuted ? count - 1 : place);
        ck_assert_str_eq(text(same, "compiled"), "What came of it.");
        ck_assert_str_eq(text(same, "confidence"), cases[i].confidence);
        if (cases[i].total_bytes < 0) {
            ck_assert_ptr_null(cJSON_GetObjectItem(same, "predicted_bytes"));
            ck_assert_double_eq(number(same, "lands_at_bytes"), lands);
        } else {
            ck_assert_double_eq(number(same, "predicted_bytes"), lands);
            ck_assert_double_eq(number(same, "lands_at_bytes"), (double)cases[i].total_bytes);
            ck_assert_int_eq(cJSON_IsTrue(cJSON_GetObjectItem(same, "is_refuted")), cases[i].is_refuted);
            ck_assert_int_eq(cJSON_IsTrue(cJSON_GetObjectItem(same, "is_partial")), cases[i].is_partial);
            ck_assert_str_eq(text(same, "fits"), cases[i].fits);
        }
        ck_assert_int_ne((int)number(again, "best"), cases[i].is_refuted ? at : -1);
        cJSON_Delete(again);
    }
    cJSON_Delete(verdict);
    asked_close(&asked);
}
END_TEST

/* A row has the first advice alone, and what cannot be it is not tried: it is the same as of all. */
START_TEST(a_row_has_what_is_first_of_all)
{
    static const double gib[] = {-1, 0.001, 0.5, 1, 2.5, 4, 8, 15.75, 64};
    static const char *const members[][2] = {{"advice", "title"},
                                             {"advice_change", "change"},
                                             {"advice_confidence", "confidence"},
                                             {"advice_saves_bytes", "saves_bytes"},
                                             {"advice_lands_at_bytes", "lands_at_bytes"}};
    for (size_t i = 0; i < PROGRAM_COUNT * sizeof(gib) / sizeof(gib[0]); i++) {
        struct asked asked;
        asked_open(&asked, programs[i % PROGRAM_COUNT].path);
        struct analysis_verdict_parts parts = {.module = asked.module};
        if (gib[i / PROGRAM_COUNT] > 0) {
            parts.around.capacity.bytes = (uint64_t)(gib[i / PROGRAM_COUNT] * (double)GIB);
            parts.around.capacity.source = "as chosen";
        }
        const struct analysis_row_form form = {.form = CSV_NDJSON};
        struct buf line = BUF_INIT;
        err = (struct err)ERR_INIT;
        ck_assert(analysis_verdict_row(&parts, &form, &line, &err));
        cJSON *row = cJSON_ParseWithLength(line.data, line.length), *all = made(&parts);
        const cJSON *best = cJSON_GetObjectItem(all, "best");
        const cJSON *first =
            cJSON_GetArrayItem(cJSON_GetObjectItem(all, "advice"), cJSON_IsNumber(best) ? (int)best->valuedouble : 0);
        for (size_t at = 0; at < sizeof(members) / sizeof(members[0]); at++) {
            cJSON *of_row = cJSON_GetObjectItem(row, members[at][0]),
                  *of_all = cJSON_GetObjectItem(first, members[at][1]);
            bool has_none = of_all == NULL || cJSON_IsNull(of_all);
            ck_assert_msg(has_none ? of_row == NULL || cJSON_IsNull(of_row) : cJSON_Compare(of_row, of_all, true),
                          "%s at %.3f GiB: %s", programs[i % PROGRAM_COUNT].path, gib[i / PROGRAM_COUNT],
                          members[at][0]);
        }
        ck_assert_str_eq(text(row, "cause_sentence"), text(cJSON_GetObjectItem(all, "cause"), "text"));
        cJSON_Delete(row);
        cJSON_Delete(all);
        buf_free(&line);
        asked_close(&asked);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verdict_advice");
    TCase *tests = tcase_create("never");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, bytes_that_are_held_are_no_saving);
    tcase_add_test(tests, a_scalar_that_makes_all_float32_is_named);
    tcase_add_test(tests, no_scalar_is_named_without_one);
    tcase_add_test(tests, what_is_saved_is_what_it_lands_below);
    tcase_add_test(tests, no_checkpoint_without_a_backward_pass);
    tcase_add_test(tests, what_is_not_known_has_its_reason);
    tcase_add_test(tests, of_training_a_checkpoint_stands_before_fused_attention);
    tcase_add_test(tests, what_costs_nothing_is_the_first_that_may_fit);
    tcase_add_test(tests, offload_and_flags_are_guesses);
    tcase_add_test(tests, a_scan_is_never_advised_alone);
    tcase_add_test(tests, a_row_has_what_is_first_of_all);
    tcase_add_test(tests, what_the_compiler_says_takes_the_place_of_predictions);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
