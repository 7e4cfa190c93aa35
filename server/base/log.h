/* SPDX-License-Identifier: Apache-2.0
 * log.h: what the daemon says on stderr.
 *
 * Quiet by default: only what somebody should look at. With --verbose one line
 * a request. Names come from files and from the network, so control bytes are
 * escaped and a line stays a line. Threads: any number; a line is written whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before any thread is started. */
void log_set_verbose(bool is_verbose);

/* "memviewd: TEXT". */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct log_request {
    const char *peer, *method, *target; /* as they came */
    int status;
    bool is_expected;    /* whatever its status: not a fault */
    uint64_t size_bytes; /* of the body as sent */
    int64_t took_us;
};
/* Server errors that are not expected always, everything else with --verbose. */
void log_request(const struct log_request *request);

/* Copies `text` with control bytes, backslashes and what is not ASCII as \xNN, cut to what fits. */
void log_escape(char *out, size_t out_size, const char *text);
