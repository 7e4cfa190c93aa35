/* SPDX-License-Identifier: Apache-2.0
 * capacity.h: how much memory a program may use, where several sources say it: the one order of them.
 *
 * Whoever gathers files hands over what each source says; which of them counts is decided here alone. What a trace in
 * another folder tells of an allocator is no source: lists of programs do not look for such traces. */
#pragma once

#include "exchange/capacity.h"

#include <stdbool.h>
#include <stdint.h>

/* What one source says of one memory space. */
struct capacity_said {
    enum capacity_from from;
    int64_t bytes; /* at least 0 */
};

/* Does `one` count, where `other` was found before it? Of two texts the first counts, of devices of a trace the
 * smallest. */
bool capacity_counts_before(const struct capacity_said *one, const struct capacity_said *other);
/* May a source of that kind still count, where `found` is known? NULL: nothing is. */
bool capacity_may_count(enum capacity_from from, const struct capacity_said *found);

/* What a program may use of a device: what the table of devices or its allocator leaves it, else its physical size.
 * 0: not known. */
struct capacity_usable {
    int64_t bytes;
    bool is_physical; /* a program gets less; how much is not known */
};
struct capacity_usable capacity_usable_of(int64_t available_bytes, int64_t physical_bytes);
