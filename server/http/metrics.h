/* SPDX-License-Identifier: Apache-2.0
 * metrics.h: what was asked and answered, counted for GET /metrics.
 *
 * By route, as the table of routes spells it: nothing that a request or a file names is a label, so that their number
 * is that of the rows. Threads: any number. */
#pragma once

#include "base/buf.h"

#include <stdint.h>

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);

/* One request that was answered. `route` is static; NULL: none answered it. `received_bytes`: of its body. */
void metrics_count(struct metrics *metrics, const char *route, int status, int64_t took_us, uint64_t sent_bytes,
                   uint64_t received_bytes);
/* All metrics as text of Prometheus, version 0.0.4. */
void metrics_write(struct metrics *metrics, struct buf *out);
