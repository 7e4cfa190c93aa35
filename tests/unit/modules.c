/* SPDX-License-Identifier: Apache-2.0
 * modules.c: tests of what is said of all modules of a session, through analysis.h. */
#include "analysis.h"

#include "bytes.h"

#include <cjson/cJSON.h>

static const char *const ONE_SPACE = "build/fixtures/hlo-two-buffers.pb";

static struct analysis_subject *read_ruled(const char *path, enum analysis_subject_kind kind, const char *rules)
{
    struct bytes bytes;
    struct err err = ERR_INIT;
    bytes_load(&bytes, path);
    const struct analysis_program program = {.name = "m", .key = "m", .size_bytes = bytes.length};
    const struct analysis_reading reading = {.kind = kind, .program = &program, .category_rules = rules};
    struct analysis_subject *subject = analysis_subject_read(&bytes.source, &reading, &err);
    ck_assert_msg(subject != NULL, "%s: %s", path, err.text);
    bytes_close(&bytes);
    return subject;
}

static struct analysis_subject *read_kind(const char *path, enum analysis_subject_kind kind)
{
    return read_ruled(path, kind, NULL);
}

/* `data` of a view; cJSON_Delete the whole at `tree`. */
static cJSON *ask(const struct analysis_module_use *uses, size_t count, const char *view, cJSON **tree)
{
    const struct analysis_question question = {
        .tool = "modules", .view = view, .modules = uses, .module_count = count, .modules_read = {.host_count = count}};
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    ck_assert_msg(analysis_answer(&question, &out, &err), "%s", err.text);
    *tree = cJSON_ParseWithLength(out.data, out.length);
    ck_assert_ptr_nonnull(*tree);
    buf_free(&out);
    return cJSON_GetObjectItem(*tree, "data");
}

static const char *text_in(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
}

static double number_in(const cJSON *object, const char *name)
{
    const cJSON *value = cJSON_GetObjectItem(object, name);
    ck_assert_msg(cJSON_IsNumber(value), "%s is no number", name);
    return value->valuedouble;
}

/* Lines that hold for the whole daemon say whose memory the peak is here too. */
START_TEST(the_persons_rules_come_first)
{
    static const struct {
        const char *rules, *category;
    } cases[] = {{".* cache", "cache"}, {"nothing_of_that_name cache", NULL}, {NULL, NULL}};
    char *plain = NULL;
    for (int i = 2; i >= 0; i--) {
        struct analysis_subject *figures = read_ruled(ONE_SPACE, ANALYSIS_FIGURES, cases[i].rules);
        const struct analysis_module_use use = {.id = "a", .name = "m", .key = "m", .file = "f", .figures = figures};
        cJSON *tree, *row = cJSON_GetArrayItem(cJSON_GetObjectItem(ask(&use, 1, "table", &tree), "rows"), 0);
        const cJSON *categories = cJSON_GetObjectItem(row, "categories");
        char *said = cJSON_PrintUnformatted(categories);
        if (cases[i].category != NULL) {
            ck_assert_str_eq(text_in(row, "category"), cases[i].category);
            ck_assert_int_eq(cJSON_GetArraySize(categories), 1);
            ck_assert_double_eq(number_in(cJSON_GetArrayItem(categories, 0), "bytes"), number_in(row, "peak_bytes"));
        } else if (plain != NULL) {
            ck_assert_str_eq(said, plain);
        }
        free(plain);
        plain = said;
        cJSON_Delete(tree);
        analysis_subject_free(figures);
    }
    free(plain);
}
END_TEST

START_TEST(figures_are_a_small_part_of_the_module_and_say_the_same)
{
    struct analysis_subject *module = read_kind(ONE_SPACE, ANALYSIS_MODULE);
    struct analysis_subject *figures = read_kind(ONE_SPACE, ANALYSIS_FIGURES);
    ck_assert_uint_lt(analysis_subject_memory_bytes(figures), 16 << 10);
    const struct analysis_module_use use = {.id = "a", .name = "m", .key = "m", .file = "f", .figures = figures};
    struct analysis_use whole = {.subject = module};
    const struct analysis_question question = {
        .tool = "memory_viewer", .view = "summary", .uses = &whole, .use_count = 1};
    static const char *const equal[] = {"total_bytes",     "peak_bytes",   "padding_bytes", "fragmentation_bytes",
                                        "temporary_bytes", "output_bytes", "constant_bytes"};
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    cJSON *tree, *row = cJSON_GetArrayItem(cJSON_GetObjectItem(ask(&use, 1, "table", &tree), "rows"), 0);
    ck_assert(analysis_answer(&question, &out, &err));
    cJSON *viewer = cJSON_ParseWithLength(out.data, out.length);
    cJSON *space = cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetObjectItem(viewer, "data"), "spaces"), 0);
    for (size_t i = 0; i < sizeof(equal) / sizeof(equal[0]); i++)
        ck_assert_double_eq(number_in(row, equal[i]), number_in(space, equal[i]));
    cJSON_Delete(tree);
    cJSON_Delete(viewer);
    buf_free(&out);
    analysis_subject_free(module);
    analysis_subject_free(figures);
}
END_TEST

START_TEST(what_is_missing_in_a_module_is_told)
{
    struct analysis_subject *bare = read_kind("build/fixtures/hlo-no-assignment.pb", ANALYSIS_FIGURES);
    const struct analysis_module_use uses[] = {
        {.id = "a", .name = "bare", .key = "bare", .file = "f", .figures = bare},
        {.id = "b", .name = "late", .key = "late", .file = "g"},
        {.id = "c", .name = "gone", .key = "gone", .file = "h", .code = ERR_io, .reason = "cannot be opened"},
    };
    static const char *const states[][2] = {{"bare", "no_assignment"}, {"gone", "failed"}, {"late", "not_read"}};
    cJSON *tree, *rows = cJSON_GetObjectItem(ask(uses, 3, "table", &tree), "rows");
    ck_assert_int_eq(cJSON_GetArraySize(rows), 3);
    for (int i = 0; i < 3; i++) {
        const cJSON *row = cJSON_GetArrayItem(rows, i);
        ck_assert_str_eq(text_in(row, "module"), states[i][0]);
        ck_assert_str_eq(text_in(row, "state"), states[i][1]);
        ck_assert(!cJSON_HasObjectItem(row, "total_bytes"));
        ck_assert_ptr_nonnull(text_in(row, "remark"));
    }
    cJSON_Delete(tree);
    ck_assert_str_eq(text_in(ask(uses, 3, "summary", &tree), "sentence"),
                     "3 modules on 3 hosts; none is read yet. 1 cannot be read; its row says why.");
    cJSON_Delete(tree);
    analysis_subject_free(bare);
}
END_TEST

START_TEST(of_two_hosts_that_differ_the_larger_is_told)
{
    struct analysis_subject *small = read_kind(ONE_SPACE, ANALYSIS_FIGURES);
    struct analysis_subject *other = read_kind("build/fixtures/hlo-layouts.pb", ANALYSIS_FIGURES);
    const struct analysis_module_use uses[] = {
        {.id = "a", .name = "m", .key = "m(1)", .host_id = "0", .host = "h0", .file = "f", .figures = small},
        {.id = "a", .name = "m", .key = "m(1)", .host_id = "1", .host = "h1", .file = "g", .figures = other},
    };
    cJSON *tree, *data = ask(uses, 2, "summary", &tree);
    ck_assert_int_eq((int)number_in(data, "module_count"), 1);
    ck_assert_int_eq((int)number_in(data, "outlier_count"), 1);
    const cJSON *host = cJSON_GetArrayItem(cJSON_GetObjectItem(data, "outliers"), 0);
    ck_assert_double_gt(number_in(host, "difference_bytes"), 0);
    ck_assert(strstr(text_in(data, "hosts_sentence"), "more than on most hosts.") != NULL);
    cJSON_Delete(tree);
    analysis_subject_free(small);
    analysis_subject_free(other);
}
END_TEST

/* Among three equal programs one is compiled elsewhere under another id, and one runs where there is less memory. */
START_TEST(why_a_host_is_odd_is_said)
{
    struct analysis_subject *small = read_kind(ONE_SPACE, ANALYSIS_FIGURES);
    struct analysis_subject *other = read_kind("build/fixtures/hlo-layouts.pb", ANALYSIS_FIGURES);
    struct analysis_module_use uses[4];
    static const char *const names[] = {"h0", "h1", "h2", "h3"};
    for (size_t i = 0; i < 4; i++)
        uses[i] = (struct analysis_module_use){.id = "a",
                                               .name = "m",
                                               .key = i == 1 ? "m(2)" : "m(1)",
                                               .host_id = names[i],
                                               .host = names[i],
                                               .file = "f",
                                               .figures = i == 1 ? other : small,
                                               .capacity = {.bytes = i == 3 ? 8 << 20 : 16 << 20}};
    cJSON *tree, *data = ask(uses, 4, "summary", &tree), *hosts = cJSON_GetObjectItem(data, "outliers");
    ck_assert_int_eq(cJSON_GetArraySize(hosts), 2);
    ck_assert_str_eq(text_in(cJSON_GetArrayItem(hosts, 0), "host_name"), "h1");
    ck_assert_str_eq(text_in(cJSON_GetArrayItem(hosts, 0), "reason"), "another program");
    ck_assert_str_eq(text_in(cJSON_GetArrayItem(hosts, 1), "sentence"), "h3 differs: another limit, 8.00 MiB.");
    ck_assert_double_eq(number_in(cJSON_GetArrayItem(hosts, 1), "limit_bytes"), 8 << 20);
    cJSON_Delete(tree);
    analysis_subject_free(small);
    analysis_subject_free(other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("modules");
    TCase *tests = tcase_create("modules");
    tcase_add_test(tests, the_persons_rules_come_first);
    tcase_add_test(tests, figures_are_a_small_part_of_the_module_and_say_the_same);
    tcase_add_test(tests, what_is_missing_in_a_module_is_told);
    tcase_add_test(tests, of_two_hosts_that_differ_the_larger_is_told);
    tcase_add_test(tests, why_a_host_is_odd_is_said);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
