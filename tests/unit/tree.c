/* SPDX-License-Identifier: Apache-2.0
 * tree.c: tests of server/gather/tree: what a refresh asks the disk about, and what it finds. */
#include "server/gather/tree.h"

#include "bytes.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SESSIONS = 60, HOSTS = 8 };

static char root[32];
static struct tree *tree;
static atomic_int told_times;

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

/* ---- what the kernel tells -------------------------------------------------------------- */

static void count_told(void *context, bool is_anywhere)
{
    (void)context, (void)is_anywhere;
    atomic_fetch_add(&told_times, 1);
}

/* False where the folder of temporary files cannot be watched. */
static bool watch_all(void)
{
    tree->watch = watch_new(WATCH_LIMIT, count_told, NULL);
    if (!tree->watch || !watch_start(tree->watch))
        return false;
    tree_refresh(tree, TREE_ALL, NULL, NULL);
    return tree->top->watched != NULL;
}

/* Waits until the changes so far are reported, and takes them in. */
static bool told_refresh(void)
{
    for (int before = atomic_load(&told_times), waits = 0; atomic_load(&told_times) == before && waits < 12000; waits++)
        usleep(5000);
    return tree_refresh(tree, TREE_TOLD, NULL, NULL);
}

static void watch_end(void)
{
    struct watch *watch = tree->watch;
    if (watch)
        watch_stop(watch);
    root_end();
    watch_free(watch);
}

START_TEST(what_is_told_is_found_and_nothing_else_is_asked_about)
{
    char path[256];
    if (!watch_all())
        return;
    ck_assert(!tree_refresh(tree, TREE_TOLD, NULL, NULL));
    ck_assert_uint_eq(tree->asked_count, 0);
    ck_assert_uint_eq(watch_figures(tree->watch).watched_count, SESSIONS + 3);
    session_make("run999", false);
    ck_assert(told_refresh());
    ck_assert_uint_le(tree->asked_count, 30);
    ck_assert_uint_eq(sessions()->folder_count, SESSIONS + 1);
    ck_assert_uint_eq(sessions()->folders[SESSIONS]->file_count, HOSTS);
    path_make(path, "run007", "h8.xplane.pb");
    file_write(path, "x");
    ck_assert(told_refresh());
    ck_assert_uint_eq(sessions()->folders[7]->file_count, HOSTS + 1);
}
END_TEST

START_TEST(what_is_told_is_found_though_no_time_shows_it)
{
    char path[256];
    if (!watch_all())
        return;
    path_make(path, "run007", "");
    struct stat before;
    ck_assert_int_eq(stat(path, &before), 0);
    const struct timespec times[] = {before.st_atim, before.st_mtim};
    path_make(path, "run007", "h8.xplane.pb");
    file_write(path, "x");
    make_old(path);
    path_make(path, "run007", "");
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    ck_assert(told_refresh());
    ck_assert_uint_eq(sessions()->folders[7]->file_count, HOSTS + 1);
}
END_TEST

START_TEST(a_folder_that_is_renamed_or_removed_is_watched_as_what_it_is_now)
{
    char from[256], to[256];
    if (!watch_all())
        return;
    path_make(from, "run007", "");
    path_make(to, "run007b", "");
    ck_assert_int_eq(rename(from, to), 0);
    ck_assert(told_refresh());
    ck_assert_str_eq(sessions()->folders[7]->path, "plugins/profile/run007b");
    path_make(to, "run007b", "h8.xplane.pb");
    file_write(to, "x");
    ck_assert(told_refresh());
    ck_assert_uint_eq(sessions()->folders[7]->file_count, HOSTS + 1);
    path_make(from, "run008", "");
    ck_assert_int_eq(nftw(from, entry_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
    session_make("run008", false); /* mostly with the number on disk of the one before */
    path_make(from, "run008", "h8.xplane.pb");
    file_write(from, "x");
    for (int waits = 0; sessions()->folders[8]->file_count <= HOSTS && waits < 12000; waits++) {
        usleep(5000); /* the report may come in two parts */
        tree_refresh(tree, TREE_TOLD, NULL, NULL);
    }
    ck_assert_uint_eq(sessions()->folders[8]->file_count, HOSTS + 1);
    ck_assert_uint_eq(watch_figures(tree->watch).watched_count, SESSIONS + 3);
}
END_TEST

START_TEST(what_is_told_of_a_folder_is_told_of_links_to_it)
{
    char path[256];
    path_make(path, "latest", "");
    ck_assert_int_eq(symlink("run007", path), 0);
    if (!watch_all())
        return;
    ck_assert_uint_eq(watch_figures(tree->watch).watched_count, SESSIONS + 3);
    path_make(path, "run007", "h8.xplane.pb");
    file_write(path, "x");
    ck_assert(told_refresh());
    ck_assert_uint_eq(sessions()->folders[0]->file_count, HOSTS + 1);
    ck_assert_uint_eq(sessions()->folders[8]->file_count, HOSTS + 1);
    path_make(path, "latest", "");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert(told_refresh());
    path_make(path, "run007", "h9.xplane.pb");
    file_write(path, "x");
    ck_assert(told_refresh());
    ck_assert_uint_eq(sessions()->folders[7]->file_count, HOSTS + 2);
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
    TCase *told = tcase_create("told");
    tcase_add_checked_fixture(told, root_begin, watch_end);
    tcase_add_test(told, what_is_told_is_found_and_nothing_else_is_asked_about);
    tcase_add_test(told, what_is_told_is_found_though_no_time_shows_it);
    tcase_add_test(told, a_folder_that_is_renamed_or_removed_is_watched_as_what_it_is_now);
    tcase_add_test(told, what_is_told_of_a_folder_is_told_of_links_to_it);
    suite_add_tcase(suite, told);
    return bytes_run(suite);
}
