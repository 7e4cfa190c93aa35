/* SPDX-License-Identifier: Apache-2.0
 * regex.c: tests of base/regex. What is expected is what RE2 answers. */
#include "base/regex.h"

#include "arena.h"

static const struct {
    const char *pattern, *text;
    bool matches;
} cases[] = {
    {"func1", "my_func1_x", true},
    {"", "", true},
    {"", "abc", true},
    {"^func$", "func", true},
    {"^func$", "func2", false},
    {"a.c", "abc", true},
    {"a.c", "a\nc", false},
    {"(?s)a.c", "a\nc", true},
    {"a.c",
     "a\xc3\xa9"
     "c",
     true},
    {"^.$", "\xe2\x82\xac", true},
    {"[^a]", "a", false},
    {"[^a]", "ab", true},
    {"[a-c]+x", "zzabcx", true},
    {"[]a]", "]", true},
    {"[a-]", "-", true},
    {"[\\d_]+$", "x12_", true},
    {"[[:alpha:]]{3}", "12ab3", false},
    {"[[:alpha:]]{3}", "12abc3", true},
    {"[[:^alpha:]]", "abc", false},
    {"\\d\\D", "1x", true},
    {"\\s", "a\tb", true},
    {"\\w+\\W", "abc", false},
    {"\\bjax\\b", "a/jax/b", true},
    {"\\bjax\\b", "ajax", false},
    {"\\Bax", "jax", true},
    {"(foo|bar)+baz", "foobarbaz", true},
    {"foo|bar|qux", "xquxx", true},
    {"foo|bar|qux", "quux", false},
    {"^(?:a|b|)$", "", true},
    {"^(?P<name>a)(?<other>b)$", "ab", true},
    {"a{2,3}$", "xa", false},
    {"^a{2,3}$", "aaaa", false},
    {"^a{2,3}?$", "aaa", true},
    {"^a{2,}$", "aaaaa", true},
    {"^a{2}$", "aa", true},
    {"a{,3}", "a{,3}", true},
    {"x{", "x{", true},
    {"^a*?b+?$", "aaab", true},
    {"(?i)FUNC", "aFuNc", true},
    {"(?i)[a-c]X", "Bx", true},
    {"(?i:F)unc", "fUNC", false},
    {"a(?i)b", "aB", true},
    {"(a(?i)b)c", "aBC", false},
    {"(?m)^b$", "a\nb\nc", true},
    {"^b$", "a\nb\nc", false},
    {"\\Ab", "a\nb", false},
    {"c\\z", "abc", true},
    {"\\x41\\x{e9}", "A\xc3\xa9", true},
    {"\\Qa.b\\E+", "a.bb", true},
    {"\\Qa.b", "axb", false},
    {"^\\Qab\\E+$", "abab", false},
    {"^\\Qab\\E+$", "abbb", true},
    {"^a\\Q\\E{2}$", "aa", true},
    {"^x(?i)*$", "xxx", true},
    {"\\.py:\\d+", "train.py:88", true},
    {"<lambda>", "<lambda>", true},
    {"/jax/", "/opt/jax/x", true},
    {"a\\/b", "a/b", true},
    {"(a*)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
    {"(|a)*c", "aaac", true},
    {"^(a?){30}a{30}$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true},
    {"\xff", "a\xff", true},
    {"^\\101\\0$", "A", false},
    {"^\\101\\62$", "A2", true},
    {"^[[:a]+$", "[:a", true},
};

START_TEST(expressions_match_as_in_re2)
{
    ARENA_MUST_NOT_JUMP();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct regex_fault fault;
        struct regex *regex = regex_read(str_of(cases[i].pattern), false, &arena, &fault);
        ck_assert_msg(regex != NULL, "%s: %s", cases[i].pattern, regex == NULL ? fault.text : "");
        ck_assert_msg(regex_matches(regex, str_of(cases[i].text)) == cases[i].matches, "%s on %s", cases[i].pattern,
                      cases[i].text);
    }
}
END_TEST

static const struct {
    const char *pattern;
    size_t at;
} broken[] = {
    /* clang-format off */
    {"a(b", 1},      {"a)b", 1},  {"[a", 0},         {"*a", 0},     {"a|+", 2},          {"\\", 0},
    {"[b-a]", 1},    {"x\\y", 1}, {"(?=a)", 0},      {"(?P<n", 5},  {"a{1001}", 1},      {"a{3,2}", 1},
    {"ab\\xg", 2},   {"\\1", 0},  {"((a{900}){900})", 0},
    {"(((){1000}){1000}){1000}", 0},
    {"a[[:no:]]", 2},    {"\\8", 0},       {"a\\1", 1},       {"\\\xc3\xa9", 0},
    {"(?P<>a)", 4},      {"(?<a b>a)", 4},
    {"a(?-)", 1},        {"(?i-:a)", 0},  {"(?i-s-m)", 0},
    {"a**", 2},          {"a{2}{3}", 4}, {"\\Q\\E+", 4},  {"a|(?i)*", 6},
    /* clang-format on */
};

START_TEST(a_broken_expression_is_refused_at_its_fault)
{
    ARENA_MUST_NOT_JUMP();
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        struct regex_fault fault = {99, NULL};
        ck_assert_msg(regex_read(str_of(broken[i].pattern), false, &arena, &fault) == NULL, "%s", broken[i].pattern);
        ck_assert_msg(fault.at == broken[i].at, "%s: at %zu", broken[i].pattern, fault.at);
        ck_assert_ptr_nonnull(fault.text);
    }
}
END_TEST

START_TEST(groups_too_deep_are_refused)
{
    char deep[4001];
    struct regex_fault fault;
    ARENA_MUST_NOT_JUMP();
    memset(deep, '(', 2000);
    memset(deep + 2000, ')', 2000);
    deep[4000] = '\0';
    ck_assert(regex_read(str_of(deep), false, &arena, &fault) == NULL);
}
END_TEST

START_TEST(a_literal_is_found_as_it_stands)
{
    ARENA_MUST_NOT_JUMP();
    struct regex *regex = regex_literal(STR("a(b"), &arena);
    ck_assert(regex_matches(regex, STR("xa(by")));
    ck_assert(!regex_matches(regex, STR("ab")));
}
END_TEST

START_TEST(letters_of_either_case_on_demand)
{
    struct regex_fault fault;
    ARENA_MUST_NOT_JUMP();
    struct regex *regex = regex_read(STR("init_[a-f]"), true, &arena, &fault);
    ck_assert(regex_matches(regex, STR("INIT_C")));
    ck_assert(!regex_matches(regex, STR("INIT_X")));
}
END_TEST

START_TEST(matching_charges_its_work)
{
    struct regex_fault fault;
    static char xs[100000];
    static const struct str text = {xs, sizeof(xs)};
    ARENA_MUST_NOT_JUMP();
    struct regex *regex = regex_read(STR("(x+x+)+y"), false, &arena, &fault);
    memset(xs, 'x', sizeof(xs));
    arena_allot_work(&arena, 1000);
    if (setjmp(arena.trap) == 0) {
        regex_matches(regex, text);
        ck_abort_msg("no limit met");
    }
    ck_assert_int_eq(err.code, ERR_limit);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("regex");
    TCase *tests = tcase_create("regex");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, expressions_match_as_in_re2);
    tcase_add_test(tests, a_broken_expression_is_refused_at_its_fault);
    tcase_add_test(tests, groups_too_deep_are_refused);
    tcase_add_test(tests, a_literal_is_found_as_it_stands);
    tcase_add_test(tests, letters_of_either_case_on_demand);
    tcase_add_test(tests, matching_charges_its_work);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
