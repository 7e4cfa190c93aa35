/* SPDX-License-Identifier: Apache-2.0
 * beneath.h: opening a path below a folder without ever leaving that folder.
 *
 * By openat2(2) and, where the kernel or a sandbox does not offer that, by one
 * careful openat(2) for each component of the path. */
#pragma once

#include <stdbool.h>

enum { BENEATH_PATH_BYTES = 4096 };

/* openat(2) that fails (EXDEV, ELOOP) rather than leave `folder` by ".." or by
 * a link. `path` "" is the folder itself. A descriptor, or -1 and errno. */
int beneath_open(int folder, const char *path, int flags);

/* The path below `folder` that `path` leads to, without links, "." and "..": "" is the folder itself. False, and errno,
 * where it leaves the folder (EXDEV), by an absolute link too, or something on the way is not there. It may change at
 * any time. */
bool beneath_real_path(int folder, const char *path, char real[BENEATH_PATH_BYTES]);
