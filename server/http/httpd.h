/* SPDX-License-Identifier: Apache-2.0
 * httpd.h: between sockets and struct request / struct response, by libmicrohttpd.
 *
 * One thread for each listening socket reads requests and sends answers; what
 * may take time runs on a worker (jobs.h) while the connection is suspended. */
#pragma once

#include "server/http/jobs.h"
#include "server/http/listen.h"

struct httpd;
struct metrics;

struct httpd_settings {
    struct metrics *metrics;
    uint64_t receiving_limit_bytes; /* what bodies may take together until they have come whole; a lone one more */
    const char *path_prefix;        /* left off the beginning of a path: "/a/b"; "" for none */
    const char *script_hash;        /* of the Content-Security-Policy: the one script that is in a page, */
    const char *style_hash;         /* the one style, */
    const char *frame_ancestors;    /* and whose frames may show it */
    bool is_own_user_only;          /* other users of this machine get 403, except for /-/healthy and /-/ready */
};

/* Serves on the sockets of `set`, which stay the caller's. NULL when the
 * library cannot start. */
struct httpd *httpd_start(const struct http_handler *handler, struct jobs *jobs, const struct listen_set *set,
                          const struct httpd_settings *settings);

/* About once a second: ends connections and requests that have waited too long. */
void httpd_watch(struct httpd *httpd);

/* Takes no new connections; answers from now on close theirs. */
void httpd_stop_accepting(struct httpd *httpd);
/* Waits until every request that has come is answered; false when that takes longer. */
bool httpd_drain(struct httpd *httpd, int64_t wait_ms);
/* No request may be with a worker. Ends the threads that read requests. */
void httpd_free(struct httpd *httpd);
