/* SPDX-License-Identifier: Apache-2.0
 * source_files.h: the file below a root that a recorded path of another machine means: its beginning is left off piece
 * by piece, until the rest lies below the root. Only files whose name is that of a source are found, and none behind a
 * name that begins with a dot: a folder of sources also has keys, settings with passwords in them, and data. */
#pragma once

#include "server/files/files.h"

/* By its ending: .py, .cc, .cu and others. */
bool source_files_is_name(const char *path);

/* True ends the search. `place`: without links, below its root. */
typedef bool source_files_visitor(void *context, const struct files_place *place);
/* Calls back for each that there is, the longest path first. What was left of `file` for the one that was taken, or
 * NULL. */
const char *source_files_find(const char *root, const char *file, source_files_visitor *take, void *context);
