/* SPDX-License-Identifier: Apache-2.0
 * path_kind.h: what a PATH is: a file, one inside a zip archive, a folder, a pipe, or an address of a server (remote/).
 */
#pragma once

#include <stdbool.h>

enum path_kind {
    PATH_KIND_NONE,
    PATH_KIND_FILE,
    PATH_KIND_MEMBER, /* it goes on inside a file, as "run.zip/rank0.pickle" does: the scanner says whether it exists */
    PATH_KIND_FOLDER,
    PATH_KIND_STREAM,
};
/* An address is listed by that, once in a process. PATH_KIND_NONE: there is nothing; with `says_why` that is in the
 * log. */
enum path_kind path_kind_of(const char *path, bool says_why);

bool path_kind_is_file(enum path_kind kind); /* PATH_KIND_FILE or PATH_KIND_MEMBER */
/* PATH_KIND_MEMBER, without listing an address. */
bool path_kind_is_inside(const char *path);
/* Is it a folder of this machine? */
bool path_kind_is_folder(const char *path);
/* Why `path`, which is not there, is not: a clause; static. */
const char *path_kind_why_not(const char *path, int fault);
/* The last part of a path. */
const char *path_kind_name(const char *path);
/* Without links; an address as it is. NULL: it is gone. free() */
char *path_kind_real(const char *path);
/* Calls `file` with the whole address of each file that was listed below this one; nothing when it was not listed. */
void path_kind_each_file(const char *address, void (*file)(void *context, const char *path), void *context);
