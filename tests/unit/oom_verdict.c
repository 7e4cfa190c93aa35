/* SPDX-License-Identifier: Apache-2.0
 * What failures mean: over by how much, short or in pieces, what is largest, where it went. Figures are worked out by
 * hand from the texts. */
#include "oom.h"

#include "base/size_text.h"
#include "model/oom/meaning.h"

static struct analysis_subject *read_text(const char *text, size_t length)
{
    struct bytes bytes;
    struct err err = ERR_INIT;
    bytes_open(&bytes, text, length);
    struct analysis_subject *subject = subject_text(&bytes.source, false, &err);
    ck_assert_msg(subject != NULL && analysis_text_report(subject)->found.failure_count == 1, "%s: %.100s", err.text,
                  text);
    bytes_close(&bytes);
    return subject;
}

static struct analysis_subject *read_fixture(const char *path)
{
    struct bytes bytes;
    bytes_load(&bytes, path);
    struct analysis_subject *subject = read_text(bytes.data, bytes.length);
    bytes_close(&bytes);
    return subject;
}

/* The words of a sentence, sizes as they are printed. */
static const char *words_of(const struct oom_sentence *sentence, char out[512])
{
    size_t length = 0;
    char size[SIZE_TEXT_BYTES];
    out[0] = '\0';
    for (size_t i = 0; i < sentence->count; i++) {
        const struct oom_part *part = &sentence->parts[i];
        struct str text = part->text.data != NULL ? part->text : str_of(size_text(size, part->bytes));
        length += (size_t)snprintf(out + length, 512 - length, "%.*s", (int)text.length, text.data);
    }
    return out;
}

static const struct {
    const char *text, *over, *limit; /* "" none */
    enum oom_cause cause;
} limits[] = {
    {"Attempting to reserve 1.50G at the bottom of memory. That was not possible. There are 2.00G free, 0B reserved, "
     "and 1.00G reservable.",
     "0.50 GiB", "can be reserved", OOM_CAUSE_FRAGMENTATION},
    {"Attempting to reserve 3.00G at the bottom of memory. That was not possible. There are 2.00G free, 0B reserved, "
     "and 1.00G reservable.",
     "2.00 GiB", "can be reserved", OOM_CAUSE_SHORTAGE},
    {"Error allocating device buffer: Attempting to allocate 1.50G. That was not possible. There are 2.00G free.", "",
     "are free", OOM_CAUSE_UNPLACED},
    {"Allocating 300 bytes exceeds the memory limit of 200 bytes.", "100 B", "are there in all", OOM_CAUSE_NOT_KNOWN},
    {"Not enough PA budget: pa_allocated=100B, allocation_size=50B, pa_budget=120B", "30 B", "are there in all",
     OOM_CAUSE_NOT_KNOWN},
    {"Ran out of memory on HBM, the total memory required for HLO temporaries (16.72G) exceeds available HBM (15.75G).",
     "0.97 GiB", "are available", OOM_CAUSE_NOT_KNOWN},
    {"Out of memory while trying to allocate 214748364800 bytes.", "", "", OOM_CAUSE_NOT_KNOWN},
    /* PyTorch: what it keeps would do; others hold what is missing; a list that may hold the process itself blames
     * nobody */
    {"CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 8.00 GiB total capacity; 5.00 GiB already allocated; "
     "0.50 GiB free; 6.50 GiB reserved in total by PyTorch)",
     "0.50 GiB", "are free", OOM_CAUSE_FRAGMENTATION},
    {"CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of which 1.00 GiB is "
     "free. Process 7 has 3.00 GiB memory in use. Including non-PyTorch memory, this process has 4.00 GiB memory in "
     "use.",
     "1.00 GiB", "are free", OOM_CAUSE_OTHER_PROCESS},
    {"CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of which 1.00 GiB is "
     "free. Process 7 has 7.00 GiB memory in use. Of the allocated memory 6.00 GiB is allocated by PyTorch, and 0.50 "
     "GiB is reserved by PyTorch but unallocated.",
     "1.00 GiB", "are free", OOM_CAUSE_SHORTAGE},
    {"Unable to allocate 9.00 GiB for an array with shape (3, 3) and data type float64", "", "", OOM_CAUSE_HOST},
};

START_TEST(a_request_is_held_against_what_there_was)
{
    struct analysis_subject *subject = read_text(limits[_i].text, strlen(limits[_i].text));
    const struct oom_meaning *meaning = &analysis_text_report(subject)->meanings[0];
    ck_assert_str_eq(meaning->is_over_known ? meaning->over_text : "", limits[_i].over);
    ck_assert_str_eq(meaning->is_limit_known ? meaning->limit_phrase : "", limits[_i].limit);
    ck_assert_int_eq(meaning->cause, limits[_i].cause);
    ck_assert_int_eq(meaning->cause_line != NULL, limits[_i].cause != OOM_CAUSE_NOT_KNOWN);
    analysis_subject_free(subject);
}
END_TEST

START_TEST(the_stack_of_a_kernel_has_not_the_size_of_its_result)
{
    struct analysis_subject *subject = read_fixture("tests/fixtures/oom/0.10.0-libtpu0.0.40-v5e-scoped.txt");
    char words[512];
    ck_assert_str_eq(words_of(&analysis_text_report(subject)->meanings[0].more, words),
                     "Over by 24.00 MiB. Largest: 40.00 MiB, the stack of one kernel, whose result is f32[4096,4096].");
    analysis_subject_free(subject);
}
END_TEST

/* 13.50 of the 15.75 GiB of arguments are outputs as well. */
START_TEST(outputs_in_the_memory_of_arguments_count_once)
{
    struct analysis_subject *subject = read_fixture("tests/fixtures/oom/0.10.0-libtpu0.0.40-v5e-adamlin.txt");
    const struct oom_meaning *meaning = &analysis_text_report(subject)->meanings[0];
    char words[512], size[SIZE_TEXT_BYTES];
    ck_assert_str_eq(words_of(&meaning->more, words), "Over by 2.00 GiB. Largest: 3 × 4.50 GiB f32[36864,32768].");
    ck_assert_uint_eq(meaning->groups[OOM_ARGUMENTS_AND_OUTPUTS][0].count, 3);
    ck_assert_str_eq(size_text(size, meaning->listed_bytes), "17.75 GiB");
    ck_assert_str_eq(size_text(size, meaning->listed_shared_bytes), "13.50 GiB");
    analysis_subject_free(subject);
}
END_TEST

/* The rows of a plan count donated results twice, its total counts them once. */
START_TEST(a_plan_of_donated_results_adds_up_to_its_total)
{
    static const struct {
        const char *results, *total;
        uint64_t shared_mib, other_mib;
    } plans[] = {
        {"12.00GiB", "36.00GiB", 12 << 10, 0}, {"14.00GiB", "38.00GiB", 12 << 10, 2 << 10},
        {"12.00GiB", "48.00GiB", 0, 12 << 10}, {"12.00GiB", "47.90GiB", 0, 12 << 10}, /* rounding */
        {"2.00GiB", "26.00GiB", 2 << 10, 0}, /* of the larger only as much as the smaller has */
    };
    char text[512];
    int length = snprintf(text, sizeof(text),
                          "Out of memory while trying to allocate 24.00GiB\nBufferAssignment OOM Debugging.\n"
                          "BufferAssignment stats:\n  parameter allocation:   12.00GiB\n  constant allocation: 0B\n"
                          "  maybe_live_out allocation:   %s\n  preallocated temp allocation:  24.00GiB\n"
                          "  total allocation:  %s\n",
                          plans[_i].results, plans[_i].total);
    struct analysis_subject *subject = read_text(text, (size_t)length);
    const struct oom_meaning *meaning = &analysis_text_report(subject)->meanings[0];
    ck_assert_uint_eq(oom_shared_output_bytes(meaning->failure) >> 20, plans[_i].shared_mib);
    uint64_t outputs = 0;
    for (size_t i = 0; i < meaning->bar.count; i++)
        if (strcmp(meaning->bar.stretches[i].look, "output") == 0)
            outputs += meaning->bar.stretches[i].bytes;
    ck_assert_uint_eq(outputs >> 20, plans[_i].other_mib);
    analysis_subject_free(subject);
}
END_TEST

START_TEST(fragmentation_of_all_is_not_that_of_the_temporaries)
{
    static const char text[] =
        "Failed to allocate request for 154.06GiB (165425291480B) on device ordinal 0\nBufferAssignment OOM "
        "Debugging.\nBufferAssignment stats:\n"
        "  parameter allocation:   10.04GiB\n  constant allocation:    24.6KiB\n  maybe_live_out allocation:   "
        "28.74GiB\n"
        "  preallocated temp allocation:  154.06GiB\n  preallocated temp fragmentation:   24.75MiB (0.02%)\n"
        "  total allocation:  192.84GiB\n  total fragmentation:    9.71GiB (5.03%)\nPeak buffers:\n\tBuffer "
        "1:\n\t\tSize: 38.10GiB\n";
    struct analysis_subject *subject = read_text(text, sizeof(text) - 1);
    const struct oom_bar *bar = &analysis_text_report(subject)->meanings[0].bar;
    char size[SIZE_TEXT_BYTES];
    ck_assert_uint_eq(bar->count, 3);
    ck_assert_str_eq(bar->stretches[2].word.data, "temporaries");
    ck_assert_str_eq(size_text(size, bar->stretches[2].bytes), "154.06 GiB");
    ck_assert_str_eq(size_text(size, bar->stretches[2].lost_bytes), "24.75 MiB");
    ck_assert_str_eq(size_text(size, bar->whole_bytes), "192.84 GiB");
    analysis_subject_free(subject);
}
END_TEST

/* A core that uses nothing has no stretch, and its name goes to no other. */
START_TEST(the_bar_names_each_core_by_its_own_name)
{
    static const char text[] =
        "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: TensorCore Hbm usage: 20.00G, SparseCore Hbm usage 0B, "
        "exceeding available bytes: 16.00G\n";
    struct analysis_subject *subject = read_text(text, sizeof(text) - 1);
    const struct oom_bar *bar = &analysis_text_report(subject)->meanings[0].bar;
    char size[SIZE_TEXT_BYTES];
    ck_assert_uint_eq(bar->count, 1);
    ck_assert_str_eq(bar->stretches[0].word.data, "TensorCore");
    ck_assert_str_eq(size_text(size, bar->stretches[0].bytes), "20.00 GiB");
    analysis_subject_free(subject);
}
END_TEST

START_TEST(figures_say_whether_they_were_rounded)
{
    static const char *const texts[] = {"Out of memory while trying to allocate 5000 bytes.",
                                        "Out of memory while trying to allocate 7.34GiB."};
    static const char *const words[] = {"exact", "as printed"};
    for (size_t i = 0; i < 2; i++) {
        struct analysis_subject *subject = read_text(texts[i], strlen(texts[i]));
        ck_assert_str_eq(analysis_text_report(subject)->meanings[0].sureness, words[i]);
        analysis_subject_free(subject);
    }
}
END_TEST

/* ---- beside the plan of the seed program: 200 GiB of output, 100 GiB of temporaries ---- */

#define SEED "tests/fixtures/dumps/seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb"
#define TOTAL(asked, there)                                                                                            \
    "Ran out of memory on HBM, the total memory required for HLO temporaries (" asked                                  \
    ") exceeds available HBM (" there "). HLO module: jit_f."

static const struct {
    const char *text, *agreement, *largest;
    size_t stretch_count; /* of the bar of the plan; 0: the text has its own */
} comparisons[] = {
    {TOTAL("300.00G", "15.75G"),
     "Text and plan agree: 300.00 GiB in the text, 300.00 GiB in the plan. That total, which the text may call HLO "
     "temporaries, holds arguments and outputs as well; temporaries, with what lies unused between them, are 100.00 "
     "GiB of it. The text states a total alone; the bar is of the plan.",
     "Largest in the plan: 200.00 GiB bf16[327680,327680].", 2},
    {TOTAL("300.00G", "299.03G"),
     "Text and plan agree: 300.00 GiB in the text, 300.00 GiB in the plan. It is over by 0.97 GiB as the text "
     "rounds; the plan's total is 993.28 MiB more than the 299.03 GiB stated. That total, which the text may call HLO "
     "temporaries, holds arguments and outputs as well; temporaries, with what lies unused between them, are 100.00 "
     "GiB of it. The text states a total alone; the bar is of the plan.",
     "Largest in the plan: 200.00 GiB bf16[327680,327680].", 2},
    {TOTAL("310.00G", "15.75G"),
     "Text and plan disagree: 310.00 GiB in the text, 300.00 GiB in the plan, 10.00 GiB less. The plan may be of "
     "another compile of the program: with other flags, or before the last change. The text states a total alone; the "
     "bar is of the plan.",
     "Largest in the plan: 200.00 GiB bf16[327680,327680].", 2},
    {"Attempting to reserve 310.00G at the bottom of memory. That was not possible. There are 2.00G free.",
     "The text asks for 310.00 GiB in one piece, which need not be all of the program; its plan takes 300.00 GiB of "
     "HBM.",
     "Largest in the plan: 200.00 GiB bf16[327680,327680].", 0},
    {"Ran out of memory in memory space smem. Used 2.00M of 1.00M smem. Exceeded smem capacity by 1.00M.",
     "The plan of the program takes nothing of SMEM; the text asks for 2.00 MiB.", "", 0},
    {"Ran out of memory in memory space vmem while allocating on stack for %f = f32[8,8]{1,0} custom-call(). Scoped "
     "allocation with size 96.00M and limit 16.00M exceeded scoped vmem limit by 80.00M.",
     "Text and plan speak of different things: the 96.00 MiB are requested inside one kernel, and no plan lists "
     "that. The plan takes 3.75 MiB of VMEM.",
     "", 0},
    {"Ran out of memory in memory space vmem while allocating on stack for %f = f32[8,8]{1,0} custom-call()",
     "The text states no total; the plan takes 3.75 MiB of VMEM. The bar is of the plan.", "", 1},
    {"Ran out of memory in memory space hbm.",
     "The text states no total; the plan takes 300.00 GiB of HBM. The bar is of the plan.",
     "Largest in the plan: 200.00 GiB bf16[327680,327680].", 2},
};

START_TEST(a_text_and_the_plan_of_its_program_are_compared)
{
    struct bytes bytes;
    struct err err = ERR_INIT;
    char words[512];
    bytes_load(&bytes, SEED);
    struct analysis_contents *contents = analysis_contents_read(&bytes.source, &err);
    struct analysis_subject *module = subject_module(&bytes.source, &contents->programs[0], 0, &err);
    struct analysis_subject *text = read_text(comparisons[_i].text, strlen(comparisons[_i].text));
    struct oom_comparison *made = analysis_oom_compare(&analysis_text_report(text)->meanings[0], module, &err);
    ck_assert_msg(made != NULL, "%s", err.text);
    ck_assert_str_eq(words_of(&made->agreement, words), comparisons[_i].agreement);
    ck_assert_str_eq(words_of(&made->largest, words), comparisons[_i].largest);
    ck_assert_uint_eq(made->bar.count, comparisons[_i].stretch_count);
    analysis_oom_comparison_free(made);
    analysis_subject_free(text);
    analysis_subject_free(module);
    analysis_contents_free(contents);
    bytes_close(&bytes);
}
END_TEST

#define NEEDED "Out of memory while trying to allocate 100761600068 bytes."
#define ON_HOST "RESOURCE_EXHAUSTED: Out of memory allocating 100761600068 bytes."
#define BY_NAME                                                                                                        \
    "XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 300.00G of 15.75G hbm. "             \
    "Exceeded hbm capacity by 284.25G."
static const struct {
    const char *text;
    struct analysis_oom_module modules[3];
    size_t chosen; /* 3: none */
} choices[] = {
    {NEEDED, {{"a", 5, 4, 0}, {"b", 103199122160, 100761600068, 0}, {"c", 200000000000, 1, 0}}, 1},
    {NEEDED, {{"a", 5, 4, 0}, {"b", 103199122160, 0, 100761600068}, {"c", 200000000000, 1, 0}}, 1},
    {NEEDED, {{"a", 5, 4, 0}, {"b", 103199122160, 100761600069, 0}, {"c", 200000000000, 1, 0}}, 3},
    {NEEDED, {{"a", 103199122160, 100761600068, 0}, {"b", 103199122160, 100761600068, 0}, {"c", 5, 1, 0}}, 3},
    {NEEDED, {{"a", 103199122160, 100761600068, 0}, {"a", 103199122161, 100761600068, 0}, {"c", 5, 1, 0}}, 1},
    {"Out of memory while trying to allocate 93.84GiB.",
     {{"a", 5, 4, 0}, {"b", 5, 4, 0}, {"c", 103199122160, 100761600068, 0}},
     2},
    {"Allocator (GPU_0_bfc) ran out of memory trying to allocate 93.84GiB (rounded to 100761600256)",
     {{"a", 5, 4, 0}, {"b", 5, 4, 0}, {"c", 103199122160, 100761600068, 0}},
     2},
    {ON_HOST, {{"a", 5, 4, 0}, {"b", 103199122160, 100761600068, 0}, {"c", 200000000000, 1, 0}}, 1},
    {ON_HOST, {{"a", 200000000000, 4, 0}, {"b", 5, 4, 0}, {"c", 5, 4, 0}}, 3},
    {BY_NAME, {{"a", 5, 4, 0}, {"b", 322122547200, 4, 0}, {"c", 400000000000, 4, 0}}, 1},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
     {{"a", 2147483648, 2147483648, 0}, {"b", 5, 4, 0}, {"c", 5, 4, 0}},
     3},
};

START_TEST(a_request_that_one_program_makes_is_of_that_program)
{
    struct analysis_subject *text = read_text(choices[_i].text, strlen(choices[_i].text));
    const struct oom_meaning *meaning = &analysis_text_report(text)->meanings[0];
    ck_assert_uint_eq(analysis_oom_choose_module(meaning, choices[_i].modules, 3), choices[_i].chosen);
    analysis_subject_free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("oom_verdict");
    TCase *tests = tcase_create("oom_verdict");
    tcase_add_loop_test(tests, a_request_is_held_against_what_there_was, 0, (int)(sizeof(limits) / sizeof(limits[0])));
    tcase_add_test(tests, the_stack_of_a_kernel_has_not_the_size_of_its_result);
    tcase_add_test(tests, outputs_in_the_memory_of_arguments_count_once);
    tcase_add_loop_test(tests, a_plan_of_donated_results_adds_up_to_its_total, 0, 5);
    tcase_add_test(tests, fragmentation_of_all_is_not_that_of_the_temporaries);
    tcase_add_test(tests, the_bar_names_each_core_by_its_own_name);
    tcase_add_test(tests, figures_say_whether_they_were_rounded);
    tcase_add_loop_test(tests, a_text_and_the_plan_of_its_program_are_compared, 0,
                        (int)(sizeof(comparisons) / sizeof(comparisons[0])));
    tcase_add_loop_test(tests, a_request_that_one_program_makes_is_of_that_program, 0,
                        (int)(sizeof(choices) / sizeof(choices[0])));
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
