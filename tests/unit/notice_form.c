/* SPDX-License-Identifier: Apache-2.0
 * Notices as Slack, Teams, Alertmanager and receivers of CloudEvents take them. */
#include "server/fleet/notify/notice_form.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAILURE_HEAD "{\"id\": \"0123\", \"kind\": \"failure\", \"logdir\": \"/a b\", \"file\": \"x.log\""
static const int64_t NOW_NS = INT64_C(1800000000) * 1000000000; /* 2027-01-15T08:00:00Z */

/* NULL, and `err`, where it is none. */
static cJSON *formed(const char *form_name, const char *notice, struct err *err)
{
    enum notice_form form;
    struct buf in = BUF_INIT, out = BUF_INIT;
    *err = (struct err)ERR_INIT;
    ck_assert(notice_form_read(form_name, &form));
    buf_text(&in, notice);
    cJSON *tree = NULL;
    if (notice_form_write(form, &in, NOW_NS, &out, err)) {
        tree = cJSON_ParseWithLength(out.data, out.length);
        ck_assert_msg(tree != NULL, "%.*s", (int)out.length, out.data);
    }
    buf_free(&in);
    buf_free(&out);
    return tree;
}

static const cJSON *at_path(const cJSON *tree, const char *path)
{
    char word[32];
    for (size_t length; *path; path += length + (path[length] == '/')) {
        length = strcspn(path, "/");
        snprintf(word, sizeof(word), "%.*s", (int)length, path);
        tree =
            cJSON_IsArray(tree) ? cJSON_GetArrayItem(tree, atoi(word)) : cJSON_GetObjectItemCaseSensitive(tree, word);
    }
    return tree;
}

static void check_text(const char *form, const char *notice, const char *path, const char *expected)
{
    struct err err;
    cJSON *tree = formed(form, notice, &err);
    ck_assert_msg(tree != NULL, "%s: %s", form, err.text);
    const char *found = cJSON_GetStringValue(at_path(tree, path));
    ck_assert_msg(found && strcmp(found, expected) == 0, "%s %s: %s", form, path, found ? found : "(none)");
    cJSON_Delete(tree);
}

START_TEST(each_form_says_what_the_notice_says)
{
    static const char failure[] = FAILURE_HEAD
        ", \"job\": \"bert\", \"commit\": \"c0\", \"modified_at\": \"2027-01-15T07:00:00.000000Z\", "
        "\"verdict\": {\"verdict\": \"Too large.\", \"cause\": {\"kind\": \"x\", \"text\": \"By 1 GiB.\"}, "
        "\"advice\": [{\"title\": \"Halve it\"}]}}";
    static const char second[] = FAILURE_HEAD
        ", \"verdict\": {\"verdict\": \"Too large.\", \"best\": 1, \"advice_sentence\": \"One was refuted.\", "
        "\"advice\": [{\"title\": \"Halve it\"}, {\"title\": \"Shard it\"}]}}";
    static const char bare[] = FAILURE_HEAD ", \"error\": \"It is gone.\"}";
    static const char gone[] =
        "{\"id\": \"4567\", \"kind\": \"regression_gone\", \"regression_id\": \"0123\", \"job\": "
        "\"bert\", \"commit\": \"c5\", \"gone_at\": \"2027-01-15T08:00:00.000000Z\", "
        "\"regression\": {\"sentence\": \"More.\", \"plans_sentence\": \"B needs more.\", \"first_at_ms\": "
        "1700000000000}}";
    static const struct {
        const char *form, *notice, *path, *expected;
    } all[] = {
        {"memviewd", failure, "verdict/cause/text", "By 1 GiB."},
        {"slack", failure, "blocks/0/text/text", "Out of memory: bert at c0"},
        {"slack", failure, "blocks/1/text/text", "Too large. By 1 GiB. Advice: Halve it."},
        {"slack", failure, "blocks/2/text/text", "x.log in /a b"},
        {"slack", failure, "text", "Out of memory: bert at c0\nToo large. By 1 GiB. Advice: Halve it."},
        {"slack", second, "blocks/1/text/text", "Too large. One was refuted. Advice: Shard it."},
        {"slack", bare, "blocks/0/text/text", "Out of memory: x.log"},
        {"slack", bare, "blocks/1/text/text", "It is gone."},
        {"teams", failure, "attachments/0/content/body/1/inlines/0/text", "Too large. By 1 GiB. Advice: Halve it."},
        {"alertmanager", failure, "0/labels/alertname", "OutOfMemory"},
        {"alertmanager", failure, "0/labels/cause", "x"},
        {"alertmanager", failure, "0/annotations/description", "Too large. By 1 GiB. Advice: Halve it."},
        {"alertmanager", failure, "0/startsAt", "2027-01-15T07:00:00.000000Z"},
        {"alertmanager", failure, "0/endsAt", "2027-01-16T08:00:00.000000Z"},
        {"alertmanager", bare, "0/startsAt", "2027-01-15T08:00:00.000000Z"},
        {"alertmanager", gone, "0/labels/id", "0123"},
        {"alertmanager", gone, "0/labels/alertname", "MemoryRegression"},
        {"alertmanager", gone, "0/startsAt", "2023-11-14T22:13:20.000000Z"},
        {"alertmanager", gone, "0/endsAt", "2027-01-15T08:00:00.000000Z"},
        {"slack", gone, "blocks/0/text/text", "Memory regression is gone: bert since c5"},
        {"slack", gone, "blocks/1/text/text", "More. B needs more."},
        {"cloudevents", failure, "source", "/a%20b"},
        {"cloudevents", failure, "time", "2027-01-15T07:00:00.000000Z"},
        {"cloudevents", failure, "data/verdict/cause/text", "By 1 GiB."},
        {"cloudevents", gone, "source", "/memviewd"},
        {"cloudevents", gone, "time", "2027-01-15T08:00:00.000000Z"},
        {"cloudevents", gone, "type", "memviewd.regression_gone"},
    };
    for (size_t at = 0; at < sizeof(all) / sizeof(all[0]); at++)
        check_text(all[at].form, all[at].notice, all[at].path, all[at].expected);
}
END_TEST

/* UTF-16 code units, as Slack counts. */
static size_t units_of(const char *text)
{
    size_t units = 0;
    for (; *text; text++)
        units += ((unsigned char)*text & 0xC0) == 0x80 ? 0 : (unsigned char)*text >= 0xF0 ? 2 : 1;
    return units;
}

START_TEST(long_texts_are_cut_between_letters)
{
    static const char *const letters[] = {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\\u0001"};
    for (size_t at = 0; at < sizeof(letters) / sizeof(letters[0]); at++) {
        struct buf notice = BUF_INIT;
        struct err err;
        buf_text(&notice, FAILURE_HEAD ", \"job\": \"");
        for (size_t count = 0; count < 5000; count++)
            buf_text(&notice, letters[at]);
        buf_text(&notice, "\", \"error\": \"");
        for (size_t count = 0; count < 5000; count++)
            buf_text(&notice, letters[at]);
        buf_text(&notice, "\"}");
        buf_char(&notice, '\0');
        cJSON *slack = formed("slack", notice.data, &err), *teams = formed("teams", notice.data, &err);
        const char *header = cJSON_GetStringValue(at_path(slack, "blocks/0/text/text"));
        const char *section = cJSON_GetStringValue(at_path(slack, "blocks/1/text/text"));
        ck_assert_uint_ge(units_of(header), NOTICE_FORM_SLACK_HEADER_MAX - 1);
        ck_assert_uint_le(units_of(header), NOTICE_FORM_SLACK_HEADER_MAX);
        ck_assert_uint_ge(units_of(section), NOTICE_FORM_SLACK_SECTION_MAX - 1);
        ck_assert_uint_le(units_of(section), NOTICE_FORM_SLACK_SECTION_MAX);
        ck_assert_str_eq(section + strlen(section) - 3, "\xE2\x80\xA6");
        char *printed = cJSON_PrintUnformatted(teams);
        ck_assert_uint_lt(strlen(printed), NOTICE_FORM_TEAMS_MAX);
        free(printed);
        cJSON_Delete(slack);
        cJSON_Delete(teams);
        buf_free(&notice);
    }
}
END_TEST

START_TEST(what_is_no_notice_takes_no_other_form)
{
    static const char *const all[] = {"",
                                      "{",
                                      "[]",
                                      "7",
                                      "{\"id\": \"x\"}",
                                      "{\"kind\": \"failure\"}",
                                      "{\"id\": 7, \"kind\": \"failure\"}",
                                      "{\"id\": \"x\", \"kind\": \"other\"}"};
    static const char *const odd = "{\"id\": \"x\", \"kind\": \"failure\", \"verdict\": [], \"job\": {}, \"file\": 7}";
    struct err err;
    enum notice_form form;
    for (size_t at = 0; at < sizeof(all) / sizeof(all[0]); at++) {
        ck_assert_ptr_null(formed("slack", all[at], &err));
        ck_assert_int_eq(err.code, ERR_argument);
    }
    check_text("slack", odd, "blocks/0/text/text", "Out of memory");
    check_text("cloudevents", odd, "id", "x");
    ck_assert(!notice_form_read("", &form));
    ck_assert(!notice_form_read("Slack", &form));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("notice_form");
    TCase *tests = tcase_create("notice_form");
    tcase_add_test(tests, each_form_says_what_the_notice_says);
    tcase_add_test(tests, long_texts_are_cut_between_letters);
    tcase_add_test(tests, what_is_no_notice_takes_no_other_form);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
