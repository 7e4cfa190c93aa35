/* SPDX-License-Identifier: Apache-2.0 */
#include "server/disk/beneath.h"

#include "server/base/descriptors.h"
#include "server/base/other_systems.h"
#include "server/disk/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Follows no link at all, which is stricter than the kernel's rule. */
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
    int descriptor = descriptors_open_beneath(folder, path, flags);
    if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
        descriptor = open_by_component(folder, path, flags);
    if (descriptor < 0 && errno == EACCES)
        descriptor = opener_open_beneath(folder, path, flags);
    return descriptor;
}
