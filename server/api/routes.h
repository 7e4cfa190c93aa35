/* SPDX-License-Identifier: Apache-2.0
 * routes.h: from a request to its answer.
 *
 * The order is: Host (guard.h), target and size of the request, path, method,
 * the other guards, handler. To add a route: a row in routes.def and a handler. */
#ifndef SERVER_ROUTES_H
#define SERVER_ROUTES_H

#include "server/http/request.h"
#include "server/http/response.h"
#include "server/api/server.h"

/* When the headers are there: lets a body in that the route takes, if the guards let the request in. */
void routes_admit(const struct server *server, struct request *request);

/* Answers at once what can be; NULL means: call routes_work on a worker. */
struct response *routes_now(const struct server *server, struct request *request);
/* May read files and compute. Never NULL. */
struct response *routes_work(const struct server *server, const struct request *request);

#endif
