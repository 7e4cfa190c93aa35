/* SPDX-License-Identifier: Apache-2.0
 * dump_copy.h: what a run left in a dump that is the user's own, and stays as it is. */
#pragma once

#include "server/run/dump_limit.h"

/* Copies files that memviewd reads, of programs that were written to the folder `from` since `since_ns` (Unix time), to
 * the folder of the limit: the newest first, as far as the limit goes. The number of programs. */
size_t dump_copy(const struct dump_limit *limit, const char *from, int64_t since_ns);
