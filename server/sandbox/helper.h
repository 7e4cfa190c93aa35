/* SPDX-License-Identifier: Apache-2.0
 * helper.h: a process of this program that does for another what that one may not do any more (sandbox.h).
 *
 * It is forked while that one still has one thread, and ends when the socket between them is closed: thus also when the
 * other is killed. Signals that end a daemon do not reach it, and it has no descriptor of the daemon but the standard
 * error. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Runs `work` in a new process, which ends with it. Returns the other end of its socket, -1 and errno if there is none.
 * `name`: as ps shows it, at most 15 letters. */
int helper_start(const char *name, void (*work)(int socket, void *context), void *context);

/* Two ends of a socket for the messages below; closed when another program is started. */
bool helper_pair(int ends[2]);
/* One message, whole or not at all, with a descriptor or -1. Waits where there is no room. */
bool helper_send(int socket, const void *data, size_t size, int descriptor);
/* One message of at most `size` bytes; *descriptor (may be NULL: none is taken) is -1 where none came. 0 at the end, -1
 * and errno (EAGAIN: `waits` is false and there is none). */
ssize_t helper_receive(int socket, void *data, size_t size, int *descriptor, bool waits);
