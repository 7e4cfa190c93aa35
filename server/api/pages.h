/* SPDX-License-Identifier: Apache-2.0
 * pages.h: the files of the web page: those compiled in, or those of --web-dir. */
#pragma once

#include "server/api/server.h"
#include "server/http/request.h"
#include "server/http/response.h"

/* "/" is index.html; every other path is that of a file, or 404. */
struct response *pages_answer(const struct server *server, const struct request *request);
