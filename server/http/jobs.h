/* SPDX-License-Identifier: Apache-2.0
 * jobs.h: worker threads for requests that read files or compute.
 *
 * Equal requests that wait at the same time are one job: it runs once and all
 * get its response. Sixteen jobs are worked on at a time. One that waits for
 * what another makes (cache.h) does not count: its thread gives up its place and
 * takes one again when the thing is there. So neither a slow disk nor a slow
 * program holds up the others. Threads are started as they are needed. */
#pragma once

#include "server/http/handler.h"
#include "server/store/cache.h"

#include <stdint.h>

struct jobs;

/* Who waits for a response; lives until `done` was called. */
struct jobs_client {
    /* Called once, from any thread, with a reference of its own. */
    void (*done)(struct jobs_client *client, struct response *response);
    bool wants_gzip;          /* have the packed form ready too */
    struct jobs_client *next; /* from here on for jobs.c */
    int64_t deadline_ms;
};

struct jobs *jobs_new(const struct http_handler *handler);
/* What a cache is to call when a worker waits in it; only workers may ask such a cache. */
struct cache_waiting jobs_waiting(struct jobs *jobs);

/* Answers `request` by answer_on_worker. When too many wait already, or after
 * jobs_stop, `done` gets 503 at once. */
void jobs_submit(struct jobs *jobs, struct request *request, struct jobs_client *client);

/* To be called about once a second: those who have waited for two minutes get
 * 503; work that has begun goes on, so that asking again may find it done. With
 * `all`, everybody does. */
void jobs_expire(struct jobs *jobs, bool all);

/* Takes no more requests. Waits `wait_ms` for work that still runs; false when
 * it did not end. */
bool jobs_stop(struct jobs *jobs, int64_t wait_ms);
/* After jobs_stop that was true, and when nobody can submit any more. */
void jobs_free(struct jobs *jobs);
