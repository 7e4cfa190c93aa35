/* SPDX-License-Identifier: Apache-2.0
 * log.h: what the daemon says on stderr.
 *
 * Quiet by default: only what somebody should look at. With --verbose one line
 * a request. Names come from files and from the network, so control bytes are
 * escaped and a line stays a line. What others can bring about as often as they like
 * has a limit; what goes beyond is counted and told later. Threads: any number; a line is written whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before any thread is started. `is_json`: each line is an object with time, level and message, or the figures of a
 * request. */
void log_set_up(bool is_verbose, bool is_json);

/* "memviewd: TEXT". As JSON with the level warning, what only tells how it was started info, and why it ends error. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For each kind, five lines may be written in ten seconds. */
enum log_kind { LOG_SERVER_ERRORS, LOG_WRONG_TOKENS, LOG_OTHER_USERS, LOG_KIND_COUNT };
void log_limited(enum log_kind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* About once a second, and at the end with `is_last`: says how many more there were of each kind in ten seconds. */
void log_sum_up(bool is_last);

struct log_request {
    const char *id, *peer, *method,
        *target; /* as they came; values of parameters whose names end with "token" are left out */
    int status;
    bool is_expected;    /* whatever its status: not a fault */
    uint64_t size_bytes; /* of the body as sent */
    int64_t took_us;
};
/* Server errors that are not expected, to the limit of their kind; everything with --verbose. */
void log_request(const struct log_request *request);

/* Copies `text` as a terminal may have it (base/printable.h), on one line, cut to what fits where a character ends. */
void log_escape(char *out, size_t out_size, const char *text);
