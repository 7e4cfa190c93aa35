/* SPDX-License-Identifier: Apache-2.0
 * The facade over small real and made files: kinds, contents, totals, answers, errors. */
#include "analysis/analysis.h"

#include "bytes.h"

#include <cjson/cJSON.h>

#define DUMP "tests/fixtures/dumps/"
static const char example[] = DUMP "seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb";
static struct err err;

static void begin(void)
{
    err = (struct err)ERR_INIT;
}

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
    ck_assert_int_eq(kind_of_text(STR("\x7f" "ELF\x02\x01\x01\0\0\0")), ANALYSIS_KIND_UNKNOWN);
    ck_assert_int_eq(kind_of_text(STR("\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x05" "bytes")), ANALYSIS_KIND_PPROF);
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
    ck_assert(contents->has_tpu_plane && contents->has_host_plane && !contents->has_gpu_plane && contents->has_hlo_stat);
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
    size_t length = bytes.length, least = length, most = 0;
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
        if (contents->program_count < least)
            least = contents->program_count;
        if (contents->program_count > most)
            most = contents->program_count;
        analysis_contents_free(contents);
    }
    ck_assert_uint_eq(least, 0);
    ck_assert_uint_eq(most, 3);
    bytes_close(&bytes);
}
END_TEST

/* ---- answers ---- */

struct asked {
    struct bytes bytes;
    struct analysis_contents *contents;
    struct analysis_module *module;
};

static void asked_open(struct asked *asked, const char *path)
{
    bytes_load(&asked->bytes, path);
    asked->contents = analysis_contents_read(&asked->bytes.source, &err);
    ck_assert_msg(asked->contents != NULL, "%s: %s", path, err.text);
    asked->module = analysis_module_read(&asked->bytes.source, &asked->contents->programs[0], 0, &err);
    ck_assert_msg(asked->module != NULL, "%s: %s", path, err.text);
}

static void asked_close(struct asked *asked)
{
    analysis_module_free(asked->module);
    analysis_contents_free(asked->contents);
    bytes_close(&asked->bytes);
}

/* The answer's `data` (to be freed with its `root`), or NULL with err set. */
static cJSON *ask(struct asked *asked, const char *view, const char *name, const char *value, cJSON **root)
{
    struct buf out = BUF_INIT;
    struct analysis_param param = {name, value};
    err = (struct err)ERR_INIT;
    bool is_good = analysis_answer(asked->module, "memory_viewer", view, &param, name != NULL, &out, &err);
    *root = is_good ? cJSON_ParseWithLength(out.data, out.length) : NULL;
    ck_assert(!is_good || *root != NULL);
    buf_free(&out);
    return cJSON_GetObjectItem(*root, "data");
}

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    ck_assert_msg(cJSON_IsNumber(item), "%s is no number", name);
    return item->valuedouble;
}

START_TEST(the_example_peaks_at_300_gib)
{
    struct asked asked;
    cJSON *root;
    asked_open(&asked, example);
    cJSON *space = cJSON_GetArrayItem(cJSON_GetObjectItem(ask(&asked, "summary", NULL, NULL, &root), "spaces"), 0);
    ck_assert_str_eq(cJSON_GetObjectItem(space, "name")->valuestring, "HBM");
    ck_assert_double_eq(number(space, "peak_bytes"), 300.0 * 1073741824);
    ck_assert_double_eq(number(space, "total_bytes"), 300.0 * 1073741824);
    cJSON_Delete(root);
    cJSON *rows = cJSON_GetObjectItem(ask(&asked, "buffers", "step", "peak", &root), "rows");
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(rows, 0), "name")->valuestring, "fusion.31");
    ck_assert_double_eq(number(cJSON_GetArrayItem(rows, 0), "bytes"), 200.0 * 1073741824);
    ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(rows, 1), "name")->valuestring, "xor_convert_fusion");
    ck_assert_double_eq(number(cJSON_GetArrayItem(rows, 1), "bytes"), 100.0 * 1073741824);
    ck_assert_int_eq(cJSON_GetArraySize(rows), 2);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

static const char *const real_modules[] = {
    DUMP "seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb",
    DUMP "d-tile-padding/module_0179.jit_f.cl_1014260217.after_optimizations.hlo.pb",
    DUMP "h-long-context/module_0011.jit__lambda.cl_1014260217.after_optimizations.hlo.pb.gz",
    "tests/fixtures/modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz",
    "build/fixtures/hlo-share-with.pb",
    "build/fixtures/hlo-no-trace.pb",
    "build/fixtures/hlo-two-buffers.pb",
};

/* At every step of every space the rows add up to the curve. */
START_TEST(rows_add_up_to_the_curve)
{
    struct asked asked;
    cJSON *root, *curve_root, *rows_root, *space;
    asked_open(&asked, real_modules[_i]);
    cJSON_ArrayForEach(space, cJSON_GetObjectItem(ask(&asked, "summary", NULL, NULL, &root), "spaces"))
    {
        char number_text[24], step_text[24];
        snprintf(number_text, sizeof number_text, "%.0f", number(space, "space"));
        struct analysis_param params[] = {{"space", number_text}, {"width", "16384"}};
        struct buf out = BUF_INIT;
        ck_assert(analysis_answer(asked.module, "memory_viewer", "curve", params, 2, &out, &err));
        curve_root = cJSON_ParseWithLength(out.data, out.length);
        buf_free(&out);
        cJSON *columns = cJSON_GetObjectItem(cJSON_GetObjectItem(curve_root, "data"), "columns");
        cJSON *step = cJSON_GetObjectItem(columns, "step")->child, *bytes = cJSON_GetObjectItem(columns, "bytes")->child;
        double highest = 0;
        for (; step != NULL; step = step->next, bytes = bytes->next) {
            snprintf(step_text, sizeof step_text, "%.0f", step->valuedouble);
            struct analysis_param at[] = {{"space", number_text}, {"step", step_text}, {"limit", "0"}};
            out = (struct buf)BUF_INIT;
            ck_assert(analysis_answer(asked.module, "memory_viewer", "buffers", at, 3, &out, &err));
            rows_root = cJSON_ParseWithLength(out.data, out.length);
            buf_free(&out);
            ck_assert_double_eq(number(cJSON_GetObjectItem(rows_root, "data"), "total_bytes"), bytes->valuedouble);
            cJSON_Delete(rows_root);
            if (bytes->valuedouble > highest)
                highest = bytes->valuedouble;
        }
        if (highest > 0)
            ck_assert_double_eq(highest, number(space, "peak_bytes"));
        cJSON_Delete(curve_root);
    }
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

/* The bars of a strip are the buffers of the step, merged or not. */
START_TEST(strips_hold_every_byte)
{
    struct asked asked;
    static const char *const widths[] = {"1", "3", "40", "900"};
    asked_open(&asked, real_modules[_i]);
    for (int i = 0; i < 4; i++) {
        cJSON *root, *order, *bar, *data = ask(&asked, "strips", "width", widths[i], &root);
        double padding[3] = {0, 0, 0};
        int at = 0;
        cJSON_ArrayForEach(order, cJSON_GetObjectItem(data, "orders"))
        {
            double bytes = 0, count = 0;
            cJSON_ArrayForEach(bar, order)
            {
                ck_assert_double_eq(number(bar, "first_rank"), count);
                bytes += number(bar, "bytes");
                count += number(bar, "count");
                padding[at] += number(bar, "padding_bytes");
                ck_assert(cJSON_IsNull(cJSON_GetObjectItem(bar, "id")) == (number(bar, "count") > 1));
            }
            if (strcmp(order->string, "padding") != 0) {
                ck_assert_double_eq(bytes, number(data, "bytes"));
                ck_assert_double_eq(count, number(data, "buffer_count"));
            }
            at++;
        }
        ck_assert_double_eq(padding[0], padding[1]);
        ck_assert_double_eq(padding[0], padding[2]);
        cJSON_Delete(root);
    }
    asked_close(&asked);
}
END_TEST

/* ask with up to four parameters; the caller deletes the root */
static cJSON *ask_many(struct asked *asked, const char *view, const struct analysis_param *params, size_t count, cJSON **root)
{
    struct buf out = BUF_INIT;
    ck_assert_msg(analysis_answer(asked->module, "memory_viewer", view, params, count, &out, &err), "%s: %s", view, err.text);
    *root = cJSON_ParseWithLength(out.data, out.length);
    buf_free(&out);
    return cJSON_GetObjectItem(*root, "data");
}

START_TEST(groups_add_up_to_the_step)
{
    static const char *const ways[] = {"shape", "dtype", "opcode", "category", "line", "scope"};
    struct asked asked;
    asked_open(&asked, real_modules[_i]);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct analysis_param params[] = {{"by", ways[i]}, {"limit", "1000"}};
        cJSON *root, *group, *data = ask_many(&asked, "groups", params, 2, &root);
        double bytes = 0, count = 0;
        cJSON_ArrayForEach(group, cJSON_GetObjectItem(data, "groups"))
        {
            bytes += number(group, "bytes");
            count += number(group, "count");
        }
        ck_assert_double_eq(bytes, number(data, "total_bytes"));
        ck_assert_double_eq(count, number(data, "matched_count"));
        cJSON_Delete(root);
    }
    asked_close(&asked);
}
END_TEST

START_TEST(scopes_are_grouped_over_their_numbers)
{
    struct asked asked;
    struct analysis_param by = {"by", "scope"};
    cJSON *root;
    asked_open(&asked, DUMP "h-long-context/module_0011.jit__lambda.cl_1014260217.after_optimizations.hlo.pb.gz");
    cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(ask_many(&asked, "groups", &by, 1, &root), "groups"), 0);
    const char *key = cJSON_GetObjectItem(first, "key")->valuestring;
    ck_assert_msg(strpbrk(key, "0123456789") == NULL, "%s", key);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

/* What was there, and what was born, less what died, is what is left: over any window. */
START_TEST(windows_balance)
{
    struct asked asked;
    cJSON *root;
    asked_open(&asked, real_modules[_i]);
    cJSON *summary = ask(&asked, "summary", NULL, NULL, &root);
    int steps = (int)number(cJSON_GetArrayItem(cJSON_GetObjectItem(summary, "spaces"), 0), "step_count");
    cJSON_Delete(root);
    for (int from = 0; from < steps; from += 1 + steps / 7)
        for (int to = from + 1; to <= steps; to += 1 + steps / 5) {
            char begin_text[16], end_text[16];
            snprintf(begin_text, sizeof begin_text, "%d", from);
            snprintf(end_text, sizeof end_text, "%d", to);
            struct analysis_param params[] = {{"from", begin_text}, {"to", end_text}};
            cJSON *data = ask_many(&asked, "window", params, 2, &root);
            ck_assert_double_eq(number(data, "bytes_before") + number(cJSON_GetObjectItem(data, "born"), "bytes") -
                                    number(cJSON_GetObjectItem(data, "died"), "bytes"),
                                number(data, "bytes_after"));
            cJSON_Delete(root);
        }
    asked_close(&asked);
}
END_TEST

START_TEST(maps_hold_every_buffer_at_any_width)
{
    static const char *const widths[] = {"1", "2", "16", "4000"};
    struct asked asked;
    asked_open(&asked, real_modules[_i]);
    for (int i = 0; i < 4; i++) {
        struct analysis_param width = {"width", widths[i]};
        cJSON *root, *rectangle, *data = ask_many(&asked, "map", &width, 1, &root);
        cJSON *rectangles = cJSON_GetObjectItem(data, "rectangles");
        double count = 0;
        ck_assert_int_le(cJSON_GetArraySize(rectangles), 2 * atoi(widths[i]));
        cJSON_ArrayForEach(rectangle, rectangles)
        {
            count += number(rectangle, "count");
            ck_assert_double_le(number(rectangle, "from"), number(rectangle, "to"));
            ck_assert_double_le(number(rectangle, "high_bytes"), number(data, "height_bytes"));
        }
        ck_assert_double_eq(count, number(data, "rectangle_count"));
        cJSON_Delete(root);
    }
    asked_close(&asked);
}
END_TEST

START_TEST(without_a_trace_the_schedule_answers)
{
    struct asked asked;
    cJSON *root;
    asked_open(&asked, "build/fixtures/hlo-no-trace.pb");
    cJSON *space = cJSON_GetArrayItem(cJSON_GetObjectItem(ask(&asked, "summary", NULL, NULL, &root), "spaces"), 0);
    ck_assert_str_eq(cJSON_GetObjectItem(space, "step_unit")->valuestring, "schedule");
    ck_assert_double_eq(number(space, "step_count"), 3);
    ck_assert_double_eq(number(space, "peak_bytes"), 3072); /* argument, result, and dot.1 from step 1 on */
    ck_assert_double_eq(number(space, "peak_step"), 1);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(scoped_vmem_comes_from_the_pool)
{
    struct asked asked;
    cJSON *root;
    struct buf out = BUF_INIT;
    struct analysis_param vmem = {"space", "1"};
    asked_open(&asked, "build/fixtures/hlo-payload-pool.pb");
    ck_assert(analysis_answer(asked.module, "memory_viewer", "xprof", &vmem, 1, &out, &err));
    root = cJSON_ParseWithLength(out.data, out.length);
    buf_free(&out);
    ck_assert_double_eq(number(root, "maxScopedVmemAllocationMib"), 2);
    ck_assert_str_eq(cJSON_GetObjectItem(root, "maxScopedVmemInstructionName")->valuestring, "b");
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(odd_files_have_notes_not_crashes)
{
    static const char *const views[] = {"summary", "curve", "strips", "buffers", "live_range", "xprof"};
    struct asked asked;
    cJSON *root;
    asked_open(&asked, "build/fixtures/hlo-odd.pb");
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        ask(&asked, views[i], NULL, NULL, &root);
        ck_assert(root != NULL || err_is_set(&err));
        cJSON_Delete(root);
    }
    ask(&asked, "summary", NULL, NULL, &root);
    ck_assert_int_ge(cJSON_GetArraySize(cJSON_GetObjectItem(root, "notes")), 4);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

static const struct {
    const char *view, *name, *value;
    enum err_code code;
} refused[] = {
    {"nothing", NULL, NULL, ERR_notfound},     {"curve", "space", "77", ERR_notfound},
    {"curve", "space", "x", ERR_argument},     {"curve", "width", "0", ERR_argument},
    {"curve", "width", "99999999", ERR_argument}, {"curve", "sze", "1", ERR_argument},
    {"curve", "from", "9", ERR_argument},      {"buffers", "step", "-1", ERR_argument},
    {"buffers", "step", "2", ERR_argument},    {"buffers", "sort", "color", ERR_argument},
    {"buffers", "filter", "sze:1", ERR_argument}, {"buffers", "limit", "1001", ERR_argument},
    {"buffers", "format", "xml", ERR_argument}, {"buffer", NULL, NULL, ERR_argument},
    {"buffer", "id", "1; drop", ERR_notfound}, {"buffer", "id", "999999", ERR_notfound},
    {"strips", "step", "99999999999999999999", ERR_argument},
};

START_TEST(broken_questions_are_refused_by_name)
{
    struct asked asked;
    cJSON *root;
    asked_open(&asked, example);
    ask(&asked, refused[_i].view, refused[_i].name, refused[_i].value, &root);
    ck_assert_ptr_null(root);
    ck_assert_msg(err.code == refused[_i].code, "%s %s=%s: %s", refused[_i].view, refused[_i].name, refused[_i].value, err.text);
    asked_close(&asked);
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
        struct analysis_module *module = analysis_module_read(&bytes.source, &contents->programs[0], limit, &err);
        if (module == NULL) {
            ck_assert_int_eq(err.code, ERR_limit);
            ck_assert(!has_passed);
            continue;
        }
        has_passed = true;
        ck_assert_uint_le(analysis_module_memory_bytes(module), limit + 4096);
        analysis_module_free(module);
    }
    ck_assert(has_passed);
    analysis_contents_free(contents);
    bytes_close(&bytes);
}
END_TEST

START_TEST(views_are_listed)
{
    struct analysis_view view;
    size_t count = 0;
    while (analysis_view_at(count, &view)) {
        ck_assert_str_eq(view.tool, "memory_viewer");
        count++;
    }
    ck_assert_uint_eq(count, 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("analysis");
    TCase *tests = tcase_create("analysis");
    const int modules = (int)(sizeof real_modules / sizeof real_modules[0]);
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_loop_test(tests, kinds_are_told_by_content, 0, (int)(sizeof kinds / sizeof kinds[0]));
    tcase_add_test(tests, other_files_are_not_mistaken);
    tcase_add_test(tests, a_trace_lists_its_programs);
    tcase_add_test(tests, a_packed_trace_is_looked_through);
    tcase_add_test(tests, a_cut_trace_gives_what_came_before);
    tcase_add_test(tests, the_example_peaks_at_300_gib);
    tcase_add_loop_test(tests, rows_add_up_to_the_curve, 0, modules);
    tcase_add_loop_test(tests, strips_hold_every_byte, 0, modules);
    tcase_add_loop_test(tests, groups_add_up_to_the_step, 0, modules);
    tcase_add_test(tests, scopes_are_grouped_over_their_numbers);
    tcase_add_loop_test(tests, windows_balance, 0, modules);
    tcase_add_loop_test(tests, maps_hold_every_buffer_at_any_width, 0, modules);
    tcase_add_test(tests, without_a_trace_the_schedule_answers);
    tcase_add_test(tests, scoped_vmem_comes_from_the_pool);
    tcase_add_test(tests, odd_files_have_notes_not_crashes);
    tcase_add_loop_test(tests, broken_questions_are_refused_by_name, 0, (int)(sizeof refused / sizeof refused[0]));
    tcase_add_test(tests, memory_limits_are_kept);
    tcase_add_test(tests, views_are_listed);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
