/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/index.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/gather/demo_files.h"
#include "server/gather/sessions.h"
#include "server/gather/tree_profiles.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t TEXTS_KEPT_BYTES = 64 << 20; /* of what was found: a failure takes some kilobytes */
enum {
    INTERVAL_MS = 1000,
    NUDGED_MS = 100,
    ALL_IDLE_TIMES = 50,
    NEW_IDLE_TIMES = 10,
    TOLD_IDLE_TIMES = 10,
    FIRST_WAIT_MS = 10000,
    PARTIAL_MS = 1000
};

struct index {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a snapshot was published, a refresh asked for, or the end has come */
    bool is_stopping, is_nudged;
    bool wants_all;          /* a nudge about something that may lie anywhere */
    bool is_told, is_lost;   /* the kernel told of changes; it lost count of them */
    struct snapshot *newest; /* never NULL; the index is one of its holders */
    bool is_ready;
    struct index_figures figures;

    /* For the thread that starts and frees it. */
    pthread_t thread;
    bool has_thread;

    /* Only for the scanner's thread. */
    struct sessions_root *roots;
    size_t root_count, root_capacity;
    uint64_t generation, looked_count;
    int64_t published_at_ms;
    int64_t all_due_at_ms, new_due_at_ms;     /* when to scan all folders, and the new ones, again */
    int64_t nudged_due_at_ms, told_due_at_ms; /* the same after a nudge, and after a report of the watches */
    struct log_texts *log_texts;              /* NULL without a scanner */
    struct sessions_texts texts;              /* without a scanner */
    struct log_texts_kept kept_texts;
    struct watch *watch; /* NULL without a scanner, and where there is none */
};

struct index *index_new(void)
{
    struct index *index = memory_new(sizeof(*index));
    pthread_mutex_init(&index->lock, NULL);
    clock_cond_init(&index->changed);
    index->newest = sessions_build(NULL, 0, 0, NULL, NULL);
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
    if (index->log_texts)
        log_texts_begin(index->log_texts);
    struct snapshot *made =
        sessions_build(index->roots, index->root_count, ++index->generation, index->log_texts, &index->texts);
    if (index->log_texts)
        log_texts_end(index->log_texts, is_complete);
    pthread_mutex_lock(&index->lock);
    struct snapshot *before = index->newest;
    index->newest = made;
    pthread_cond_broadcast(&index->changed);
    pthread_mutex_unlock(&index->lock);
    index->published_at_ms = clock_ms();
    index_release(index, before);
}

/* For a root that is a file: finds its kind from its bytes. */
static void index_identify(struct sessions_root *root)
{
    struct files_place place = {.root = root->tree->root, .path = ""};
    struct err err = ERR_INIT, change = ERR_INIT;
    struct file *file = files_open(&place, &err);
    root->kind = ANALYSIS_KIND_UNKNOWN;
    if (file && !analysis_identify_whole(files_source(file), &root->kind, &err)) {
        root->kind = ANALYSIS_KIND_UNKNOWN;
        if (!files_unchanged(file, &change))
            err = change;
    }
    root->refusal = err;
    files_close(file);
}

static int64_t index_longer(int64_t a, int64_t b) { return a > b ? a : b; }

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

/* With the lock. */
static enum tree_extent extent_due(const struct index *index, int64_t now_ms)
{
    if (index->wants_all || index->is_lost || now_ms >= index->all_due_at_ms)
        return TREE_ALL;
    return index->is_nudged || now_ms >= index->new_due_at_ms ? TREE_NEW : TREE_TOLD;
}

/* The time that a refresh took decides when the next may begin. A refresh for reported changes delays only others like
 * it. */
static void plan(struct index *index, enum tree_extent extent, bool is_for_told, int64_t began_ms)
{
    int64_t now_ms = clock_ms(), took_ms = now_ms - began_ms;
    if (extent == TREE_ALL)
        index->all_due_at_ms = now_ms + index_longer(INTERVAL_MS, took_ms * ALL_IDLE_TIMES);
    if (extent != TREE_TOLD)
        index->new_due_at_ms = now_ms + index_longer(INTERVAL_MS, extent == TREE_ALL ? 0 : took_ms * NEW_IDLE_TIMES);
    if (is_for_told)
        index->told_due_at_ms = now_ms + index_longer(NUDGED_MS, took_ms * TOLD_IDLE_TIMES);
    index->nudged_due_at_ms = now_ms + NUDGED_MS;
}

/* True when something differs. */
static bool trees_refresh(struct index *index, enum tree_extent extent)
{
    bool is_changed = false;
    for (size_t at = 0; at < index->root_count; at++) {
        bool differs = tree_refresh(index->roots[at].tree, extent, go_on, index);
        index->looked_count += index->roots[at].tree->asked_count;
        if (differs && index->roots[at].tree->is_file)
            index_identify(&index->roots[at]);
        is_changed |= differs;
        is_changed |= (differs || index->roots[at].tree->has_unread) &&
                      tree_profiles_look(index->roots[at].tree, index->texts.facts);
    }
    return is_changed;
}

/* Has each root been looked at once? */
static bool is_complete(const struct index *index)
{
    bool is = true;
    for (size_t at = 0; at < index->root_count && is; at++)
        is = !index->roots[at].tree->is_remote || index->roots[at].tree->refreshed_at_ms > 0;
    return is;
}

static struct index_figures figures_now(const struct index *index)
{
    struct watch_figures watched = watch_figures(index->watch);
    struct index_figures figures = {
        .watched_count = watched.watched_count, .lost_count = watched.lost_count, .looked_count = index->looked_count};
    for (size_t at = 0; at < index->root_count; at++)
        figures.folder_count += index->roots[at].tree->folder_count;
    return figures;
}

/* Call before the result is published: a reader of the result also sees its cost. */
static void figures_take(struct index *index)
{
    struct index_figures figures = figures_now(index);
    pthread_mutex_lock(&index->lock);
    index->figures = figures;
    pthread_mutex_unlock(&index->lock);
}

static void refresh(struct index *index)
{
    int64_t began_ms = clock_ms();
    pthread_mutex_lock(&index->lock);
    enum tree_extent extent = extent_due(index, began_ms);
    bool is_for_told = extent == TREE_TOLD || index->is_lost;
    index->is_nudged = index->wants_all = index->is_told = index->is_lost =
        false; /* not later: a nudge during the scan may be about what it has passed already */
    pthread_mutex_unlock(&index->lock);
    bool is_changed = trees_refresh(index, extent);
    figures_take(index);
    is_changed |= index->log_texts && log_texts_have_news(index->log_texts);
    if (is_changed || index->generation == 0)
        publish(index, true);
    plan(index, extent, is_for_told, began_ms);
    pthread_mutex_lock(&index->lock);
    index->is_ready = is_complete(index);
    pthread_cond_broadcast(&index->changed);
    pthread_mutex_unlock(&index->lock);
}

static int64_t index_shorter(int64_t a, int64_t b) { return a < b ? a : b; }

/* With the lock: when the next refresh begins. */
static int64_t due_at_ms(const struct index *index)
{
    int64_t due_ms = index->new_due_at_ms; /* all is looked at in the place of what is new */
    if (index->is_nudged)
        due_ms = index_shorter(due_ms, index->nudged_due_at_ms);
    if (index->is_told)
        due_ms = index_shorter(due_ms, index->told_due_at_ms);
    return due_ms;
}

/* False when it is time to stop. */
static bool index_rest(struct index *index)
{
    pthread_mutex_lock(&index->lock);
    for (int64_t left_ms; !index->is_stopping && (left_ms = due_at_ms(index) - clock_ms()) > 0;) {
        struct timespec until = clock_after(left_ms);
        pthread_cond_timedwait(&index->changed, &index->lock, &until);
    }
    bool goes_on = !index->is_stopping;
    pthread_mutex_unlock(&index->lock);
    return goes_on;
}

static void *scan(void *context)
{
    struct index *index = context;
    do
        refresh(index);
    while (index_rest(index));
    return NULL;
}

static void index_wake(struct index *index, bool wants_all)
{
    pthread_mutex_lock(&index->lock);
    index->is_nudged = true;
    index->wants_all |= wants_all;
    pthread_cond_broadcast(&index->changed);
    pthread_mutex_unlock(&index->lock);
}

/* Something is known of a text that was read. */
static void nudge(void *context) { index_wake(context, false); }

/* Folders have changed. */
static void take_told(void *context, bool is_anywhere)
{
    struct index *index = context;
    pthread_mutex_lock(&index->lock);
    index->is_told = true;
    index->is_lost |= is_anywhere;
    pthread_cond_broadcast(&index->changed);
    pthread_mutex_unlock(&index->lock);
}

/* Watches the roots that are folders on disk. */
static void watch_begin(struct index *index)
{
    bool has_folders = false;
    for (size_t at = 0; at < index->root_count; at++)
        has_folders |=
            !index->roots[at].tree->is_memory && !index->roots[at].tree->is_file && !index->roots[at].tree->is_remote;
    if (!has_folders)
        return;
    index->watch = watch_new(WATCH_LIMIT, take_told, index);
    if (!index->watch || !watch_start(index->watch)) {
        if (errno != ENOSYS)
            log_line("folders cannot be watched: %s%s; what changes is found by scans", strerror(errno),
                     errno == EMFILE ? " (fs.inotify.max_user_instances)" : "");
        return;
    }
    for (size_t at = 0; at < index->root_count; at++)
        index->roots[at].tree->watch = index->watch;
}

/* Roots on servers are listed by threads of their own, so that a slow one delays no other. */
static void follow_begin(struct index *index)
{
    for (size_t at = 0; at < index->root_count; at++) {
        struct tree *tree = index->roots[at].tree;
        if (tree->remote)
            tree->is_followed = remote_root_follow(tree->remote, nudge, index);
    }
}

const char *index_root(const struct index *index, size_t at)
{
    return at < index->root_count ? index->roots[at].tree->root : NULL;
}

void index_set_facts(struct index *index, const struct facts *facts) { index->texts.facts = facts; }

bool index_start(struct index *index)
{
    index->published_at_ms = clock_ms();
    index->log_texts = log_texts_new(nudge, index);
    log_texts_start(index->log_texts);
    watch_begin(index);
    follow_begin(index);
    index->has_thread = pthread_create(&index->thread, NULL, scan, index) == 0;
    return index->has_thread;
}

void index_scan_once(struct index *index)
{
    index->published_at_ms = clock_ms();
    refresh(index);
}

void index_keep_texts(struct index *index)
{
    index->kept_texts.left_bytes = TEXTS_KEPT_BYTES;
    index->texts.kept = &index->kept_texts;
}

void index_scan_once_with_texts(struct index *index, bool are_beside)
{
    static const atomic_bool never = false;
    index->texts.is_stopping = &never;
    index->texts.are_beside = are_beside;
    index_scan_once(index);
}

void index_free(struct index *index)
{
    pthread_mutex_lock(&index->lock);
    index->is_stopping = true;
    pthread_cond_broadcast(&index->changed);
    pthread_mutex_unlock(&index->lock);
    if (index->has_thread)
        pthread_join(index->thread, NULL);
    if (index->log_texts)
        log_texts_free(index->log_texts);
    if (index->watch)
        watch_stop(index->watch);
    index_release(index, index->newest);
    log_texts_kept_free(&index->kept_texts);
    for (size_t at = 0; at < index->root_count; at++)
        tree_free(index->roots[at].tree);
    watch_free(index->watch);
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

struct index_figures index_figures(struct index *index)
{
    pthread_mutex_lock(&index->lock);
    struct index_figures figures = index->figures;
    pthread_mutex_unlock(&index->lock);
    return figures;
}

bool index_is_ready(struct index *index)
{
    pthread_mutex_lock(&index->lock);
    bool is_ready = index->is_ready;
    pthread_mutex_unlock(&index->lock);
    return is_ready;
}

void index_nudge(struct index *index)
{
    for (size_t at = 0; at < index->root_count; at++) {
        if (index->roots[at].tree->remote)
            remote_root_nudge(index->roots[at].tree->remote);
    }
    index_wake(index, true);
}
