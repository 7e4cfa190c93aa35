/* SPDX-License-Identifier: Apache-2.0
 * job_list.h: the jobs that wait or run, and whose turn is next. No threads, no locks: jobs.c has them.
 *
 * Those who ask take turns, however many requests each has waiting: a job's turn comes one after that of the last job
 * that the same one has waiting, and a newcomer's is that which is on now. */
#pragma once

#include "server/base/wanted.h"
#include "server/http/jobs.h"
#include "server/http/peers.h"

/* Quick ones never wait for costly ones. */
enum job_kind { JOB_QUICK, JOB_COSTLY, JOB_KINDS };

struct job {
    struct job *next;
    struct request *request;
    uint64_t hash; /* of its target */
    struct jobs_client *clients;
    enum job_kind kind;
    char owner[PEERS_TEXT]; /* whose turn it takes */
    uint64_t turn;
    bool is_running;
    bool is_left;              /* no client waits for it any more, and none may join it */
    int64_t promised_until_ms; /* a client was asked to try again: the job runs until then even if no one waits */
    struct wanted wanted;
};

struct job_list {
    struct job *first, **last; /* by arrival; **last NULL before the first is added */
    size_t waiting_count[JOB_KINDS];
    uint64_t turn[JOB_KINDS]; /* of the one begun last */
};

struct job *job_list_add(struct job_list *list, struct request *request, enum job_kind kind, const char *owner);
/* Out of the list; not freed. */
void job_list_remove(struct job_list *list, struct job *job);
/* One that answers the request too, waiting or running; or NULL. */
struct job *job_list_find(const struct job_list *list, const struct request *request);
/* Somebody else waits for it too: it comes no later than one of his own would. */
void job_list_share(const struct job_list *list, struct job *job, const char *owner);
/* The waiting one whose turn it is, or NULL. */
struct job *job_list_next(const struct job_list *list, enum job_kind kind);
/* It runs from now on. */
void job_list_begin(struct job_list *list, struct job *job);
void job_list_free(struct job *job);
