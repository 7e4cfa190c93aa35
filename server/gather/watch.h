/* SPDX-License-Identifier: Apache-2.0
 * watch.h: folders of which the kernel tells (inotify) when an entry comes, goes or was written.
 *
 * It says nothing that a scan would not find: it says it at once, and of which folder. So whatever goes wrong here
 * costs time until something is seen, and nothing else. Watched are folders of file systems of which all changes pass
 * this kernel; of others (NFS, CIFS, FUSE, 9p, …) and of systems without inotify (watch_other.c) none is.
 *
 * A watch takes about 1 KiB of the kernel's memory, and the user's other programs need some too. So there is a limit,
 * of which folders have a part by their rank; where the system has fewer, the limit becomes half of what was had, and
 * what is above its part is given back by the next watch_keep. A line in the log says so, once.
 *
 * Threads: one at a time for all functions, but for a thread of its own that calls back. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct watch;
/* One folder's; of two names of one folder the same one. */
struct watched;

enum { WATCH_LIMIT = 32768 };

/* Which folders are watched first when watches are scarce: roots always; recently changed folders up to the limit;
 * folders that get new sessions up to three quarters of it; old sessions up to half. */
enum watch_rank { WATCH_ROOT, WATCH_LATELY, WATCH_PLACE, WATCH_OLD, WATCH_RANK_COUNT };

/* What is called when folders have changed: by another thread, at most about twenty times a second. `is_anywhere`: the
 * kernel lost count, and any folder may have. */
typedef void watch_changed(void *context, bool is_anywhere);

/* At most `limit` watches, none yet. NULL and errno: EMFILE where the user's programs have no free instances left,
 * ENOSYS where the system has no such interface. */
struct watch *watch_new(size_t limit, watch_changed *changed, void *context);
/* Starts the thread. False and errno when it could not start; then no change is reported. */
bool watch_start(struct watch *watch);
/* Ends the thread and all watches. Callers may, and must, release the folders they still hold before watch_free. */
void watch_stop(struct watch *watch);
/* After watch_stop. NULL is nothing. */
void watch_free(struct watch *watch);

/* Watches the folder that is open as `descriptor`, whose status this is, for a holder that has `before` (NULL:
 * nothing), which it has no more afterwards. What the holder has from now on: NULL where the folder is not watched. It
 * is the same as before when it is that folder's and there is room for it. `watch` NULL: none. */
struct watched *watch_keep(struct watch *watch, struct watched *before, int descriptor, const struct stat *status,
                           enum watch_rank rank);
/* The holder wants it no more. NULL is nothing. */
void watch_let_go(struct watched *watched);
/* When something was last reported of the folder: a number, not a time, of which the watches have none in common, and
 * which no new watch has had; 0 for NULL. Asked before the folder is listed: what that listing misses makes it another
 * number. */
uint64_t watch_told_at(const struct watched *watched);

struct watch_figures {
    size_t watched_count; /* folders now */
    uint64_t lost_count;  /* how often the kernel lost count */
};
struct watch_figures watch_figures(struct watch *watch);
