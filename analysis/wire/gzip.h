/* SPDX-License-Identifier: Apache-2.0
 * gzip.h: the inside of a gzip stream as a source.
 *
 * Members that follow each other are read through. Reading forwards inflates and forgets all but the first 4 MiB;
 * reading backwards behind them goes on from a checkpoint, of which there are up to 64, one a MiB in files below 64
 * MiB. The size becomes known at the end. What inflates to more than MIN_LIMIT + MAX_RATIO times its own size is
 * refused (`limit`): texts and protos stay far below that. A stream that ends in the middle is `truncated` where its
 * bytes end, or, with `may_end_early`, just ends there. Memory: 40 KiB for the inflater and for each checkpoint, two
 * windows, and the first bytes, in malloc; gzip_close frees them. */
#pragma once

#include "base/err.h"
#include "base/source.h"

#include <stdbool.h>

enum { GZIP_MAX_RATIO = 256 };
#define GZIP_MIN_LIMIT ((uint64_t)64 << 20)

struct gzip {
    struct source source; /* the inflated bytes: hand on &gzip->source */
    const struct source *packed;
    bool may_end_early; /* who reads it makes something of a stream that is cut: see source.cut_packed_bytes */
    struct err *err;
    struct gzip_state *state;
};

/* True if the bytes begin like a gzip stream (1f 8b). */
bool gzip_matches(const struct source *source);
/* NULL when there is no memory. Reports broken, cut and oversized streams in `err` as they are met. */
struct gzip *gzip_open(const struct source *packed, struct err *err);
/* Who reads on makes nothing of a stream that is cut: false with a report if its end was met already. */
bool gzip_needs_whole(struct gzip *gzip);
void gzip_close(struct gzip *gzip);
