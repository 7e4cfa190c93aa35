/* SPDX-License-Identifier: Apache-2.0
 * patch.c: tests of analysis/patch: diffs, and where donate_argnums and mu_dtype are written, by frames that a dump
 * would have. tests/http/patch.py has whole programs. */
#include "patch/patch.h"
#include "patch/diff.h"
#include "plan/plan.h"

#include "arena.h"

/* ---- diffs ---- */

static struct buf scratch = BUF_INIT;

static const char *diff_of(const char *text, const struct diff_edit *edits, uint32_t count)
{
    return diff_write("a.py", str_of(text), edits, count, &scratch, &arena);
}

START_TEST(a_line_is_put_before_another)
{
    const struct diff_edit edit = {2, 2, "new\n"};
    ck_assert_str_eq(diff_of("1\n2\n3\n", &edit, 1), "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,4 @@\n 1\n+new\n 2\n 3\n");
}
END_TEST

START_TEST(ends_of_lines_and_files_are_kept)
{
    const struct diff_edit edit = {4, 5, "X"};
    ck_assert_str_eq(diff_of("1\r\n\tb", &edit, 1),
                     "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n 1\r\n-\tb\n"
                     "\\ No newline at end of file\n+\tX\n\\ No newline at end of file\n");
}
END_TEST

START_TEST(edits_far_apart_are_hunks_of_their_own)
{
    const struct diff_edit edits[] = {{0, 0, "i\n"}, {2, 3, "B"}, {18, 19, "J"}, {19, 19, "!"}};
    ck_assert_str_eq(diff_of("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", edits, 4),
                     "--- a/a.py\n+++ b/a.py\n@@ -1,5 +1,6 @@\n+i\n a\n-b\n+B\n c\n d\n e\n"
                     "@@ -7,4 +8,4 @@\n g\n h\n i\n-j\n+J!\n");
}
END_TEST

START_TEST(paths_that_lead_elsewhere_are_refused)
{
    static const char *const bad[] = {"",   "/etc/passwd", "../a.py", "a/../b.py", "a//b.py", "./a.py",
                                      "a/", "a\nb",        "a\tb",    "\"a\"",     "a\\b",    "a/."};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(!diff_is_path(bad[i]), "%s", bad[i]);
    ck_assert(diff_is_path("a b/..c/\xC3\xA9.py"));
    ck_assert(strstr(diff_write("a b.py", STR("1\n"), &(const struct diff_edit){0, 1, "2"}, 1, &scratch, &arena),
                     "+++ b/a b.py\t\n") != NULL);
}
END_TEST

/* ---- patches ---- */

static const char *file_text;
static const char *file_path;

static bool open_file(void *context, const char *name, struct str *text, const char **path)
{
    (void)context;
    *text = str_of(file_text);
    *path = file_path;
    return strcmp(name, "/home/u/train.py") == 0;
}

static struct plan plan;
static struct hlo_frame frame;
static struct plan_argument arguments[3];
static const struct patch_sources sources = {NULL, open_file};

static struct patch_asked asked;

static void ask(const char *text, int32_t line)
{
    file_text = text;
    file_path = "train.py";
    frame = (struct hlo_frame){.file = STR("/home/u/train.py"),
                               .function = STR("step"),
                               .line = line,
                               .column = -1,
                               .parent_at = HLO_NONE,
                               .library = LIBRARY_USER,
                               .user_at = 0};
    arguments[0].path = STR("params['w']");
    arguments[1].path = STR("params['b']");
    arguments[2].path = STR("rest[1]");
    plan = (struct plan){.hlo = {.name = STR("jit_step"), .frames = &frame, .frame_count = 1},
                         .arguments = arguments,
                         .argument_count = 3};
    asked = (struct patch_asked){.sources = &sources, .plan = &plan, .scratch = &scratch, .arena = &arena};
}

static struct patch donated(const char *text, int32_t line, bool has_rest)
{
    const bool flags[] = {true, false, has_rest};
    ask(text, line);
    return patch_donate(patch_files_open(&asked), flags);
}

static void has_line(struct patch patch, const char *line)
{
    ck_assert_msg(patch.diff != NULL, "not written: %s", patch.reason);
    ck_assert_msg(strstr(patch.diff, line) != NULL, "%s", patch.diff);
}

static void is_refused(struct patch patch, const char *reason)
{
    ck_assert_msg(patch.diff == NULL, "%s", patch.diff);
    ck_assert_msg(strstr(patch.reason, reason) != NULL, "%s", patch.reason);
}

#define BODY "def step(params, *rest):\n    return params\n"

START_TEST(decorators_get_the_keyword)
{
    has_line(donated("import jax\n@jax.jit  # fast\n" BODY, 4, false),
             "+import functools\n import jax\n-@jax.jit  # fast\n"
             "+@functools.partial(jax.jit, donate_argnums=(0,))  # fast\n");
    has_line(donated("from jax import jit\nfrom functools import partial as p\n@p(jit, static_argnums=(3,),)\n" BODY, 5,
                     true),
             "\n+@p(jit, static_argnums=(3,), donate_argnums=(0, 2),)\n");
    has_line(donated("import jax\n@jax.jit(donate_argnums=[2])\n" BODY, 4, true),
             "\n+@jax.jit(donate_argnums=(0, 2))\n");
    has_line(donated("import jax\n@jax.jit()\n" BODY, 4, false), "\n+@jax.jit(donate_argnums=(0,))\n");
}
END_TEST

START_TEST(calls_get_the_keyword)
{
    has_line(donated("import jax\n" BODY "run = jax.jit(\n    step,  # one\n)\n", 3, false),
             "\n+    step, donate_argnums=(0,),  # one\n");
    has_line(donated("import jax\n" BODY "run = jax.jit(step, donate_argnums=1).lower()", 3, true),
             "\n+run = jax.jit(step, donate_argnums=(0, 1, 2)).lower()\n\\ No newline");
    has_line(donated("import jax\n" BODY "step = jax.jit(step)\n", 3, false),
             "\n+step = jax.jit(step, donate_argnums=(0,))\n");
    has_line(donated("import jax\nclass T:\n    def step(self, params, *rest):\n        return params\n"
                     "    def run(self):\n        self.f = jax.jit(self.step)\n",
                     4, true),
             "\n+        self.f = jax.jit(self.step, donate_argnums=(0, 2))\n");
    has_line(donated("import jax\nclass T:\n    def step(self, params, *rest):\n        return params\n"
                     "    def run(self):\n        self.f = jax.jit(self.step)\nstep = T().f\n",
                     4, false),
             "\n+        self.f = jax.jit(self.step, donate_argnums=(0,))\n");
}
END_TEST

/* jit takes names only for what is given by keyword where there are numbers as well */
START_TEST(names_get_further_names)
{
    has_line(donated("import jax\ndef step(rest, params):\n    return params\n"
                     "a = jax.jit(step, donate_argnames='rest')\n",
                     3, false),
             "\n+a = jax.jit(step, donate_argnames=('rest', \"params\"))\n");
    has_line(donated("import jax\n" BODY "a = jax.jit(step, donate_argnames=[], static_argnums=3)\n", 3, false),
             "\n+a = jax.jit(step, donate_argnames=(\"params\",), static_argnums=3)\n");
    has_line(donated("import jax\n" BODY "a = jax.jit(step, donate_argnums=1, donate_argnames='k')\n", 3, false),
             "\n+a = jax.jit(step, donate_argnums=(0, 1), donate_argnames='k')\n");
    is_refused(donated("import jax\n" BODY "a = jax.jit(step, donate_argnames=('k',))\n", 3, true),
               "no plain list of names");
    is_refused(donated("import jax\n" BODY "a = jax.jit(step, donate_argnames=NAMES)\n", 3, false),
               "no plain list of names");
}
END_TEST

START_TEST(what_is_not_certain_is_not_written)
{
    is_refused(donated("import jax\n" BODY, 3, false), "no jax.jit(step)");
    is_refused(donated("import jax\n" BODY "a = jax.jit(step)\nb = jax.jit(step)\n", 3, false), "2 places");
    is_refused(donated("import jax\n" BODY "a = jax.jit(step, **how)\n", 3, false), "spreads");
    is_refused(donated("import jax\n" BODY "step = jax.jit(step)\nstep = p(step)\n", 3, false), "something else");
    is_refused(donated("import jax\n" BODY "a = jax.jit(step, donate_argnums=N)\n", 3, false), "no plain list");
    is_refused(donated("import jax\n" BODY "a = jax.jit(step, donate_argnums=(-1,))\n", 3, false), "no plain list");
    is_refused(donated("import jax\n" BODY "a = jax.jit(step, donate_argnums=(0,))\n", 3, false), "already");
    is_refused(donated("import jax\n" BODY "a = jax.jit(step, donate_argnames='params')\n", 3, false), "already");
    is_refused(donated("import jax\n@jax.jit\n@other\n" BODY, 5, false), "may change the arguments");
    is_refused(donated("import jax\n@jax.jit\n" BODY, 1, false), "not the one that ran");
    is_refused(donated("import jax\n@jax.jit\n" BODY, 0, false), "not the one that ran");
    is_refused(donated("import jax\n@jax.jit\ndef step(other):\n    return other\n", 4, false), "no parameter");
    is_refused(donated("import jax\n@jax.jit\ndef step(*, params):\n    return params\n", 4, false), "no parameter");
    is_refused(donated("import jax\njax = fake\n@jax.jit\n" BODY, 5, false), "may change the arguments");
    is_refused(donated("x = (\n", 3, false), "brackets");
    /* text and comments are no code */
    is_refused(donated("import jax\n'''\njax.jit(step)\n'''\n# jax.jit(step)\n" BODY, 7, false), "no jax.jit(step)");
}
END_TEST

START_TEST(names_of_the_dump_are_hostile)
{
    ask("import jax\n@jax.jit\n" BODY, 4);
    const bool flags[] = {true, false, false};
    file_path = "../../etc/x.py";
    is_refused(patch_donate(patch_files_open(&asked), flags), "no such file");
    ask("import jax\n@jax.jit\n" BODY, 4);
    frame.function = STR("st\x1b]0;ep");
    plan.hlo.name = STR("jit_st\x1b]0;ep");
    struct patch patch = patch_donate(patch_files_open(&asked), flags);
    is_refused(patch, "not the one that ran");
    ck_assert_ptr_null(strchr(patch.reason, '\x1b'));
    frame.file = (struct str){"/home/u/train.py\0x", 18};
    is_refused(patch_donate(patch_files_open(&asked), flags), "no such file");
    frame.file = STR("/etc/\nshadow.py");
    patch = patch_donate(patch_files_open(&asked), flags);
    is_refused(patch, "no such file");
    ck_assert_ptr_null(strchr(patch.file, '\n'));
    frame.library = LIBRARY_MACHINERY;
    is_refused(patch_donate(patch_files_open(&asked), flags), "no stack frame");
}
END_TEST

static struct patch optimized(const char *text)
{
    ask(text, 1);
    return patch_optimizer(patch_files_open(&asked));
}

START_TEST(optimizers_get_the_type)
{
    has_line(optimized("import optax, jax.numpy as jnp\ntx = optax.adamw(1e-4, weight_decay=.1)\n"),
             "\n+tx = optax.adamw(1e-4, weight_decay=.1, mu_dtype=jnp.bfloat16)\n");
    has_line(optimized("from optax import adam\ntx = adam(\n    1e-4,  # slow\n)\n"),
             "+import jax.numpy as jnp\n from optax import adam\n tx = adam(\n-    1e-4,  # slow\n"
             "+    1e-4, mu_dtype=jnp.bfloat16,  # slow\n");
    has_line(optimized("import jax, optax\ntx = optax.lion()\n"), "\n+tx = optax.lion(mu_dtype=jax.numpy.bfloat16)\n");
    is_refused(optimized("import optax\na = optax.adam(1)\nb = optax.adam(1)\n"), "2 places");
    is_refused(optimized("import optax\na = optax.adam(1, mu_dtype=None)\n"), "already");
    is_refused(optimized("import optax\na = optax.adam(**how)\n"), "spreads");
    is_refused(optimized("import optax\na = optax.sgd(1)\n"), "no call of optax.adam");
    is_refused(optimized("import mine\na = mine.adam(1)\n"), "no call of optax.adam");
}
END_TEST

/* The program of `text` with 63 further files in its stack frames, or 64. */
static const struct patch_files *files_of_many(const char *text, bool is_one_too_many)
{
    static struct hlo_frame frames[65];
    static char names[65][32];
    ask(text, 3);
    for (uint32_t i = 0; i < 65; i++) {
        frames[i] = frame;
        if (i == 0)
            continue;
        (void)snprintf(names[i], sizeof(names[i]), "/home/u/%u/train.py", i);
        frames[i].file = str_of(names[i]);
        frames[i].function = STR("other");
    }
    plan.hlo.frames = frames;
    plan.hlo.frame_count = is_one_too_many ? 65 : 64;
    return patch_files_open(&asked);
}

START_TEST(files_that_are_not_read_are_said)
{
    static const char jitted[] = "import jax, optax\n" BODY "run = jax.jit(step)\ntx = optax.adam(1)\n";
    static const char unread[] = "the dump names more than 64 source files, and only the first 64 are read";
    const bool flags[] = {true, false, false};
    has_line(patch_donate(files_of_many(jitted, false), flags), "\n+run = jax.jit(step, donate_argnums=(0,))\n");
    is_refused(patch_donate(files_of_many(jitted, true), flags), unread);
    is_refused(patch_donate(files_of_many("import jax\n" BODY, true), flags), unread);
    is_refused(patch_donate(files_of_many("import jax\n" BODY "a = jax.jit(step)\nb = jax.jit(step)\n", true), flags),
               "2 places");
    has_line(patch_donate(files_of_many("import jax\n@jax.jit\n" BODY, true), flags), "donate_argnums=(0,)");
    has_line(patch_optimizer(files_of_many(jitted, false)), "\n+tx = optax.adam(1, mu_dtype=jax.numpy.bfloat16)\n");
    is_refused(patch_optimizer(files_of_many(jitted, true)), unread);
    const struct patch_files *files = files_of_many(jitted, true);
    plan.hlo.frames[64].function = STR("step"); /* in the one that is not read */
    struct patch patch = patch_donate(files, flags);
    is_refused(patch, unread);
    ck_assert_str_eq(patch.file, "/home/u/64/train.py");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("patch");
    TCase *tests = tcase_create("patch");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, a_line_is_put_before_another);
    tcase_add_test(tests, ends_of_lines_and_files_are_kept);
    tcase_add_test(tests, edits_far_apart_are_hunks_of_their_own);
    tcase_add_test(tests, paths_that_lead_elsewhere_are_refused);
    tcase_add_test(tests, decorators_get_the_keyword);
    tcase_add_test(tests, calls_get_the_keyword);
    tcase_add_test(tests, names_get_further_names);
    tcase_add_test(tests, what_is_not_certain_is_not_written);
    tcase_add_test(tests, names_of_the_dump_are_hostile);
    tcase_add_test(tests, optimizers_get_the_type);
    tcase_add_test(tests, files_that_are_not_read_are_said);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
