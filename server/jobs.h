/* SPDX-License-Identifier: Apache-2.0
 * jobs.h: worker threads for requests that read files or compute.
 *
 * Equal requests that wait at the same time are one job: it runs once and all
 * get its response. Threads are started as they are needed, sixteen at most; a
 * job that is stuck on a slow disk does not hold up the others. */
#ifndef SERVER_JOBS_H
#define SERVER_JOBS_H

#include "server/request.h"
#include "server/response.h"
#include "server/server.h"

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

struct jobs *jobs_new(const struct server *server);

/* Answers `request` by routes_work. When too many wait already, `done` gets 503 at once. */
void jobs_submit(struct jobs *jobs, struct request *request, struct jobs_client *client);

/* To be called about once a second: those who have waited for two minutes get
 * 503; the work goes on, so that asking again may find it done. With
 * `all`, everybody does. */
void jobs_expire(struct jobs *jobs, bool all);

/* No client may wait any more. Waits `wait_ms` for work that still runs; false
 * when it did not end, and nothing was freed. */
bool jobs_free(struct jobs *jobs, int64_t wait_ms);

#endif
