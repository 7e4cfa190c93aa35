/* SPDX-License-Identifier: Apache-2.0
 * rows.c: tests of server/fleet/catalog/rows: how a file is named to who takes its rows, and paths in their one
 * spelling. */
#include "server/fleet/catalog/rows.h"

#include "bytes.h"
#include "server/files/path_spelling.h"
#include "server/gather/index.h"

#include <sys/stat.h>
#include <unistd.h>

struct rows_taken {
    size_t count;
    char root[64], path[64];
};

static bool rows_take(void *context, const struct rows_file *file)
{
    struct rows_taken *taken = context;
    taken->count++;
    snprintf(taken->root, sizeof(taken->root), "%s", file->root);
    snprintf(taken->path, sizeof(taken->path), "%s", file->path);
    return true;
}

/* The name of a file that is a root itself, below the base, is made by a thread that may be done with the file. */
START_TEST(a_file_that_is_a_root_is_named_below_the_base)
{
    const bool is_once = _i == 1;
    char folder[] = "/tmp/memviewd-rows-XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/a.prof", folder);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fputs("no profile", file);
    fclose(file);

    struct rows_taken taken = {.count = 0};
    struct rows_counts counts;
    struct index *index = index_new();
    index_add(index, path);
    index_scan_once_with_texts(index, false);
    struct snapshot *snapshot = index_hold(index);
    const struct rows_wanted wanted = {.store = store_new(UINT64_C(1) << 30),
                                       .snapshot = snapshot,
                                       .labels = labels_new(NULL, 0, NULL, 0, NULL),
                                       .shard_count = 1,
                                       .form = CSV_NDJSON,
                                       .base = "/",
                                       .is_once = is_once,
                                       .take = rows_take,
                                       .context = &taken};
    ck_assert(rows_write(&wanted, &counts));
    ck_assert_uint_eq(taken.count, 1);
    ck_assert_str_eq(taken.root, "/");
    ck_assert_str_eq(taken.path, path + 1);

    labels_free(wanted.labels);
    store_free(wanted.store);
    index_release(index, snapshot);
    index_free(index);
    remove(path);
    rmdir(folder);
}
END_TEST

START_TEST(a_path_has_one_spelling)
{
    char folder[] = "/tmp/memviewd-rows-XXXXXX", link[64], given[96], expected[96];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(link, sizeof(link), "%s/usr", folder);
    ck_assert_int_eq(symlink("/usr/bin", link), 0);
    const struct {
        const char *below, *expected; /* of the folder; an expected one that begins with a slash is whole */
    } cases[] = {{"", ""},
                 {"//a///b/", "a/b"},
                 {"/./a/.", "a"},
                 {"/gone/../b", "b"},
                 {"/usr/../share/x", "/usr/share/x"},
                 {"/usr", "usr"},
                 {"/../../..", "/"},
                 {"/usr/..", "/usr"}};
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        const char *wanted = cases[at].expected;
        snprintf(given, sizeof(given), "%s%s", folder, cases[at].below);
        if (wanted[0] == '/')
            snprintf(expected, sizeof(expected), "%s", wanted);
        else
            snprintf(expected, sizeof(expected), "%s%s%s", folder, wanted[0] ? "/" : "", wanted);
        char *spelled = path_spelling(given);
        ck_assert_str_eq(spelled, expected);
        free(spelled);
    }
    char *root = path_spelling("/gone-from-here/..");
    ck_assert_str_eq(root, "/");
    free(root);
    remove(link);
    rmdir(folder);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows");
    TCase *tests = tcase_create("rows");
    tcase_add_loop_test(tests, a_file_that_is_a_root_is_named_below_the_base, 0, 2);
    tcase_add_test(tests, a_path_has_one_spelling);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
