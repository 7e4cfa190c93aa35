/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/filter.h"

#include "bytes.h"

enum { SIZE, NAME, SHAPE, FIELDS };
static const struct filter_field fields[] = {
    [SIZE] = {"size", FILTER_NUMBER, false},
    [NAME] = {"name", FILTER_TEXT, true},
    [SHAPE] = {"shape", FILTER_TEXT, false},
    [FIELDS] = {NULL, FILTER_TEXT, false},
};

static const struct {
    double size;
    const char *name, *shape;
} rows[] = {
    {64.0 * 1024 * 1024, "fusion.1", "f32[8,2048]"},
    {100, "copy.2", "bf16[16,2048,2048]"},
    {-1, "Fusion.3", "f32[8]"},
};

static struct str text_of(const void *context, uint32_t row, size_t at)
{
    (void)context;
    return str_of(at == NAME ? rows[row].name : rows[row].shape);
}

static bool number_of(const void *context, uint32_t row, size_t at, double *value)
{
    (void)context;
    (void)at;
    *value = rows[row].size;
    return rows[row].size >= 0;
}

static const struct filter_table table = {fields, text_of, number_of, NULL};
static struct arena arena;
static struct err err;

/* Which of the rows match, as bits; −1 when the filter is refused. */
static int matches(const char *text)
{
    struct filter filter;
    volatile int bits = 0; /* lives across setjmp */
    err = (struct err)ERR_INIT;
    arena_init(&arena, 0, &err);
    if (setjmp(arena.trap) != 0)
        return -1;
    if (filter_read(text, &table, &arena, &filter, &err))
        for (uint32_t i = 0; i < 3; i++)
            bits = bits | filter_matches(&filter, i) << i;
    arena_free(&arena);
    return err_is_set(&err) ? -1 : bits;
}

static const struct {
    const char *text;
    int bits;
} cases[] = {
    {"", 7}, {"   ", 7}, {"fusion", 5}, {"FUSION.1", 1}, {"-fusion", 2}, {"name:fusion", 5}, {"name:copy,fusion.1", 3},
    {"name:fusion*", 5}, {"name:*.3", 4}, {"name:f*1", 1}, {">=64MiB", 1}, {">64MiB", 0}, {">63.9M", 1}, {"<1k", 2},
    {"size:100", 2}, {"size:50..200", 2}, {"-size:100", 5}, {"size:<1KiB", 2}, {"shape:[*,2048]", 0}, {"shape:*[*,2048]", 3},
    {"shape:[8]", 4}, {"fusion >1k", 1}, {"\"fusion.1\"", 1}, {"name:\"no such\"", 0}, {"2048", 0}, {"\"\" >1k", 1}, {"size:1.5", 0},
};

START_TEST(terms_mean_what_they_say)
{
    ck_assert_msg(matches(cases[_i].text) == cases[_i].bits, "%s: %d, not %d", cases[_i].text, matches(cases[_i].text), cases[_i].bits);
}
END_TEST

START_TEST(faults_are_named)
{
    ck_assert_int_eq(matches("sze:5"), -1);
    ck_assert_str_eq(err.text, "filter: unknown field \"sze\". Did you mean size?");
    ck_assert_int_eq(matches("size:big"), -1);
    ck_assert_int_eq(matches(">many"), -1);
    ck_assert_int_eq(matches("size:1..x"), -1);
    ck_assert_int_eq(matches(">10%"), -1);
    ck_assert_int_eq(matches("size:nan"), -1);
    ck_assert_int_eq(matches("size:0x10"), -1);
    ck_assert_int_eq(matches("size:>inf"), -1);
    ck_assert_int_eq(err.code, ERR_argument);
    char long_text[5000];
    memset(long_text, 'a', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    ck_assert_int_eq(matches(long_text), -1);
    for (size_t i = 1; i < 200; i += 2)
        long_text[i] = ' ';
    long_text[200] = '\0';
    ck_assert_int_eq(matches(long_text), -1); /* too many terms */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filter");
    TCase *tests = tcase_create("filter");
    tcase_add_loop_test(tests, terms_mean_what_they_say, 0, (int)(sizeof cases / sizeof cases[0]));
    tcase_add_test(tests, faults_are_named);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
