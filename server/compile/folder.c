/* SPDX-License-Identifier: Apache-2.0 */
#include "server/compile/folder.h"

#include "server/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *folder_make(struct err *err)
{
    const char *below = getenv("TMPDIR");
    char *path = memory_format("%s/memviewd-compile-XXXXXX", below && below[0] == '/' ? below : "/tmp");
    if (mkdtemp(path))
        return path;
    err_set(err, ERR_io, ERR_NO_OFFSET, "%.120s: %s", path, strerror(errno));
    free(path);
    return NULL;
}

bool folder_make_at(const char *path, struct err *err)
{
    if (mkdir(path, 0700) == 0)
        return true;
    DIR *folder = errno == EEXIST ? opendir(path) : NULL;
    if (!folder)
        return err_set(err, ERR_io, ERR_NO_OFFSET, "%.120s: %s", path, strerror(errno));
    size_t count = 0;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count <= 2 || err_set(err, ERR_conflict, ERR_NO_OFFSET, "%.120s is not empty", path);
}

char *folder_link(const char *path, const char *name, struct err *err)
{
    char *absolute = realpath(path, NULL);
    if (absolute && symlink(absolute, name) == 0)
        return absolute;
    err_set(err, ERR_io, ERR_NO_OFFSET, "%.120s: %s", path, strerror(errno));
    free(absolute);
    return NULL;
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    remove(path);
    return 0;
}

void folder_remove(const char *path) { nftw(path, entry_remove, 16, FTW_DEPTH | FTW_PHYS); }

bool folder_write(const char *path, const char *name, struct str bytes, struct err *err)
{
    char *file = memory_format("%s/%s", path, name);
    int out = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t at = 0;
    ssize_t part = 1;
    while (out >= 0 && at < bytes.length && part > 0) {
        part = write(out, bytes.data + at, bytes.length - at);
        at += part > 0 ? (size_t)part : 0;
    }
    bool is_whole = out >= 0 && at == bytes.length;
    if (!is_whole)
        err_set(err, ERR_io, ERR_NO_OFFSET, "%.120s: %s", file, strerror(errno));
    if (out >= 0)
        close(out);
    free(file);
    return is_whole;
}
