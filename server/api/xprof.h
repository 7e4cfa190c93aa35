/* SPDX-License-Identifier: Apache-2.0
 * xprof.h: the handlers of XProf's surface, for the memory viewer.
 *
 * Whatever talks to XProf 2.24.2 can talk to these: same addresses, same
 * parameters, same figures. Errors are short texts, as XProf's are. Differences
 * are listed in docs/reference/xprof-differences.md. */
#pragma once

#include "server/api/server.h"
#include "server/http/request.h"
#include "server/http/response.h"

struct response *xprof_runs(const struct server *server, const struct request *request);
struct response *xprof_run_tools(const struct server *server, const struct request *request);
struct response *xprof_hosts(const struct server *server, const struct request *request);
struct response *xprof_module_list(const struct server *server, const struct request *request);
struct response *xprof_data(const struct server *server, const struct request *request);
struct response *xprof_version(const struct server *server, const struct request *request);
/* A link to a page of XProf: sent on to ours. */
struct response *xprof_page(const struct server *server, const struct request *request);
struct response *xprof_config(const struct server *server, const struct request *request);
