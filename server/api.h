/* SPDX-License-Identifier: Apache-2.0
 * api.h: the handlers of our own surface; docs/openapi.yaml describes their answers.
 *
 * One file for each group: api.c (the daemon itself), api_sessions.c,
 * api_modules.c (a session's modules), api_view.c (what a tool says of one),
 * api_memory_profile.c (memory over time), api_oom.c (out-of-memory texts), api_profiles.c (device profiles),
 * api_capacity.c (how much memory devices have). */
#ifndef SERVER_API_H
#define SERVER_API_H

#include "base/json.h"
#include "server/modules.h"
#include "server/request.h"
#include "server/response.h"
#include "server/server.h"

struct response *api_healthy(const struct server *server, const struct request *request);
struct response *api_ready(const struct server *server, const struct request *request);
struct response *api_login(const struct server *server, const struct request *request);
struct response *api_about(const struct server *server, const struct request *request);
struct response *api_tools(const struct server *server, const struct request *request);

struct response *api_devices(const struct server *server, const struct request *request);

struct response *api_sessions(const struct server *server, const struct request *request);
struct response *api_session(const struct server *server, const struct request *request);
struct response *api_modules(const struct server *server, const struct request *request);
struct response *api_oom(const struct server *server, const struct request *request);
struct response *api_oom_give(const struct server *server, const struct request *request);
struct response *api_oom_text(const struct server *server, const struct request *request);
struct response *api_profiles(const struct server *server, const struct request *request);
struct response *api_profile_give(const struct server *server, const struct request *request);
struct response *api_device_view(const struct server *server, const struct request *request);
struct response *api_memory_profile(const struct server *server, const struct request *request);
struct response *api_source(const struct server *server, const struct request *request);
struct response *api_view(const struct server *server, const struct request *request);

/* Is there such a view of such a tool? */
bool api_is_view(const char *tool, const char *view);

/* The session and the host (NULL when not named) that a request is about, or
 * the refusal. `id` NULL: no session was named. */
struct response *api_find_session(const struct snapshot *snapshot, const char *id, const char *host_id,
                                  const struct snapshot_session **session, const struct snapshot_host **host);

/* "notes": [{code, count, text}…]: what the reader should know about the files of a session. */
void api_write_notes(struct json *json, const struct snapshot_session *session, const struct modules *modules);

/* "capacity": {…} or null: what an out-of-memory text says of its device (api_capacity.c). */
void api_write_capacity(struct json *json, const char *text, size_t length);

#endif
