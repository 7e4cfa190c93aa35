/* SPDX-License-Identifier: Apache-2.0 */
#include "server/disk/index.h"

#include "server/base/clock.h"
#include "server/disk/demo_files.h"
#include "server/disk/sessions.h"
#include "server/disk/tree_profiles.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    INTERVAL_MS = 1000,
    NUDGED_MS = 100,
    ALL_IDLE_TIMES = 50,
    NEW_IDLE_TIMES = 10,
    FIRST_WAIT_MS = 10000,
    PARTIAL_MS = 1000
};

struct index {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a snapshot was published, a refresh asked for, or the end has come */
    pthread_t thread;
    bool has_thread, is_stopping, is_nudged;
    bool wants_all;          /* a nudge about something that may lie anywhere */
    struct snapshot *newest; /* never NULL; the index is one of its holders */
    bool is_ready;

    /* Of the scanner's thread alone. */
    struct sessions_root *roots;
    size_t root_count, root_capacity;
    uint64_t generation;
    bool was_all; /* the last refresh was of all */
    int64_t published_at_ms;
    int64_t all_due_at_ms;     /* when all is looked at again, not only what is new */
    struct verdicts *verdicts; /* NULL without a scanner */
};

struct index *index_new(void)
{
    struct index *index = memory_new(sizeof(*index));
    pthread_mutex_init(&index->lock, NULL);
    clock_cond_init(&index->changed);
    index->newest = sessions_build(NULL, 0, 0, NULL);
    return index;
}

static void add_tree(struct index *index, struct tree *tree)
{
    index->roots = memory_grow(index->roots, &index->root_capacity, index->root_count + 1, sizeof(*index->roots));
    index->roots[index->root_count++] = (struct sessions_root){.tree = tree, .kind = ANALYSIS_KIND_UNKNOWN};
}

void index_add(struct index *index, const char *path) { add_tree(index, tree_new(path)); }

void index_add_files(struct index *index, const char *folder)
{
    struct tree *tree = tree_new(folder);
    tree->is_flat = true;
    add_tree(index, tree);
}

void index_add_demo(struct index *index)
{
    struct tree *tree = tree_new_of_memory("demo");
    for (size_t at = 0; at < demo_file_count; at++) {
        if (demo_files[at].path)
            tree_add_memory(tree, demo_files[at].path, demo_files[at].bytes, demo_files[at].size);
    }
    add_tree(index, tree);
}

static void publish(struct index *index, bool is_complete)
{
    if (index->verdicts)
        verdicts_begin(index->verdicts);
    struct snapshot *made = sessions_build(index->roots, index->root_count, ++index->generation, index->verdicts);
    if (index->verdicts)
        verdicts_end(index->verdicts, is_complete);
    pthread_mutex_lock(&index->lock);
    struct snapshot *before = index->newest;
    index->newest = made;
    pthread_cond_broadcast(&index->changed);
    pthread_mutex_unlock(&index->lock);
    index->published_at_ms = clock_ms();
    index_release(index, before);
}

/* Of a root that is a file: tells from its bytes what it is. */
static void identify(struct sessions_root *root)
{
    struct files_place place = {.root = root->tree->root, .path = ""};
    struct err err = ERR_INIT;
    struct file *file = files_open(&place, &err);
    root->kind = ANALYSIS_KIND_UNKNOWN;
    if (file && !analysis_identify_whole(files_source(file), &root->kind, &err))
        root->kind = ANALYSIS_KIND_UNKNOWN;
    root->refusal = err;
    files_close(file);
}

static int64_t longer(int64_t a, int64_t b) { return a > b ? a : b; }

/* Called between two folders: publishes what the first scan has so far. */
static bool go_on(void *context)
{
    struct index *index = context;
    pthread_mutex_lock(&index->lock);
    bool is_stopping = index->is_stopping, is_first = !index->is_ready;
    pthread_mutex_unlock(&index->lock);
    if (!is_stopping && is_first && clock_ms() - index->published_at_ms > PARTIAL_MS)
        publish(index, false);
    return !is_stopping;
}

static void refresh(struct index *index)
{
    bool is_changed = false;
    int64_t began_ms = clock_ms();
    pthread_mutex_lock(&index->lock);
    enum tree_extent extent = index->wants_all || began_ms >= index->all_due_at_ms ? TREE_ALL : TREE_NEW;
    index->is_nudged = index->wants_all =
        false; /* not later: a nudge during the scan may be about what it has passed already */
    pthread_mutex_unlock(&index->lock);
    for (size_t at = 0; at < index->root_count; at++) {
        bool differs = tree_refresh(index->roots[at].tree, extent, go_on, index);
        if (differs && index->roots[at].tree->is_file)
            identify(&index->roots[at]);
        is_changed |= differs;
        is_changed |= differs && tree_profiles_look(index->roots[at].tree);
    }
    is_changed |= index->verdicts && verdicts_have_news(index->verdicts);
    if (is_changed || index->generation == 0)
        publish(index, true);
    if (extent == TREE_ALL)
        index->all_due_at_ms = clock_ms() + longer(INTERVAL_MS, (clock_ms() - began_ms) * ALL_IDLE_TIMES);
    index->was_all = extent == TREE_ALL;
    pthread_mutex_lock(&index->lock);
    index->is_ready = true;
    pthread_cond_broadcast(&index->changed);
    pthread_mutex_unlock(&index->lock);
}

/* False when it is time to stop. */
static bool rest(struct index *index, int64_t rest_ms)
{
    struct timespec until = clock_after(rest_ms), nudged = clock_after(NUDGED_MS);
    pthread_mutex_lock(&index->lock);
    int reason = 0;
    while (!index->is_stopping && !index->is_nudged && reason == 0)
        reason = pthread_cond_timedwait(&index->changed, &index->lock, &until);
    for (reason = 0; !index->is_stopping && index->is_nudged && reason == 0;)
        reason = pthread_cond_timedwait(&index->changed, &index->lock, &nudged);
    bool goes_on = !index->is_stopping;
    pthread_mutex_unlock(&index->lock);
    return goes_on;
}

static void *scan(void *context)
{
    struct index *index = context;
    int64_t took_ms;
    do {
        int64_t began_ms = clock_ms();
        refresh(index);
        took_ms = clock_ms() - began_ms;
    } while (rest(index, index->was_all ? INTERVAL_MS : longer(INTERVAL_MS, took_ms * NEW_IDLE_TIMES)));
    return NULL;
}

static void wake(struct index *index, bool wants_all)
{
    pthread_mutex_lock(&index->lock);
    index->is_nudged = true;
    index->wants_all |= wants_all;
    pthread_cond_broadcast(&index->changed);
    pthread_mutex_unlock(&index->lock);
}

/* Something is known of a text that was read. */
static void nudge(void *context) { wake(context, false); }

bool index_start(struct index *index)
{
    index->published_at_ms = clock_ms();
    index->verdicts = verdicts_new(nudge, index);
    verdicts_start(index->verdicts);
    index->has_thread = pthread_create(&index->thread, NULL, scan, index) == 0;
    return index->has_thread;
}

void index_scan_once(struct index *index)
{
    index->published_at_ms = clock_ms();
    refresh(index);
}

void index_free(struct index *index)
{
    pthread_mutex_lock(&index->lock);
    index->is_stopping = true;
    pthread_cond_broadcast(&index->changed);
    pthread_mutex_unlock(&index->lock);
    if (index->has_thread)
        pthread_join(index->thread, NULL);
    if (index->verdicts)
        verdicts_free(index->verdicts);
    index_release(index, index->newest);
    for (size_t at = 0; at < index->root_count; at++)
        tree_free(index->roots[at].tree);
    free(index->roots);
    pthread_cond_destroy(&index->changed);
    pthread_mutex_destroy(&index->lock);
    free(index);
}

struct snapshot *index_hold(struct index *index)
{
    struct timespec until = clock_after(FIRST_WAIT_MS);
    pthread_mutex_lock(&index->lock);
    int reason = 0;
    while (!index->is_ready && !index->is_stopping && reason == 0)
        reason = pthread_cond_timedwait(&index->changed, &index->lock, &until);
    struct snapshot *snapshot = index->newest;
    snapshot->holders++;
    pthread_mutex_unlock(&index->lock);
    return snapshot;
}

void index_release(struct index *index, struct snapshot *snapshot)
{
    pthread_mutex_lock(&index->lock);
    bool is_last = --snapshot->holders == 0;
    pthread_mutex_unlock(&index->lock);
    if (is_last)
        sessions_free(snapshot);
}

bool index_is_ready(struct index *index)
{
    pthread_mutex_lock(&index->lock);
    bool is_ready = index->is_ready;
    pthread_mutex_unlock(&index->lock);
    return is_ready;
}

void index_nudge(struct index *index) { wake(index, true); }
