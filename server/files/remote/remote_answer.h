/* SPDX-License-Identifier: Apache-2.0
 * remote_answer.h: what statuses, headers and times of object stores mean. Pure. */
#pragma once

#include "base/err.h"
#include "server/files/remote/http_client.h"

#include <stdbool.h>
#include <stdint.h>

enum { REMOTE_ANSWER_ETAG_SIZE = 256 };

/* What an answer says about one object. */
struct remote_answer_object {
    char etag[REMOTE_ANSWER_ETAG_SIZE]; /* "" when none is given */
    uint64_t size_bytes;
    int64_t modified_at_ns; /* Unix time; 0: unknown */
};

/* True for 200 to 299. Else `err` says why in the server's own word, if it has one: notfound, changed (412), or io. */
bool remote_answer_is_good(const struct http_client_answer *answer, struct err *err);
/* The word by which a service names an error: <Code> of XML, error.status or error of JSON; "" for none. */
void remote_answer_word(const struct http_client_answer *answer, char word[64]);

/* By the headers of GET or HEAD; false with `err` when no size is given. */
bool remote_answer_object(const struct http_client_answer *answer, struct remote_answer_object *object,
                          struct err *err);

/* "2026-01-09T12:00:00.123Z" and "Fri, 09 Jan 2026 12:00:00 GMT" as nanoseconds of Unix time; 0 for anything else. */
int64_t remote_answer_iso_ns(const char *text);
int64_t remote_answer_http_ns(const char *text);
