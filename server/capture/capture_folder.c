/* SPDX-License-Identifier: Apache-2.0 */
#include "server/capture/capture_folder.h"

#include "server/base/clock.h"
#include "server/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TIME_SIZE = 32, SAME_SECOND_MAX = 100, FOLDER_MODE = 0777, FILE_MODE = 0666, PATH_SHOWN = 140 };

/* ---- folders ---- */

static bool say_fault(const char *path, struct err *err)
{
    return err_set(err, ERR_io, ERR_NO_OFFSET, "%.*s: %s", PATH_SHOWN, path, strerror(errno));
}

/* *is_made: it was not there before. */
static bool make(const char *path, bool *is_made, struct err *err)
{
    *is_made = mkdir(path, FOLDER_MODE) == 0;
    return *is_made || errno == EEXIST || say_fault(path, err);
}

static void write_time(char text[TIME_SIZE])
{
    time_t now = (time_t)(clock_unix_ms() / 1000);
    struct tm parts = {0};
    localtime_r(&now, &parts);
    strftime(text, TIME_SIZE, "%Y_%m_%d_%H_%M_%S", &parts);
}

/* A folder that was not there before: of a second capture within the same second "…_2". */
static bool make_session(struct capture_folder *folder, struct err *err)
{
    char time[TIME_SIZE];
    write_time(time);
    for (int number = 1; number <= SAME_SECOND_MAX; number++) {
        folder->path = number == 1 ? memory_format("%s/%s", folder->profiles, time)
                                   : memory_format("%s/%s_%d", folder->profiles, time, number);
        folder->id = strrchr(folder->path, '/') + 1;
        if (mkdir(folder->path, FOLDER_MODE) == 0)
            return true;
        if (errno != EEXIST)
            say_fault(folder->path, err);
        free(folder->path);
        folder->path = NULL;
        if (err_is_set(err))
            return false;
    }
    return err_set(err, ERR_io, ERR_NO_OFFSET, "%.*s: there are %d captures of this second", PATH_SHOWN,
                   folder->profiles, SAME_SECOND_MAX);
}

bool capture_folder_open(struct capture_folder *folder, const char *logdir, struct err *err)
{
    *folder = (struct capture_folder){0};
    char *real = realpath(logdir, NULL);
    if (!real)
        return say_fault(logdir, err);
    char *plugins = memory_format("%s/plugins", strcmp(real, "/") == 0 ? "" : real);
    free(real);
    folder->profiles = memory_format("%s/profile", plugins);
    bool is_made = make(plugins, &folder->has_made_plugins, err) &&
                   make(folder->profiles, &folder->has_made_profiles, err) && make_session(folder, err);
    free(plugins);
    return is_made;
}

/* Goes only if it is empty. (rmdir is no call that the sandbox allows.) */
static bool folder_remove(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR) == 0; }

void capture_folder_close(struct capture_folder *folder)
{
    bool is_gone = !folder->path || folder_remove(folder->path);
    if (is_gone && folder->has_made_profiles)
        folder_remove(folder->profiles);
    if (is_gone && folder->has_made_plugins) {
        *strrchr(folder->profiles, '/') = '\0';
        folder_remove(folder->profiles);
    }
    free(folder->path);
    free(folder->profiles);
    *folder = (struct capture_folder){0};
}

/* ---- files ---- */

bool capture_file_open(struct capture_file *file, const struct capture_folder *folder, const char *host,
                       struct err *err)
{
    size_t before = strlen(folder->path) + 1;
    file->path = memory_format("%s/%s.xplane.pb", folder->path, host);
    for (char *at = file->path + before; *at; at++)
        *at = *at == ':' ? '_' : *at;
    char *part = memory_format("%s.part", file->path);
    file->descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (file->descriptor < 0) {
        say_fault(part, err);
        free(part);
        return false;
    }
    file->part = part;
    return true;
}

bool capture_file_add(const struct capture_file *file, const void *bytes, size_t size, struct err *err)
{
    for (const char *at = bytes, *end = at + size; at < end;) {
        ssize_t count = write(file->descriptor, at, (size_t)(end - at));
        if (count < 0 && errno != EINTR)
            return say_fault(file->path, err);
        at += count > 0 ? count : 0;
    }
    return true;
}

static void part_close(struct capture_file *file)
{
    free(file->part);
    file->part = NULL;
}

bool capture_file_keep(struct capture_file *file, struct err *err)
{
    bool is_whole = close(file->descriptor) == 0 && rename(file->part, file->path) == 0;
    if (!is_whole) {
        say_fault(file->path, err);
        unlink(file->part);
    }
    part_close(file);
    return is_whole;
}

uint64_t capture_file_found_bytes(const struct capture_file *file)
{
    struct stat status;
    bool is_there = file->path && stat(file->path, &status) == 0 && S_ISREG(status.st_mode);
    return is_there ? (uint64_t)status.st_size : 0;
}

void capture_file_close(struct capture_file *file)
{
    if (file->part) {
        close(file->descriptor);
        unlink(file->part);
        part_close(file);
    }
    free(file->path);
    file->path = NULL;
}
