/* SPDX-License-Identifier: Apache-2.0
 * archive_beside.h: another file of the archive that a file lies in. */
#pragma once

#include "server/files/files.h"

/* Appends up to `max` bytes of the text file `path` (as that of `place`, which is a member: the archive's path, and on
 * inside it) to `out`, looking through gzip. False where there is none, or with a report. Of an archive that is packed
 * as a whole nothing is looked for: each look would inflate all of it. */
bool archive_beside_read(const struct files_place *place, const char *path, size_t max, struct buf *out,
                         struct err *err);
