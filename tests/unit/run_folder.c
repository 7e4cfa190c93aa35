/* SPDX-License-Identifier: Apache-2.0
 * run_folder.c: tests of server/run/run_folder: a run that starts while another one ends and makes room. */
#include "server/run/run_folder.h"

#include "bytes.h"

#include <ftw.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char all[32];
static struct run_folder ended;
static struct err err;
static int locks_left; /* before `ended` makes room */

/* In the place of the library's: the other run makes room between a run's folder and its lock. */
int flock(int file, int operation)
{
    if (locks_left > 0 && --locks_left == 0)
        run_folder_close(&ended, 0);
    return (int)syscall(SYS_flock, file, operation);
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static void folder_begin(void)
{
    strcpy(all, "/tmp/all-runs-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(all));
}

static void folder_end(void) { nftw(all, entry_remove, 8, FTW_DEPTH | FTW_PHYS); }

/* A run that has ended, in `year`, with something in it; free(). */
static char *run_leave(const char *year)
{
    struct run_folder run;
    char path[512];
    ck_assert_msg(run_folder_open(&run, all, &err), "%s", err.text);
    char *moved = strdup(run.path);
    memcpy(strstr(moved, "/run-") + 5, year, 4);
    ck_assert_int_eq(rename(run.path, moved), 0);
    run_folder_close(&run, UINT64_MAX);
    snprintf(path, sizeof(path), "%s/output.log", moved);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("output", file);
    fclose(file);
    return moved;
}

START_TEST(a_run_that_starts_is_not_taken_for_one_that_has_ended)
{
    struct run_folder starting;
    char *old = run_leave("2020"), *last = run_leave("2021"), lock[512];
    ended = (struct run_folder){.all = strdup(all), .path = strdup(last), .lock = -1};
    locks_left = 1;
    ck_assert_msg(run_folder_open(&starting, all, &err), "%s", err.text);
    snprintf(lock, sizeof(lock), "%s/run.lock", starting.path);
    ck_assert_int_eq(access(lock, F_OK), 0);
    ck_assert_int_ne(access(old, F_OK), 0);
    ck_assert_int_eq(access(last, F_OK), 0);
    run_folder_remove(&starting);
    free(last);
    free(old);
}
END_TEST

START_TEST(a_run_that_goes_on_is_left)
{
    struct run_folder running, last;
    ck_assert_msg(run_folder_open(&running, all, &err), "%s", err.text);
    char *moved = strdup(running.path);
    memcpy(strstr(moved, "/run-") + 5, "2020", 4);
    ck_assert_int_eq(rename(running.path, moved), 0);
    ck_assert_msg(run_folder_open(&last, all, &err), "%s", err.text);
    run_folder_close(&last, 0);
    ck_assert_int_eq(access(moved, F_OK), 0);
    free(running.path);
    running.path = moved;
    run_folder_remove(&running);
    ck_assert_int_ne(access(moved, F_OK), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run_folder");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, folder_begin, folder_end);
    tcase_add_test(tests, a_run_that_starts_is_not_taken_for_one_that_has_ended);
    tcase_add_test(tests, a_run_that_goes_on_is_left);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
