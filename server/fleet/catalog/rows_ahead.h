/* SPDX-License-Identifier: Apache-2.0
 * rows_ahead.h: rows of many sessions, made by several threads ahead of who takes them. */
#pragma once

#include "server/fleet/catalog/rows.h"

/* Writes the rows of all sessions of the snapshot, in their order, as rows_session_write does. Several threads may call
 * `is_wanted` at a time, also while `take` runs; the caller's thread calls the others. A file that needs much memory is
 * read alone, so that others have enough: rows must not depend on other work. Adds to `counts`. False when it was
 * stopped. */
bool rows_ahead_write(const struct rows_wanted *wanted, struct rows_counts *counts);
