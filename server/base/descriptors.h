/* SPDX-License-Identifier: Apache-2.0
 * descriptors.h: making and asking about descriptors where systems differ. All that are made are closed when another
 * program is started; where the system can only mark them afterwards (descriptors_other.c), one that is started at
 * that very moment by another thread gets them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/* -1 and errno. `waits` false: calls on it return at once. */
int descriptors_socket(int family, int type, bool waits);
/* accept(2); calls on the connection return at once. */
int descriptors_accept(int listener, struct sockaddr *from, socklen_t *length);
bool descriptors_pipe(int ends[2]);
/* A file that has no name, gone when it is closed. */
int descriptors_memory_file(void);
/* Closes all from this number on. */
void descriptors_close_from(int first);
/* open(2) of what lies beneath `folder`, by the kernel's own rule; -1 and ENOSYS where it has none. */
int descriptors_open_beneath(int folder, const char *path, int flags);
/* Copies at most `size` bytes from where `from` is to where `to` is; as write(2). */
ssize_t descriptors_copy(int from, int to, size_t size);
/* Does it lie on a file system of a program (FUSE)? */
bool descriptors_is_fuse(int descriptor);
