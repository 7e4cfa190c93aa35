/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/job_list.h"

#include "base/hash.h"
#include "server/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t turn_of(const struct job_list *list, enum job_kind kind, const char *owner)
{
    uint64_t turn = list->turn[kind];
    for (const struct job *job = list->first; job; job = job->next)
        if (!job->is_running && job->kind == kind && job->turn >= turn && strcmp(job->owner, owner) == 0)
            turn = job->turn + 1;
    return turn;
}

struct job *job_list_add(struct job_list *list, struct request *request, enum job_kind kind, const char *owner)
{
    struct job *job = memory_new(sizeof(*job));
    job->request = request_hold(request);
    job->hash = hash_text(request->target, 0);
    job->kind = kind;
    job->turn = turn_of(list, kind, owner);
    snprintf(job->owner, sizeof(job->owner), "%s", owner);
    wanted_begin(&job->wanted);
    if (!list->last)
        list->last = &list->first;
    *list->last = job;
    list->last = &job->next;
    list->waiting_count[kind]++;
    return job;
}

void job_list_remove(struct job_list *list, struct job *job)
{
    struct job **at = &list->first;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (list->last == &job->next)
        list->last = at;
    list->waiting_count[job->kind] -= !job->is_running;
}

/* Requests that change something are never equal: their targets are, and their bodies are not looked at. */
struct job *job_list_find(const struct job_list *list, const struct request *request)
{
    uint64_t hash = hash_text(request->target, 0);
    struct job *job = request_method_acts(request->method) ? NULL : list->first;
    while (job && (job->hash != hash || job->is_left || request_method_acts(job->request->method) ||
                   strcmp(job->request->target, request->target) != 0))
        job = job->next;
    return job;
}

void job_list_share(const struct job_list *list, struct job *job, const char *owner)
{
    if (job->is_running || strcmp(job->owner, owner) == 0)
        return;
    uint64_t turn = turn_of(list, job->kind, owner);
    if (turn >= job->turn)
        return;
    job->turn = turn;
    snprintf(job->owner, sizeof(job->owner), "%s", owner);
}

struct job *job_list_next(const struct job_list *list, enum job_kind kind)
{
    struct job *next = NULL;
    for (struct job *job = list->first; job; job = job->next)
        if (!job->is_running && job->kind == kind && (!next || job->turn < next->turn))
            next = job;
    return next;
}

void job_list_begin(struct job_list *list, struct job *job)
{
    job->is_running = true;
    list->waiting_count[job->kind]--;
    list->turn[job->kind] = job->turn;
}

void job_list_free(struct job *job)
{
    request_release(job->request);
    free(job);
}
