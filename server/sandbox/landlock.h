/* SPDX-License-Identifier: Apache-2.0
 * landlock.h: rules of the kernel for what this process may do with files, for all threads and processes that it starts
 * from then on. They can be made narrower later, never wider.
 *
 * A rule is about a file or folder that is there now, with all that is or comes below it: not about its path. What
 * comes by another file under the same path (a folder made again, a link that leads elsewhere, a mount) is not in it:
 * see server/files/opener.h. Asking about a file (stat) and O_PATH are always allowed.
 * Source: linux/landlock.h up to ABI 7, whose constants are repeated here: headers of Debian 12 end at ABI 2. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum landlock_right {
    LANDLOCK_RIGHT_READ,    /* files, and lists of folders */
    LANDLOCK_RIGHT_WRITE,   /* of a folder: read, and write, make, rename and remove files and folders below it; of a
                               file or device: read and write it */
    LANDLOCK_RIGHT_EXECUTE, /* read, and start programs */
};

struct landlock;

/* The version of Landlock that the kernel has; 0: none, and errno says why: ENOSYS (none is built in), EOPNOTSUPP (it
 * is switched off), EPERM. */
int landlock_version(void);

/* No rights at all, but those that are added; NULL and errno where there is none. TCP sockets cannot be bound nor
 * connected (from ABI 4), signals and abstract Unix sockets reach no process outside (from ABI 6). `executes`: programs
 * may be started wherever they lie, as far as they can be read. */
struct landlock *landlock_new(bool executes);
/* To a path that is there; false and errno where it is not. `pin`: the file stays open, so that one of /proc stays the
 * one that it is. */
bool landlock_allow(struct landlock *landlock, const char *path, enum landlock_right right, bool pin);
/* TCP sockets may be connected to this port, of whatever host. True also where the kernel has no rules for that (below
 * ABI 4). */
bool landlock_allow_port(struct landlock *landlock, uint16_t port);
/* The rules hold from now on, for this thread and those that it starts; PR_SET_NO_NEW_PRIVS has to be set. Frees
 * `landlock`. False and errno. */
bool landlock_enter(struct landlock *landlock);
