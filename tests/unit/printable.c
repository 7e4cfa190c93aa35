/* SPDX-License-Identifier: Apache-2.0
 * printable.c: tests of base/printable, and of buf_printable on it. */
#include "base/printable.h"

#include "base/buf.h"
#include "bytes.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* What is shown of `text`, in a line and in lines. */
static void shows(struct str text, const char *line, const char *lines)
{
    struct buf out = BUF_INIT;
    buf_printable(&out, text);
    buf_char(&out, '\0');
    ck_assert_str_eq(out.data, line);
    out.length = 0;
    buf_printable_lines(&out, text);
    buf_char(&out, '\0');
    ck_assert_str_eq(out.data, lines);
    out.length = 0;
    buf_printable(&out, str_of(line));
    buf_char(&out, '\0');
    ck_assert_msg(strcmp(out.data, line) == 0, "escaped twice: %s", out.data);
    buf_free(&out);
}

START_TEST(what_can_be_read_stays)
{
    static const char *const texts[] = {"jit_step(5)",      "a\\b 'c' \"d\" ~", "größe",    "行列", "×…",
                                        "\xF0\x9F\x98\x80", "\xEF\xBF\xBD",     "\xC2\xA0", "",     "\xD8\x9D"};
    for (size_t at = 0; at < sizeof(texts) / sizeof(texts[0]); at++)
        shows(str_of(texts[at]), texts[at], texts[at]);
}
END_TEST

START_TEST(what_a_terminal_acts_upon_is_escaped)
{
    shows(STR("a\x1b[31mb"), "a\\u001b[31mb", "a\\u001b[31mb");
    shows(STR("\x1b]0;title\a\x7f"), "\\u001b]0;title\\u0007\\u007f", "\\u001b]0;title\\u0007\\u007f");
    shows(STR("\xC2\x9B"
              "31m\xC2\x80\xC2\x9F"),
          "\\u009b31m\\u0080\\u009f", "\\u009b31m\\u0080\\u009f");
    shows(STR("a\0b"), "a\\u0000b", "a\\u0000b");
}
END_TEST

START_TEST(marks_of_direction_are_escaped)
{
    static const uint32_t marks[] = {0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B,
                                     0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069};
    for (size_t at = 0; at < sizeof(marks) / sizeof(marks[0]); at++) {
        uint32_t mark = marks[at];
        char text[4] = {(char)(0xE0 | mark >> 12), (char)(0x80 | (mark >> 6 & 0x3F)), (char)(0x80 | (mark & 0x3F)), 0};
        char wanted[16];
        if (mark < 0x800) {
            text[0] = (char)(0xC0 | mark >> 6);
            text[1] = (char)(0x80 | (mark & 0x3F));
            text[2] = 0;
        }
        snprintf(wanted, sizeof(wanted), "\\u%04x", (unsigned)mark);
        shows(str_of(text), wanted, wanted);
    }
    shows(STR("\xE2\x80\x8D\xE2\x80\x8C"), "\xE2\x80\x8D\xE2\x80\x8C",
          "\xE2\x80\x8D\xE2\x80\x8C"); /* joiners are letters' */
}
END_TEST

START_TEST(bytes_that_are_no_utf8_are_escaped_one_by_one)
{
    shows(STR("a\xFF\xC3(\x9B"), "a\\xff\\xc3(\\x9b", "a\\xff\\xc3(\\x9b");
    shows(STR("\xC0\x9B\xED\xA0\x80"), "\\xc0\\x9b\\xed\\xa0\\x80", "\\xc0\\x9b\\xed\\xa0\\x80");
    shows(STR("\xE2\x80"), "\\xe2\\x80", "\\xe2\\x80");
}
END_TEST

START_TEST(ends_of_lines_and_tabs_stay_in_lines_alone)
{
    shows(STR("a\tb\nc\r\nd"), "a\\u0009b\\u000ac\\u000d\\u000ad", "a\tb\nc\r\nd");
    shows(STR("over\rwritten\r"), "over\\u000dwritten\\u000d", "over\\u000dwritten\\u000d");
}
END_TEST

START_TEST(a_cut_leaves_characters_whole)
{
    for (size_t max = 0; max <= 8; max++) {
        const struct str text = STR("a\xC3\xA9\xE8\xA1\x8C");
        size_t length = str_cut(text, max);
        ck_assert_uint_le(length, max);
        for (size_t at = 0; at < length;) {
            size_t one = str_utf8_length(text.data + at, length - at);
            ck_assert_uint_gt(one, 0);
            at += one;
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("printable");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, what_can_be_read_stays);
    tcase_add_test(tests, what_a_terminal_acts_upon_is_escaped);
    tcase_add_test(tests, marks_of_direction_are_escaped);
    tcase_add_test(tests, bytes_that_are_no_utf8_are_escaped_one_by_one);
    tcase_add_test(tests, ends_of_lines_and_tabs_stay_in_lines_alone);
    tcase_add_test(tests, a_cut_leaves_characters_whole);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
