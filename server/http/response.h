/* SPDX-License-Identifier: Apache-2.0
 * response.h: an answer, free of the library that sends it.
 *
 * Shared by all who asked the same at once: not changed after it was made. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "server/store/body.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { RESPONSE_MAX_HEADERS = 4, RESPONSE_HEADER_SIZE = 320 };

/* Content-Security-Policy of an answer whose scripts and styles may come from these, without its end: whose frames may
 * show it. */
#define RESPONSE_POLICY_HEAD(scripts, styles)                                                                          \
    "default-src 'none'; script-src " scripts "; style-src " styles "; img-src 'self' data: blob:; "                   \
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
#define RESPONSE_POLICY(scripts) RESPONSE_POLICY_HEAD(scripts, "'self'") "'none'"

struct response {
    atomic_int holders;
    int status;
    const char *content_type; /* static; NULL without a body */
    struct body *body;        /* may be NULL */
    bool is_tagged;           /* may be answered with 304 */
    bool is_changed;          /* the input changed meanwhile: worth another try */
    bool is_expected;         /* a server error in its status alone: nothing for the log */
    size_t header_count;
    struct {
        const char *name; /* static */
        char value[RESPONSE_HEADER_SIZE];
    } headers[RESPONSE_MAX_HEADERS];
};

struct response *response_hold(struct response *response);
void response_release(struct response *response); /* NULL is fine */

/* Takes the reference to `body`; tagged when the status is 200. */
struct response *response_of_body(int status, const char *content_type, struct body *body);
/* Takes the bytes of `buf`; 503 when it has failed. */
struct response *response_of_buf(int status, const char *content_type, struct buf *buf);
struct response *response_json(struct buf *buf); /* 200 */
struct response *response_text(int status, const char *text);
struct response *response_empty(int status);

/* application/problem+json; `code` is a name of err.def or a word of the server's own. */
struct response *response_problem(int status, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A copy of the body of such a response that also tells the id of the request, which must need no escapes; a copy of
 * the reference when there is no memory, or it is another response. NULL without a body. */
struct body *response_body_of_request(const struct response *response, const char *id);
/* The same from an error about `file` (or NULL), with the status that its code represents. */
struct response *response_err(const struct err *err, const char *file);
/* The same; 503 of a transient error, which may be gone when asked again. */
struct response *response_failure(const struct err *err, bool is_transient, const char *file);
int response_status_of(enum err_code code);

/* Before the response is handed on. `name` is static; a value that is too long is cut. */
void response_add_header(struct response *response, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
