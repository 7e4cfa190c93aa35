/* SPDX-License-Identifier: Apache-2.0
 * captures.h: traces that the page asked of running jobs, in the daemon: one capture at a time, on a thread of its own.
 *
 * Only the addresses that were named at the daemon's start are ever asked, and only the folder that was named then is
 * written. The last few captures are kept with what came of them. Threads: any number. */
#pragma once

#include "base/json.h"
#include "server/api/task_ring.h"
#include "server/capture/capture.h"
#include "server/gather/index.h"

struct captures;

/* Borrowed for as long as the captures live. */
struct captures_settings {
    const struct capture_address *const *addresses;
    size_t count;       /* 0: nothing may be asked */
    const char *logdir; /* among what `index` watches; NULL without addresses */
    struct index *index;
};
struct captures *captures_new(const struct captures_settings *settings);
/* The daemon ends: ends the one that runs. No other is begun. */
void captures_stop(struct captures *captures);
void captures_free(struct captures *captures);

/* Asks `count` of the addresses, each once; all of them where it is 0. `id` is filled. False with `argument` (an
 * address that was not named at the start, or twice; seconds out of 1 to CAPTURE_SECONDS_MAX), `unsupported` (nothing
 * may be asked), `conflict` (another one runs) or `limit` (no thread, or the daemon ends). */
bool captures_begin(struct captures *captures, const char *const *addresses, size_t count, int64_t seconds,
                    char id[TASK_RING_ID_SIZE], struct err *err);
/* False: there is none of that id, or not any more. */
bool captures_cancel(struct captures *captures, const char *id);
/* Writes an object, schema Capture in docs/openapi.yaml. False as of captures_cancel. */
bool captures_write(struct captures *captures, const char *id, struct json *json);
/* "capture_addresses": […]: what may be asked. */
void captures_write_addresses(struct captures *captures, struct json *json);
/* What may be asked, an object as well: schema Captures. */
void captures_write_offer(struct captures *captures, struct json *json);
