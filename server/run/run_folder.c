/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/run_folder.h"

#include "server/base/memory.h"
#include "server/compile/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char LOCK_NAME[] = "run.lock";
static const char PREFIX[] = "run-";

/* mkdir -p; true when there was something to make. */
static bool folder_of_all_make(const char *path)
{
    char *part = memory_text(path);
    for (char *slash = part; (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        mkdir(part, 0777);
        *slash = '/';
    }
    bool is_made = mkdir(part, 0777) == 0;
    free(part);
    return is_made;
}

static char *run_folder_absolute(const char *path)
{
    char *real = realpath(path, NULL), *copy = real ? memory_text(real) : NULL;
    free(real);
    return copy;
}

/* "2026-01-09-101500-4711"; free(). */
static char *name_new(void)
{
    char text[32] = "";
    struct tm parts;
    time_t now = time(NULL);
    if (localtime_r(&now, &parts))
        strftime(text, sizeof(text), "%Y-%m-%d-%H%M%S", &parts);
    return memory_format("%s-%d", text, (int)getpid());
}

static int lock_take(const char *folder, int flags)
{
    char *path = memory_format("%s/%s", folder, LOCK_NAME);
    int lock = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    free(path);
    /* Where a file system has no locks, every run is as if it had ended. */
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(lock);
        return -1;
    }
    return lock;
}

/* It gets the name of a run when it is locked: a run that ends at this moment and makes room would take one with that
 * name and without a lock for one that has ended. */
static bool run_make(struct run_folder *folder)
{
    char *name = name_new(), *begun = memory_format("%s/.new-%s", folder->all, name);
    folder->path = memory_format("%s/%s%s", folder->all, PREFIX, name);
    bool is_there = mkdir(begun, 0700) == 0;
    if (is_there)
        folder->lock = lock_take(begun, O_CREAT);
    bool is_made = folder->lock >= 0 && rename(begun, folder->path) == 0;
    int reason = errno;
    if (is_there && !is_made)
        folder_remove(begun);
    if (!is_made) {
        free(folder->path); /* another run's, if it is there */
        folder->path = NULL;
    }
    free(begun);
    free(name);
    errno = reason;
    return is_made;
}

bool run_folder_open(struct run_folder *folder, const char *all, struct err *err)
{
    *folder = (struct run_folder){.lock = -1, .is_made = folder_of_all_make(all)};
    folder->all = run_folder_absolute(all);
    if (folder->all && run_make(folder))
        return true;
    err_set(err, ERR_io, ERR_NO_OFFSET, "%.120s: %s", folder->all ? folder->all : all, strerror(errno));
    run_folder_remove(folder);
    return false;
}

/* ---- Runs that have ended ------------------------------------------------------- */

static _Thread_local uint64_t walked_bytes; /* nftw hands nothing on */

static int entry_add(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)path, (void)walk;
    walked_bytes += type == FTW_F && S_ISREG(status->st_mode) ? (uint64_t)status->st_blocks * 512 : 0;
    return 0;
}

static uint64_t bytes_of(const char *path)
{
    walked_bytes = 0;
    nftw(path, entry_add, 16, FTW_PHYS);
    return walked_bytes;
}

static int is_run(const struct dirent *entry) { return strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0; }

/* Bytes of a run, 0 of a folder of other origin. `may_remove`: and it is removed if it has ended. */
static uint64_t run_take(char *path, bool may_remove)
{
    int lock = lock_take(path, 0);
    char *name = memory_format("%s/%s", path, LOCK_NAME);
    uint64_t bytes = lock >= 0 || access(name, F_OK) == 0 ? bytes_of(path) : 0;
    if (lock >= 0 && may_remove)
        folder_remove(path);
    if (lock >= 0)
        close(lock);
    free(name);
    return may_remove && lock < 0 ? 0 : bytes;
}

/* Names begin with the time: the oldest is first. */
static void oldest_remove(const char *all, const char *but, uint64_t max_bytes)
{
    struct dirent **names = NULL;
    int count = scandir(all, &names, is_run, alphasort);
    uint64_t sum = 0;
    for (int round = 0; round < 2; round++) {
        for (int at = 0; at < count; at++) {
            char *path = memory_format("%s/%s", all, names[at]->d_name);
            if (round == 0) {
                sum += run_take(path, false);
            } else if (sum > max_bytes && strcmp(path, but) != 0) {
                uint64_t bytes = run_take(path, true); /* it may have grown since */
                sum -= bytes < sum ? bytes : sum;
            }
            free(path);
        }
    }
    for (int at = 0; at < count; at++)
        free(names[at]);
    free(names);
}

static void let_go(struct run_folder *folder)
{
    if (folder->lock >= 0)
        close(folder->lock);
    free(folder->path);
    free(folder->all);
    *folder = (struct run_folder){.lock = -1};
}

void run_folder_close(struct run_folder *folder, uint64_t max_bytes)
{
    oldest_remove(folder->all, folder->path, max_bytes);
    let_go(folder);
}

void run_folder_remove(struct run_folder *folder)
{
    if (folder->path)
        folder_remove(folder->path);
    if (folder->all && folder->is_made)
        rmdir(folder->all); /* only when it is empty */
    let_go(folder);
}

/* ---- Runs of others ------------------------------------------------------------- */

static char *lock_path(const char *folder) { return memory_format("%s/%s", folder, LOCK_NAME); }

bool run_folder_is(const char *path)
{
    char *lock = lock_path(path);
    struct stat status;
    bool is = lstat(lock, &status) == 0 && S_ISREG(status.st_mode);
    free(lock);
    return is;
}

bool run_folder_is_running(const char *path)
{
    char *name = lock_path(path);
    int lock = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    free(name);
    if (lock < 0)
        return false;
    bool is_running = flock(lock, LOCK_SH | LOCK_NB) != 0;
    close(lock);
    return is_running;
}

char *run_folder_newest(const char *all)
{
    struct dirent **names = NULL;
    int count = scandir(all, &names, is_run, alphasort);
    char *newest = NULL;
    bool is_running = false;
    for (int at = count - 1; at >= 0; at--) {
        char *path = memory_format("%s/%s", all, names[at]->d_name);
        if (!is_running && run_folder_is(path)) {
            is_running = run_folder_is_running(path);
            if (!newest || is_running) {
                free(newest);
                newest = memory_text(path);
            }
        }
        free(path);
        free(names[at]);
    }
    free(names);
    return newest;
}
