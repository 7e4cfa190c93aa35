/* SPDX-License-Identifier: Apache-2.0
 * jobs.h: worker threads for requests that read files or compute.
 *
 * Equal requests that wait at the same time are one job: it runs once and all
 * get its response. Sixteen jobs are worked on at a time, of which twelve may be costly: however many of those wait, a
 * quick one is answered at once. Of those who ask, each in turn has a job begun (job_list.h). One that waits for what
 * another makes (cache.h) does not count: its thread gives up its place and takes one again when the thing is there. So
 * neither a slow disk nor a slow program holds up the others. Threads are started as they are needed. A job for which
 * nobody waits any more ends soon (wanted.h). */
#pragma once

#include "server/http/handler.h"
#include "server/store/cache.h"

#include <stdint.h>

struct jobs;

/* Who waits for a response; lives until `done` was called. */
struct jobs_client {
    /* Called once, from any thread, with a reference of its own. */
    void (*done)(struct jobs_client *client, struct response *response);
    /* Has he left? Must be quick. */
    bool (*is_gone)(const struct jobs_client *client);
    const char *owner;        /* who takes turns with others; a name that lives as long as the client */
    bool wants_gzip;          /* have the packed form ready too */
    struct jobs_client *next; /* from here on for jobs.c */
    int64_t deadline_ms;
};

struct jobs *jobs_new(const struct http_handler *handler);
/* What a cache is to call when a worker waits in it; only workers may ask such a cache. */
struct cache_waiting jobs_waiting(struct jobs *jobs);

/* Answers `request` by answer_on_worker. When too many wait already, or after
 * jobs_cancel or jobs_stop, `done` gets 503 at once. */
void jobs_submit(struct jobs *jobs, struct request *request, struct jobs_client *client);

/* To be called about once a second: those who have waited for two minutes get
 * 503; work that has begun goes on for two more, so that asking again may find it done. What those asked for
 * who have left ends, unless others wait for it too. */
void jobs_expire(struct jobs *jobs);
/* Takes no more requests; everybody gets 503, and all work ends. */
void jobs_cancel(struct jobs *jobs);

/* Takes no more requests. Waits `wait_ms` for work that still runs; false when
 * it did not end. */
bool jobs_stop(struct jobs *jobs, int64_t wait_ms);
/* Call after jobs_stop returned true and when no one can submit any more. */
void jobs_free(struct jobs *jobs);
