/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/log_texts.h"

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
    struct files_member *member;         /* for one in an archive, in the state `wanted`; else NULL */
    struct files_identity wanted, known; /* `known` is that of `failure` */
    struct log_text_failure *failure;    /* NULL: no failure; most texts have none */
    struct err *err;                     /* why it cannot be read; NULL for those that can */
    bool is_known, is_queued, is_reading, is_gone;
    int64_t read_at_ms, took_ms;
    uint64_t asked_at; /* which snapshot */
};

struct log_texts {
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

struct log_texts *log_texts_new(void (*changed)(void *context), void *context)
{
    struct log_texts *texts = memory_new(sizeof(*texts));
    pthread_mutex_init(&texts->lock, NULL);
    clock_cond_init(&texts->arrived);
    map_init_of(&texts->entries, memory_new, 0);
    texts->last_queued = &texts->first_queued;
    texts->changed = changed;
    texts->context = context;
    return texts;
}

static void entry_free(struct entry *entry)
{
    free(entry->failure);
    free(entry->err);
    free(entry->root);
    free(entry->path);
    free(entry->member);
    free(entry);
}

void log_texts_free(struct log_texts *texts)
{
    pthread_mutex_lock(&texts->lock);
    atomic_store(&texts->is_stopping, true);
    pthread_cond_broadcast(&texts->arrived);
    pthread_mutex_unlock(&texts->lock);
    if (texts->has_thread)
        pthread_join(texts->thread, NULL);
    for (uint64_t at = 0; at <= texts->entries.mask; at++)
        if (texts->entries.slots[at].value != MAP_FREE)
            entry_free(map_pointer(texts->entries.slots[at].value));
    map_free(&texts->entries);
    pthread_cond_destroy(&texts->arrived);
    pthread_mutex_destroy(&texts->lock);
    free(texts);
}

/* ---- reading ------------------------------------------------------------------------ */

/* Without the lock; nothing but the reader touches the result meanwhile. */
static void entry_read(struct log_texts *texts, struct entry *entry, const struct files_identity *identity,
                       const struct files_member *member)
{
    const struct files_place place = {.root = entry->root,
                                      .path = entry->path,
                                      .bytes = entry->bytes,
                                      .byte_count = entry->byte_count,
                                      .identity = identity,
                                      .member = member};
    struct log_text_failure failure = {0};
    struct err err = ERR_INIT;
    int64_t began_ms = clock_ms();
    bool is_good = log_texts_read(&place, &texts->is_stopping, NULL, &failure, &err);
    pthread_mutex_lock(&texts->lock);
    free(entry->failure);
    free(entry->err);
    entry->failure = is_good && failure.failure_count > 0 ? memory_new(sizeof(failure)) : NULL;
    if (entry->failure)
        *entry->failure = failure;
    entry->err = is_good ? NULL : memory_new(sizeof(err));
    if (entry->err)
        *entry->err = err;
    entry->known = *identity;
    entry->is_known = true;
    entry->read_at_ms = clock_ms();
    entry->took_ms = entry->read_at_ms - began_ms;
    entry->is_reading = false;
    pthread_mutex_unlock(&texts->lock);
}

/* With the lock: the next to be read, or NULL at the end. */
static struct entry *next_queued(struct log_texts *texts)
{
    while (!texts->is_stopping && !texts->first_queued)
        pthread_cond_wait(&texts->arrived, &texts->lock);
    if (texts->is_stopping)
        return NULL;
    struct entry *entry = texts->first_queued;
    texts->first_queued = entry->next_queued;
    if (!texts->first_queued)
        texts->last_queued = &texts->first_queued;
    entry->is_queued = false;
    entry->is_reading = true;
    return entry;
}

/* With the lock: rests for `rest_ms`, or until the end. */
static void log_texts_rest(struct log_texts *texts, int64_t rest_ms)
{
    struct timespec until = clock_after(rest_ms);
    int reason = 0;
    while (!texts->is_stopping && reason == 0)
        reason = pthread_cond_timedwait(&texts->arrived, &texts->lock, &until);
}

static void *read_all(void *context)
{
    struct log_texts *texts = context;
    struct entry *entry;
    int64_t told_at_ms = 0;
    pthread_mutex_lock(&texts->lock);
    while ((entry = next_queued(texts))) {
        struct files_identity identity = entry->wanted;
        struct files_member member = entry->member ? *entry->member : (struct files_member){.archive_path_bytes = 0};
        bool is_member = entry->member != NULL;
        pthread_mutex_unlock(&texts->lock);
        entry_read(texts, entry, &identity, is_member ? &member : NULL);
        pthread_mutex_lock(&texts->lock);
        texts->has_news = true;
        bool tells = !texts->first_queued || clock_ms() - told_at_ms > NEWS_MS;
        int64_t took_ms = entry->took_ms;
        if (entry->is_gone)
            entry_free(entry);
        if (tells) {
            pthread_mutex_unlock(&texts->lock);
            texts->changed(texts->context);
            pthread_mutex_lock(&texts->lock);
            told_at_ms = clock_ms();
        }
        log_texts_rest(texts, took_ms);
    }
    pthread_mutex_unlock(&texts->lock);
    return NULL;
}

bool log_texts_start(struct log_texts *texts)
{
    texts->has_thread = pthread_create(&texts->thread, NULL, read_all, texts) == 0;
    return texts->has_thread;
}

/* ---- asking ------------------------------------------------------------------------- */

void log_texts_begin(struct log_texts *texts)
{
    texts->snapshot++;
    texts->left_ms = AT_ONCE_MS;
}

void log_texts_end(struct log_texts *texts, bool is_complete)
{
    struct map *entries = &texts->entries;
    pthread_mutex_lock(&texts->lock);
    for (uint64_t at = 0; is_complete && at <= entries->mask;) {
        struct entry *entry = map_pointer(entries->slots[at].value);
        if (!entry || entry->asked_at == texts->snapshot || entry->is_queued) {
            at++;
            continue;
        }
        map_clear(entries, &entries->slots[at]); /* another one may be there now */
        if (entry->is_reading)
            entry->is_gone = true; /* its reader frees it */
        else
            entry_free(entry);
    }
    pthread_mutex_unlock(&texts->lock);
}

static bool is_place(const void *context, uint64_t value)
{
    const struct files_place *place = context;
    const struct entry *entry = map_pointer(value);
    return strcmp(entry->path, place->path) == 0 && strcmp(entry->root, place->root) == 0;
}

static struct entry *find_or_add(struct log_texts *texts, const struct files_place *place)
{
    uint64_t hash = hash_text(place->path, hash_text(place->root, 0));
    struct entry *entry = map_pointer(map_find(&texts->entries, hash, is_place, place));
    if (entry)
        return entry;
    entry = memory_new(sizeof(*entry));
    *entry = (struct entry){.root = memory_text(place->root),
                            .path = memory_text(place->path),
                            .bytes = place->bytes,
                            .byte_count = place->byte_count};
    map_add(&texts->entries, hash, map_value(entry));
    return entry;
}

/* An archive that is made anew holds it in another place. */
static void member_keep(struct entry *entry, const struct files_member *member)
{
    if (!member) {
        free(entry->member);
        entry->member = NULL;
        return;
    }
    if (!entry->member)
        entry->member = memory_new(sizeof(*entry->member));
    *entry->member = *member;
}

static void enqueue(struct log_texts *texts, struct entry *entry)
{
    entry->is_queued = true;
    entry->next_queued = NULL;
    *texts->last_queued = entry;
    texts->last_queued = &entry->next_queued;
    pthread_cond_signal(&texts->arrived);
}

/* A text that was read a moment ago, and took long, waits for its turn: it may never change again. */
static bool is_early(struct log_texts *texts, const struct entry *entry)
{
    int64_t due_at_ms = entry->read_at_ms + entry->took_ms * PATIENCE_TIMES;
    if (!entry->is_known || clock_ms() >= due_at_ms)
        return false;
    if (texts->due_at_ms == 0 || due_at_ms < texts->due_at_ms)
        texts->due_at_ms = due_at_ms;
    return true;
}

bool log_texts_look(struct log_texts *texts, const struct files_place *place, const struct files_identity *identity,
                    struct log_text_failure *failure, struct err *err)
{
    pthread_mutex_lock(&texts->lock);
    struct entry *entry = find_or_add(texts, place);
    entry->asked_at = texts->snapshot;
    entry->wanted = *identity;
    member_keep(entry, place->member);
    bool is_due = !entry->is_queued && !entry->is_reading &&
                  (!entry->is_known || !files_identity_equal(&entry->known, identity)) && !is_early(texts, entry);
    bool is_at_once = is_due && identity->size_bytes <= SMALL_BYTES && texts->left_ms > 0;
    if (is_at_once) {
        entry->is_reading = true;
        pthread_mutex_unlock(&texts->lock);
        entry_read(texts, entry, identity, place->member);
        pthread_mutex_lock(&texts->lock);
        texts->left_ms -= entry->took_ms;
    } else if (is_due && texts->has_thread) {
        enqueue(texts, entry);
    }
    bool is_known = entry->is_known && !entry->err;
    if (is_known)
        *failure = entry->failure ? *entry->failure : (struct log_text_failure){0};
    else if (entry->is_known)
        *err = *entry->err;
    pthread_mutex_unlock(&texts->lock);
    return is_known;
}

bool log_texts_have_news(struct log_texts *texts)
{
    pthread_mutex_lock(&texts->lock);
    bool is_due = texts->due_at_ms > 0 && clock_ms() >= texts->due_at_ms;
    bool has_news = texts->has_news || is_due;
    texts->has_news = false;
    if (is_due)
        texts->due_at_ms = 0;
    pthread_mutex_unlock(&texts->lock);
    return has_news;
}
