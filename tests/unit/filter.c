/* SPDX-License-Identifier: Apache-2.0 */
#include "views/table.h"

#include "arena.h"

static const struct {
    double size, share, born, dies;
    const char *name, *shape, *line;
} rows[] = {
    {64.0 * 1024 * 1024, 90, 0, 10, "fusion.1", "f32[8,2048]{1,0:T(8,128)}", "/src/model.py:41"},
    {100, 9.5, 5, 6, "copy.2", "bf16[16,2048,2048]", "/src/data file.py:7"},
    {-1, 0, 6, 100, "Fusion.3*", "(f32[8], s32[])", ""},
};

static struct table_value size_of(const void *context, uint32_t row)
{
    (void)context;
    return rows[row].size >= 0 ? table_real(rows[row].size) : table_unknown();
}
TABLE_VALUE(share_of, (void)context, table_real(rows[row].share))
TABLE_VALUE(born_of, (void)context, table_real(rows[row].born))
TABLE_VALUE(dies_of, (void)context, table_real(rows[row].dies))
TABLE_VALUE(name_of, (void)context, table_text(str_of(rows[row].name)))
TABLE_VALUE(shape_of, (void)context, table_text(str_of(rows[row].shape)))
TABLE_VALUE(line_of, (void)context, table_text(str_of(rows[row].line)))
TABLE_VALUE(word_of, (void)context, table_text(row == 0 ? STR("joined") : STR("other")))

static const char *const kinds[] = {"gradient", "gradient_accumulator", "saved_activation"};
TABLE_VALUE(kind_of, (void)context, table_text(str_of(kinds[row])))

static bool is_kind(struct str typed)
{
    return str_equal_any_case(typed, STR("gradient")) || str_equal_any_case(typed, STR("saved activation"));
}

static const struct table_column table[] = {
    {.name = "size", .aliases = "bytes", .type = TABLE_NUMBER, .is_main = true, .value = size_of},
    {.name = "size%", .type = TABLE_NUMBER, .value = share_of},
    {.name = "alive", .type = TABLE_SPAN, .value = born_of},
    {.name = "", .type = TABLE_NUMBER, .value = dies_of},
    {.name = "name",
     .aliases = "title  called",
     .type = TABLE_TEXT,
     .is_searched = true,
     .value = name_of,
     .word = word_of},
    {.name = "shape", .type = TABLE_SHAPE, .value = shape_of},
    {.name = "line", .type = TABLE_TEXT, .is_searched = true, .value = line_of},
    {.name = "kind", .type = TABLE_TEXT, .value = kind_of, .is_value = is_kind},
    {.name = NULL},
};

/* Which of the rows match, as bits; −1 when the filter is refused. */
static int matches(const char *text)
{
    struct filter filter;
    volatile int bits = 0; /* lives across setjmp */
    arena_begin();
    if (setjmp(arena.trap) != 0)
        return -1;
    if (filter_read(text, table, NULL, &arena, &filter, &err))
        for (uint32_t i = 0; i < 3; i++)
            bits = bits | filter_matches(&filter, i) << i;
    arena_end();
    return err_is_set(&err) ? -1 : bits;
}

static const struct {
    const char *text;
    int bits;
} cases[] = {
    /* clang-format off */
    {"", 7}, {"   ", 7}, {"fusion", 5}, {"FUSION.1", 1}, {"-fusion", 2}, {"name:fusion", 5}, {"name:copy,fusion.1", 3},
    {"name:fusion*", 5}, {"name:*.3*", 4}, {"name:f*1", 1}, {">=64MiB", 1}, {">64MiB", 0}, {">63.9M", 1}, {"<1k", 2},
    {"size:100", 2}, {"size:50..200", 2}, {"-size:100", 5}, {"size:<1KiB", 2}, {"size:=100", 2}, {"size:7,100,64M", 3},
    {"fusion >1k", 1}, {"\"fusion.1\"", 1}, {"name:\"no such\"", 0}, {"2048", 0}, {"\"\" >1k", 1}, {"size:1.5", 0},
    {"NAME:fusion", 5}, {"name:fusion,", 5},
    /* other names of a column, and what people call its values */
    {"title:fusion", 5}, {"Called:fusion", 5}, {"bytes:100", 2}, {"bytes:>10%", 1}, {"name:joined", 1},
    {"-title:joined", 6},
    {"joined", 1}, {"name:join*", 1}, {"name:joined,copy", 3},
    /* quotes make signs plain */
    {"name:\"3*\"", 4}, {"name:\"n*1\"", 0}, {"\"-fusion\"", 0}, {"line:\"data file\"", 2}, {"\"data file.py:7\"", 2},
    /* a word with a colon that names no field */
    {"model.py:41", 1}, {"-model.py:41", 6},
    /* shares */
    {"size:>10%", 1}, {"size:9%..10%", 2}, {">50%", 1}, {"-size:<1%", 3},
    /* what is alive when */
    {"alive:5", 3}, {"alive:6", 5}, {"alive:>9", 4}, {"alive:<5", 1}, {"alive:9..20", 5}, {"alive:99", 4},
    {"alive:100", 0},
    /* shapes */
    {"shape:[*,2048]", 1}, {"shape:[*,2048,2048]", 2}, {"shape:f32[8]", 4}, {"shape:[8]", 4}, {"shape:[]", 4},
    {"shape:s32[]", 4}, {"shape:[...,2048]", 3}, {"shape:[...]", 7}, {"shape:[8,...]", 5}, {"shape:*16[...,"
                                                                                            "2048,...]", 2},
    {"shape:[20*,20*]", 0}, {"shape:2048", 3}, {"shape:[8],[16,...]", 6}, {"-shape:[8,*]", 6}, {"shape:[...,"
                                                                                                "8,...,2048]", 1},
    /* a value means itself, whole; anything else is a part of one */
    {"kind:gradient", 1}, {"kind:Gradient", 1}, {"kind:gradien", 3}, {"kind:gradient*", 3}, {"-kind:gradient", 6},
    {"kind:\"saved activation\"", 4}, {"kind:\"saved activation\",gradient", 5}, {"kind:activation", 4},
    /* expressions */
    {"name:/^fusion\\.[0-9]$/", 1}, {"/fusion|copy/", 7}, {"name:/copy/,/3/", 6}, {"line:/data file/", 2},
    {"line:/src/model", 1},
    {"-/fusion/", 2}, {"line:/src\\/m/", 1}, {"line:/src/data", 2}, {"name:/a{2,3}|[^f]*\\*$/", 4}, {"shape:/^bf/", 2},
    /* clang-format on */
};

START_TEST(terms_mean_what_they_say)
{
    ck_assert_msg(matches(cases[_i].text) == cases[_i].bits, "%s: %d, not %d", cases[_i].text, matches(cases[_i].text),
                  cases[_i].bits);
}
END_TEST

static const struct {
    const char *text;
    int at;
    const char *said;
} faults[] = {
    {"sze:5", 0, "filter: unknown field \"sze\". Did you mean size?"},
    {"fusion -nam:x", 8, "filter: unknown field \"nam\". Did you mean name?"},
    {"names:x", 0, "filter: unknown field \"names\". Did you mean name?"},
    {"titel:x", 0, "filter: unknown field \"titel\". Did you mean title?"},
    {">1k size:big", 9, "filter: \"big\" is not a number, nor <N, >N or N..M"},
    {">many", 0, "filter: \">many\" is not a number, nor <N, >N or N..M"},
    {"size:1..x", 5, "filter: \"1..x\" is not a number, nor <N, >N or N..M"},
    {"size:1..5%", 5, "filter: \"1..5%\" is not a number, nor <N, >N or N..M"},
    {"size:5,nan", 7, "filter: \"nan\" is not a number, nor <N, >N or N..M"},
    {"size:0x10", 5, NULL},
    {"size:>inf", 5, NULL},
    {"size:1e5", 5, NULL},
    {"size:", 0, "filter: \"size:\" asks for nothing"},
    {"a -name:", 2, "filter: \"-name:\" asks for nothing"},
    {"size:1.2.3", 5, NULL},
    {"size:5mm", 5, NULL},
    {"size:..5", 5, NULL},
    {"alive:>5%", 6, "filter: \">5%\" asks for a share of something that has none"},
    {"shape:[8", 6, "filter: \"[8\" is no shape: write type[8,*] or [8,*]"},
    {"x name:/a(b/", 9, NULL},
    {"\"fu sion\" sze:1", 10, NULL},
};

START_TEST(faults_are_named_and_placed)
{
    ck_assert_int_eq(matches(faults[_i].text), -1);
    ck_assert_int_eq(err.code, ERR_argument);
    ck_assert_msg(err.offset_bytes == (uint64_t)faults[_i].at, "%s: at %d, not %d", faults[_i].text,
                  (int)err.offset_bytes, faults[_i].at);
    if (faults[_i].said != NULL)
        ck_assert_str_eq(err.text, faults[_i].said);
}
END_TEST

START_TEST(long_filters_are_refused)
{
    char long_text[5000];
    memset(long_text, 'a', sizeof(long_text));
    long_text[sizeof(long_text) - 1] = '\0';
    ck_assert_int_eq(matches(long_text), -1);
    for (size_t i = 1; i < 200; i += 2)
        long_text[i] = ' ';
    long_text[200] = '\0';
    ck_assert_int_eq(matches(long_text), -1); /* too many terms */
}
END_TEST

/* Whatever is asked of however many rows, the arena's work bounds it. */
START_TEST(work_is_charged)
{
    static const char *const patterns[] = {"name:/(a*)*(a*)*b/", "name:*a*a*a*a*a*b", "name:aaaaaaaaaaaaaaaab"};
    struct filter filter;
    for (volatile size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        err = (struct err)ERR_INIT;
        arena_init(&arena, 0, &err);
        arena_allot_work(&arena, 100);
        volatile bool is_stopped = false;
        if (setjmp(arena.trap) != 0) {
            is_stopped = true;
        } else {
            ck_assert(filter_read(patterns[i], table, NULL, &arena, &filter, &err));
            for (uint32_t at = 0; at < 100; at++)
                filter_matches(&filter, 0);
        }
        ck_assert_msg(is_stopped, "%s was not stopped", patterns[i]);
        ck_assert_int_eq(err.code, ERR_limit);
        arena_end();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filter");
    TCase *tests = tcase_create("filter");
    tcase_add_loop_test(tests, terms_mean_what_they_say, 0, (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_add_loop_test(tests, faults_are_named_and_placed, 0, (int)(sizeof(faults) / sizeof(faults[0])));
    tcase_add_test(tests, long_filters_are_refused);
    tcase_add_test(tests, work_is_charged);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
