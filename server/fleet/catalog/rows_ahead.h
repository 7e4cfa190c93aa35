/* SPDX-License-Identifier: Apache-2.0
 * rows_ahead.h: rows of many sessions, made by several threads ahead of who takes them. */
#pragma once

#include "server/fleet/catalog/rows.h"

/* Those of all sessions of the snapshot, in their order, as rows_session_write does. `is_wanted` is asked by several
 * threads at a time, also while `take` runs; all else is called by the caller's thread. What needs so much memory to
 * read that others could lack it is read alone: rows depend on no other work. `counts` is added to. False when it was
 * stopped. */
bool rows_ahead_write(const struct rows_wanted *wanted, struct rows_counts *counts);
