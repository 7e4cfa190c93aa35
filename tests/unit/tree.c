/* SPDX-License-Identifier: Apache-2.0
 * tree.c: tests of server/disk/tree: what a refresh asks the disk about, and what it finds. */
#include "server/disk/tree.h"

#include "bytes.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <time.h>

enum { SESSIONS = 60, HOSTS = 8 };

static char root[32];
static struct tree *tree;

static void path_make(char path[256], const char *session, const char *name)
{
    snprintf(path, 256, "%s/plugins/profile/%s%s%s", root, session, name[0] ? "/" : "", name);
}

static void file_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* A day ago. */
static void make_old(const char *path)
{
    const struct timespec then = {.tv_sec = time(NULL) - 86400}, times[] = {then, then};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void session_make(const char *name, bool is_old)
{
    char path[256], host[32];
    path_make(path, name, "");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    for (int at = 0; at < HOSTS; at++) {
        snprintf(host, sizeof(host), "h%d.xplane.pb", at);
        path_make(path, name, host);
        file_write(path, "x");
        if (is_old)
            make_old(path);
    }
    path_make(path, name, "");
    if (is_old)
        make_old(path);
}

static const struct tree_folder *sessions(void) { return tree->top->folders[0]->folders[0]; }

static void root_begin(void)
{
    char path[256], name[32];
    snprintf(root, sizeof(root), "/tmp/tree-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(path, sizeof(path), "%s/plugins", root);
    mkdir(path, 0700);
    path_make(path, "", "");
    mkdir(path, 0700);
    for (int at = 0; at < SESSIONS; at++) {
        snprintf(name, sizeof(name), "run%03d", at);
        session_make(name, true);
    }
    tree = tree_new(root);
    ck_assert(tree_refresh(tree, TREE_ALL, NULL, NULL));
    ck_assert_uint_eq(sessions()->folder_count, SESSIONS);
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *position)
{
    (void)status, (void)type, (void)position;
    return remove(path);
}

static void root_end(void)
{
    tree_free(tree);
    nftw(root, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}

START_TEST(what_is_new_is_found_without_asking_about_what_is_old)
{
    ck_assert(!tree_refresh(tree, TREE_ALL, NULL, NULL));
    ck_assert_uint_ge(tree->asked_count, SESSIONS * HOSTS);
    ck_assert(!tree_refresh(tree, TREE_NEW, NULL, NULL));
    ck_assert_uint_le(tree->asked_count, 10);
    session_make("run999", false);
    ck_assert(tree_refresh(tree, TREE_NEW, NULL, NULL));
    ck_assert_uint_le(tree->asked_count, 30);
    ck_assert_uint_eq(sessions()->folder_count, SESSIONS + 1);
    ck_assert_uint_eq(sessions()->folders[SESSIONS]->file_count, HOSTS);
}
END_TEST

START_TEST(what_changed_lately_is_looked_at_again)
{
    char path[256];
    session_make("run999", false);
    ck_assert(tree_refresh(tree, TREE_NEW, NULL, NULL));
    path_make(path, "run999", "h3.xplane.pb");
    file_write(path, "longer");
    ck_assert(tree_refresh(tree, TREE_NEW, NULL, NULL));
    path_make(path, "run999", "h8.xplane.pb");
    file_write(path, "x");
    ck_assert(tree_refresh(tree, TREE_NEW, NULL, NULL));
    ck_assert_uint_eq(sessions()->folders[SESSIONS]->file_count, HOSTS + 1);
}
END_TEST

START_TEST(a_change_of_what_is_old_is_found_when_all_is_looked_at)
{
    char path[256];
    path_make(path, "run007", "h3.xplane.pb");
    file_write(path, "longer");
    ck_assert(!tree_refresh(tree, TREE_NEW, NULL, NULL));
    ck_assert(tree_refresh(tree, TREE_ALL, NULL, NULL));
    file_write(path, "longer still");
    ck_assert(tree_refresh(tree, TREE_NEW, NULL, NULL)); /* from then on it is new */
}
END_TEST

START_TEST(what_is_gone_is_forgotten)
{
    char path[256];
    path_make(path, "run007", "");
    ck_assert_int_eq(nftw(path, entry_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
    ck_assert(tree_refresh(tree, TREE_NEW, NULL, NULL));
    ck_assert_uint_eq(sessions()->folder_count, SESSIONS - 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tree");
    TCase *tests = tcase_create("tree");
    tcase_add_checked_fixture(tests, root_begin, root_end);
    tcase_add_test(tests, what_is_new_is_found_without_asking_about_what_is_old);
    tcase_add_test(tests, what_changed_lately_is_looked_at_again);
    tcase_add_test(tests, a_change_of_what_is_old_is_found_when_all_is_looked_at);
    tcase_add_test(tests, what_is_gone_is_forgotten);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
