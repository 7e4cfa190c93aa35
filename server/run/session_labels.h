/* SPDX-License-Identifier: Apache-2.0
 * session_labels.h: memviewd.json of a run: the labels (docs/operate/fleet.md) that its environment tells.
 *
 * They come, the first before the others, from MEMVIEWD_LABELS; from variables of schedulers (session_labels.def); from
 * Ray's job, where one was submitted; and the commit from the Git repository of the working folder, whose files are
 * read and in which no program is run. python/memviewd/_labels.py writes the same. */
#pragma once

#include "base/buf.h"

/* One JSON object of texts and the end of a line, nothing where there are no labels. `folder`: the working folder. */
void session_labels_find(const char *folder, struct buf *out);
/* Writes memviewd.json into the folder of a run. Where that cannot be, nothing is written. */
void session_labels_write(const char *run_folder);
