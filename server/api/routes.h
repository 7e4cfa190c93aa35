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
