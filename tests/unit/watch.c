/* SPDX-License-Identifier: Apache-2.0
 * watch.c: tests of server/gather/watch: of which folders the kernel tells, how many they are, and what happens when it
 * loses count. */
#include "server/gather/watch.h"

#include "bytes.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIMIT = 8, FOLDERS = 12, MOST_EVENTS = 200000 };

static char root[32];
static struct watch *watch;
static struct watched *held[FOLDERS];
static atomic_int told_times, lost_times;

static void count_told(void *context, bool is_anywhere)
{
    ck_assert_ptr_eq(context, root);
    atomic_fetch_add(&told_times, 1);
    atomic_fetch_add(&lost_times, is_anywhere);
}

static void path_make(char path[256], int at, const char *name) { snprintf(path, 256, "%s/f%02d/%s", root, at, name); }

static void file_write(int at, const char *name)
{
    char path[256];
    path_make(path, at, name);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(file, 0);
    close(file);
}

static struct watched *keep_path(struct watched *before, const char *path, enum watch_rank rank)
{
    struct stat status;
    int folder = open(path, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(folder, 0);
    ck_assert_int_eq(fstat(folder, &status), 0);
    struct watched *watched = watch_keep(watch, before, folder, &status, rank);
    close(folder);
    return watched;
}

static struct watched *keep(int at, enum watch_rank rank)
{
    char path[256];
    path_make(path, at, "");
    held[at] = keep_path(held[at], path, rank);
    return held[at];
}

static bool is_told_more(const atomic_int *times, int before)
{
    for (int waits = 0; atomic_load(times) == before && waits < 12000; waits++)
        usleep(5000);
    return atomic_load(times) != before;
}

static void begin(void)
{
    char path[256];
    snprintf(root, sizeof(root), "/tmp/watch-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (int at = 0; at < FOLDERS; at++) {
        path_make(path, at, "");
        ck_assert_int_eq(mkdir(path, 0700), 0);
    }
    watch = watch_new(LIMIT, count_told, root);
    ck_assert_ptr_nonnull(watch);
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *position)
{
    (void)status, (void)type, (void)position;
    return remove(path);
}

static void end(void)
{
    watch_stop(watch);
    for (int at = 0; at < FOLDERS; at++)
        watch_let_go(held[at]);
    ck_assert_uint_eq(watch_figures(watch).watched_count, 0);
    watch_free(watch);
    nftw(root, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* False where the folder of temporary files cannot be watched. */
static bool can_watch(void) { return keep(0, WATCH_ROOT) != NULL; }

START_TEST(it_tells_of_the_folder_that_changed)
{
    if (!can_watch())
        return;
    ck_assert(watch_start(watch));
    keep(1, WATCH_LATELY);
    uint64_t first = watch_told_at(held[0]), second = watch_told_at(held[1]);
    ck_assert_uint_ne(first, second);
    file_write(1, ".hidden");
    file_write(1, "shown");
    ck_assert(is_told_more(&told_times, 0));
    ck_assert_uint_eq(watch_told_at(held[0]), first);
    ck_assert_uint_ne(watch_told_at(held[1]), second);
    ck_assert_int_eq(atomic_load(&lost_times), 0);
}
END_TEST

START_TEST(what_is_no_part_of_a_tree_is_not_told)
{
    if (!can_watch())
        return;
    ck_assert(watch_start(watch));
    keep(1, WATCH_LATELY);
    uint64_t first = watch_told_at(held[0]);
    file_write(0, ".hidden");
    file_write(1, "shown"); /* the kernel reports it later */
    ck_assert(is_told_more(&told_times, 0));
    ck_assert_uint_eq(watch_told_at(held[0]), first);
}
END_TEST

START_TEST(each_rank_has_its_part_of_the_limit)
{
    if (!can_watch())
        return;
    for (int at = 1; at < FOLDERS - 1; at++)
        keep(at, WATCH_OLD);
    ck_assert_uint_eq(watch_figures(watch).watched_count, LIMIT / 2);
    for (int at = 1; at < FOLDERS - 1; at++)
        keep(at, WATCH_PLACE);
    ck_assert_uint_eq(watch_figures(watch).watched_count, LIMIT * 3 / 4);
    for (int at = 1; at < FOLDERS - 1; at++)
        keep(at, WATCH_LATELY);
    ck_assert_uint_eq(watch_figures(watch).watched_count, LIMIT);
    ck_assert_ptr_nonnull(keep(FOLDERS - 1, WATCH_ROOT));
    ck_assert_uint_eq(watch_figures(watch).watched_count, LIMIT + 1);
    for (int at = 1; at < FOLDERS - 1; at++)
        keep(at, WATCH_OLD); /* what grows old makes room */
    ck_assert_uint_eq(watch_figures(watch).watched_count, LIMIT / 2);
    ck_assert_ptr_nonnull(held[0]);
}
END_TEST

START_TEST(two_that_hold_a_folder_have_one_watch)
{
    char path[256];
    if (!can_watch())
        return;
    path_make(path, 0, "");
    struct watched *other = keep_path(NULL, path, WATCH_LATELY);
    ck_assert_ptr_eq(other, held[0]);
    ck_assert_uint_eq(watch_figures(watch).watched_count, 1);
    watch_let_go(other);
    ck_assert_uint_eq(watch_figures(watch).watched_count, 1);
    ck_assert(watch_start(watch));
    file_write(0, "shown");
    ck_assert(is_told_more(&told_times, 0));
}
END_TEST

START_TEST(a_folder_in_the_place_of_another_is_watched_anew)
{
    char path[256], away[256];
    if (!can_watch())
        return;
    ck_assert(watch_start(watch));
    uint64_t before = watch_told_at(held[0]);
    path_make(path, 0, "");
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert(is_told_more(&told_times, 0));
    ck_assert_int_eq(mkdir(path, 0700), 0); /* may have the number that the other had on disk */
    ck_assert_ptr_nonnull(keep(0, WATCH_ROOT));
    ck_assert_uint_ne(watch_told_at(held[0]), before);
    ck_assert_uint_eq(watch_figures(watch).watched_count, 1);
    snprintf(away, sizeof(away), "%s/away", root);
    ck_assert_int_eq(rename(path, away), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    before = watch_told_at(held[0]);
    ck_assert_ptr_nonnull(keep(0, WATCH_ROOT));
    ck_assert_uint_ne(watch_told_at(held[0]), before);
    ck_assert_uint_eq(watch_figures(watch).watched_count, 1);
}
END_TEST

START_TEST(that_the_kernel_lost_count_is_told)
{
    int most = 0;
    FILE *file = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    ck_assert(file && fscanf(file, "%d", &most) == 1);
    fclose(file);
    if (!can_watch() || most > MOST_EVENTS)
        return;
    char path[256];
    path_make(path, 0, "shown");
    for (int at = 0; at <= most / 3 + 1; at++) { /* no one listens; three events each */
        file_write(0, "shown");
        unlink(path);
    }
    ck_assert(watch_start(watch));
    ck_assert(is_told_more(&lost_times, 0));
    ck_assert_uint_ge(watch_figures(watch).lost_count, 1);
}
END_TEST

START_TEST(file_systems_that_others_change_are_not_watched)
{
    ck_assert_ptr_null(keep_path(NULL, "/proc/self", WATCH_ROOT));
    ck_assert_uint_eq(watch_figures(watch).watched_count, 0);
}
END_TEST

START_TEST(without_a_watch_nothing_is_watched)
{
    struct watch *made = watch;
    watch = NULL;
    ck_assert_ptr_null(keep(0, WATCH_ROOT));
    ck_assert_uint_eq(watch_told_at(NULL), 0);
    watch = made;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("watch");
    TCase *tests = tcase_create("watch");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, it_tells_of_the_folder_that_changed);
    tcase_add_test(tests, what_is_no_part_of_a_tree_is_not_told);
    tcase_add_test(tests, each_rank_has_its_part_of_the_limit);
    tcase_add_test(tests, two_that_hold_a_folder_have_one_watch);
    tcase_add_test(tests, a_folder_in_the_place_of_another_is_watched_anew);
    tcase_add_test(tests, that_the_kernel_lost_count_is_told);
    tcase_add_test(tests, file_systems_that_others_change_are_not_watched);
    tcase_add_test(tests, without_a_watch_nothing_is_watched);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
