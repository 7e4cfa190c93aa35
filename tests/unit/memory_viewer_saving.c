/* SPDX-License-Identifier: Apache-2.0
 * What buffers and groups would save, as the views of the memory viewer say it: views agree, and what saves most comes
 * first. The figures themselves are those of tests/unit/marginal.c. */
#include "asked.h"

static void begin(void) { err = (struct err)ERR_INIT; }

static const char *text(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    ck_assert_msg(cJSON_IsString(item), "%s is no text", name);
    return item->valuestring;
}

/* null, of a space without steps, is −1 */
static double step_of(const cJSON *object)
{
    const cJSON *item = cJSON_GetObjectItem(object, "next_peak_step");
    ck_assert(cJSON_IsNumber(item) || cJSON_IsNull(item));
    return cJSON_IsNumber(item) ? item->valuedouble : -1;
}

START_TEST(what_saves_most_comes_first)
{
    static const char *const views[] = {"buffers", "groups"}, *const members[] = {"rows", "groups"};
    struct asked asked;
    asked_open(&asked, asked_modules[_i]);
    for (int view = 0; view < 2; view++) {
        cJSON *root, *row, *data = ask(&asked, views[view], NULL, NULL, &root);
        double saves = 1e300, bytes = 1e300;
        cJSON_ArrayForEach(row, cJSON_GetObjectItem(data, members[view]))
        {
            bool is_equal = number(row, "saves_bytes") >= saves;
            ck_assert_double_le(number(row, "saves_bytes"), saves);
            ck_assert_double_le(number(row, "saves_bytes"), number(row, "bytes"));
            if (is_equal)
                ck_assert_double_le(number(row, "bytes"), bytes);
            saves = number(row, "saves_bytes");
            bytes = number(row, "bytes");
        }
        cJSON_Delete(root);
    }
    asked_close(&asked);
}
END_TEST

START_TEST(a_buffer_says_what_its_row_says)
{
    struct asked asked;
    cJSON *root, *own, *row;
    asked_open(&asked, asked_modules[_i]);
    cJSON *data = ask(&asked, "buffers", "limit", "8", &root);
    ck_assert(!cJSON_HasObjectItem(data, "saving"));
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(data, "rows"))
    {
        const cJSON *buffer = ask(&asked, "buffer", "id", text(row, "id"), &own);
        const cJSON *saving = cJSON_GetObjectItem(buffer, "saving");
        ck_assert_double_eq(number(saving, "bytes"), number(row, "saves_bytes"));
        ck_assert_double_eq(number(saving, "of_bytes"), number(row, "bytes"));
        ck_assert_double_eq(step_of(saving), step_of(row));
        ck_assert_ptr_nonnull(strstr(text(saving, "sentence"), text(row, "name")));
        ck_assert_str_eq(text(saving, "confidence"), "bound");
        cJSON_Delete(own);
    }
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(a_group_says_what_its_row_says)
{
    static const char *const ways[] = {"shape", "category", "line", "scope", "layer", "whose"};
    struct asked asked;
    asked_open(&asked, asked_modules[_i]);
    for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
        cJSON *root, *own, *group, *data = ask(&asked, "groups", "by", ways[way], &root);
        cJSON_ArrayForEach(group, cJSON_GetObjectItem(data, "groups"))
        {
            const struct analysis_param params[] = {{"by", ways[way]}, {"key", text(group, "key")}, {"step", "peak"}};
            cJSON *saving = cJSON_GetObjectItem(ask_many(&asked, "buffers", params, 3, &own), "saving");
            ck_assert_double_eq(number(saving, "bytes"), number(group, "saves_bytes"));
            ck_assert_double_eq(number(saving, "of_bytes"), number(group, "bytes"));
            ck_assert_double_eq(step_of(saving), step_of(group));
            cJSON_Delete(own);
        }
        cJSON_Delete(root);
    }
    asked_close(&asked);
}
END_TEST

/* Without anything there is no peak; a node saves no less than one below it. */
START_TEST(the_root_of_the_code_saves_all)
{
    struct asked asked;
    cJSON *root, *summary_root;
    asked_open(&asked, asked_modules[_i]);
    cJSON *space =
        cJSON_GetArrayItem(cJSON_GetObjectItem(ask(&asked, "summary", NULL, NULL, &summary_root), "spaces"), 0);
    cJSON *nodes = cJSON_GetObjectItem(ask(&asked, "tree", "open", "all", &root), "nodes");
    cJSON *saves = cJSON_GetObjectItem(nodes, "saves")->child, *depth = cJSON_GetObjectItem(nodes, "depth")->child;
    double above[256] = {0};
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(nodes, "saves")),
                     cJSON_GetArraySize(cJSON_GetObjectItem(nodes, "next_peak_step")));
    ck_assert_double_eq(saves->valuedouble, number(space, "peak_bytes"));
    for (; saves != NULL; saves = saves->next, depth = depth->next) {
        if (depth->valueint > 0)
            ck_assert_double_le(saves->valuedouble, above[depth->valueint - 1]);
        above[depth->valueint] = saves->valuedouble;
    }
    cJSON_Delete(root);
    cJSON_Delete(summary_root);
    asked_close(&asked);
}
END_TEST

int main(void)
{
    const int module_count = sizeof(asked_modules) / sizeof(asked_modules[0]);
    Suite *suite = suite_create("memory_viewer_saving");
    TCase *tests = tcase_create("memory_viewer_saving");
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_loop_test(tests, what_saves_most_comes_first, 0, module_count);
    tcase_add_loop_test(tests, a_buffer_says_what_its_row_says, 0, module_count);
    tcase_add_loop_test(tests, a_group_says_what_its_row_says, 0, module_count);
    tcase_add_loop_test(tests, the_root_of_the_code_saves_all, 0, module_count);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
