/* SPDX-License-Identifier: Apache-2.0
 * disk_cache.c: tests of server/store/disk_cache: what is kept comes back as it was, or not at all. */
#include "server/store/disk_cache.h"

#include "bytes.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT = 1 << 20 };

static char root[40], folder[64];

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static void root_begin(void)
{
    snprintf(root, sizeof(root), "/tmp/memviewd-unit-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(folder, sizeof(folder), "%s/cache", root);
}

static void root_end(void) { nftw(root, entry_remove, 16, FTW_DEPTH | FTW_PHYS); }

static struct disk_cache *open_about(const char *about, uint64_t limit_bytes)
{
    char reason[300] = "";
    struct disk_cache *cache = disk_cache_open(folder, limit_bytes, about, reason, sizeof(reason));
    ck_assert_msg(cache != NULL, "%s", reason);
    return cache;
}

static bool is_read(struct disk_cache *cache, const char *key, const char *wanted)
{
    struct buf out = BUF_INIT;
    buf_text(&out, "before");
    bool is = disk_cache_read(cache, key, &out);
    size_t length = is ? strlen(wanted) : 0;
    ck_assert_uint_eq(out.length, strlen("before") + length);
    ck_assert(memcmp(out.data, "before", strlen("before")) == 0);
    ck_assert(memcmp(out.data + strlen("before"), wanted, length) == 0);
    buf_free(&out);
    return is;
}

/* How many files are there; `path` (may be NULL): the last of them. */
static size_t count(char path[400])
{
    DIR *entries = opendir(folder);
    size_t found = 0;
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        if (entry->d_name[0] == '.')
            continue;
        found++;
        if (path)
            snprintf(path, 400, "%s/%s", folder, entry->d_name);
    }
    if (entries)
        closedir(entries);
    return found;
}

START_TEST(what_is_kept_comes_back_after_a_start)
{
    struct disk_cache *cache = open_about("one", LIMIT);
    struct stat status;
    ck_assert(!is_read(cache, "key", ""));
    disk_cache_write(cache, "key", "bytes", 5);
    disk_cache_write(cache, "nothing", "", 0);
    ck_assert(is_read(cache, "key", "bytes"));
    disk_cache_write(cache, "key", "other bytes", 11);
    disk_cache_close(cache);
    cache = open_about("one", LIMIT);
    ck_assert(is_read(cache, "key", "other bytes") && is_read(cache, "nothing", "") && !is_read(cache, "ke", ""));
    disk_cache_close(cache);
    cache = open_about("another", LIMIT);
    ck_assert(!is_read(cache, "key", ""));
    disk_cache_close(cache);
    ck_assert_int_eq(stat(folder, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0700);
    ck_assert_uint_eq(count(NULL), 2);
    ck_assert(!disk_cache_read(NULL, "key", NULL));
    disk_cache_write(NULL, "key", "bytes", 5);
}
END_TEST

/* The one file that is there, as it is now. */
static size_t load(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t length = fread(bytes, 1, size, file);
    fclose(file);
    return length;
}

static void store(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    fwrite(bytes, 1, length, file);
    fclose(file);
}

START_TEST(no_damaged_file_is_believed)
{
    struct disk_cache *cache = open_about("one", LIMIT);
    char path[400], bytes[1000], damaged[1001];
    disk_cache_write(cache, "key", "what was kept", 13);
    ck_assert_uint_eq(count(path), 1);
    size_t length = load(path, bytes, sizeof(bytes));
    for (size_t at = 0; at < length; at++) {
        memcpy(damaged, bytes, length);
        damaged[at] = (char)(damaged[at] ^ (1 << at % 8));
        store(path, damaged, length);
        ck_assert_msg(!is_read(cache, "key", ""), "byte %zu", at);
        ck_assert_uint_eq(count(NULL), 0);
        store(path, bytes, at);
        ck_assert_msg(!is_read(cache, "key", ""), "cut at %zu", at);
    }
    memcpy(damaged, bytes, length);
    damaged[length] = 0;
    store(path, damaged, length + 1);
    ck_assert(!is_read(cache, "key", ""));
    store(path, bytes, length);
    ck_assert(is_read(cache, "key", "what was kept"));
    disk_cache_close(cache);
}
END_TEST

START_TEST(a_file_under_the_name_of_another_key_is_not_believed)
{
    struct disk_cache *cache = open_about("one", LIMIT);
    char first[400], second[400], aside[60];
    snprintf(aside, sizeof(aside), "%s/aside", root);
    disk_cache_write(cache, "a", "of a", 4);
    count(first);
    ck_assert_int_eq(rename(first, aside), 0);
    disk_cache_write(cache, "b", "of b", 4);
    count(second);
    ck_assert_int_eq(rename(aside, second), 0);
    ck_assert(!is_read(cache, "b", "") && !is_read(cache, "a", ""));
    disk_cache_close(cache);
}
END_TEST

START_TEST(links_and_pipes_are_left_alone)
{
    struct disk_cache *cache = open_about("one", LIMIT);
    char path[400], moved[60];
    snprintf(moved, sizeof(moved), "%s/moved", root);
    disk_cache_write(cache, "key", "bytes", 5);
    count(path);
    ck_assert_int_eq(rename(path, moved), 0);
    ck_assert_int_eq(symlink(moved, path), 0);
    ck_assert(!is_read(cache, "key", ""));
    ck_assert_int_eq(access(moved, F_OK), 0);
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert(!is_read(cache, "key", "")); /* and does not wait for the writer */
    disk_cache_write(cache, "key", "bytes", 5);
    ck_assert(is_read(cache, "key", "bytes"));
    disk_cache_close(cache);
}
END_TEST

static void make_old(const char *path, int hours)
{
    const struct timespec then = {.tv_sec = time(NULL) - hours * 3600}, times[] = {then, then};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

START_TEST(what_was_looked_at_longest_ago_goes_first)
{
    struct disk_cache *cache = open_about("one", LIMIT);
    static char large[LIMIT];
    char path[400], key[16];
    DIR *entries;
    for (int at = 0; at < 10; at++) {
        snprintf(key, sizeof(key), "%d", at);
        disk_cache_write(cache, key, large, LIMIT / 11);
    }
    ck_assert_uint_eq(count(NULL), 10);
    entries = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(entries));) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            make_old(path, 5);
    }
    closedir(entries);
    struct buf out = BUF_INIT;
    ck_assert(disk_cache_read(cache, "3", &out)); /* is looked at now */
    buf_free(&out);
    disk_cache_write(cache, "10", large, LIMIT / 11);
    disk_cache_write(cache, "11", large, LIMIT / 11);
    ck_assert_uint_le(count(NULL), 9);
    ck_assert(disk_cache_read(cache, "3", &out) && disk_cache_read(cache, "11", &out));
    buf_free(&out);
    disk_cache_write(cache, "too large", large, LIMIT / 4 + 1);
    ck_assert(!disk_cache_read(cache, "too large", &out));
    disk_cache_close(cache);
    cache = open_about("one", LIMIT / 8); /* a lower limit at the next start */
    ck_assert_uint_le(count(NULL), 1);
    disk_cache_close(cache);
}
END_TEST

START_TEST(a_folder_that_others_may_open_is_refused)
{
    char reason[300] = "";
    static const mode_t modes[] = {0755, 0710, 0707};
    for (size_t at = 0; at < 3; at++) {
        mkdir(folder, 0700);
        chmod(folder, modes[at]);
        ck_assert_ptr_null(disk_cache_open(folder, LIMIT, "one", reason, sizeof(reason)));
        ck_assert_msg(strstr(reason, "chmod 700") != NULL, "%s", reason);
    }
    snprintf(folder, sizeof(folder), "%s/not/there", root);
    ck_assert_ptr_null(disk_cache_open(folder, LIMIT, "one", reason, sizeof(reason)));
    ck_assert_msg(strstr(reason, "No such file") != NULL, "%s", reason);
}
END_TEST

START_TEST(without_disk_nothing_is_kept_and_nothing_left)
{
    struct disk_cache *cache = open_about("one", LIMIT);
    static char large[LIMIT / 8];
    const struct rlimit little = {4096, 4096}, before = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
    disk_cache_write(cache, "key", large, sizeof(large));
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert(!is_read(cache, "key", ""));
    ck_assert_uint_eq(count(NULL), 0);
    nftw(folder, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
    disk_cache_write(cache, "key", "bytes", 5);
    ck_assert(!is_read(cache, "key", ""));
    disk_cache_close(cache);
}
END_TEST

static void make_future(const char *path)
{
    const struct timespec times[2] = {{.tv_sec = time(NULL) + 86400}, {.tv_sec = time(NULL) + 86400}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* The clock was a day ahead. */
START_TEST(times_of_the_future_do_not_stay)
{
    char kept[400], begun[400];
    struct stat status;
    struct disk_cache *cache = open_about("one", LIMIT);
    disk_cache_write(cache, "a", "A", 1);
    ck_assert_uint_eq(count(kept), 1);
    make_future(kept);
    ck_assert(is_read(cache, "a", "A"));
    ck_assert_int_eq(stat(kept, &status), 0);
    ck_assert_int_le(status.st_mtim.tv_sec, time(NULL));
    disk_cache_close(cache);
    snprintf(begun, sizeof(begun), "%s/new-1-1", folder);
    int left = open(begun, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(left, 0);
    close(left);
    make_future(begun);
    disk_cache_close(open_about("one", LIMIT));
    ck_assert_int_ne(access(begun, F_OK), 0);
    ck_assert_int_eq(access(kept, F_OK), 0);
}
END_TEST

/* Writers that are killed at any moment, three at a time in one folder. */
START_TEST(a_killed_writer_leaves_nothing_that_is_believed)
{
    static char bytes[3][100000];
    struct disk_cache *cache = open_about("one", LIMIT);
    for (int round = 0; round < 30; round++) {
        pid_t ids[3];
        for (int at = 0; at < 3; at++) {
            memset(bytes[at], 'a' + at, sizeof(bytes[at]));
            ids[at] = fork();
            for (int i = 0; ids[at] == 0; i++)
                disk_cache_write(cache, "key", bytes[at], sizeof(bytes[at]) - (size_t)(i % 100));
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000 + round * 100000}, NULL);
        for (int at = 0; at < 3; at++) {
            kill(ids[at], SIGKILL);
            waitpid(ids[at], NULL, 0);
        }
        struct buf out = BUF_INIT;
        if (disk_cache_read(cache, "key", &out)) {
            ck_assert_uint_gt(out.length, sizeof(bytes[0]) - 100);
            for (size_t at = 0; at < out.length; at++)
                ck_assert_int_eq(out.data[at], out.data[0]);
        }
        buf_free(&out);
    }
    char path[400];
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(entries));) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (strncmp(entry->d_name, "new-", 4) == 0)
            make_old(path, 2);
    }
    closedir(entries);
    disk_cache_close(cache);
    disk_cache_close(open_about("one", LIMIT));
    ck_assert_uint_le(count(NULL), 1); /* what was under way is taken away later */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("disk_cache");
    TCase *tests = tcase_create("disk_cache");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, root_begin, root_end);
    tcase_add_test(tests, what_is_kept_comes_back_after_a_start);
    tcase_add_test(tests, no_damaged_file_is_believed);
    tcase_add_test(tests, a_file_under_the_name_of_another_key_is_not_believed);
    tcase_add_test(tests, links_and_pipes_are_left_alone);
    tcase_add_test(tests, what_was_looked_at_longest_ago_goes_first);
    tcase_add_test(tests, a_folder_that_others_may_open_is_refused);
    tcase_add_test(tests, without_disk_nothing_is_kept_and_nothing_left);
    tcase_add_test(tests, times_of_the_future_do_not_stay);
    tcase_add_test(tests, a_killed_writer_leaves_nothing_that_is_believed);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
