/* SPDX-License-Identifier: Apache-2.0 */
#include "server/jobs.h"

#include "server/hash.h"
#include "server/memory.h"
#include "server/moment.h"
#include "server/routes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 16, MOST_WAITING = 512, PATIENCE_MS = 120000, STACK_BYTES = 1 << 20 };

struct job {
    struct job *next;
    struct request *request;
    uint64_t hash; /* of its target */
    struct jobs_client *clients;
    bool is_running;
};

struct jobs {
    const struct server *server;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *first, **last; /* waiting and running, by arrival */
    size_t waiting_count;
    int thread_count, idle_count;
    bool is_stopping;
};

struct jobs *jobs_new(const struct server *server)
{
    struct jobs *jobs = memory_new(sizeof(*jobs));
    jobs->server = server;
    jobs->last = &jobs->first;
    pthread_mutex_init(&jobs->lock, NULL);
    moment_cond_init(&jobs->changed);
    return jobs;
}

static void tell(struct jobs_client *clients, struct response *response)
{
    while (clients) {
        struct jobs_client *client = clients;
        clients = client->next; /* gone once it is told */
        client->done(client, response_hold(response));
    }
}

/* Takes the job out of the list and gives its clients. */
static struct jobs_client *finish(struct jobs *jobs, struct job *job)
{
    struct job **at = &jobs->first;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (jobs->last == &job->next)
        jobs->last = at;
    return job->clients;
}

static bool wants_gzip(struct jobs *jobs, const struct job *job)
{
    bool wants = false;
    pthread_mutex_lock(&jobs->lock);
    for (const struct jobs_client *client = job->clients; client; client = client->next)
        wants |= client->wants_gzip;
    pthread_mutex_unlock(&jobs->lock);
    return wants;
}

static void run(struct jobs *jobs, struct job *job)
{
    struct response *response = routes_work(jobs->server, job->request);
    if (response->body && wants_gzip(jobs, job))
        body_release(body_gzip(response->body)); /* it keeps its packed form */
    pthread_mutex_lock(&jobs->lock);
    struct jobs_client *clients = finish(jobs, job);
    pthread_mutex_unlock(&jobs->lock);
    tell(clients, response);
    response_release(response);
    request_release(job->request);
    free(job);
}

static struct job *next_waiting(struct jobs *jobs)
{
    struct job *job = jobs->first;
    while (job && job->is_running)
        job = job->next;
    return job;
}

static void *work(void *context)
{
    struct jobs *jobs = context;
    pthread_mutex_lock(&jobs->lock);
    for (;;) {
        struct job *job = next_waiting(jobs);
        if (job) {
            job->is_running = true;
            jobs->waiting_count--;
            pthread_mutex_unlock(&jobs->lock);
            run(jobs, job);
            pthread_mutex_lock(&jobs->lock);
            continue;
        }
        if (jobs->is_stopping)
            break;
        jobs->idle_count++;
        pthread_cond_wait(&jobs->changed, &jobs->lock);
        jobs->idle_count--;
    }
    jobs->thread_count--;
    pthread_cond_broadcast(&jobs->changed);
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

/* One more thread, unless one is free or there are enough. */
static void staff(struct jobs *jobs)
{
    pthread_t thread;
    pthread_attr_t detached;
    if ((size_t)jobs->idle_count >= jobs->waiting_count || jobs->thread_count == MOST_THREADS)
        return;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, STACK_BYTES);
    if (pthread_create(&thread, &detached, work, jobs) == 0)
        jobs->thread_count++;
    pthread_attr_destroy(&detached);
}

static struct job *find_equal(struct jobs *jobs, const char *target, uint64_t hash)
{
    struct job *job = jobs->first;
    while (job && (job->hash != hash || strcmp(job->request->target, target) != 0))
        job = job->next;
    return job;
}

static struct job *add(struct jobs *jobs, struct request *request, uint64_t hash)
{
    struct job *job = memory_new(sizeof(*job));
    job->request = request_hold(request);
    job->hash = hash;
    *jobs->last = job;
    jobs->last = &job->next;
    jobs->waiting_count++;
    staff(jobs);
    pthread_cond_signal(&jobs->changed);
    return job;
}

void jobs_submit(struct jobs *jobs, struct request *request, struct jobs_client *client)
{
    uint64_t hash = hash_text(request->target, 0);
    client->deadline_ms = moment_ms() + PATIENCE_MS;
    client->next = NULL;
    pthread_mutex_lock(&jobs->lock);
    struct job *job = find_equal(jobs, request->target, hash);
    bool is_full = !job && (jobs->waiting_count >= MOST_WAITING || jobs->is_stopping);
    if (!job && !is_full) {
        job = add(jobs, request, hash);
        is_full = jobs->thread_count == 0; /* not even one thread could be made */
    }
    if (!is_full) {
        client->next = job->clients;
        job->clients = client;
    }
    pthread_mutex_unlock(&jobs->lock);
    if (is_full)
        client->done(client, response_problem(503, "busy", "too many requests wait for an answer; ask again"));
}

void jobs_expire(struct jobs *jobs, bool all)
{
    struct jobs_client *expired = NULL;
    int64_t now_ms = moment_ms();
    pthread_mutex_lock(&jobs->lock);
    for (struct job *job = jobs->first; job; job = job->next) {
        for (struct jobs_client **at = &job->clients; *at;) {
            struct jobs_client *client = *at;
            if (!all && client->deadline_ms > now_ms) {
                at = &client->next;
                continue;
            }
            *at = client->next;
            client->next = expired;
            expired = client;
        }
    }
    pthread_mutex_unlock(&jobs->lock);
    if (!expired)
        return;
    struct response *response = response_problem(
        503, "busy", "the answer took longer than %d s; it is still being made, ask again", PATIENCE_MS / 1000);
    tell(expired, response);
    response_release(response);
}

bool jobs_free(struct jobs *jobs, int64_t wait_ms)
{
    struct timespec until = moment_after(wait_ms);
    int reason = 0;
    pthread_mutex_lock(&jobs->lock);
    jobs->is_stopping = true;
    pthread_cond_broadcast(&jobs->changed);
    while (jobs->thread_count > 0 && reason == 0)
        reason = pthread_cond_timedwait(&jobs->changed, &jobs->lock, &until);
    bool is_done = jobs->thread_count == 0;
    pthread_mutex_unlock(&jobs->lock);
    if (is_done) {
        pthread_cond_destroy(&jobs->changed);
        pthread_mutex_destroy(&jobs->lock);
        free(jobs);
    }
    return is_done;
}
