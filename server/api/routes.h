/* SPDX-License-Identifier: Apache-2.0
 * routes.h: from a request to its answer.
 *
 * The order is: Host (guard.h), target and size of the request, path, method,
 * the other guards, handler. To add a route: a row in routes.def and a handler. */
#pragma once

#include "server/api/server.h"
#include "server/http/handler.h"

/* Answers requests out of `server`, which must outlive it. */
struct http_handler routes_handler(const struct server *server);

/* Runs on a worker. Answers a GET of `target` (path and query) of our own API for the client that sent `request`, which
 * was let in. A problem for any other target. The caller releases it. */
struct response *routes_answer_beside(const struct server *server, const struct request *request, const char *target);
