/* SPDX-License-Identifier: Apache-2.0
 * grpc_call.h: single requests by gRPC without TLS (HTTP/2 with prior knowledge), several at once; grpc_call.c includes
 * <curl/curl.h>, and grpc_call_none.c replaces it in a build without libcurl.
 *
 * What the messages are is the caller's: bytes that are sent, bytes that are taken as they come. No proxy, no redirect,
 * no second try. Answers are hostile: headers have a limit, and what is no answer of gRPC is not given to the caller.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRPC_CALL_STATUS_SIZE = 16, GRPC_CALL_MESSAGE_SIZE = 512 };

/* Takes the next bytes of an answer, with the prefixes of its messages; false ends that call. */
typedef bool grpc_call_take(void *context, const void *bytes, size_t size);

/* Borrowed for the time of the call. */
struct grpc_call {
    const char *url; /* "http://host:port/package.Service/Method" */
    const void *request;
    size_t request_bytes;
    int64_t silence_limit_ms; /* how long no byte may come before it is given up; above 0 */
    grpc_call_take *take;
    void *context;

    /* Filled: */
    bool is_ended;
    /* What went wrong below gRPC: io (no listener, an unknown name, a cut), unsupported (the listener does not speak
     * gRPC), stopped (`tick` or `take` ended it). */
    struct err err;
    char status[GRPC_CALL_STATUS_SIZE];   /* grpc-status of the trailers; "" where it is missing */
    char message[GRPC_CALL_MESSAGE_SIZE]; /* grpc-message, cut to what fits, as it was sent */
};

/* Can this build do it? Else `unsupported`: there is no libcurl, or one without HTTP/2. Before any thread is started
 * and before the sandbox. */
bool grpc_call_set_up(struct err *err);
/* Returns when all have ended. `tick` is called some times a second, and when one has ended; false from it ends all. */
void grpc_call_run(struct grpc_call *const *calls, size_t count, bool (*tick)(void *context), void *context);
