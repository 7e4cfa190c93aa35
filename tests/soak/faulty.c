/* SPDX-License-Identifier: Apache-2.0
 * faulty.c: loaded before the C library (LD_PRELOAD), makes one kind of call fail.
 *
 * MEMVIEWD_FAULT=CALL:AT:COUNT:ERRNO[:PATH]: from the AT-th call on (1 is the first) COUNT calls of CALL fail with
 * that errno; where it is 0, the process ends at once instead, with status 99, and cleans nothing up. CALL: open
 * (every way to open), read (pread, too), alloc (malloc, calloc, realloc, mmap of 32 KiB and more), alloc_any (the
 * first three of any size), accept, send, thread, list (readdir), change (writing into a file, renameat, unlinkat,
 * mkdir). PATH: of open only those whose path contains it. A file named by MEMVIEWD_FAULT_GO has to exist before
 * calls count, so that the start can be left alone. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LEAST_ALLOCATION = 32 * 1024 };

int __open_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);

static atomic_long calls;

/* Makes errno what the fault is and tells whether this call is one of those that fail. Allocates nothing. */
static bool fails(const char *call, const char *path)
{
    const char *fault = getenv("MEMVIEWD_FAULT"), *go = getenv("MEMVIEWD_FAULT_GO");
    size_t length = strlen(call);
    if (!fault || strncmp(fault, call, length) != 0 || fault[length] != ':')
        return false;
    char *rest;
    long at = strtol(fault + length + 1, &rest, 10), count = strtol(rest + 1, &rest, 10),
         number = strtol(rest + 1, &rest, 10);
    if (*rest == ':' && (!path || !strstr(path, rest + 1)))
        return false;
    int before = errno;
    bool is_there = !go || syscall(SYS_access, go, F_OK) == 0;
    errno = before; /* readdir tells by it, too */
    if (!is_there)
        return false;
    long nth = atomic_fetch_add(&calls, 1) + 1;
    if (nth < at || nth - at >= count)
        return false;
    if (number == 0)
        _exit(99); /* in the sandbox a process may not even kill itself */
    errno = (int)number;
    return true;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static mode_t mode_of(int flags, va_list rest) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; }

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = mode_of(flags, rest);                                                                            \
        va_end(rest);                                                                                                  \
        return fails("open", path) ? -1 : REAL(name)(path, flags, mode);                                               \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                   \
    int name(int folder, const char *path, int flags, ...)                                                             \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = mode_of(flags, rest);                                                                            \
        va_end(rest);                                                                                                  \
        return fails("open", path) ? -1 : REAL(name)(folder, path, flags, mode);                                       \
    }
OPENAT(openat)
OPENAT(openat64)

/* What open and openat are when the compiler sees that no mode is needed. */
int __open_2(const char *path, int flags) { return fails("open", path) ? -1 : REAL(__open_2)(path, flags); }

int __openat_2(int folder, const char *path, int flags)
{
    return fails("open", path) ? -1 : REAL(__openat_2)(folder, path, flags);
}

/* openat2 has no function of its own in the C library. */
long syscall(long number, ...)
{
    va_list rest;
    long a[6];
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_openat2 && fails("open", (const char *)a[1]))
        return -1;
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

ssize_t pread(int file, void *into, size_t size, off_t at)
{
    return fails("read", NULL) ? -1 : REAL(pread)(file, into, size, at);
}

ssize_t pread64(int file, void *into, size_t size, off64_t at)
{
    return fails("read", NULL) ? -1 : REAL(pread64)(file, into, size, at);
}

ssize_t read(int file, void *into, size_t size) { return fails("read", NULL) ? -1 : REAL(read)(file, into, size); }

static bool is_of_disk(int file)
{
    struct stat facts;
    int before = errno;
    bool is = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
    errno = before;
    return is;
}

ssize_t write(int file, const void *bytes, size_t size)
{
    return is_of_disk(file) && fails("change", NULL) ? -1 : REAL(write)(file, bytes, size);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return fails("change", NULL) ? -1 : REAL(renameat)(from_folder, from, to_folder, to);
}

int unlinkat(int folder, const char *path, int flags)
{
    return fails("change", NULL) ? -1 : REAL(unlinkat)(folder, path, flags);
}

int mkdir(const char *path, mode_t mode) { return fails("change", NULL) ? -1 : REAL(mkdir)(path, mode); }

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    return size >= LEAST_ALLOCATION && fails("alloc", NULL) ? MAP_FAILED
                                                            : REAL(mmap)(at, size, protection, flags, file, offset);
}

struct dirent *readdir(DIR *folder) { return fails("list", NULL) ? NULL : REAL(readdir)(folder); }

struct dirent64 *readdir64(DIR *folder) { return fails("list", NULL) ? NULL : REAL(readdir64)(folder); }

int accept4(int listener, struct sockaddr *restrict address, socklen_t *restrict size, int flags)
{
    return fails("accept", NULL) ? -1 : REAL(accept4)(listener, address, size, flags);
}

ssize_t sendmsg(int to, const struct msghdr *message, int flags)
{
    return fails("send", NULL) ? -1 : REAL(sendmsg)(to, message, flags);
}

ssize_t send(int to, const void *bytes, size_t size, int flags)
{
    return fails("send", NULL) ? -1 : REAL(send)(to, bytes, size, flags);
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict how, void *(*start)(void *),
                   void *restrict context)
{
    return fails("thread", NULL) ? errno : REAL(pthread_create)(thread, how, start, context);
}

/* dlsym allocates: the C library's own names are used. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static bool refuses(size_t size)
{
    return (size >= LEAST_ALLOCATION && fails("alloc", NULL)) || fails("alloc_any", NULL);
}

void *malloc(size_t size) { return refuses(size) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size)
{
    size_t all = size && count > SIZE_MAX / size ? SIZE_MAX : count * size;
    return refuses(all) ? NULL : __libc_calloc(count, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return realloc(old, count * size);
}

void *realloc(void *old, size_t size) { return refuses(size) ? NULL : __libc_realloc(old, size); }
