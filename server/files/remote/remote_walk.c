/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_walk.h"

#include "server/base/memory.h"
#include "server/base/wanted.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WALKER_COUNT = 12 };

struct step {
    char *name;
    unsigned depth;
    struct step *next;
};

struct remote_walk {
    remote_walk_visit *visit;
    void *context;
    struct wanted *wanted; /* what the one who asked works for */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct step *first; /* newest first: deep before wide, so that few wait */
    unsigned busy_count;
    size_t step_count, folder_count; /* of all that were added */
    bool is_failed;
    struct err err;
};

/* With the lock: is there room for one more? Else all ends. */
static bool remote_walk_count(struct remote_walk *walk, const char *name)
{
    size_t length = strlen(name);
    walk->step_count++;
    walk->folder_count += length > 0 && name[length - 1] == '/';
    bool is_room = walk->step_count <= REMOTE_WALK_STEPS_MAX && walk->folder_count <= REMOTE_WALK_FOLDERS_MAX;
    if (!is_room && !walk->is_failed)
        err_set(&walk->err, ERR_limit, ERR_NO_OFFSET, "there are more than %d files or %d folders below it",
                REMOTE_WALK_STEPS_MAX, REMOTE_WALK_FOLDERS_MAX);
    walk->is_failed |= !is_room;
    return is_room;
}

void remote_walk_add(struct remote_walk *walk, const char *name, unsigned depth)
{
    pthread_mutex_lock(&walk->lock);
    if (remote_walk_count(walk, name)) {
        struct step *step = memory_new(sizeof(*step));
        *step = (struct step){memory_text(name), depth, walk->first};
        walk->first = step;
        pthread_cond_signal(&walk->changed);
    }
    pthread_mutex_unlock(&walk->lock);
}

/* With the lock; NULL when all is done. */
static struct step *step_take(struct remote_walk *walk)
{
    while (!walk->first && walk->busy_count > 0 && !walk->is_failed)
        pthread_cond_wait(&walk->changed, &walk->lock);
    struct step *step = walk->is_failed ? NULL : walk->first;
    if (step)
        walk->first = step->next;
    return step;
}

static void step_free(struct step *step)
{
    free(step->name);
    free(step);
}

static void *walker_run(void *context)
{
    struct remote_walk *walk = context;
    wanted_work_for(walk->wanted);
    pthread_mutex_lock(&walk->lock);
    for (struct step *step; (step = step_take(walk));) {
        struct err err = ERR_INIT;
        walk->busy_count++;
        pthread_mutex_unlock(&walk->lock);
        bool is_good = walk->visit(walk, walk->context, step->name, step->depth, &err);
        step_free(step);
        pthread_mutex_lock(&walk->lock);
        walk->busy_count--;
        if (!is_good && !walk->is_failed)
            walk->err = err;
        walk->is_failed |= !is_good;
        pthread_cond_broadcast(&walk->changed);
    }
    pthread_mutex_unlock(&walk->lock);
    return NULL;
}

bool remote_walk_run(remote_walk_visit *visit, void *context, const char *first, struct err *err)
{
    struct remote_walk walk = {.visit = visit, .context = context, .wanted = wanted_now(), .err = ERR_INIT};
    pthread_t walkers[WALKER_COUNT - 1];
    size_t count = 0;
    pthread_mutex_init(&walk.lock, NULL);
    pthread_cond_init(&walk.changed, NULL);
    remote_walk_add(&walk, first, 0);
    while (count < WALKER_COUNT - 1 && pthread_create(&walkers[count], NULL, walker_run, &walk) == 0)
        count++;
    walker_run(&walk);
    for (size_t at = 0; at < count; at++)
        pthread_join(walkers[at], NULL);
    for (struct step *next; walk.first; walk.first = next) {
        next = walk.first->next;
        step_free(walk.first);
    }
    pthread_cond_destroy(&walk.changed);
    pthread_mutex_destroy(&walk.lock);
    if (walk.is_failed)
        *err = walk.err;
    return !walk.is_failed;
}
