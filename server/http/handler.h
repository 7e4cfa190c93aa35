/* SPDX-License-Identifier: Apache-2.0
 * handler.h: what answers requests, as httpd and jobs see it; the table of routes follows it. */
#pragma once

#include "server/http/request.h"
#include "server/http/response.h"

struct http_handler {
    const void *context; /* first argument of each */
    /* When the headers are there: lets a body in that the route takes, if the guards let the request in. */
    void (*admit)(const void *context, struct request *request);
    /* Answers at once what can be; NULL means: call answer_on_worker. */
    struct response *(*answer_now)(const void *context, struct request *request);
    /* For a request that answer_now left to a worker: is it cheap enough not to wait behind costly ones? */
    bool (*is_quick)(const void *context, const struct request *request);
    /* May read files and compute. Never NULL. */
    struct response *(*answer_on_worker)(const void *context, const struct request *request);
};
