/* SPDX-License-Identifier: Apache-2.0
 * before.h: the program of a compiled module as it was before optimizations, which is what a compiler is handed. */
#pragma once

#include "base/buf.h"
#include "server/gather/snapshot.h"

/* Reads the file ….before_optimizations.hlo.pb that belongs to the compiled module at `module`: one of the session's,
 * or one beside a file that was given alone. `out` is the caller's. False: `reason` is a sentence that says why. */
enum { BEFORE_REASON_SIZE = 320 };
bool before_read(const struct snapshot_session *session, const struct snapshot_file *module, struct buf *out,
                 char reason[BEFORE_REASON_SIZE]);
