/* SPDX-License-Identifier: Apache-2.0
 * exchange/profiler.h: what the profiler server of a running job is asked, and how its answer is read
 * (read/profiler). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Method and path of the request. */
#define PROFILER_REQUEST_PATH "/tensorflow.ProfilerService/Profile"

/* Borrowed texts. A server that knows how sends the trace in its answer. One of 2025 or before writes it itself, on its
 * own machine: to REPOSITORY_ROOT/SESSION_ID/HOST_NAME.xplane.pb, with each ":" of the host's name as "_". */
struct profiler_request {
    uint64_t duration_ms;   /* of the window that is recorded; above 0 */
    uint64_t start_unix_ns; /* when the window begins, by the server's own clock; 0 or in the past: at once */
    const char *repository_root, *session_id, *host_name;
};

/* Takes the next bytes of the trace, an XSpace; false ends the reading, and why is its own to keep. */
typedef bool profiler_answer_take(void *context, const void *bytes, size_t size);

struct profiler_answer {
    profiler_answer_take *take;
    void *context;
    /* What was found so far. */
    uint64_t trace_bytes; /* given to `take` */
    bool is_empty_trace;  /* the server says that nothing was recorded */

    /* Where the reading is: profiler_answer.c. */
    enum profiler_answer_step {
        PROFILER_ANSWER_PREFIX,
        PROFILER_ANSWER_TAG,
        PROFILER_ANSWER_NUMBER,
        PROFILER_ANSWER_LENGTH,
        PROFILER_ANSWER_SKIPPED,
        PROFILER_ANSWER_TRACE,
        PROFILER_ANSWER_END
    } step;
    uint64_t at_bytes;     /* read of the answer */
    uint64_t message_left; /* bytes of the message not read yet */
    uint64_t field_left;   /* of the field */
    uint64_t number;       /* as far as it is read */
    unsigned shift;        /* bits of it that are read */
    unsigned prefix_count;
    uint64_t field; /* its number */
};
