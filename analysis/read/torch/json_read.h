/* SPDX-License-Identifier: Apache-2.0
 * json_read.h: JSON as values of pickle_value.h, read piece by piece.
 *
 * In:     one JSON value (RFC 8259), with NaN and Infinity as Python writes them; a byte order mark before it is
 *         skipped.
 * Out:    as pickle.h: object a dict, array a list, true, false, null as they are; whole numbers of 64 bits are exact,
 *         larger ones and fractions doubles. Of equal keys the last one counts. A taker sees each object that is in an
 *         array.
 * Texts:  escapes are read; half of a surrogate pair is U+FFFD; bytes that are no UTF-8 stay as they are.
 *         A text of more than 16 MiB is bytes, a number of 400 characters or more NaN: each loses itself alone.
 * Errors: `malformed`, `truncated` or `limit` at the byte where it shows: depth 1,000.
 * Cost:   what was taken is released with all that is in it, so that gigabytes of events need what is kept of them, and
 *         8 bytes for each fraction.
 * Memory: the arena.
 * A text that ends in the middle is `truncated`; where the caller gives `is_cut` (false at first), it becomes true
 * instead: what is complete of arrays was taken or is in them, and the outermost object has the keys whose values
 * were begun. */
#pragma once

#include "read/torch/pickle.h"

bool json_read(const struct source *source, pickle_take *take, void *context, struct arena *arena, struct pickle **out,
               struct pickle_value *root, bool *is_cut, struct err *err);
