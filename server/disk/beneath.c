/* SPDX-License-Identifier: Apache-2.0 */
#include "server/disk/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_resolving(int folder, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

/* Follows no link at all, which is stricter than openat2. */
static int open_by_component(int folder, const char *path, int flags)
{
    int at = dup(folder);
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

int beneath_open(int folder, const char *path, int flags)
{
    if (path[0] == '\0')
        path = ".";
    int descriptor = open_resolving(folder, path, flags);
    if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
        descriptor = open_by_component(folder, path, flags);
    return descriptor;
}
