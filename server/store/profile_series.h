/* SPDX-License-Identifier: Apache-2.0
 * profile_series.h: which profiles of a folder were saved one after the other.
 *
 * memory1.prof … memory9.prof are; a memory.prof or memory-large.prof beside them
 * is not. What is the same but for its last number belongs together. */
#pragma once

#include "server/gather/snapshot.h"

/* The largest set of numbered profiles: `is_chosen` has room for all of the session's.
 * With fewer than three of them, or when all are, every one is chosen. Returns how many. */
size_t profile_series_choose(const struct snapshot_session *session, bool *is_chosen);
