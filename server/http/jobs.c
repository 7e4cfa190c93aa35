/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/jobs.h"

#include "base/hash.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/http/peers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORKING = 16, MAX_THREADS = MAX_WORKING + PEERS_MAX };
enum { MAX_WAITING = 512, TIMEOUT_MS = 120000, STACK_BYTES = 1 << 20 };

struct job {
    struct job *next;
    struct request *request;
    uint64_t hash; /* of its target */
    struct jobs_client *clients;
    bool is_running;
};

struct jobs {
    const struct http_handler *handler;
    pthread_mutex_t lock;
    pthread_cond_t arrived;    /* for idle threads: a job that may be run, or the end */
    pthread_cond_t freed;      /* for threads that come back: a place to work in */
    pthread_cond_t ended;      /* the last thread has */
    struct job *first, **last; /* waiting and running, by arrival */
    size_t waiting_count;
    /* Each thread works, is idle, is away (it waits for what another makes) or comes back from there. */
    int thread_count, working_count, idle_count, returning_count;
    bool is_stopping;
};

static void leave(void *context);
static void come_back(void *context);

struct jobs *jobs_new(const struct http_handler *handler)
{
    struct jobs *jobs = memory_new(sizeof(*jobs));
    jobs->handler = handler;
    jobs->last = &jobs->first;
    pthread_mutex_init(&jobs->lock, NULL);
    pthread_cond_init(&jobs->arrived, NULL);
    pthread_cond_init(&jobs->freed, NULL);
    clock_cond_init(&jobs->ended);
    return jobs;
}

struct cache_waiting jobs_waiting(struct jobs *jobs) { return (struct cache_waiting){leave, come_back, jobs}; }

static void tell(struct jobs_client *clients, struct response *response)
{
    while (clients) {
        struct jobs_client *client = clients;
        clients = client->next; /* gone once it is told */
        client->done(client, response_hold(response));
    }
}

/* Takes the job out of the list. */
static void take_out(struct jobs *jobs, struct job *job)
{
    struct job **at = &jobs->first;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    if (jobs->last == &job->next)
        jobs->last = at;
    jobs->waiting_count -= !job->is_running;
}

static void job_free(struct job *job)
{
    request_release(job->request);
    free(job);
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
    struct response *response = jobs->handler->answer_on_worker(jobs->handler->context, job->request);
    if (response->body && wants_gzip(jobs, job))
        body_release(body_gzip(response->body)); /* it keeps its packed form */
    pthread_mutex_lock(&jobs->lock);
    take_out(jobs, job);
    pthread_mutex_unlock(&jobs->lock);
    tell(job->clients, response);
    response_release(response);
    job_free(job);
}

static struct job *next_waiting(struct jobs *jobs)
{
    struct job *job = jobs->first;
    while (job && job->is_running)
        job = job->next;
    return job;
}

static void *work(void *context);

static bool has_place(const struct jobs *jobs) { return jobs->working_count < MAX_WORKING; }

/* One more thread, unless one is free or there are enough. */
static void start_thread(struct jobs *jobs)
{
    pthread_t thread;
    pthread_attr_t detached;
    if ((size_t)jobs->idle_count >= jobs->waiting_count || !has_place(jobs) || jobs->thread_count == MAX_THREADS)
        return;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, STACK_BYTES);
    if (pthread_create(&thread, &detached, work, jobs) == 0)
        jobs->thread_count++;
    pthread_attr_destroy(&detached);
}

/* There may be a place to work in: for those who come back first, for they hold
 * what others wait for. */
static void offer_place(struct jobs *jobs)
{
    if (!has_place(jobs))
        return;
    if (jobs->returning_count > 0) {
        pthread_cond_signal(&jobs->freed);
    } else if (jobs->waiting_count > 0) {
        start_thread(jobs);
        pthread_cond_signal(&jobs->arrived);
    }
}

/* A worker waits for what another makes: its place is free meanwhile, so that
 * any number of requests for one slow thing leaves room for the others. */
static void leave(void *context)
{
    struct jobs *jobs = context;
    pthread_mutex_lock(&jobs->lock);
    jobs->working_count--;
    offer_place(jobs);
    pthread_mutex_unlock(&jobs->lock);
}

static void come_back(void *context)
{
    struct jobs *jobs = context;
    pthread_mutex_lock(&jobs->lock);
    jobs->returning_count++;
    while (!has_place(jobs))
        pthread_cond_wait(&jobs->freed, &jobs->lock);
    jobs->returning_count--;
    jobs->working_count++;
    offer_place(jobs);
    pthread_mutex_unlock(&jobs->lock);
}

static void work_on(struct jobs *jobs, struct job *job)
{
    job->is_running = true;
    jobs->waiting_count--;
    jobs->working_count++;
    offer_place(jobs); /* one signal may stand for several places and jobs: each passes on what is left */
    pthread_mutex_unlock(&jobs->lock);
    run(jobs, job);
    pthread_mutex_lock(&jobs->lock);
    jobs->working_count--;
    if (jobs->returning_count > 0)
        pthread_cond_signal(&jobs->freed); /* else this thread takes the next job itself */
}

/* False when the thread is not needed any more. */
static bool rest(struct jobs *jobs)
{
    bool is_ending = jobs->is_stopping && jobs->waiting_count == 0;
    if (is_ending || jobs->idle_count == MAX_WORKING)
        return false;
    jobs->idle_count++;
    pthread_cond_wait(&jobs->arrived, &jobs->lock);
    jobs->idle_count--;
    return true;
}

static void *work(void *context)
{
    struct jobs *jobs = context;
    struct job *job;
    pthread_mutex_lock(&jobs->lock);
    do {
        while (has_place(jobs) && jobs->returning_count == 0 && (job = next_waiting(jobs)))
            work_on(jobs, job);
    } while (rest(jobs));
    jobs->thread_count--;
    if (jobs->is_stopping)
        pthread_cond_broadcast(&jobs->arrived); /* to the others that rest */
    if (jobs->thread_count == 0)
        pthread_cond_signal(&jobs->ended);
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

/* Requests that change something are never equal: their targets are, and their bodies are not looked at. */
static struct job *find_equal(struct jobs *jobs, const struct request *request, uint64_t hash)
{
    struct job *job = request_method_acts(request->method) ? NULL : jobs->first;
    while (job && (job->hash != hash || request_method_acts(job->request->method) ||
                   strcmp(job->request->target, request->target) != 0))
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
    offer_place(jobs);
    return job;
}

/* With the lock: the job that will answer the request, or NULL. */
static struct job *find_or_add(struct jobs *jobs, struct request *request)
{
    uint64_t hash = hash_text(request->target, 0);
    struct job *job = jobs->is_stopping ? NULL : find_equal(jobs, request, hash);
    if (job && !job->is_running)
        offer_place(jobs); /* perhaps no thread could be made for it before */
    if (job || jobs->is_stopping || jobs->waiting_count >= MAX_WAITING)
        return job;
    job = add(jobs, request, hash);
    if (jobs->thread_count > 0)
        return job;
    take_out(jobs, job); /* not even one thread could be made; later requests try again */
    job_free(job);
    return NULL;
}

void jobs_submit(struct jobs *jobs, struct request *request, struct jobs_client *client)
{
    client->deadline_ms = clock_ms() + TIMEOUT_MS;
    client->next = NULL;
    pthread_mutex_lock(&jobs->lock);
    struct job *job = find_or_add(jobs, request);
    if (job) {
        client->next = job->clients;
        job->clients = client;
    }
    bool is_stopping = jobs->is_stopping;
    pthread_mutex_unlock(&jobs->lock);
    if (!job)
        client->done(client, response_problem(503, "busy", "%s",
                                              is_stopping ? "memviewd is being stopped"
                                                          : "too many requests wait for an answer; ask again"));
}

void jobs_expire(struct jobs *jobs, bool all)
{
    struct jobs_client *expired = NULL;
    struct job *next;
    int64_t now_ms = clock_ms();
    pthread_mutex_lock(&jobs->lock);
    for (struct job *job = jobs->first; job; job = next) {
        next = job->next;
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
        if (!job->clients && !job->is_running) {
            take_out(jobs, job); /* nobody waits for it, and nothing was done yet */
            job_free(job);
        }
    }
    pthread_mutex_unlock(&jobs->lock);
    if (!expired)
        return;
    struct response *response =
        response_problem(503, "busy", "the answer took longer than %d s; ask again", TIMEOUT_MS / 1000);
    tell(expired, response);
    response_release(response);
}

bool jobs_stop(struct jobs *jobs, int64_t wait_ms)
{
    struct timespec until = clock_after(wait_ms);
    int reason = 0;
    pthread_mutex_lock(&jobs->lock);
    jobs->is_stopping = true;
    pthread_cond_broadcast(&jobs->arrived);
    while (jobs->thread_count > 0 && reason == 0)
        reason = pthread_cond_timedwait(&jobs->ended, &jobs->lock, &until);
    bool is_done = jobs->thread_count == 0;
    pthread_mutex_unlock(&jobs->lock);
    return is_done;
}

void jobs_free(struct jobs *jobs)
{
    pthread_cond_destroy(&jobs->arrived);
    pthread_cond_destroy(&jobs->freed);
    pthread_cond_destroy(&jobs->ended);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}
