/* SPDX-License-Identifier: Apache-2.0
 * capture.h: a trace of running jobs, asked of their profiler servers (jax.profiler.start_server,
 * tf.profiler.experimental.server.start): of several hosts in one window of time.
 *
 * Each server is told when to begin, a second ahead, so that windows agree as far as the clocks of the hosts do. Traces
 * come in the answers and are written here; a server of 2025 or before writes its own, which is found only if it sees
 * the same folder. */
#pragma once

#include "base/err.h"
#include "server/capture/capture_address.h"

#include <stddef.h>
#include <stdint.h>

enum { CAPTURE_HOSTS_MAX = 256, CAPTURE_SECONDS_MAX = 3600 };

/* Can this build and its libcurl do it? Else `unsupported`. Before any thread is started and before the sandbox. */
bool capture_set_up(struct err *err);

/* Borrowed for the run. */
struct capture_request {
    const char *logdir; /* exists; the traces go to plugins/profile/TIME below it */
    const struct capture_address *const *addresses;
    size_t count;        /* 1 to CAPTURE_HOSTS_MAX, each address once */
    int64_t duration_ms; /* of the window, above 0 */
};

struct capture_progress {
    int64_t recorded_ms;  /* of the window: 0 before it begins, then up to its duration */
    size_t ended_count;   /* hosts that have answered or failed */
    uint64_t trace_bytes; /* received, of all hosts */
};

/* What came of one host. */
struct capture_host {
    const char *address; /* that of the request */
    struct err err;      /* why there is no trace; not set: there is one */
    char *path;          /* of the trace, absolute; NULL: there is none */
    uint64_t trace_bytes;
};

struct capture_result {
    struct err err;             /* why no host was asked: the folder cannot be written; otherwise not set */
    char *folder;               /* of the session, absolute; NULL: nothing was kept */
    struct capture_host *hosts; /* in the order of the request; NULL with `err` */
    size_t count, kept_count;
    bool is_stopped; /* by `tick`; hosts that had answered by then are kept */
};

/* Fills `result`, which capture_free then frees. `tick` is called some times a second; false ends the capture, and the
 * servers' recording with it. */
void capture_run(const struct capture_request *request, struct capture_result *result,
                 bool (*tick)(void *context, const struct capture_progress *progress), void *context);
void capture_free(struct capture_result *result);
