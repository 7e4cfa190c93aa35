/* SPDX-License-Identifier: Apache-2.0
 * folder.h: a folder of files that are there for a while. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

/* A new one for this user alone, below TMPDIR or /tmp; NULL with `io`. The caller frees the path. */
char *folder_make(struct err *err);
/* One at this path, for this user alone; an empty one that is there already is as good. */
bool folder_make_at(const char *path, struct err *err);
/* A symbolic link `name` to the one at `path`, whose absolute path is returned, which the caller frees; NULL with `io`.
 */
char *folder_link(const char *path, const char *name, struct err *err);
/* With all that is in it; symbolic links are removed, not followed. */
void folder_remove(const char *path);
/* A new file in it. False with `io`. */
bool folder_write(const char *path, const char *name, struct str bytes, struct err *err);
