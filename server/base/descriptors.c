/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/descriptors.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { FUSE_MAGIC = 0x65735546 };

int descriptors_socket(int family, int type, bool waits)
{
    return socket(family, type | SOCK_CLOEXEC | (waits ? 0 : SOCK_NONBLOCK), 0);
}

int descriptors_accept(int listener, struct sockaddr *from, socklen_t *length)
{
    return accept4(listener, from, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

bool descriptors_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0; }

int descriptors_memory_file(void) { return memfd_create("memviewd", MFD_CLOEXEC); }

/* Not every C library has it as a function. */
void descriptors_close_from(int first) { syscall(SYS_close_range, first, ~0U, 0); }

int descriptors_open_beneath(int folder, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)flags,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

ssize_t descriptors_copy(int from, int to, size_t size) { return sendfile(to, from, NULL, size); }

bool descriptors_is_fuse(int descriptor)
{
    struct statfs system;
    return fstatfs(descriptor, &system) == 0 && system.f_type == FUSE_MAGIC;
}
