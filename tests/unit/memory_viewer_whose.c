/* SPDX-License-Identifier: Apache-2.0
 * Whose memory it is: what the memory viewer's views say by category and by group adds up. */
#include "asked.h"

static void begin(void) { err = (struct err)ERR_INIT; }

/* The categories add up at every point of the curve, thinned or not; and those of the strips at their step. */
START_TEST(categories_add_up_to_the_curve)
{
    static const char *const widths[] = {"1", "7", "16384"};
    struct asked asked;
    asked_open(&asked, asked_modules[_i]);
    for (int i = 0; i < 3; i++) {
        struct analysis_param params[] = {{"stack", "category"}, {"width", widths[i]}};
        cJSON *root, *part, *strips_root, *data = ask_many(&asked, "curve", params, 2, &root);
        cJSON *bytes = cJSON_GetObjectItem(cJSON_GetObjectItem(data, "columns"), "bytes");
        cJSON *stack = cJSON_GetObjectItem(data, "stack");
        ck_assert(cJSON_IsArray(stack));
        for (int at = 0; at < cJSON_GetArraySize(bytes); at++) {
            double sum = 0;
            cJSON_ArrayForEach(part, stack)
            {
                double own = cJSON_GetArrayItem(cJSON_GetObjectItem(part, "bytes"), at)->valuedouble;
                ck_assert_double_ge(own, 0);
                sum += own;
            }
            ck_assert_double_eq(sum, cJSON_GetArrayItem(bytes, at)->valuedouble);
        }
        cJSON *strips = ask_many(&asked, "strips", NULL, 0, &strips_root);
        double sum = 0, count = 0;
        cJSON_ArrayForEach(part, cJSON_GetObjectItem(strips, "categories"))
        {
            sum += number(part, "bytes");
            count += number(part, "count");
            ck_assert_double_le(number(part, "guessed_bytes"), number(part, "bytes"));
        }
        ck_assert_double_eq(sum, number(strips, "bytes"));
        ck_assert_double_eq(count, number(strips, "buffer_count"));
        cJSON_Delete(strips_root);
        cJSON_Delete(root);
    }
    asked_close(&asked);
}
END_TEST

START_TEST(groups_add_up_to_the_step)
{
    static const char *const ways[] = {"shape", "dtype", "opcode", "category", "kind", "line", "scope", "whose"};
    struct asked asked;
    asked_open(&asked, asked_modules[_i]);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
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

/* By name, not by the number that is their key. */
START_TEST(groups_by_whose_memory_sort_by_their_labels)
{
    struct analysis_param params[] = {{"by", "whose"}, {"sort", "name"}};
    struct asked asked;
    cJSON *root, *group;
    const char *before = "";
    asked_open(&asked, ASKED_DUMP "h-long-context/module_0011.jit__lambda.cl_1014260217.after_optimizations.hlo.pb.gz");
    cJSON *groups = cJSON_GetObjectItem(ask_many(&asked, "groups", params, 2, &root), "groups");
    cJSON_ArrayForEach(group, groups) /* which looks at its list twice */
    {
        const char *label = cJSON_GetObjectItem(group, "label")->valuestring;
        ck_assert_msg(strcmp(before, label) <= 0, "%s before %s", before, label);
        before = label;
    }
    ck_assert_str_ne(before, "");
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(scopes_are_grouped_over_their_numbers)
{
    struct asked asked;
    struct analysis_param by = {"by", "scope"};
    cJSON *root;
    asked_open(&asked, ASKED_DUMP "h-long-context/module_0011.jit__lambda.cl_1014260217.after_optimizations.hlo.pb.gz");
    cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(ask_many(&asked, "groups", &by, 1, &root), "groups"), 0);
    const char *key = cJSON_GetObjectItem(first, "key")->valuestring;
    ck_assert_msg(strpbrk(key, "0123456789") == NULL, "%s", key);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_viewer_whose");
    TCase *tests = tcase_create("whose");
    const int modules = (int)(sizeof(asked_modules) / sizeof(asked_modules[0]));
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_loop_test(tests, categories_add_up_to_the_curve, 0, modules);
    tcase_add_loop_test(tests, groups_add_up_to_the_step, 0, modules);
    tcase_add_test(tests, groups_by_whose_memory_sort_by_their_labels);
    tcase_add_test(tests, scopes_are_grouped_over_their_numbers);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
