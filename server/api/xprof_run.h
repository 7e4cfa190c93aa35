/* SPDX-License-Identifier: Apache-2.0
 * xprof_run.h: which run a request of XProf's surface is about.
 *
 * XProf also takes session_path (a folder with traces) and run_path (a folder
 * of such folders) and reads any folder of the machine that they name. Here
 * they only choose among what the index has. */
#pragma once

#include "server/gather/snapshot.h"
#include "server/http/request.h"
#include "server/http/response.h"

/* The run of a request, or NULL and the refusal. */
const struct snapshot_run *xprof_run_find(const struct snapshot *snapshot, const struct request *request,
                                          struct response **refusal);

/* Is this run among those that a request's session_path or run_path leave?
 * True for all when it has neither. */
bool xprof_run_is_chosen(const struct snapshot *snapshot, const struct request *request,
                         const struct snapshot_run *run);

/* The name under which a request sees a run: with session_path or run_path only its last component. */
const char *xprof_run_name(const struct request *request, const struct snapshot_run *run);

/* NULL, or the refusal of a session_path or run_path that leads out of what is served. */
struct response *xprof_run_check_path(const struct snapshot *snapshot, const struct request *request);
