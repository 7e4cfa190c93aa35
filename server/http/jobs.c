/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/jobs.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/http/job_list.h"

#include <pthread.h>
#include <stdlib.h>

enum { MAX_WORKING = 16, MAX_COSTLY = 12, MAX_THREADS = MAX_WORKING + PEERS_MAX };
enum { MAX_WAITING = 512, TIMEOUT_MS = 120000, STACK_BYTES = 1 << 20 };

struct jobs {
    const struct http_handler *handler;
    pthread_mutex_t lock;
    pthread_cond_t arrived;          /* for idle threads: a job that may be run, or the end */
    pthread_cond_t freed[JOB_KINDS]; /* for threads that come back: a place to work in */
    pthread_cond_t ended;            /* the last thread has */
    struct job_list list;
    /* Each thread works, is idle, is away (it waits for what another makes) or comes back from there. */
    int thread_count, idle_count;
    int working_count[JOB_KINDS], returning_count[JOB_KINDS];
    bool is_stopping;
};

/* What the thread works on. */
static _Thread_local const struct job *current;

static void leave(void *context);
static void come_back(void *context);

struct jobs *jobs_new(const struct http_handler *handler)
{
    struct jobs *jobs = memory_new(sizeof(*jobs));
    jobs->handler = handler;
    pthread_mutex_init(&jobs->lock, NULL);
    pthread_cond_init(&jobs->arrived, NULL);
    for (enum job_kind kind = JOB_QUICK; kind < JOB_KINDS; kind++)
        pthread_cond_init(&jobs->freed[kind], NULL);
    clock_cond_init(&jobs->ended);
    return jobs;
}

struct cache_waiting jobs_waiting(struct jobs *jobs) { return (struct cache_waiting){leave, come_back, jobs}; }

static void jobs_tell(struct jobs_client *clients, struct response *response)
{
    while (clients) {
        struct jobs_client *client = clients;
        clients = client->next; /* it may be freed in `done` */
        client->done(client, response_hold(response));
    }
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

static void jobs_run(struct jobs *jobs, struct job *job)
{
    current = job;
    wanted_work_for(&job->wanted);
    struct response *response = jobs->handler->answer_on_worker(jobs->handler->context, job->request);
    if (response->body && wants_gzip(jobs, job))
        body_release(body_gzip(response->body)); /* it keeps its packed form */
    wanted_work_for(NULL);
    pthread_mutex_lock(&jobs->lock);
    job_list_remove(&jobs->list, job);
    pthread_mutex_unlock(&jobs->lock);
    jobs_tell(job->clients, response);
    response_release(response);
    job_list_free(job);
}

static void *jobs_work(void *context);

static bool has_place(const struct jobs *jobs, enum job_kind kind)
{
    const int *count = jobs->working_count;
    return count[JOB_QUICK] + count[JOB_COSTLY] < MAX_WORKING && (kind == JOB_QUICK || count[JOB_COSTLY] < MAX_COSTLY);
}

static struct job *next_job(const struct jobs *jobs)
{
    struct job *job = NULL;
    for (enum job_kind kind = JOB_QUICK; kind < JOB_KINDS && !job; kind++)
        if (has_place(jobs, kind) && jobs->returning_count[kind] == 0)
            job = job_list_next(&jobs->list, kind);
    return job;
}

/* One more thread, unless enough are free for what may begin, or there are enough. */
static void start_thread(struct jobs *jobs)
{
    pthread_t thread;
    pthread_attr_t detached;
    size_t wanted_count = 0;
    for (enum job_kind kind = JOB_QUICK; kind < JOB_KINDS; kind++)
        wanted_count += has_place(jobs, kind) ? jobs->list.waiting_count[kind] : 0;
    if ((size_t)jobs->idle_count >= wanted_count || jobs->thread_count == MAX_THREADS)
        return;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, STACK_BYTES);
    if (pthread_create(&thread, &detached, jobs_work, jobs) == 0)
        jobs->thread_count++;
    pthread_attr_destroy(&detached);
}

/* There may be a place to work in: for those who come back first, for they hold
 * what others wait for. */
static void offer_place(struct jobs *jobs)
{
    for (enum job_kind kind = JOB_QUICK; kind < JOB_KINDS; kind++) {
        if (!has_place(jobs, kind))
            continue;
        if (jobs->returning_count[kind] > 0) {
            pthread_cond_signal(&jobs->freed[kind]);
        } else if (jobs->list.waiting_count[kind] > 0) {
            start_thread(jobs);
            pthread_cond_signal(&jobs->arrived);
        }
    }
}

/* A worker waits for what another makes: its place is free meanwhile, so that
 * any number of requests for one slow thing leaves room for the others. Threads that work on no request have no
 * place. */
static void leave(void *context)
{
    struct jobs *jobs = context;
    if (!current)
        return;
    pthread_mutex_lock(&jobs->lock);
    jobs->working_count[current->kind]--;
    offer_place(jobs);
    pthread_mutex_unlock(&jobs->lock);
}

static void come_back(void *context)
{
    struct jobs *jobs = context;
    if (!current)
        return;
    enum job_kind kind = current->kind;
    pthread_mutex_lock(&jobs->lock);
    jobs->returning_count[kind]++;
    while (!has_place(jobs, kind))
        pthread_cond_wait(&jobs->freed[kind], &jobs->lock);
    jobs->returning_count[kind]--;
    jobs->working_count[kind]++;
    offer_place(jobs);
    pthread_mutex_unlock(&jobs->lock);
}

static void work_on(struct jobs *jobs, struct job *job)
{
    enum job_kind kind = job->kind;
    job_list_begin(&jobs->list, job);
    jobs->working_count[kind]++;
    offer_place(jobs); /* one signal may mean several places and jobs: each worker passes on what is left */
    pthread_mutex_unlock(&jobs->lock);
    jobs_run(jobs, job);
    pthread_mutex_lock(&jobs->lock);
    jobs->working_count[kind]--;
    for (enum job_kind other = JOB_QUICK; other < JOB_KINDS; other++)
        if (jobs->returning_count[other] > 0 && has_place(jobs, other))
            pthread_cond_signal(&jobs->freed[other]); /* else this thread takes the next job itself */
}

/* False when the thread is not needed any more. */
static bool jobs_rest(struct jobs *jobs)
{
    bool is_ending =
        jobs->is_stopping && jobs->list.waiting_count[JOB_QUICK] + jobs->list.waiting_count[JOB_COSTLY] == 0;
    if (is_ending || jobs->idle_count == MAX_WORKING)
        return false;
    jobs->idle_count++;
    pthread_cond_wait(&jobs->arrived, &jobs->lock);
    jobs->idle_count--;
    return true;
}

static void *jobs_work(void *context)
{
    struct jobs *jobs = context;
    struct job *job;
    pthread_mutex_lock(&jobs->lock);
    do {
        while ((job = next_job(jobs)))
            work_on(jobs, job);
    } while (jobs_rest(jobs));
    jobs->thread_count--;
    if (jobs->is_stopping)
        pthread_cond_broadcast(&jobs->arrived); /* to the others that rest */
    if (jobs->thread_count == 0)
        pthread_cond_signal(&jobs->ended);
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

/* With the lock: the job that will answer the request, or NULL. */
static struct job *find_or_add(struct jobs *jobs, struct request *request, const char *owner)
{
    const struct http_handler *handler = jobs->handler;
    struct job *job = jobs->is_stopping ? NULL : job_list_find(&jobs->list, request);
    enum job_kind kind = handler->is_quick(handler->context, request) ? JOB_QUICK : JOB_COSTLY;
    if (job) {
        job_list_share(&jobs->list, job, owner);
        if (!job->is_running)
            offer_place(jobs); /* perhaps no thread could be made for it before */
    }
    if (job || jobs->is_stopping || jobs->list.waiting_count[kind] >= MAX_WAITING)
        return job;
    job = job_list_add(&jobs->list, request, kind, owner);
    offer_place(jobs);
    if (jobs->thread_count > 0)
        return job;
    job_list_remove(&jobs->list, job); /* not even one thread could be made; later requests try again */
    job_list_free(job);
    return NULL;
}

void jobs_submit(struct jobs *jobs, struct request *request, struct jobs_client *client)
{
    client->deadline_ms = clock_ms() + TIMEOUT_MS;
    client->next = NULL;
    pthread_mutex_lock(&jobs->lock);
    struct job *job = find_or_add(jobs, request, client->owner);
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

/* Clients that get another answer than they asked for, by the reason. */
struct turned_away {
    struct jobs_client *late, *gone, *stopped;
};

static void turn_away(struct job *job, int64_t now_ms, bool all, struct turned_away *away)
{
    for (struct jobs_client **at = &job->clients; *at;) {
        struct jobs_client *client = *at, **to;
        if (all)
            to = &away->stopped;
        else if (client->is_gone(client))
            to = &away->gone;
        else if (client->deadline_ms <= now_ms)
            to = &away->late;
        else
            to = NULL;
        if (!to) {
            at = &client->next;
            continue;
        }
        if (to == &away->late)
            job->promised_until_ms = now_ms + TIMEOUT_MS;
        *at = client->next;
        client->next = *to;
        *to = client;
    }
}

static void tell_why(struct jobs_client *clients, struct response *response)
{
    jobs_tell(clients, response);
    response_release(response);
}

static void expire(struct jobs *jobs, bool all)
{
    struct turned_away away = {0};
    struct job *next;
    int64_t now_ms = clock_ms();
    pthread_mutex_lock(&jobs->lock);
    for (struct job *job = jobs->list.first; job; job = next) {
        next = job->next;
        turn_away(job, now_ms, all, &away);
        if (job->clients || job->is_left)
            continue;
        if (!job->is_running) { /* nothing was done yet */
            job_list_remove(&jobs->list, job);
            job_list_free(job);
        } else if (all || job->promised_until_ms <= now_ms) {
            job->is_left = true;
            if (all)
                wanted_end(&job->wanted);
            else
                wanted_release(&job->wanted);
        }
    }
    pthread_mutex_unlock(&jobs->lock);
    if (away.late)
        tell_why(away.late,
                 response_problem(503, "busy", "the answer took longer than %d s; ask again", TIMEOUT_MS / 1000));
    if (away.gone)
        tell_why(away.gone, response_problem(503, "stopped", "the connection was closed before the answer was there"));
    if (away.stopped)
        tell_why(away.stopped, response_problem(503, "stopped", "memviewd is being stopped"));
}

void jobs_expire(struct jobs *jobs) { expire(jobs, false); }

void jobs_cancel(struct jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    jobs->is_stopping = true;
    pthread_mutex_unlock(&jobs->lock);
    expire(jobs, true);
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
    for (enum job_kind kind = JOB_QUICK; kind < JOB_KINDS; kind++)
        pthread_cond_destroy(&jobs->freed[kind]);
    pthread_cond_destroy(&jobs->ended);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}
