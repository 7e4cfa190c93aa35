/* SPDX-License-Identifier: Apache-2.0
 * opener.h: opens for a process in a box (server/sandbox) what came by another file or folder under one of its roots.
 *
 * Rules of Landlock are about a folder, not about its path: a root that is made anew, renamed, mounted upon or a link
 * that leads elsewhere is another folder, which the process may not read. So where opening is refused, a small process
 * outside of the box is asked, that opens the roots themselves and plain files and folders beneath them, for reading
 * alone. Threads: any number. The functions keep errno of what was tried first when there is no opener. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Before any thread is started and before the box. `roots`: files and folders, as they are named later; `socket_path`:
 * the file that opener_unlink removes, or "". False and errno. Once in a process. */
bool opener_start(const char *const *roots, size_t count, const char *socket_path);

/* open(2) of one of the roots, for reading. */
int opener_open_root(const char *root, int flags);
/* After EACCES: what lies beneath `folder`, a descriptor of one of the roots, as beneath_open says. -1 and errno. */
int opener_open_beneath(int folder, const char *path, int flags);
/* unlink(2), by the opener where there is one. */
void opener_unlink(const char *path);
