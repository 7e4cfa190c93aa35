/* SPDX-License-Identifier: Apache-2.0
 * python_source.c: tests of read/python: tokens, statements, blocks and names of Python sources, odd and hostile ones
 * too. */
#include "read/python/python_names.h"

#include "arena.h"

static struct python_source source;

static bool read_text(const char *text) { return python_source_read(str_of(text), &arena, &source); }

static void token_is(uint32_t at, const char *text)
{
    struct str found = python_source_text(&source, at);
    ck_assert_msg(str_equal(found, str_of(text)), "token %u is %.*s, not %s", at, (int)found.length, found.data, text);
}

static uint32_t def_named(const char *name)
{
    for (uint32_t i = 0; i < source.statement_count; i++) {
        uint32_t at = python_source_def_name(&source, i);
        if (at != PYTHON_NONE && python_source_is(&source, at, name))
            return i;
    }
    ck_abort_msg("there is no def %s", name);
}

START_TEST(strings_and_comments_hide_brackets)
{
    ck_assert(read_text("a = '(' # ) ]\nb = r\"\\\\\" + f'{x[\"(\"]!r:>{w}}' + '''\n(\n''' + rb'\\\\'\nc = (1)\n"));
    ck_assert_uint_eq(source.statement_count, 3);
    ck_assert_uint_eq(source.statements[2].line, 5);
    ck_assert_uint_eq(source.statements[1].last_line, 4);
    token_is(2, "'('");
}
END_TEST

START_TEST(fields_of_f_strings_are_code)
{
    ck_assert(read_text("x = f'{{}}{a}{b[\")\"]}{c:>{n}}{d!r}' f\"\"\"{\n e}'\"\"\"\ny = 1\n"));
    ck_assert_uint_eq(source.statement_count, 2);
    ck_assert_uint_eq(source.statements[1].line, 3);
    ck_assert(!read_text("x = f'{a'\n"));
    ck_assert(!read_text("x = f'{a)}'\n"));
    ck_assert(!read_text("x = f'{\"{1}'\n"));
    ck_assert(!read_text("x = f'{a['b']}'\n")); /* Python 3.12 takes it */
}
END_TEST

START_TEST(lines_are_joined_by_brackets_and_backslashes)
{
    ck_assert(read_text("f(1,\n  2) ; g()\nif x and \\\n   y:\n    pass\n\n# end"));
    ck_assert_uint_eq(source.statement_count, 4);
    ck_assert(source.statements[1].is_behind_another);
    ck_assert_uint_eq(source.statements[2].line, 3);
    ck_assert_uint_eq(source.statements[2].last_line, 4);
    ck_assert_uint_eq(source.statements[3].parent, 2);
}
END_TEST

START_TEST(blocks_are_by_indentation)
{
    ck_assert(
        read_text("@a\n@b(1)\nasync def f(x):\n\t'''text\nat the left'''\n\tif x:\n\t\treturn 1\n# left\n\treturn 2\n"
                  "class C:\n  def g(self): pass\nx = 1\n"));
    uint32_t f = def_named("f"), g = def_named("g");
    ck_assert_uint_eq(source.statements[source.statements[f].block_last].last_line, 9);
    ck_assert_uint_eq(python_source_decorator(&source, f, 0), f - 1);
    ck_assert_uint_eq(python_source_decorator(&source, f, 1), f - 2);
    ck_assert_uint_eq(python_source_decorator(&source, f, 2), PYTHON_NONE);
    ck_assert_uint_eq(source.statements[g].parent, def_named("C"));
    ck_assert_uint_eq(python_source_statement_of_line(&source, 7), f + 3);
    ck_assert_uint_eq(python_source_statement_of_line(&source, 5), f + 1);
    ck_assert_uint_eq(python_source_statement_of_line(&source, 99), PYTHON_NONE);
}
END_TEST

START_TEST(what_is_not_surely_python_is_refused)
{
    static const char *const texts[] = {"x = (1\n",
                                        "x = 1)\n",
                                        "x = (1]\n",
                                        "x = 'a\n",
                                        "x = '''a\n",
                                        "if x:\n    a\n  b\n",
                                        "  x = 1\n",
                                        "x = 1\n  y = 2\n",
                                        "x = $y\n",
                                        "!ls\n",
                                        "x = a ? b\n",
                                        "x = 1\ry = 2\n",
                                        "if x:\n\ta\n        b\n",
                                        "x = '\xFF'\n",
                                        "x = '\\",
                                        ";\n",
                                        "x = \\ \n",
                                        "x = f'{a:{b'\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ck_assert_msg(!read_text(texts[i]), "%s", texts[i]);
        ck_assert_ptr_nonnull(source.why);
    }
    ck_assert(!python_source_read((struct str){"a\0b", 3}, &arena, &source));
    char *deep = arena_raw(&arena, 1001);
    memset(deep, '(', 1000);
    deep[1000] = '\0';
    ck_assert(!read_text(deep));
    ck_assert(!python_source_read((struct str){deep, PYTHON_TEXT_MAX_BYTES + 1}, &arena, &source));
}
END_TEST

START_TEST(ends_of_all_kinds_are_taken)
{
    ck_assert(read_text(""));
    ck_assert(read_text("\n\n# only\n"));
    ck_assert_uint_eq(source.statement_count, 0);
    ck_assert(read_text("\xEF\xBB\xBF"
                        "import jax\r\nx = 1"));
    ck_assert_uint_eq(source.statements[0].line_begin, 3);
    ck_assert_str_eq(source.newline, "\r\n");
    ck_assert_uint_eq(source.statement_count, 2);
    ck_assert(read_text("x = [\n1,\n]\n\f\ndef f(): pass\n"));
}
END_TEST

/* Any piece of a text may be a whole text: nothing is read past its end. */
START_TEST(no_cut_is_read_past_its_end)
{
    static const char text[] =
        "@p(a, *b, **c)\ndef f(x: int = 1, *, y=f'{a!r:>{w}}'):\n  '''\\\n'''\n  return {1: [x]}\\\n\n"
        "x = rb'\\'' ; y = 0x1F + 1e-5 + .5\nfrom a import (b as c, d,)\nimport a.b\n";
    for (size_t length = 0; length < sizeof(text); length++) {
        char *copy = malloc(length + 1);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, text, length);
        char *exact = realloc(copy, length > 0 ? length : 1);
        struct str whole = {exact, length};
        if (python_source_read(whole, &arena, &source)) {
            struct python_names names;
            python_names_read(&source, &arena, &names);
            for (uint32_t i = 0; i < source.statement_count; i++)
                (void)python_source_def_name(&source, i);
        }
        free(exact);
    }
}
END_TEST

START_TEST(items_are_parted_by_their_own_commas)
{
    struct python_item *items;
    ck_assert(read_text("f(a, (b, c), lambda x, y: x, k=[1, 2], *d, **e,)\ng()\n"));
    ck_assert_uint_eq(python_source_items(&source, 1, &arena, &items), 6);
    token_is(items[2].first, "lambda");
    ck_assert(items[3].is_named && !items[2].is_named);
    token_is(items[3].value, "[");
    ck_assert(items[4].is_spread && items[5].is_spread);
    uint32_t open = source.statements[1].first + 1;
    ck_assert_uint_eq(python_source_items(&source, open, &arena, &items), 0);
}
END_TEST

START_TEST(names_are_what_they_were_imported_as)
{
    struct python_names names;
    ck_assert(
        read_text("\"\"\"Text.\"\"\"\nfrom __future__ import annotations\nimport jax\nimport jax.numpy as jnp, os\n"
                  "from jax import (jit as J,\n  lax)\nfrom functools import partial\nfrom . import own\n"
                  "import optax\noptax = fake()\ndef g():\n  import haiku as hk\nJ(f)\nx.jit(f)\njax.jit(f)\n"));
    python_names_read(&source, &arena, &names);
    uint32_t last = source.token_count - 1;
    ck_assert_str_eq(python_names_path(&names, last - 5, last - 3), "jax.jit");
    ck_assert_str_eq(python_names_path(&names, last - 11, last - 9), "x.jit");
    ck_assert_str_eq(python_names_from(&names, last - 5), "jax.jit");
    ck_assert_str_eq(python_names_from(&names, last - 2), "");
    ck_assert_str_eq(python_names_called(&names, last - 2), "jax.jit");
    ck_assert_str_eq(python_names_called(&names, last - 3), "");
    ck_assert_str_eq(python_names_path(&names, last - 15, last - 15), "jax.jit");
    ck_assert_str_eq(python_names_of(&names, "jax.numpy.bfloat16"), "jnp.bfloat16");
    ck_assert_str_eq(python_names_of(&names, "functools.partial"), "partial");
    ck_assert_str_eq(python_names_of(&names, "jax.checkpoint"), "jax.checkpoint");
    ck_assert_ptr_null(python_names_of(&names, "optax.adam"));  /* bound to something else, too */
    ck_assert_ptr_null(python_names_of(&names, "haiku.remat")); /* of a function */
    ck_assert_uint_eq(python_names_place(&names), 47);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("python_source");
    TCase *tests = tcase_create("python_source");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, strings_and_comments_hide_brackets);
    tcase_add_test(tests, fields_of_f_strings_are_code);
    tcase_add_test(tests, lines_are_joined_by_brackets_and_backslashes);
    tcase_add_test(tests, blocks_are_by_indentation);
    tcase_add_test(tests, what_is_not_surely_python_is_refused);
    tcase_add_test(tests, ends_of_all_kinds_are_taken);
    tcase_add_test(tests, no_cut_is_read_past_its_end);
    tcase_add_test(tests, items_are_parted_by_their_own_commas);
    tcase_add_test(tests, names_are_what_they_were_imported_as);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
