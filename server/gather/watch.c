/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/watch.h"

#include "base/map.h"
#include "server/base/log.h"
#include "server/base/memory.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Not IN_MODIFY: a file that is being written tells of each write, and is not done before it is closed. */
static const uint32_t TOLD =
    IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

enum {
    GATHER_MS = 50, /* one change comes with others: a folder, its files, their ends */
    EVENT_BYTES = 64 << 10,
    MAX_READS = 64, /* the kernel keeps 16384 events by default; what comes meanwhile can wait */
    MAX_DEVICES = 16,
};

struct watched {
    struct watch *watch;
    int number; /* the kernel's; none is used again */
    size_t holders;
    uint64_t device, inode;
    atomic_uint_fast64_t told_at;
    atomic_bool is_gone; /* the folder is removed, or its file system unmounted: the kernel has ended it */
};

struct device {
    uint64_t number;
    bool is_local;
};

struct watch {
    int events, end; /* end: an eventfd that is written when it is time to stop */
    watch_changed *changed;
    void *context;
    pthread_t thread;
    bool has_thread, is_refused;
    size_t limit;
    struct device devices[MAX_DEVICES];
    size_t device_count;

    pthread_mutex_t lock;
    struct map by_number;            /* struct watched; those that are not gone */
    uint64_t lost_count, told_count; /* told_count: also of watches that are new */
};

/* ---- what the kernel tells ---------------------------------------------------------------- */

/* With the lock. Is it about a folder that is watched? */
static bool event_take(struct watch *watch, const struct inotify_event *event, const char *name)
{
    if (event->mask & IN_Q_OVERFLOW) {
        watch->lost_count++;
        return true;
    }
    if (event->len > 0 && name[0] == '.')
        return false; /* no part of a tree: mostly files that are renamed when they are complete */
    struct map_slot *slot = map_at(&watch->by_number, (uint64_t)event->wd);
    struct watched *watched = map_pointer(slot->value);
    if (!watched)
        return false; /* released meanwhile */
    atomic_store(&watched->told_at, ++watch->told_count);
    if (event->mask & IN_IGNORED) {
        atomic_store(&watched->is_gone, true);
        map_clear(&watch->by_number, slot);
    }
    return true;
}

/* Takes what there is. True when there was something about a folder that is watched. */
static bool events_take(struct watch *watch, char *bytes)
{
    bool has_news = false;
    ssize_t count;
    for (int reads = 0; reads < MAX_READS && (count = read(watch->events, bytes, EVENT_BYTES)) > 0; reads++) {
        pthread_mutex_lock(&watch->lock);
        struct inotify_event event;
        for (size_t at = 0; at + sizeof(event) <= (size_t)count; at += sizeof(event) + event.len) {
            memcpy(&event, bytes + at, sizeof(event));
            has_news |= event_take(watch, &event, bytes + at + sizeof(event));
        }
        pthread_mutex_unlock(&watch->lock);
    }
    return has_news;
}

static uint64_t lost_count(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    uint64_t count = watch->lost_count;
    pthread_mutex_unlock(&watch->lock);
    return count;
}

/* Is it time to stop? Waits for events, or for so long. */
static bool is_ended(struct watch *watch, bool waits_for_events, int wait_ms)
{
    struct pollfd waits[] = {{.fd = watch->end, .events = POLLIN}, {.fd = watch->events, .events = POLLIN}};
    while (poll(waits, waits_for_events ? 2 : 1, wait_ms) < 0 && errno == EINTR)
        continue;
    return waits[0].revents != 0;
}

static void *listen_to_kernel(void *context)
{
    struct watch *watch = context;
    char *bytes = memory_new(EVENT_BYTES);
    while (!is_ended(watch, true, -1) && !is_ended(watch, false, GATHER_MS)) {
        uint64_t lost_before = lost_count(watch);
        if (events_take(watch, bytes))
            watch->changed(watch->context, lost_count(watch) != lost_before);
    }
    free(bytes);
    return NULL;
}

/* ---- beginning and end -------------------------------------------------------------------- */

struct watch *watch_new(size_t limit, watch_changed *changed, void *context)
{
    int events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), end = events < 0 ? -1 : eventfd(0, EFD_CLOEXEC);
    if (end < 0) {
        int reason = errno;
        if (events >= 0)
            close(events);
        errno = reason;
        return NULL;
    }
    struct watch *watch = memory_new(sizeof(*watch));
    *watch = (struct watch){.events = events, .end = end, .changed = changed, .context = context, .limit = limit};
    pthread_mutex_init(&watch->lock, NULL);
    map_init_of(&watch->by_number, memory_new, 0);
    return watch;
}

bool watch_start(struct watch *watch)
{
    errno = pthread_create(&watch->thread, NULL, listen_to_kernel, watch);
    watch->has_thread = errno == 0;
    return watch->has_thread;
}

void watch_stop(struct watch *watch)
{
    const uint64_t one = 1;
    if (watch->has_thread && write(watch->end, &one, sizeof(one)) == (ssize_t)sizeof(one))
        pthread_join(watch->thread, NULL);
    watch->has_thread = false;
    if (watch->events >= 0)
        close(watch->events); /* ends all at once, which one by one takes longer */
    watch->events = -1;
}

void watch_free(struct watch *watch)
{
    if (!watch)
        return;
    close(watch->end);
    map_free(&watch->by_number);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

/* ---- which folders ------------------------------------------------------------------------ */

/* File systems that others change without this kernel's knowledge are not among these, and neither is what is not
 * known. */
static bool is_kind_local(long kind)
{
    static const uint32_t LOCAL[] = {
        0xEF53,     /* ext2, ext3, ext4 */
        0x58465342, /* XFS */
        0x9123683E, /* Btrfs */
        0x01021994, /* tmpfs */
        0x858458F6, /* ramfs */
        0x794C7630, /* overlayfs */
        0xF2F52010, /* F2FS */
        0x2FC12FC1, /* ZFS */
        0xCA451A4E, /* bcachefs */
        0x3153464A, /* JFS */
        0x52654973, /* ReiserFS */
    };
    for (size_t at = 0; at < sizeof(LOCAL) / sizeof(LOCAL[0]); at++)
        if ((uint32_t)kind == LOCAL[at])
            return true;
    return false;
}

static bool is_local(struct watch *watch, int descriptor, uint64_t number)
{
    struct statfs system;
    for (size_t at = 0; at < watch->device_count; at++)
        if (watch->devices[at].number == number)
            return watch->devices[at].is_local;
    bool is = fstatfs(descriptor, &system) == 0 && is_kind_local((long)system.f_type);
    if (watch->device_count < MAX_DEVICES)
        watch->devices[watch->device_count++] = (struct device){number, is};
    return is;
}

static size_t limit_of(const struct watch *watch, enum watch_rank rank)
{
    switch (rank) {
    case WATCH_ROOT: break;
    case WATCH_LATELY: return watch->limit;
    case WATCH_PLACE: return watch->limit / 4 * 3;
    case WATCH_OLD: return watch->limit / 2;
    case WATCH_RANK_COUNT: break;
    }
    return SIZE_MAX;
}

static size_t watched_count(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    size_t count = watch->by_number.count;
    pthread_mutex_unlock(&watch->lock);
    return count;
}

/* The system has no more of them, or something that is not foreseen refuses: an administrator may want to know. */
static void say_refused(struct watch *watch, int reason)
{
    size_t count = watched_count(watch);
    if (reason == ENOSPC)
        watch->limit = count / 2;
    if (watch->is_refused || reason == EACCES || reason == ENOENT || reason == ENOTDIR)
        return; /* those are of one folder */
    watch->is_refused = true;
    if (reason == ENOSPC)
        log_line("no more than %zu folders can be watched (fs.inotify.max_user_watches): what changes in others is "
                 "found by scans",
                 count);
    else
        log_line("folders cannot be watched: %s; what changes is found by scans", strerror(reason));
}

static struct watched *watched_of(struct watch *watch, int number, const struct stat *status)
{
    pthread_mutex_lock(&watch->lock);
    struct map_slot *slot = map_at(&watch->by_number, (uint64_t)number);
    struct watched *watched = map_pointer(slot->value);
    if (!watched) {
        watched = memory_new(sizeof(*watched));
        watched->watch = watch;
        atomic_init(&watched->told_at, ++watch->told_count);
        watched->number = number;
        watched->device = (uint64_t)status->st_dev;
        watched->inode = (uint64_t)status->st_ino;
        map_fill(&watch->by_number, slot, (uint64_t)number, map_value(watched));
    }
    watched->holders++;
    pthread_mutex_unlock(&watch->lock);
    return watched;
}

/* By its descriptor: whatever a path leads to meanwhile, this is the folder that was opened with care. */
static struct watched *watched_new(struct watch *watch, int descriptor, const struct stat *status)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    int number = inotify_add_watch(watch->events, path, TOLD);
    if (number >= 0)
        return watched_of(watch, number, status);
    say_refused(watch, errno);
    return NULL;
}

struct watched *watch_keep(struct watch *watch, struct watched *before, int descriptor, const struct stat *status,
                           enum watch_rank rank)
{
    if (!watch)
        return NULL;
    const size_t limit = limit_of(watch, rank);
    bool is_same = before && !atomic_load(&before->is_gone) && before->device == (uint64_t)status->st_dev &&
                   before->inode == (uint64_t)status->st_ino;
    if (is_same && watched_count(watch) <= limit)
        return before;
    watch_let_go(before);
    if (is_same || watched_count(watch) >= limit || !is_local(watch, descriptor, (uint64_t)status->st_dev))
        return NULL;
    return watched_new(watch, descriptor, status);
}

void watch_let_go(struct watched *watched)
{
    if (!watched || --watched->holders > 0)
        return;
    struct watch *watch = watched->watch;
    pthread_mutex_lock(&watch->lock);
    bool is_gone = atomic_load(&watched->is_gone);
    if (!is_gone)
        map_clear(&watch->by_number, map_at(&watch->by_number, (uint64_t)watched->number));
    pthread_mutex_unlock(&watch->lock);
    if (!is_gone && watch->events >= 0)
        inotify_rm_watch(watch->events, watched->number);
    free(watched);
}

uint64_t watch_told_at(const struct watched *watched) { return watched ? atomic_load(&watched->told_at) : 0; }

struct watch_figures watch_figures(struct watch *watch)
{
    return watch ? (struct watch_figures){watched_count(watch), lost_count(watch)} : (struct watch_figures){0};
}
