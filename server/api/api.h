/* SPDX-License-Identifier: Apache-2.0
 * api.h: the handlers of our own surface; docs/openapi.yaml describes their answers.
 *
 * One file for each group: api.c (the daemon itself), api_sessions.c,
 * api_modules.c (a session's modules), api_all_modules.c (what they take, on all hosts), api_fleet.c (what many jobs
 * take), api_view.c (what a tool says of what choice.c chooses),
 * api_memory_profile.c (memory over time, of all hosts), api_oom.c (out-of-memory texts), api_verdict.c (what will make
 * it fit), api_profiles.c (device profiles), api_metrics.c and api_metrics_jobs.c (figures for Prometheus),
 * api_uploads.c (files that a reader uploaded), api_confirmations.c (changes that the compiler is asked about),
 * api_captures.c (traces of running jobs), api_live.c (what they have in use), api_capacity.c (how much memory devices
 * have), api_readings.c (how far files are read), api_batch.c (several questions in one request), api_shared.c. */
#pragma once

#include "analysis/analysis.h"
#include "base/json.h"
#include "server/api/server.h"
#include "server/http/request.h"
#include "server/http/response.h"
#include "server/store/capacity.h"
#include "server/store/modules.h"

struct response *api_healthy(const struct server *server, const struct request *request);
struct response *api_ready(const struct server *server, const struct request *request);
struct response *api_login(const struct server *server, const struct request *request);
struct response *api_about(const struct server *server, const struct request *request);
struct response *api_rescan(const struct server *server, const struct request *request);
struct response *api_metrics(const struct server *server, const struct request *request);
/* Metrics of the jobs in the catalog. Without a catalog the metric families have no samples. */
struct response *api_metrics_jobs(const struct server *server, const struct request *request);
struct response *api_tools(const struct server *server, const struct request *request);
/* Several questions at once, each a path below /api/v1/ with its query. */
struct response *api_batch(const struct server *server, const struct request *request);

struct response *api_devices(const struct server *server, const struct request *request);

struct response *api_sessions(const struct server *server, const struct request *request);
struct response *api_session(const struct server *server, const struct request *request);
/* How much was read so far of files that somebody waits for; of a session. */
struct response *api_readings(const struct server *server, const struct request *request);
struct response *api_modules(const struct server *server, const struct request *request);
/* A view of all modules of a session. */
struct response *api_all_modules(const struct server *server, const struct request *request,
                                 const struct analysis_view *view);
/* Where fleets of a catalog are kept for some seconds, for the questions of one page; cache_free. */
struct cache *api_fleet_cache_new(void);
/* Frees those that are too old to be answered with; now and then. */
void api_fleet_cache_expire(struct cache *fleets);
/* A view of many jobs. */
struct response *api_fleet(const struct server *server, const struct request *request,
                           const struct analysis_view *view);
struct response *api_oom(const struct server *server, const struct request *request);
struct response *api_oom_add(const struct server *server, const struct request *request);
struct response *api_oom_plan(const struct server *server, const struct request *request);
struct response *api_oom_text(const struct server *server, const struct request *request);
struct response *api_verdict(const struct server *server, const struct request *request);
struct response *api_uploads(const struct server *server, const struct request *request);
struct response *api_uploads_add(const struct server *server, const struct request *request);
/* Whether the compiler can be asked; one that was asked; asking it, and ending that. */
struct response *api_confirmations(const struct server *server, const struct request *request);
struct response *api_confirmation(const struct server *server, const struct request *request);
struct response *api_confirmations_add(const struct server *server, const struct request *request);
struct response *api_confirmation_cancel(const struct server *server, const struct request *request);
/* Which running jobs may be asked for a trace; a capture; beginning one, ending it. */
struct response *api_captures(const struct server *server, const struct request *request);
struct response *api_capture(const struct server *server, const struct request *request);
struct response *api_captures_add(const struct server *server, const struct request *request);
struct response *api_capture_cancel(const struct server *server, const struct request *request);
/* What the processes of runs have in use, of all; over time, of one. */
struct response *api_live(const struct server *server, const struct request *request);
struct response *api_live_run(const struct server *server, const struct request *request);
struct response *api_profiles(const struct server *server, const struct request *request);
struct response *api_profiles_add(const struct server *server, const struct request *request);
/* The view "summary" of the memory profile, which is of all hosts. */
struct response *api_memory_profile(const struct server *server, const struct request *request);
struct response *api_source(const struct server *server, const struct request *request);
struct response *api_view(const struct server *server, const struct request *request);

/* The session that a request is about: of the watched folders, or of files that a reader uploaded. */
struct api_subject {
    const struct server *server;
    const struct snapshot *snapshot; /* that holds the session */
    const struct snapshot_session *session;
    const struct snapshot_host *host; /* NULL when not named */
    struct snapshot *indexed;         /* of api_shared.c: api_close releases it */
    struct upload_set uploaded;
};

/* Fills `subject` (zeroed), or the refusal; api_close in any case. `id` NULL: no session was named. */
struct response *api_open(const struct server *server, const char *id, const char *host_id,
                          struct api_subject *subject);
void api_close(struct api_subject *subject);
/* Answers a request that names a session in its path and has no parameters; `write` writes the members of the
 * answer. */
struct response *api_of_session(const struct server *server, const struct request *request,
                                void (*write)(struct json *json, const struct api_subject *subject));

/* The parameters of a request but for `own_names` (ends with NULL); free() the list. */
/* What a `format` other than JSON comes as. */
struct api_file_format {
    const char *name, *type, *ending; /* "csv", "text/csv; charset=utf-8", "csv" */
};
/* The format for this file name: text where no row has the name. */
const struct api_file_format *api_file_format(const char *name);
struct analysis_param *api_core_params(const struct request *request, const char *const *own_names, size_t *count);

/* NULL if the body's Content-Type is one of `types` (ends with NULL), else the refusal. A form on another site can send
 * these types only after the browser asked, or with a header that says where the form comes from. */
struct response *api_check_type(const struct request *request, const char *const *types);

/* The body will be kept after the answer, with `extra_bytes` beside it: NULL, or the refusal when there is no room. */
struct response *api_keep_body(const struct request *request, uint64_t extra_bytes);

/* "error": {code, reason, offset_bytes}; no member when there is none. */
void api_write_error(struct json *json, const struct err *err);

/* "modified_at_ms"; no member for what a reader uploaded, which tells no time. */
void api_write_modified(struct json *json, int64_t modified_at_ms);

/* The members of a session in a list; is_whole: and the files of its hosts. */
void api_write_session(struct json *json, struct store *store, const struct snapshot_session *session, bool is_whole);

/* [{…}…]: the heads of all sessions of a snapshot. */
void api_write_sessions(struct json *json, struct store *store, const struct snapshot *snapshot);

/* "not_read": [{file, code, reason, offset_bytes}…]: the first thousand files of a snapshot that cannot be shown. */
void api_write_not_read(struct json *json, const struct snapshot *snapshot);

/* "failure": what asked, and for how much; null without a verdict. */
void api_write_failure(struct json *json, const struct log_text_failure *failure);

/* "notes": [{code, count, text}…]: what the reader should know about the files of a session. */
/* The member `worst` of a session (SessionWorst in docs/openapi.yaml): none before its modules were listed. */
void api_write_worst(struct json *json, const struct snapshot_session *session);
void api_write_notes(struct json *json, const struct snapshot_session *session, const struct modules *modules);

/* capacity=NAME of the table of devices, or a size: "15.75GiB"; 0 bytes where it is not given. NULL, or the refusal. */
struct response *api_capacity_read(const struct request *request, struct capacity *chosen);

/* "capacity": {…}, or no member: what an out-of-memory text says of its device (api_capacity.c). */
void api_write_capacity(struct json *json, const char *text, size_t length);
