/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/run_log.h"

#include "server/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { PART_BYTES = 1 << 16 };

struct run_log {
    pthread_mutex_t mutex;
    int file;
    uint64_t size_bytes, max_bytes;
};

struct run_log *run_log_new(const char *path, uint64_t max_bytes, struct err *err)
{
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        err_set(err, ERR_io, ERR_NO_OFFSET, "%.120s: %s", path, strerror(errno));
        return NULL;
    }
    struct run_log *log = memory_new(sizeof(*log));
    *log = (struct run_log){.file = file, .max_bytes = max_bytes};
    pthread_mutex_init(&log->mutex, NULL);
    return log;
}

/* The end moves to the beginning. */
static void half_drop(struct run_log *log)
{
    char part[PART_BYTES];
    uint64_t to = 0, from = log->size_bytes - log->max_bytes / 2;
    ssize_t length;
    while ((length = pread(log->file, part, sizeof(part), (off_t)(from + to))) > 0) {
        ssize_t written = pwrite(log->file, part, (size_t)length, (off_t)to);
        if (written <= 0)
            break;
        to += (uint64_t)written;
    }
    if (ftruncate(log->file, (off_t)to) == 0)
        log->size_bytes = to;
}

void run_log_add(struct run_log *log, const char *bytes, size_t size)
{
    pthread_mutex_lock(&log->mutex);
    while (size > 0) {
        if (log->size_bytes >= log->max_bytes)
            half_drop(log);
        uint64_t room = log->max_bytes > log->size_bytes ? log->max_bytes - log->size_bytes : 0;
        ssize_t written =
            room > 0 ? pwrite(log->file, bytes, size < room ? size : (size_t)room, (off_t)log->size_bytes) : 0;
        if (written <= 0)
            break;
        log->size_bytes += (uint64_t)written;
        bytes += written;
        size -= (size_t)written;
    }
    pthread_mutex_unlock(&log->mutex);
}

void run_log_free(struct run_log *log)
{
    close(log->file);
    pthread_mutex_destroy(&log->mutex);
    free(log);
}
