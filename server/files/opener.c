/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/opener.h"

#include "server/base/memory.h"
#include "server/files/beneath.h"
#include "server/sandbox/helper.h"
#include "server/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum asked { OPEN_ROOT, OPEN_BENEATH, UNLINK };

struct question {
    int32_t asked, flags;
    char path[PATH_MAX]; /* ends with NUL */
};

struct work {
    char **roots;
    size_t count;
    const char *socket_path;
};

/* For the process that asks. */
static int asking = -1;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Absolute, without a slash at its end; free(). */
static char *opener_absolute(const char *path)
{
    char folder[PATH_MAX];
    char *text =
        path[0] != '/' && getcwd(folder, sizeof(folder)) ? memory_format("%s/%s", folder, path) : memory_text(path);
    for (size_t length = strlen(text); length > 1 && text[length - 1] == '/';)
        text[--length] = '\0';
    return text;
}

/* ---- the process that opens -------------------------------------------------------------- */

static bool is_root(const struct work *work, const char *path)
{
    for (size_t at = 0; at < work->count; at++)
        if (strcmp(work->roots[at], path) == 0)
            return true;
    return false;
}

/* The folder that one of the paths is now. */
static bool is_root_folder(const struct work *work, int folder)
{
    struct stat theirs, ours;
    if (fstat(folder, &theirs) != 0 || !S_ISDIR(theirs.st_mode))
        return false;
    for (size_t at = 0; at < work->count; at++)
        if (stat(work->roots[at], &ours) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
            return true;
    return false;
}

/* -1 and errno. Pipes and devices are nothing that is read. */
static int open_asked(const struct work *work, const struct question *question, int folder)
{
    struct stat status;
    const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (question->flags & O_DIRECTORY);
    int descriptor = -1;
    errno = EACCES;
    if (question->asked == OPEN_ROOT && is_root(work, question->path))
        descriptor = open(question->path, flags);
    else if (question->asked == OPEN_BENEATH && is_root_folder(work, folder))
        descriptor = beneath_open(folder, question->path, flags);
    if (descriptor < 0 || (fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))))
        return descriptor;
    close(descriptor);
    errno = EACCES;
    return -1;
}

static void close_if(int descriptor)
{
    if (descriptor >= 0)
        close(descriptor);
}

static void work_until_closed(int socket, void *context)
{
    const struct work *work = context;
    struct sandbox *sandbox = sandbox_new(SANDBOX_OPENER);
    struct question question;
    int folder;
    ssize_t length;
    sandbox_reads(sandbox, "/");
    if (work->socket_path[0]) {
        char *path = memory_text(work->socket_path);
        *(strrchr(path, '/') == path ? path + 1 : strrchr(path, '/')) = '\0';
        sandbox_writes(sandbox, path);
        free(path);
    }
    sandbox_enter(sandbox, NULL);
    while ((length = helper_receive(socket, &question, sizeof(question), &folder, true)) > 0) {
        int descriptor = -1;
        errno = EINVAL;
        bool is_whole = (size_t)length > offsetof(struct question, path) && ((char *)&question)[length - 1] == '\0';
        if (is_whole && question.asked == UNLINK && strcmp(question.path, work->socket_path) == 0)
            unlink(work->socket_path);
        else if (is_whole)
            descriptor = open_asked(work, &question, folder);
        const int32_t reason = descriptor < 0 ? errno : 0;
        helper_send(socket, &reason, sizeof(reason), descriptor);
        close_if(descriptor);
        close_if(folder);
    }
}

bool opener_start(const char *const *roots, size_t count, const char *socket_path)
{
    struct work work = {.roots = memory_new((count + 1) * sizeof(*work.roots)), .socket_path = socket_path};
    for (; work.count < count; work.count++)
        work.roots[work.count] = opener_absolute(roots[work.count]);
    asking = helper_start("memviewd-open", work_until_closed, &work);
    int reason = errno;
    for (size_t at = 0; at < work.count; at++)
        free(work.roots[at]);
    free(work.roots);
    errno = reason;
    return asking >= 0;
}

/* ---- the process that asks --------------------------------------------------------------- */

/* -1 and errno. */
static int opener_ask(enum asked asked, int folder, const char *path, int flags)
{
    struct question question = {.asked = (int32_t)asked, .flags = flags};
    size_t length = strlen(path);
    int32_t reason = EACCES;
    int descriptor = -1;
    if (asking < 0 || length >= sizeof(question.path)) {
        errno = EACCES;
        return -1;
    }
    memcpy(question.path, path, length + 1);
    pthread_mutex_lock(&one_at_a_time);
    if (!helper_send(asking, &question, offsetof(struct question, path) + length + 1, folder) ||
        helper_receive(asking, &reason, sizeof(reason), &descriptor, true) != (ssize_t)sizeof(reason))
        reason = EACCES; /* it is gone: killed */
    pthread_mutex_unlock(&one_at_a_time);
    errno = reason;
    return descriptor;
}

int opener_open_root(const char *root, int flags)
{
    int descriptor = open(root, flags);
    if (descriptor >= 0 || errno != EACCES || asking < 0)
        return descriptor;
    char *path = opener_absolute(root);
    descriptor = opener_ask(OPEN_ROOT, -1, path, flags);
    int reason = errno;
    free(path);
    errno = reason;
    return descriptor;
}

int opener_open_beneath(int folder, const char *path, int flags)
{
    return opener_ask(OPEN_BENEATH, folder, path, flags);
}

void opener_unlink(const char *path)
{
    if (asking < 0)
        unlink(path);
    else
        opener_ask(UNLINK, -1, path, 0);
}
