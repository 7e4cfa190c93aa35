/* SPDX-License-Identifier: Apache-2.0
 * profile_odd.c: device profiles with numbers that cannot be. */
#include "bytes.h"
#include "profile_ask.h"
#include "subject.h"

#define BYTES(literal) literal, sizeof(literal) - 1

/* Impossible numbers: each loses only its own value, and is reported. */
static const struct {
    const char *bytes;
    size_t length;
} odd[] = {
    /* clang-format off */
    {BYTES("\x0a\x04\x08\x01\x10\x02\x12\x04\x0a\x00\x12\x00\x32\x00\x32\x01" "a\x32\x01" "b")},
    {BYTES("\x0a\x04\x08\x01\x10\x02\x12\x06\x0a\x01\x05\x12\x01\x03\x32\x00\x32\x01" "a\x32\x01" "b")},
    {BYTES("\x0a\x04\x08\x01\x10\x02\x22\x06\x08\x01\x22\x02\x08\x07\x32\x00\x32\x01" "a\x32\x01" "b")},
    {BYTES("\x0a\x04\x08\x01\x10\x02\x22\x02\x08\x01\x22\x02\x08\x01\x32\x00\x32\x01" "a\x32\x01" "b")},
    {BYTES("\x0a\x04\x08\x01\x10\x02\x22\x02\x18\x01\x32\x00\x32\x01" "a\x32\x01" "b")},
    {BYTES("\x0a\x04\x08\x01\x10\x09\x32\x00\x32\x01" "a")},
    {BYTES("\x0a\x04\x08\x01\x10\x02\x32\x01" "x\x32\x01" "a\x32\x01" "b")},
    /* clang-format on */
};

START_TEST(an_odd_number_costs_itself)
{
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct bytes bytes;
        struct err err = ERR_INIT;
        cJSON *tree;
        bytes_open(&bytes, odd[i].bytes, odd[i].length);
        struct analysis_subject *profile = subject_profile(&bytes.source, 0, &err);
        ck_assert_msg(profile != NULL, "%zu: %s", i, err.text);
        ck_assert_ptr_nonnull(profile_ask(profile, "summary", NULL, 0, &tree));
        char *text = cJSON_PrintUnformatted(tree);
        ck_assert_msg(strstr(text, "odd_numbers") != NULL, "%zu: %s", i, text);
        free(text);
        cJSON_Delete(tree);
        analysis_subject_free(profile);
        free(bytes.data);
    }
}
END_TEST

/* A sample of -1 things of the least number of bytes. */
START_TEST(no_number_of_a_sample_stops_the_reader)
{
    static const unsigned char file[] =
        "\x32\0\x32\5count\x32\5bytes\x0a\4\x08\1\x10\1\x0a\4\x08\2\x10\2\x12\x16\x12\x14"
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\x80\x80\x80\x80\x80\x80\x80\x80\x80\1";
    static const char *const views[] = {"summary", "buffers", "graph", "flame", "top", "traces", "tags"};
    struct bytes bytes;
    struct err err = ERR_INIT;
    bytes_open(&bytes, file, sizeof(file) - 1);
    struct analysis_subject *profile = subject_profile(&bytes.source, 0, &err);
    ck_assert_msg(profile != NULL, "%s", err.text);
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
        cJSON *tree;
        ck_assert_ptr_nonnull(profile_ask(profile, views[i], NULL, 0, &tree));
        cJSON_Delete(tree);
    }
    analysis_subject_free(profile);
    free(bytes.data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("profile_odd");
    TCase *tests = tcase_create("profile_odd");
    tcase_add_test(tests, an_odd_number_costs_itself);
    tcase_add_test(tests, no_number_of_a_sample_stops_the_reader);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
