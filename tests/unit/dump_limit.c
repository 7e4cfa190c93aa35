/* SPDX-License-Identifier: Apache-2.0
 * A dump that is kept small while a program writes it, whatever the clock does. */
#include "server/run/dump_limit.h"

#include "bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Files of a day to come, as after the clock was set back: what is of no use goes before the program has ended. */
START_TEST(files_of_the_future_do_not_stay)
{
    char folder[40] = "/tmp/memviewd-unit-XXXXXX", path[100];
    const struct timespec times[2] = {{.tv_sec = time(NULL) + 86400}, {.tv_sec = time(NULL) + 86400}};
    const struct timespec pause = {.tv_nsec = 10000000};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/module_0001.jit_f.cpu_after_optimizations.txt", folder);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(file, 0);
    close(file);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    const struct dump_limit limit = {folder, 8, UINT64_MAX};
    struct dump_limit_watch *watch = dump_limit_watch_new(&limit);
    ck_assert_ptr_nonnull(watch);
    while (access(path, F_OK) == 0) /* else the suite's own limit ends it */
        nanosleep(&pause, NULL);
    dump_limit_watch_free(watch);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dump_limit");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, files_of_the_future_do_not_stay);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
