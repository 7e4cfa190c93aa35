/* SPDX-License-Identifier: Apache-2.0
 * The facade over small real and made files: kinds, contents, totals, memory. */
#include "analysis/analysis.h"

#include "bytes.h"
#include "subject.h"

#define DUMP "tests/fixtures/dumps/"
static const char example[] = DUMP "seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb";
static struct err err;

static void begin(void) { err = (struct err)ERR_INIT; }

static const struct {
    const char *path;
    enum analysis_kind kind;
} kinds[] = {
    {"build/fixtures/xspace-two-programs.pb", ANALYSIS_KIND_XSPACE},
    {"build/fixtures/xspace-no-program.pb", ANALYSIS_KIND_XSPACE},
    {"build/fixtures/hlo-two-buffers.pb", ANALYSIS_KIND_HLO_PROTO},
    {"build/fixtures/hlo-no-assignment.pb", ANALYSIS_KIND_HLO_PROTO},
    {"build/fixtures/hlo-module.pb", ANALYSIS_KIND_HLO_MODULE},
    {"build/fixtures/hlo-snapshot.pb", ANALYSIS_KIND_HLO_SNAPSHOT},
    {"build/fixtures/memory-usage-report.pb", ANALYSIS_KIND_MEMORY_USAGE_REPORT},
    {"tests/fixtures/logdir/tpu/plugins/profile/small/host0.xplane.pb.gz", ANALYSIS_KIND_XSPACE},
    {DUMP "seed-matmul-327680/error.txt", ANALYSIS_KIND_TEXT},
    {example, ANALYSIS_KIND_HLO_PROTO},
};

START_TEST(kinds_are_told_by_content)
{
    struct bytes bytes;
    enum analysis_kind kind;
    bool is_gzip;
    bytes_load(&bytes, kinds[_i].path);
    ck_assert(analysis_identify(&bytes.source, &kind, &is_gzip, &err));
    ck_assert_msg(kind == kinds[_i].kind, "%s is taken for %s", kinds[_i].path, analysis_kind_name(kind));
    ck_assert_int_eq(is_gzip, strstr(kinds[_i].path, ".gz") != NULL);
    bytes_close(&bytes);
}
END_TEST

static enum analysis_kind kind_of_text(struct str text)
{
    struct bytes bytes;
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    bytes_open(&bytes, text.data, text.length);
    ck_assert(analysis_identify(&bytes.source, &kind, NULL, &err));
    bytes_close(&bytes);
    return kind;
}

START_TEST(other_files_are_not_mistaken)
{
    ck_assert_int_eq(kind_of_text(STR("")), ANALYSIS_KIND_EMPTY);
    ck_assert_int_eq(kind_of_text(STR("# notes\nnothing here\n")), ANALYSIS_KIND_TEXT);
    ck_assert_int_eq(kind_of_text(STR("\n\nRESOURCE_EXHAUSTED: Out of memory")), ANALYSIS_KIND_TEXT);
    ck_assert_int_eq(kind_of_text(STR("\x7f"
                                      "ELF\x02\x01\x01\0\0\0")),
                     ANALYSIS_KIND_UNKNOWN);
    ck_assert_int_eq(kind_of_text(STR("\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x05"
                                      "bytes")),
                     ANALYSIS_KIND_PPROF);
    ck_assert_int_eq(kind_of_text(STR("\xff\xff\xff\xff")), ANALYSIS_KIND_UNKNOWN);
}
END_TEST

START_TEST(a_trace_lists_its_programs)
{
    struct bytes bytes;
    bytes_load(&bytes, "build/fixtures/xspace-two-programs.pb");
    struct analysis_contents *contents = analysis_contents_read(&bytes.source, &err);
    ck_assert_ptr_nonnull(contents);
    ck_assert_uint_eq(contents->program_count, 3); /* key 7 repeats the id, but its program id is the entry's key */
    ck_assert_str_eq(contents->programs[0].key, "jit_f(5)");
    ck_assert_str_eq(contents->programs[1].key, "jit_g(4)"); /* the stat goes before the key */
    ck_assert_str_eq(contents->hostnames[0], "t1v-n-abcdef-w-0");
    ck_assert(contents->has_tpu_plane && contents->has_host_plane && !contents->has_gpu_plane &&
              contents->has_hlo_stat);
    analysis_contents_free(contents);
    bytes_close(&bytes);
}
END_TEST

START_TEST(a_packed_trace_is_looked_through)
{
    struct bytes bytes;
    bytes_load(&bytes, "tests/fixtures/logdir/tpu/plugins/profile/small/host0.xplane.pb.gz");
    struct analysis_contents *contents = analysis_contents_read(&bytes.source, &err);
    ck_assert_ptr_nonnull(contents);
    ck_assert_uint_eq(contents->program_count, 12);
    struct analysis_totals *totals = analysis_totals_read(&bytes.source, &contents->programs[11], &err);
    ck_assert_ptr_nonnull(totals);
    ck_assert_str_eq(totals->spaces[0].name, "HBM");
    ck_assert_uint_eq(totals->spaces[0].total_bytes, 322122547200);
    analysis_totals_free(totals);
    analysis_contents_free(contents);
    bytes_close(&bytes);
}
END_TEST

/* A trace that was cut while it was written still gives what came before the cut. */
START_TEST(a_cut_trace_gives_what_came_before)
{
    struct bytes bytes;
    bytes_load(&bytes, "build/fixtures/xspace-two-programs.pb");
    size_t length = bytes.length, min = length, max = 0;
    for (size_t cut = 1; cut < length; cut++) {
        bytes.length = cut;
        bytes.source.size_bytes = cut;
        err = (struct err)ERR_INIT;
        struct analysis_contents *contents = analysis_contents_read(&bytes.source, &err);
        if (contents == NULL) {
            ck_assert(err_is_set(&err));
            continue;
        }
        ck_assert(contents->is_cut || contents->note_count == 0);
        if (contents->is_cut)
            ck_assert_uint_eq(contents->cut_offset_bytes, cut);
        if (contents->program_count < min)
            min = contents->program_count;
        if (contents->program_count > max)
            max = contents->program_count;
        analysis_contents_free(contents);
    }
    ck_assert_uint_eq(min, 0);
    ck_assert_uint_eq(max, 3);
    bytes_close(&bytes);
}
END_TEST

START_TEST(memory_limits_are_kept)
{
    struct bytes bytes;
    bytes_load(&bytes, example);
    struct analysis_contents *contents = analysis_contents_read(&bytes.source, &err);
    bool has_passed = false;
    for (uint64_t limit = 1024; limit < 1 << 22; limit += limit / 3) {
        err = (struct err)ERR_INIT;
        struct analysis_subject *module = subject_module(&bytes.source, &contents->programs[0], limit, &err);
        if (module == NULL) {
            ck_assert_int_eq(err.code, ERR_memory);
            ck_assert(!has_passed);
            continue;
        }
        has_passed = true;
        ck_assert_uint_le(analysis_subject_memory_bytes(module), limit + 4096);
        analysis_subject_free(module);
    }
    ck_assert(has_passed);
    analysis_contents_free(contents);
    bytes_close(&bytes);
}
END_TEST

START_TEST(views_are_listed)
{
    static const char *const tools[] = {"memory_viewer", "memory_profile",   "device_memory", "oom",
                                        "compare",       "compare_profiles", "modules",       "fleet"};
    enum { TOOL_COUNT = sizeof(tools) / sizeof(tools[0]) };
    size_t counts[TOOL_COUNT] = {0}, tool = 0, at = 0;
    for (struct analysis_view view; analysis_view_at(at, &view); at++) {
        while (tool < TOOL_COUNT && strcmp(view.tool, tools[tool]) != 0) /* in the order of the menu */
            tool++;
        ck_assert_uint_lt(tool, TOOL_COUNT);
        ck_assert(view.tool_title[0] && view.view[0] && view.param_names);
        counts[tool]++;
    }
    for (tool = 0; tool < TOOL_COUNT; tool++)
        ck_assert_uint_gt(counts[tool], 0);
}
END_TEST

START_TEST(a_view_refuses_a_subject_of_another_kind)
{
    struct bytes bytes;
    bytes_open(&bytes, "nothing of note\n", 16);
    struct analysis_subject *text = subject_text(&bytes.source, true, &err);
    ck_assert_ptr_nonnull(text);
    size_t at = 0;
    for (struct analysis_view view; analysis_view_at(at, &view); at++) {
        struct buf out = BUF_INIT;
        struct err refusal = ERR_INIT;
        bool is_answered = subject_answer(text, view.tool, view.view, NULL, 0, &out, &refusal);
        ck_assert_int_eq(is_answered, view.kind == ANALYSIS_TEXT);
        ck_assert_int_eq(refusal.code, is_answered ? ERR_none : ERR_argument);
        buf_free(&out);
    }
    analysis_subject_free(text);
    bytes_close(&bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("analysis");
    TCase *tests = tcase_create("analysis");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_loop_test(tests, kinds_are_told_by_content, 0, (int)(sizeof(kinds) / sizeof(kinds[0])));
    tcase_add_test(tests, other_files_are_not_mistaken);
    tcase_add_test(tests, a_trace_lists_its_programs);
    tcase_add_test(tests, a_packed_trace_is_looked_through);
    tcase_add_test(tests, a_cut_trace_gives_what_came_before);
    tcase_add_test(tests, memory_limits_are_kept);
    tcase_add_test(tests, views_are_listed);
    tcase_add_test(tests, a_view_refuses_a_subject_of_another_kind);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
