/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "bytes.h"

#include <float.h>
#include <math.h>

static struct buf out;
static struct json json;

static void begin(void)
{
    out = (struct buf)BUF_INIT;
    json = (struct json)JSON_INIT(&out);
}

static void ends_as(const char *expected)
{
    buf_char(&out, '\0');
    ck_assert_str_eq(out.data, expected);
    buf_free(&out);
}

START_TEST(integers_are_written_as_printf_does)
{
    static const int64_t numbers[] = {0, 1, 9, 10, -1, -10, 999999999, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct buf ours = BUF_INIT, theirs = BUF_INIT;
        buf_int(&ours, numbers[i]);
        buf_uint(&ours, (uint64_t)numbers[i]);
        buf_format(&theirs, "%lld%llu", (long long)numbers[i], (unsigned long long)numbers[i]);
        ck_assert(str_equal((struct str){ours.data, ours.length}, (struct str){theirs.data, theirs.length}));
        buf_free(&ours);
        buf_free(&theirs);
    }
}
END_TEST

START_TEST(order_of_calls_is_order_of_bytes)
{
    begin();
    json_object_begin(&json);
    json_key_int(&json, "a", -5);
    json_key(&json, "b");
    json_array_begin(&json);
    json_uint(&json, UINT64_MAX);
    json_bool(&json, true);
    json_null(&json);
    json_array_end(&json);
    json_key_id(&json, "c", INT64_MIN);
    json_key_known(&json, "d", -1);
    json_object_end(&json);
    ends_as("{\"a\":-5,\"b\":[18446744073709551615,true,null],\"c\":\"-9223372036854775808\"}");
}
END_TEST

/* At the beginning, in the middle, at the end, alone; a key of ours and one out of a file. */
static void write_nulls(void)
{
    json_object_begin(&json);
    json_key_null(&json, "a");
    json_key_int(&json, "b", 1);
    json_key_known(&json, "c", -1);
    json_key_text(&json, "d", NULL);
    if (json_key_object_if(&json, "e", true)) {
        json_key_double(&json, "f", (double)NAN);
        json_object_end(&json);
    }
    json_key_name(&json, STR("g\"\n"));
    json_null(&json);
    json_key_array(&json, "h");
    json_null(&json);
    json_text(&json, NULL);
    json_array_end(&json);
    json_key(&json, "i");
    json_written(&json, STR("null"));
    json_key_string_if_any(&json, "j", STR(""));
    json_object_end(&json);
}

START_TEST(members_that_are_null_are_left_out)
{
    begin();
    write_nulls();
    ends_as("{\"b\":1,\"e\":{},\"h\":[null,null],\"i\":null}");
    begin();
    json_null(&json);
    ends_as("null");
    begin();
    json.keeps_null = true;
    write_nulls();
    ends_as("{\"a\":null,\"b\":1,\"c\":null,\"d\":null,\"e\":{\"f\":null},\"g\\\"\\n\":null,\"h\":[null,null],"
            "\"i\":null,\"j\":null}");
}
END_TEST

/* A key without room leaves no part behind, and the failure stays. */
START_TEST(a_null_of_a_full_buffer_is_no_crash)
{
    for (size_t limit = 1; limit < 80; limit++) {
        begin();
        out.limit_bytes = limit;
        write_nulls();
        ck_assert_uint_le(out.length, limit);
        buf_free(&out);
    }
}
END_TEST

START_TEST(strings_hold_any_bytes)
{
    begin();
    json_string(&json, (struct str){"a\"\\\n\t\x01\0\x7f", 8});
    ends_as("\"a\\\"\\\\\\n\\t\\u0001\\u0000\\u007f\"");
    begin();
    json_string(&json, STR("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80")); /* é € and a face stay */
    ends_as("\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
    begin(); /* cut, overlong, surrogate, past the last code point, lone tail: one mark a byte */
    json_string(&json, STR("\xc3|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\x80"));
    ends_as("\"\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|"
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\"");
}
END_TEST

START_TEST(mebibytes_have_every_digit)
{
    static const int64_t sizes[] = {0,    1, 4, 1048575, 1048576, 17123266, 322122547200, INT64_C(0x1fffffffffffff),
                                    -1536};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        begin();
        json_mib(&json, sizes[i]);
        buf_char(&out, '\0');
        ck_assert_double_eq(strtod(out.data, NULL), (double)sizes[i] / 1048576.0);
        buf_free(&out);
    }
    begin();
    json_mib(&json, 1);
    ends_as("0.00000095367431640625");
    begin();
    json_mib(&json, 3 * 1048576);
    ends_as("3");
}
END_TEST

START_TEST(doubles_read_back_as_they_were)
{
    static const double values[] = {0.1, 1.0 / 3, DBL_MAX, DBL_MIN, 5e-324, -2.5, 1e22};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        begin();
        json_double(&json, values[i]);
        buf_char(&out, '\0');
        ck_assert_double_eq(strtod(out.data, NULL), values[i]);
        buf_free(&out);
    }
    begin();
    json_double(&json, 0.1);
    ends_as("0.1");
    begin();
    json_double(&json, (double)INFINITY);
    ends_as("null");
}
END_TEST

START_TEST(a_full_buffer_fails_once_and_for_all)
{
    begin();
    out.limit_bytes = 600;
    for (int i = 0; i < 1000; i++)
        json_text(&json, "0123456789");
    ck_assert(out.failed);
    ck_assert_uint_le(out.length, 600);
    buf_free(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json");
    TCase *tests = tcase_create("json");
    tcase_add_test(tests, integers_are_written_as_printf_does);
    tcase_add_test(tests, order_of_calls_is_order_of_bytes);
    tcase_add_test(tests, members_that_are_null_are_left_out);
    tcase_add_test(tests, a_null_of_a_full_buffer_is_no_crash);
    tcase_add_test(tests, strings_hold_any_bytes);
    tcase_add_test(tests, mebibytes_have_every_digit);
    tcase_add_test(tests, doubles_read_back_as_they_were);
    tcase_add_test(tests, a_full_buffer_fails_once_and_for_all);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
