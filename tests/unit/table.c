/* SPDX-License-Identifier: Apache-2.0 */
#include "views/table.h"

#include "arena.h"

#include <check.h>
#include <stdlib.h>

enum { ROWS = 5000 };
static const char *const names[] = {"copy.1", "copy.10", "copy", "fusion.2", "", "copy.1"};
static struct buf scratch;

static int64_t number_of(uint32_t row) { return (int64_t)(row * 7919U % 101) - 50; }

static struct str scratch_text(uint32_t row)
{
    scratch.length = 0;
    buf_format(&scratch, "scratch.%u", row % 13);
    return (struct str){scratch.data, scratch.length};
}

TABLE_VALUE(size, (void)context, table_integer_if(row % 10 != 9, number_of(row)))
TABLE_VALUE(name, (void)context, table_text(str_of(names[row % 6])))
TABLE_VALUE(made, (void)context, table_text(scratch_text(row)))
TABLE_VALUE(rank, (void)context, table_real(-(double)number_of(row)))

/* clang-format off */
static const struct table_column columns[] = {
    {.name = "size", .aliases = "bytes", .type = TABLE_NUMBER, .is_main = true, .value = size, .json = "size_bytes",
     .csv = "size_bytes", .title = "Size", .unit = "bytes", .help = "what it takes"},
    {.name = "name", .type = TABLE_TEXT, .is_searched = true, .value = name, .json = "name", .csv = "name"},
    {.name = "made", .type = TABLE_TEXT, .value = made, .csv = "made"},
    {.name = "turned", .type = TABLE_TEXT, .value = name, .order = rank},
    {.name = "alive", .type = TABLE_SPAN, .value = size},
    {.name = "", .type = TABLE_NUMBER, .value = size},
    {.name = NULL},
};
/* clang-format on */
static const struct table_spec spec = {.columns = columns, .sort = "-size"};

static struct tool_request request;

static bool asked(struct table_rows *rows, const struct tool_param *params, size_t count)
{
    request = (struct tool_request){.params = params, .param_count = count, .arena = &arena, .scratch = &scratch};
    return table_read(rows, &request, &spec, NULL, &err);
}

/* What an order means, one row against another. */
static const char *sort_text;

static int plainly(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    for (const char *at = sort_text; *at != '\0'; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        bool is_down = *at == '-';
        const char *key = at + is_down;
        char texts[2][32];
        int order = 0;
        if (key[0] == 's') {
            int64_t x = a % 10 == 9 ? INT64_MIN : number_of(a), y = b % 10 == 9 ? INT64_MIN : number_of(b);
            order = (x > y) - (x < y);
        } else if (key[0] == 't') {
            order = (number_of(b) > number_of(a)) - (number_of(b) < number_of(a));
        } else if (key[0] == 'n') {
            order = strcmp(names[a % 6], names[b % 6]);
        } else {
            for (int i = 0; i < 2; i++) {
                struct str text = scratch_text(i == 0 ? a : b);
                snprintf(texts[i], sizeof(texts[i]), "%.*s", (int)text.length, text.data);
            }
            order = strcmp(texts[0], texts[1]);
        }
        if (order != 0)
            return is_down ? -order : order;
    }
    return (a > b) - (a < b);
}

static const char *const sorts[] = {
    "size",        "-size",           "name",   "-name,size",   "made",
    "-made,-size", "size,made,-name", "turned", "-turned,name", "made,name,-size,turned"};
static const struct {
    const char *offset, *limit;
} pages[] = {{"0", "1"}, {"0", "100"}, {"990", "1000"}, {"4990", "100"}, {"5000", "10"}, {"9999", "10"}, {"0", "0"}};

/* Whatever is kept on the way, the page is that of all rows in order. */
START_TEST(a_page_is_that_of_the_whole_order)
{
    static uint32_t all[ROWS];
    struct table_rows rows;
    sort_text = sorts[_i];
    for (uint32_t i = 0; i < ROWS; i++)
        all[i] = i;
    arena_begin();
    ck_assert_int_eq(setjmp(arena.trap), 0);
    qsort(all, ROWS, sizeof(*all), plainly);
    for (size_t p = 0; p < sizeof(pages) / sizeof(pages[0]); p++) {
        const struct tool_param params[] = {
            {"sort", sorts[_i]}, {"offset", pages[p].offset}, {"limit", pages[p].limit}};
        uint32_t offset = (uint32_t)atoi(pages[p].offset), limit = (uint32_t)atoi(pages[p].limit);
        ck_assert(asked(&rows, params, 3));
        table_take_all(&rows, ROWS);
        ck_assert_uint_eq(rows.matched, ROWS);
        ck_assert_uint_eq(rows.end - rows.first, offset >= ROWS ? 0 : limit < ROWS - offset ? limit : ROWS - offset);
        for (uint32_t at = rows.first; at < rows.end; at++)
            ck_assert_msg(table_row_at(&rows, at) == all[at], "%s: %u is %u, not %u", sort_text, at,
                          table_row_at(&rows, at), all[at]);
    }
    arena_end();
}
END_TEST

static const struct {
    const char *name, *value, *said;
} refused[] = {
    {"sort", "siez", "sort: no column \"siez\"; did you mean \"size\"? Known: size, name, made, turned"},
    {"sort", "-size,alive", "sort: no column \"alive\"; did you mean \""},
    {"sort", "size,,name", "sort: no column \"\"; did you mean \""},
    {"sort", "size,name,made,turned,bytes", "sort: more than 4 columns"},
    {"format", "cvs", "format: no format \"cvs\"; did you mean \"csv\"? Known: json, csv"},
    {"filter", "mad:x", "filter: unknown field \"mad\". Did you mean made?"},
    {"limit", "1001", "limit: 1001 is not between 0 and 1000"},
};

START_TEST(an_unknown_name_is_refused_with_the_nearest)
{
    const struct tool_param param = {refused[_i].name, refused[_i].value};
    struct table_rows rows;
    arena_begin();
    ck_assert_int_eq(setjmp(arena.trap), 0);
    ck_assert(!asked(&rows, &param, 1));
    ck_assert_int_eq(err.code, ERR_argument);
    ck_assert_msg(strncmp(err.text, refused[_i].said, strlen(refused[_i].said)) == 0, "%s", err.text);
    arena_end();
}
END_TEST

START_TEST(rows_are_written_as_their_columns_say)
{
    const struct tool_param params[] = {
        {"format", "csv"}, {"sort", "BYTES"}, {"filter", "size:>=49 name:copy"}, {"limit", "2"}};
    struct buf out = BUF_INIT;
    struct table_rows rows;
    arena_begin();
    ck_assert_int_eq(setjmp(arena.trap), 0);
    ck_assert(asked(&rows, params, 4));
    request.out = &out;
    table_take_all(&rows, 400);
    table_lines_write(&rows, "name size");
    buf_char(&out, '\0');
    ck_assert_str_eq(out.data, "name,size_bytes\r\n\"copy\",49\r\n\"copy.10\",49\r\n");
    out.length = 0;
    struct json json = JSON_INIT(&out);
    json_object_begin(&json);
    table_row_write(columns, NULL, 9, &json);
    table_columns_write(columns, "columns", &json);
    json_object_end(&json);
    buf_char(&out, '\0');
    ck_assert_str_eq(out.data, "{\"name\":\"fusion.2\",\"columns\":[{\"name\":\"size\",\"aliases\":[\"bytes\"],"
                               "\"title\":\"Size\","
                               "\"type\":\"number\",\"unit\":\"bytes\",\"field\":\"size_bytes\",\"csv\":\"size_bytes\","
                               "\"help\":\"what it takes\"}]}");
    buf_free(&out);
    arena_end();
}
END_TEST

/* Row 9 has no size. The cells before the rows are the same in both formats. */
START_TEST(rows_are_objects_of_one_line_too)
{
    static const struct csv_cell lead[] = {{.head = "module", .kind = CSV_TEXT, .text = "=a\"\n"},
                                           {.head = "space", .kind = CSV_INTEGER, .integer = -1},
                                           {.head = "at", .kind = CSV_NONE}};
    static const char *const expected[] = {
        "{\"module\":\"=a\\\"\\n\",\"space\":-1,\"at\":null,\"name\":\"fusion.2\",\"size_bytes\":null}\n",
        "module,space,at,name,size_bytes\r\n\"'=a\"\"\n\",-1,,\"fusion.2\",\r\n",
        "\"'=a\"\"\n\",-1,,\"fusion.2\",\r\n",
    };
    const struct tool_param params[] = {{"format", _i == 0 ? "ndjson" : "csv"}};
    struct buf out = BUF_INIT;
    struct table_rows rows;
    arena_begin();
    ck_assert_int_eq(setjmp(arena.trap), 0);
    ck_assert(asked(&rows, params, 1));
    request.out = &out;
    request.lead = lead;
    request.lead_count = 3;
    request.is_headless = _i == 2;
    table_begin(&rows, 1);
    table_take(&rows, 9);
    table_sort(&rows);
    table_lines_write(&rows, "name size");
    buf_char(&out, '\0');
    ck_assert_str_eq(out.data, expected[_i]);
    buf_free(&out);
    arena_end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("table");
    TCase *tests = tcase_create("table");
    tcase_add_loop_test(tests, a_page_is_that_of_the_whole_order, 0, (int)(sizeof(sorts) / sizeof(sorts[0])));
    tcase_add_loop_test(tests, an_unknown_name_is_refused_with_the_nearest, 0,
                        (int)(sizeof(refused) / sizeof(refused[0])));
    tcase_add_test(tests, rows_are_written_as_their_columns_say);
    tcase_add_loop_test(tests, rows_are_objects_of_one_line_too, 0, 3);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
