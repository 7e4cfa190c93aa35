/* SPDX-License-Identifier: Apache-2.0
 * The person's own rules: what they decide, and what is said of those that are none. */
#include "asked.h"

static void begin(void) { err = (struct err)ERR_INIT; }

static const struct {
    const char *lines;
    size_t offset;
    const char *said;
} faults[] = {
    {"x saved_activaton", 2, "line 1: there is no category \"saved_activaton\"; did you mean \"saved_activation\"?"},
    {"# mine\n\n  a.*b  cahce", 16, "line 3: there is no category \"cahce\"; did you mean \"cache\"?"},
    {"parameter", 0, "line 1: write an expression, a space and a category; \"parameter\" is one word"},
    {"ok parameter\nla(yer cache", 15, "line 2, character 3: the expression is broken: missing )"},
};

START_TEST(what_is_no_rule_is_refused_with_its_line_and_place)
{
    ck_assert(!analysis_category_rules_check(faults[_i].lines, &err));
    ck_assert_int_eq(err.code, ERR_argument);
    ck_assert_msg(strstr(err.text, faults[_i].said) != NULL, "%s", err.text);
    ck_assert_msg(err.offset_bytes == faults[_i].offset, "%s: %zu", err.text, (size_t)err.offset_bytes);
}
END_TEST

/* The first line that matches decides; the sums follow, and the buffer says which line it was. */
START_TEST(the_first_line_that_matches_decides)
{
    struct asked asked;
    cJSON *root, *part;
    asked_open(&asked, ASKED_DUMP "h-long-context/module_0011.jit__lambda.cl_1014260217.after_optimizations.hlo.pb.gz");
    struct analysis_param params[] = {
        {"category_rules",
         "# of the person\nattention/.*dot_general cache\nattention gradient\n^p\\[ optimizer-state\r\n"},
        {"by", "category"},
    };
    cJSON *data = ask_many(&asked, "groups", params, 2, &root);
    double sum = 0;
    cJSON_ArrayForEach(part, cJSON_GetObjectItem(data, "groups"))
    {
        sum += number(part, "bytes");
        const char *key = cJSON_GetObjectItem(part, "key")->valuestring;
        ck_assert_str_ne(key, "parameter");
        if (strcmp(key, "cache") == 0)
            ck_assert_double_eq(number(part, "largest_bytes"), 64.0 * 1073741824);
    }
    ck_assert_double_eq(sum, number(data, "total_bytes"));
    cJSON_Delete(root);
    struct analysis_param filter[] = {params[0], {"filter", "cat:cache"}, {"limit", "1"}};
    char id[24];
    cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItem(ask_many(&asked, "buffers", filter, 3, &root), "rows"), 0);
    ck_assert_str_eq(cJSON_GetObjectItem(row, "confidence")->valuestring, "exact");
    ck_assert_str_eq(cJSON_GetObjectItem(row, "rule")->valuestring, "category_rules");
    snprintf(id, sizeof(id), "%s", cJSON_GetObjectItem(row, "id")->valuestring);
    cJSON_Delete(root);
    struct analysis_param one[] = {params[0], {"id", id}};
    data = ask_many(&asked, "buffer", one, 2, &root);
    ck_assert_str_eq(cJSON_GetObjectItem(data, "rule_text")->valuestring,
                     "Line 2 of the category rules matches it: attention/.*dot_general.");
    cJSON_Delete(root);
    /* without them none is left */
    struct analysis_param bare[] = {{"filter", "rule:category_rules"}};
    data = ask_many(&asked, "buffers", bare, 1, &root);
    ck_assert_double_eq(number(data, "matched_count"), 0);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

/* An expression that costs much for each text ends with the work that a question may do. */
START_TEST(work_is_bounded)
{
    struct asked asked;
    struct buf out = BUF_INIT;
    char rules[8192] = "";
    for (int i = 0; i < 120; i++)
        strcat(rules, "(x?y?z?){60}(.*a.*b.*c){6}$ cache\n");
    asked_open(&asked, ASKED_DUMP "h-long-context/module_0011.jit__lambda.cl_1014260217.after_optimizations.hlo.pb.gz");
    struct analysis_param params[] = {{"category_rules", rules}};
    bool is_good = subject_answer(asked.module, "memory_viewer", "curve", params, 1, &out, &err);
    ck_assert(is_good || err.code == ERR_limit);
    buf_free(&out);
    asked_close(&asked);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("person_rules");
    TCase *tests = tcase_create("rules");
    tcase_add_checked_fixture(tests, begin, NULL);
    tcase_add_loop_test(tests, what_is_no_rule_is_refused_with_its_line_and_place, 0,
                        (int)(sizeof(faults) / sizeof(faults[0])));
    tcase_add_test(tests, the_first_line_that_matches_decides);
    tcase_add_test(tests, work_is_bounded);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
