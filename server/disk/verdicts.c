/* SPDX-License-Identifier: Apache-2.0 */
#include "server/disk/verdicts.h"

#include "base/map.h"
#include "server/base/clock.h"
#include "server/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_TIMES = 20, NEWS_MS = 500 };
static const uint64_t SMALL_BYTES = 256 << 10;
static const int64_t AT_ONCE_MS = 200; /* for one snapshot */

struct entry {
    struct entry *next_queued;
    char *root, *path;
    const unsigned char *bytes; /* of a file that is compiled in */
    size_t byte_count;
    struct files_identity wanted, known; /* `known` is that of `verdict` */
    struct verdict *verdict;             /* NULL: no failure; most texts have none */
    struct err *err;                     /* why it cannot be read; NULL for those that can */
    bool is_known, is_queued, is_reading, is_gone;
    int64_t read_at_ms, took_ms;
    uint64_t asked_at; /* which snapshot */
};

struct verdicts {
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    pthread_t thread;
    atomic_bool is_stopping;
    bool has_thread, has_news;
    int64_t due_at_ms;  /* when a text that waits for its turn has it; 0: none waits */
    struct map entries; /* struct entry, by root and path */
    struct entry *first_queued, **last_queued;
    void (*changed)(void *context);
    void *context;
    /* of the scanner's thread */
    uint64_t snapshot;
    int64_t left_ms;
};

struct verdicts *verdicts_new(void (*changed)(void *context), void *context)
{
    struct verdicts *verdicts = memory_new(sizeof(*verdicts));
    pthread_mutex_init(&verdicts->lock, NULL);
    clock_cond_init(&verdicts->arrived);
    map_init_of(&verdicts->entries, memory_new, 0);
    verdicts->last_queued = &verdicts->first_queued;
    verdicts->changed = changed;
    verdicts->context = context;
    return verdicts;
}

static void entry_free(struct entry *entry)
{
    free(entry->verdict);
    free(entry->err);
    free(entry->root);
    free(entry->path);
    free(entry);
}

void verdicts_free(struct verdicts *verdicts)
{
    pthread_mutex_lock(&verdicts->lock);
    atomic_store(&verdicts->is_stopping, true);
    pthread_cond_broadcast(&verdicts->arrived);
    pthread_mutex_unlock(&verdicts->lock);
    if (verdicts->has_thread)
        pthread_join(verdicts->thread, NULL);
    for (uint64_t at = 0; at <= verdicts->entries.mask; at++)
        if (verdicts->entries.slots[at].value != MAP_FREE)
            entry_free(map_pointer(verdicts->entries.slots[at].value));
    map_free(&verdicts->entries);
    pthread_cond_destroy(&verdicts->arrived);
    pthread_mutex_destroy(&verdicts->lock);
    free(verdicts);
}

/* ---- reading ------------------------------------------------------------------------ */

/* Without the lock; nothing but the reader touches the result meanwhile. */
static void entry_read(struct verdicts *verdicts, struct entry *entry, const struct files_identity *identity)
{
    const struct files_place place = {.root = entry->root,
                                      .path = entry->path,
                                      .bytes = entry->bytes,
                                      .byte_count = entry->byte_count,
                                      .identity = identity};
    struct verdict verdict = {0};
    struct err err = ERR_INIT;
    int64_t began_ms = clock_ms();
    bool is_good = verdicts_read(&place, &verdicts->is_stopping, &verdict, &err);
    pthread_mutex_lock(&verdicts->lock);
    free(entry->verdict);
    free(entry->err);
    entry->verdict = is_good && verdict.failure_count > 0 ? memory_new(sizeof(verdict)) : NULL;
    if (entry->verdict)
        *entry->verdict = verdict;
    entry->err = is_good ? NULL : memory_new(sizeof(err));
    if (entry->err)
        *entry->err = err;
    entry->known = *identity;
    entry->is_known = true;
    entry->read_at_ms = clock_ms();
    entry->took_ms = entry->read_at_ms - began_ms;
    entry->is_reading = false;
    pthread_mutex_unlock(&verdicts->lock);
}

/* With the lock: the next to be read, or NULL at the end. */
static struct entry *next_queued(struct verdicts *verdicts)
{
    while (!verdicts->is_stopping && !verdicts->first_queued)
        pthread_cond_wait(&verdicts->arrived, &verdicts->lock);
    if (verdicts->is_stopping)
        return NULL;
    struct entry *entry = verdicts->first_queued;
    verdicts->first_queued = entry->next_queued;
    if (!verdicts->first_queued)
        verdicts->last_queued = &verdicts->first_queued;
    entry->is_queued = false;
    entry->is_reading = true;
    return entry;
}

/* With the lock: rests for `rest_ms`, or until the end. */
static void rest(struct verdicts *verdicts, int64_t rest_ms)
{
    struct timespec until = clock_after(rest_ms);
    int reason = 0;
    while (!verdicts->is_stopping && reason == 0)
        reason = pthread_cond_timedwait(&verdicts->arrived, &verdicts->lock, &until);
}

static void *read_all(void *context)
{
    struct verdicts *verdicts = context;
    struct entry *entry;
    int64_t told_at_ms = 0;
    pthread_mutex_lock(&verdicts->lock);
    while ((entry = next_queued(verdicts))) {
        struct files_identity identity = entry->wanted;
        pthread_mutex_unlock(&verdicts->lock);
        entry_read(verdicts, entry, &identity);
        pthread_mutex_lock(&verdicts->lock);
        verdicts->has_news = true;
        bool tells = !verdicts->first_queued || clock_ms() - told_at_ms > NEWS_MS;
        int64_t took_ms = entry->took_ms;
        if (entry->is_gone)
            entry_free(entry);
        if (tells) {
            pthread_mutex_unlock(&verdicts->lock);
            verdicts->changed(verdicts->context);
            pthread_mutex_lock(&verdicts->lock);
            told_at_ms = clock_ms();
        }
        rest(verdicts, took_ms);
    }
    pthread_mutex_unlock(&verdicts->lock);
    return NULL;
}

bool verdicts_start(struct verdicts *verdicts)
{
    verdicts->has_thread = pthread_create(&verdicts->thread, NULL, read_all, verdicts) == 0;
    return verdicts->has_thread;
}

/* ---- asking ------------------------------------------------------------------------- */

void verdicts_begin(struct verdicts *verdicts)
{
    verdicts->snapshot++;
    verdicts->left_ms = AT_ONCE_MS;
}

void verdicts_end(struct verdicts *verdicts, bool is_complete)
{
    struct map *entries = &verdicts->entries;
    pthread_mutex_lock(&verdicts->lock);
    for (uint64_t at = 0; is_complete && at <= entries->mask;) {
        struct entry *entry = map_pointer(entries->slots[at].value);
        if (!entry || entry->asked_at == verdicts->snapshot || entry->is_queued) {
            at++;
            continue;
        }
        map_clear(entries, &entries->slots[at]); /* another one may stand there now */
        if (entry->is_reading)
            entry->is_gone = true; /* its reader frees it */
        else
            entry_free(entry);
    }
    pthread_mutex_unlock(&verdicts->lock);
}

static bool is_place(const void *context, uint64_t value)
{
    const struct files_place *place = context;
    const struct entry *entry = map_pointer(value);
    return strcmp(entry->path, place->path) == 0 && strcmp(entry->root, place->root) == 0;
}

static struct entry *find_or_add(struct verdicts *verdicts, const struct files_place *place)
{
    uint64_t hash = hash_text(place->path, hash_text(place->root, 0));
    struct entry *entry = map_pointer(map_find(&verdicts->entries, hash, is_place, place));
    if (entry)
        return entry;
    entry = memory_new(sizeof(*entry));
    *entry = (struct entry){.root = memory_text(place->root),
                            .path = memory_text(place->path),
                            .bytes = place->bytes,
                            .byte_count = place->byte_count};
    map_add(&verdicts->entries, hash, map_value(entry));
    return entry;
}

static void enqueue(struct verdicts *verdicts, struct entry *entry)
{
    entry->is_queued = true;
    entry->next_queued = NULL;
    *verdicts->last_queued = entry;
    verdicts->last_queued = &entry->next_queued;
    pthread_cond_signal(&verdicts->arrived);
}

/* A text that was read a moment ago, and took long, waits for its turn: it may never change again. */
static bool is_early(struct verdicts *verdicts, const struct entry *entry)
{
    int64_t due_at_ms = entry->read_at_ms + entry->took_ms * PATIENCE_TIMES;
    if (!entry->is_known || clock_ms() >= due_at_ms)
        return false;
    if (verdicts->due_at_ms == 0 || due_at_ms < verdicts->due_at_ms)
        verdicts->due_at_ms = due_at_ms;
    return true;
}

bool verdicts_look(struct verdicts *verdicts, const struct files_place *place, const struct files_identity *identity,
                   struct verdict *verdict, struct err *err)
{
    pthread_mutex_lock(&verdicts->lock);
    struct entry *entry = find_or_add(verdicts, place);
    entry->asked_at = verdicts->snapshot;
    entry->wanted = *identity;
    bool is_due = !entry->is_queued && !entry->is_reading &&
                  (!entry->is_known || !files_identity_equal(&entry->known, identity)) && !is_early(verdicts, entry);
    bool is_at_once = is_due && identity->size_bytes <= SMALL_BYTES && verdicts->left_ms > 0;
    if (is_at_once) {
        entry->is_reading = true;
        pthread_mutex_unlock(&verdicts->lock);
        entry_read(verdicts, entry, identity);
        pthread_mutex_lock(&verdicts->lock);
        verdicts->left_ms -= entry->took_ms;
    } else if (is_due && verdicts->has_thread) {
        enqueue(verdicts, entry);
    }
    bool is_known = entry->is_known && !entry->err;
    if (is_known)
        *verdict = entry->verdict ? *entry->verdict : (struct verdict){0};
    else if (entry->is_known)
        *err = *entry->err;
    pthread_mutex_unlock(&verdicts->lock);
    return is_known;
}

bool verdicts_have_news(struct verdicts *verdicts)
{
    pthread_mutex_lock(&verdicts->lock);
    bool is_due = verdicts->due_at_ms > 0 && clock_ms() >= verdicts->due_at_ms;
    bool has_news = verdicts->has_news || is_due;
    verdicts->has_news = false;
    if (is_due)
        verdicts->due_at_ms = 0;
    pthread_mutex_unlock(&verdicts->lock);
    return has_news;
}
