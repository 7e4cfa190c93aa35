/* SPDX-License-Identifier: Apache-2.0
 * archive_beside.h: another file of the archive that a file lies in. */
#pragma once

#include "server/files/files.h"

/* Appends up to `max` bytes of the text file `path` to `out`, looking through gzip. For a member of an archive, `path`
 * is the archive's path followed by the path inside, as in `place`. False where there is no such file, or with a
 * report. Finds nothing in an archive that is packed as a whole, because each look would inflate the whole archive. */
bool archive_beside_read(const struct files_place *place, const char *path, size_t max, struct buf *out,
                         struct err *err);
