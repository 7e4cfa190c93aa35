/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/beneath.h"

#include "server/base/descriptors.h"
#include "server/base/other_systems.h"
#include "server/files/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* as the kernel */

/* What is still to be walked: `first`, then `rest`. False when that is too long. */
static bool path_put(char path[BENEATH_PATH_BYTES], const char *first, const char *rest)
{
    char both[BENEATH_PATH_BYTES];
    int length = snprintf(both, sizeof(both), "%s%s%s", first, first[0] && rest[0] ? "/" : "", rest);
    if (length < 0 || (size_t)length >= sizeof(both)) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path, both, (size_t)length + 1);
    return true;
}

/* Follows no link at all. */
static int open_without_links(int folder, const char *path, int flags)
{
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    while (at >= 0) {
        size_t length = strcspn(path, "/");
        char name[256];
        if (length >= sizeof(name) || (length == 2 && memcmp(path, "..", 2) == 0)) {
            close(at);
            errno = length >= sizeof(name) ? ENAMETOOLONG : EXDEV;
            return -1;
        }
        memcpy(name, path, length);
        name[length] = '\0';
        bool is_last = path[length] == '\0';
        int next = openat(at, name, is_last ? flags | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int reason = errno;
        close(at);
        errno = reason;
        if (is_last)
            return next;
        at = next;
        path += length + 1;
    }
    return -1;
}

/* Takes the last component off; false when there is none. */
static bool path_cut(char path[BENEATH_PATH_BYTES])
{
    char *slash = strrchr(path, '/');
    bool has_any = path[0] != '\0';
    (slash ? slash : path)[0] = '\0';
    if (!has_any)
        errno = EXDEV;
    return has_any;
}

/* Walks one component of the remaining path. 1: it is a plain component, and is appended to `real`. 0: it is a link,
 * and its target replaces it in the remaining path. -1 and errno. */
static int component_walk(int folder, const char *name, char real[BENEATH_PATH_BYTES], char left[BENEATH_PATH_BYTES],
                          int *link_count)
{
    char target[BENEATH_PATH_BYTES];
    int at = real[0] ? open_without_links(folder, real, O_PATH | O_DIRECTORY | O_CLOEXEC)
                     : fcntl(folder, F_DUPFD_CLOEXEC, 0);
    ssize_t length = at < 0 ? -1 : readlinkat(at, name, target, sizeof(target) - 1);
    int reason = errno;
    if (at >= 0)
        close(at);
    errno = reason;
    if (at < 0 || (length < 0 && reason != EINVAL)) /* EINVAL: it is no link */
        return -1;
    if (length < 0)
        return path_put(real, real, name) ? 1 : -1;
    target[length] = '\0';
    errno = ++*link_count > LINKS_MAX ? ELOOP : EXDEV;
    if (*link_count > LINKS_MAX || target[0] == '/')
        return -1;
    return path_put(left, target, left) ? 0 : -1;
}

bool beneath_real_path(int folder, const char *path, char real[BENEATH_PATH_BYTES])
{
    char left[BENEATH_PATH_BYTES];
    int link_count = 0;
    real[0] = '\0';
    if (!path_put(left, path, ""))
        return false;
    while (left[0]) {
        size_t length = strcspn(left, "/");
        char name[256];
        if (length >= sizeof(name)) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(name, left, length);
        name[length] = '\0';
        memmove(left, left + length, strlen(left + length) + 1);
        memmove(left, left + strspn(left, "/"), strlen(left + strspn(left, "/")) + 1);
        if (length == 0 || strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "..") == 0 ? !path_cut(real) : component_walk(folder, name, real, left, &link_count) < 0)
            return false;
    }
    return true;
}

/* Links as the kernel follows them: as long as they stay below. */
static int open_by_component(int folder, const char *path, int flags)
{
    char real[BENEATH_PATH_BYTES];
    return beneath_real_path(folder, path, real) ? open_without_links(folder, real[0] ? real : ".", flags) : -1;
}

int beneath_open(int folder, const char *path, int flags)
{
    if (path[0] == '\0')
        path = ".";
    int descriptor = descriptors_open_beneath(folder, path, flags);
    if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
        descriptor = open_by_component(folder, path, flags);
    if (descriptor < 0 && errno == EACCES)
        descriptor = opener_open_beneath(folder, path, flags);
    return descriptor;
}
