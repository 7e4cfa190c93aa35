/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

enum { PART_BYTES = 1 << 16 };

static int marked(int descriptor)
{
    if (descriptor >= 0)
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return descriptor;
}

int descriptors_socket(int family, int type, bool waits)
{
    int made = marked(socket(family, type, 0));
    if (made >= 0 && !waits)
        fcntl(made, F_SETFL, O_NONBLOCK);
    return made;
}

int descriptors_accept(int listener, struct sockaddr *from, socklen_t *length)
{
    int taken = marked(accept(listener, from, length));
    if (taken >= 0)
        fcntl(taken, F_SETFL, O_NONBLOCK);
    return taken;
}

bool descriptors_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return false;
    marked(ends[0]);
    marked(ends[1]);
    return true;
}

int descriptors_memory_file(void)
{
    char path[] = "/tmp/memviewd-XXXXXX";
    int made = marked(mkstemp(path));
    if (made >= 0)
        unlink(path);
    return made;
}

void descriptors_close_from(int first)
{
    for (int end = getdtablesize(); first < end; first++)
        close(first);
}

int descriptors_open_beneath(int folder, const char *path, int flags)
{
    (void)folder, (void)path, (void)flags;
    errno = ENOSYS;
    return -1;
}

ssize_t descriptors_copy(int from, int to, size_t size)
{
    char part[PART_BYTES];
    ssize_t length = read(from, part, size < sizeof(part) ? size : sizeof(part));
    return length > 0 ? write(to, part, (size_t)length) : length;
}

bool descriptors_is_fuse(int descriptor)
{
    struct statfs system;
    return fstatfs(descriptor, &system) == 0 && strstr(system.f_fstypename, "fuse");
}
