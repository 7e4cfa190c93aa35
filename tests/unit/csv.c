/* SPDX-License-Identifier: Apache-2.0
 * csv.c: tests of base/csv: cells in each of the four forms. */
#include "base/csv.h"

#include "bytes.h"

#include <check.h>

static struct str whole(const struct buf *out) { return (struct str){out->data, out->length}; }

/* One row: a text, a number, nothing, a text. */
static void row_write(struct csv *csv, struct str text)
{
    csv_text(csv, text);
    csv_int(csv, -7);
    csv_none(csv);
    csv_text(csv, STR("end"));
    csv_row_end(csv);
}

START_TEST(copy_escapes_what_postgresql_reads_as_more_than_itself)
{
    struct buf out = BUF_INIT;
    struct csv csv = CSV_INIT(&out);
    csv.is_copy = true;
    row_write(&csv, STR("a\\N\tb\nc\rd,\"e'\x01"));
    row_write(&csv, STR("\\."));
    ck_assert(str_equal(whole(&out), STR("a\\\\N\\tb\\nc\\rd,\"e'\x01\t-7\t\\N\tend\n\\\\.\t-7\t\\N\tend\n")));
    buf_free(&out);
}
END_TEST

START_TEST(copy_has_no_bytes_that_are_not_utf8_and_no_nul)
{
    struct buf out = BUF_INIT;
    struct csv csv = CSV_INIT(&out);
    csv.is_copy = true;
    csv_text(&csv, STR("\xC3\xA9\xFF\xC3|\0|\xED\xA0\x80\xF0\x9F\x98\x80"));
    csv_row_end(&csv);
    const struct str wanted = STR("\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                                  "\xF0\x9F\x98\x80\n");
    ck_assert(str_equal(whole(&out), wanted));
    buf_free(&out);
}
END_TEST

START_TEST(commas_quote_texts_and_defuse_formulas)
{
    struct buf out = BUF_INIT;
    struct csv csv = CSV_INIT(&out);
    row_write(&csv, STR("=1+\"2\""));
    ck_assert(str_equal(whole(&out), STR("\"'=1+\"\"2\"\"\",-7,,\"end\"\r\n")));
    buf_free(&out);
}
END_TEST

START_TEST(lines_of_json_have_the_heads_as_names)
{
    struct str items[] = {STR("a"), STR("b"), STR("c"), STR("d")};
    const struct csv_heads heads = {items, 4, 4};
    struct buf out = BUF_INIT;
    struct csv csv = CSV_INIT(&out);
    csv.heads = &heads;
    row_write(&csv, STR("x\t\xFF"));
    ck_assert(str_equal(whole(&out), STR("{\"a\":\"x\\t\xEF\xBF\xBD\",\"b\":-7,\"c\":null,\"d\":\"end\"}\n")));
    buf_free(&out);
}
END_TEST

START_TEST(cells_say_what_they_are)
{
    struct buf out = BUF_INIT;
    struct csv csv = CSV_INIT(&out);
    csv.is_cells = true;
    csv_head_typed(&csv, "n", CSV_TYPE_INTEGER, true);
    csv_head(&csv, "t");
    csv_row_end(&csv);
    csv_text(&csv, STR("\xFF\0\""));
    csv_int(&csv, -2);
    csv_none(&csv);
    csv_row_end(&csv);
    ck_assert(str_equal(whole(&out), STR("\3\1\1\1\0\0\0n\3\0\0\1\0\0\0t"
                                         "\2\5\0\0\0\xEF\xBF\xBD\0\"\1\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0")));
    buf_free(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("csv");
    TCase *tests = tcase_create("csv");
    tcase_add_test(tests, copy_escapes_what_postgresql_reads_as_more_than_itself);
    tcase_add_test(tests, copy_has_no_bytes_that_are_not_utf8_and_no_nul);
    tcase_add_test(tests, commas_quote_texts_and_defuse_formulas);
    tcase_add_test(tests, lines_of_json_have_the_heads_as_names);
    tcase_add_test(tests, cells_say_what_they_are);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
