/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/store.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/files/reading.h"
#include "server/store/kept_facts.h"
#include "server/store/unpacked.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_IDLE_MS = 6 * 60 * 60 * 1000,
    TRACE_IDLE_MS = 30 * 60 * 1000,
    UNPACKED_IDLE_MS = 60 * 1000,
    READERS_A_PROCESSOR = 4
};

struct store {
    struct cache *cache;
    struct account *account;
    struct thread_pool *thread_pool, *readers;
    struct cache_waiting waiting; /* functions NULL if no one needs to know */
    atomic_bool is_stopping;
    const char *category_rules, *libraries; /* NULL: none */
    struct disk_cache *disk_cache;          /* NULL: none */
};

static uint64_t min_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* What a maker needs. */
struct store_making {
    struct store *store;
    const struct store_file *file;
    struct file *opened;
    struct analysis_contents *contents; /* that were read already; else NULL */
};

static void free_contents(void *value) { analysis_contents_free(value); }

static void free_totals(void *value)
{
    struct store_totals *totals = value;
    for (size_t at = 0; at < totals->count; at++)
        analysis_totals_free(totals->programs[at].totals);
    free(totals);
}

struct store *store_new(uint64_t memory_bytes)
{
    const uint64_t mib = 1 << 20, any = UINT64_MAX;
    /* What takes nothing from the account is small beside it. */
    const uint64_t facts = min_of(32 * mib, memory_bytes / 16), answers = min_of(64 * mib, memory_bytes / 4);
    const struct cache_shelf shelves[] = {
        [STORE_CONTENTS] = {facts, any, CACHE_FACT, 0},
        [STORE_TOTALS] = {facts, any, CACHE_FACT, 0},
        [STORE_UNPACKED] = {memory_bytes / 4, any, CACHE_READ, UNPACKED_IDLE_MS},
        [STORE_ANSWERS] = {answers, answers / 2, CACHE_ANSWER, 0},
        [STORE_DIGESTS] = {facts, any, CACHE_FACT, 0},
        [STORE_MODULES] = {256 * mib, any, CACHE_READ, 0},
        [STORE_FIGURES] = {64 * mib, any, CACHE_READ, 0},
        [STORE_RUNS] = {32 * mib, any, CACHE_READ, 0},
        [STORE_TRACES] = {memory_bytes / 2, any, CACHE_READ, TRACE_IDLE_MS},
        [STORE_PROFILES] = {256 * mib, any, CACHE_READ, 0},
        [STORE_TEXTS] = {64 * mib, any, CACHE_READ, 0},
        [STORE_UPLOADED_PROFILES] = {256 * mib, any, CACHE_UPLOADED, 0},
        [STORE_UPLOADED_TEXTS] = {128 * mib, any, CACHE_UPLOADED, 0},
        /* The files are in the account; what is made of the sets may be as much and not more. */
        [STORE_UPLOADED_SETS] = {min_of(memory_bytes, 2048 * mib), any, CACHE_UPLOADED, 0},
    };
    struct store *store = memory_new(sizeof(*store));
    store->cache = cache_new(shelves, sizeof(shelves) / sizeof(shelves[0]));
    store->account = account_new(memory_bytes);
    account_use_cache(store->account, store->cache);
    store->thread_pool = thread_pool_new(1);
    store->readers = thread_pool_new(READERS_A_PROCESSOR);
    return store;
}

const char *store_kind_name(size_t kind)
{
    static const char *const NAMES[] = {
        [STORE_CONTENTS] = "contents",
        [STORE_TOTALS] = "totals",
        [STORE_UNPACKED] = "unpacked",
        [STORE_ANSWERS] = "answers",
        [STORE_DIGESTS] = "digests",
        [STORE_MODULES] = "modules",
        [STORE_FIGURES] = "figures",
        [STORE_RUNS] = "runs",
        [STORE_TRACES] = "traces",
        [STORE_PROFILES] = "profiles",
        [STORE_TEXTS] = "texts",
        [STORE_UPLOADED_PROFILES] = "uploaded_profiles",
        [STORE_UPLOADED_TEXTS] = "uploaded_texts",
        [STORE_UPLOADED_SETS] = "uploaded_sets",
    };
    static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == STORE_KIND_COUNT, "a name for each");
    return NAMES[kind];
}

struct cache *store_cache(const struct store *store) { return store->cache; }

struct account *store_account(const struct store *store) { return store->account; }

const struct workers *store_workers(const struct store *store) { return thread_pool_workers(store->thread_pool); }

const struct workers *store_readers(const struct store *store) { return thread_pool_workers(store->readers); }

void store_set_category_rules(struct store *store, const char *lines) { store->category_rules = lines; }

const char *store_category_rules(const struct store *store) { return store->category_rules; }
void store_set_libraries(struct store *store, const char *lines) { store->libraries = lines; }
const char *store_libraries(const struct store *store) { return store->libraries; }

void store_set_disk_cache(struct store *store, struct disk_cache *disk_cache) { store->disk_cache = disk_cache; }

struct disk_cache *store_disk_cache(const struct store *store, const struct files_place *place)
{
    bool is_on_disk = place && !place->bytes;
    for (size_t at = 0; is_on_disk && at < place->part_count; at++)
        is_on_disk = !place->parts[at].bytes;
    return is_on_disk ? store->disk_cache : NULL;
}

void store_on_wait(struct store *store, const struct cache_waiting *waiting)
{
    store->waiting = *waiting;
    cache_on_wait(store->cache, waiting);
}

const struct cache_waiting *store_waiting(const struct store *store) { return &store->waiting; }

bool store_drop_all(struct store *store)
{
    bool has_dropped = false;
    while (cache_drop_oldest(store->cache, CACHE_READ) || cache_drop_oldest(store->cache, CACHE_ANSWER) ||
           cache_drop_oldest(store->cache, CACHE_FACT))
        has_dropped = true;
    return has_dropped;
}

void store_drop_own(struct store *store) { cache_drop_own(store->cache, CACHE_READ); }

void store_expire(struct store *store) { cache_drop_idle(store->cache, clock_ms(), MAX_IDLE_MS); }

void store_stop(struct store *store) { atomic_store(&store->is_stopping, true); }

const atomic_bool *store_is_stopping(const struct store *store) { return &store->is_stopping; }

void store_free(struct store *store)
{
    cache_free(store->cache);
    thread_pool_free(store->thread_pool);
    thread_pool_free(store->readers);
    account_free(store->account);
    free(store);
}

/* ---- contents -------------------------------------------------------------- */

/* From the file, inflated for the readers after this one as well. `apart`: gets that where the thread may not wait in
 * the cache; else NULL. */
static struct analysis_contents *contents_of_file(struct store *store, struct file *opened, struct unpacked **apart,
                                                  struct err *err)
{
    struct cache_hold unpacked = {0};
    if (apart)
        *apart = unpacked_read(store, opened);
    else
        unpacked_attach(store, opened, &unpacked);
    struct analysis_contents *contents = analysis_contents_read(files_source(opened), err);
    unpacked_let_go(opened, &unpacked);
    return contents;
}

/* Reads the disk cache, else the file. The result is kept only if the file did not change meanwhile. */
static struct analysis_contents *read_contents(struct store *store, const struct files_place *place,
                                               struct file *opened, struct unpacked **apart, struct err *err)
{
    struct disk_cache *disk_cache = store_disk_cache(store, place);
    struct err change = ERR_INIT;
    struct analysis_contents *contents = kept_facts_contents(disk_cache, files_identity(opened));
    bool is_kept = contents != NULL;
    if (!contents)
        contents = contents_of_file(store, opened, apart, err);
    if (files_unchanged(opened, &change)) {
        if (contents && !is_kept)
            kept_facts_keep_contents(disk_cache, files_identity(opened), contents);
        return contents;
    }
    analysis_contents_free(contents);
    *err = change;
    return NULL;
}

static void *make_contents(void *context, struct cache_made *made, struct err *err)
{
    struct store_making *making = context;
    struct analysis_contents *contents = making->contents;
    struct reading_of_file reading;
    if (!contents) {
        reading_begin(&reading, making->opened);
        contents = read_contents(making->store, &making->file->place, making->opened, NULL, err);
        reading_end(&reading);
    }
    making->contents = NULL;
    if (contents)
        made->cost_bytes = analysis_contents_memory_bytes(contents);
    return contents;
}

bool store_open(struct store *store, const struct files_place *place, struct store_file *file, struct err *err)
{
    struct store_making making = {.store = store, .file = file, .opened = files_open(place, err)};
    *file = (struct store_file){.place = *place};
    if (!making.opened)
        return false;
    file->identity = *files_identity(making.opened);
    char *key = files_identity_text(&file->identity);
    struct cache_maker maker = {make_contents, free_contents, &making};
    file->contents = cache_get(store->cache, STORE_CONTENTS, key, &maker, &file->hold, err);
    free(key);
    files_close(making.opened);
    return file->contents != NULL;
}

/* A file on a thread that may not wait in the cache. */
struct store_reading {
    const struct files_place *place;
    char *key;                          /* NULL: the file cannot be opened */
    struct analysis_contents *contents; /* NULL: they are known, or cannot be read */
    struct unpacked *unpacked;          /* NULL: not packed, or not held */
};

struct reading_all {
    struct store *store;
    struct store_reading *files;
};

static void read_work(void *context, size_t at)
{
    const struct reading_all *all = context;
    struct store_reading *reading = &all->files[at];
    struct err err = ERR_INIT;
    struct cache_hold hold = {0};
    struct file *opened = files_open(reading->place, &err);
    if (!opened)
        return;
    reading->key = files_identity_text(files_identity(opened));
    if (!cache_peek(all->store->cache, STORE_CONTENTS, reading->key, &hold))
        reading->contents = read_contents(all->store, reading->place, opened, &reading->unpacked, &err);
    cache_release(&hold);
    files_close(opened);
}

void store_read_contents(struct store *store, const struct files_place *const *places, size_t count)
{
    struct reading_all all = {store, memory_new((count + 1) * sizeof(*all.files))};
    for (size_t at = 0; at < count; at++)
        all.files[at] = (struct store_reading){.place = places[at]};
    workers_run(store_readers(store), count, read_work, &all);
    for (size_t at = 0; at < count; at++) {
        struct store_reading *reading = &all.files[at];
        struct store_making making = {.contents = reading->contents};
        struct cache_maker maker = {make_contents, free_contents, &making};
        struct cache_hold hold = {0};
        struct err err = ERR_INIT;
        if (reading->contents)
            cache_get(store->cache, STORE_CONTENTS, reading->key, &maker, &hold, &err);
        cache_release(&hold);
        analysis_contents_free(making.contents); /* another made them meanwhile */
        unpacked_keep(store, reading->key, reading->unpacked);
        free(reading->key);
    }
    free(all.files);
}

bool store_open_known(struct store *store, const struct files_place *place, const struct files_identity *identity,
                      struct store_file *file)
{
    *file = (struct store_file){.place = *place, .identity = *identity};
    char *key = files_identity_text(identity);
    file->contents = cache_peek(store->cache, STORE_CONTENTS, key, &file->hold);
    free(key);
    return file->contents != NULL;
}

void store_close(struct store_file *file)
{
    cache_release(&file->hold);
    file->contents = NULL;
}

bool store_has_events(struct store *store, const struct files_place *place)
{
    struct store_file file;
    struct err err = ERR_INIT;
    bool has = store_open(store, place, &file, &err) && file.contents->has_memory_events;
    store_close(&file);
    return has;
}

struct file *store_reopen(const struct store_file *file, struct err *err)
{
    struct file *opened = files_open(&file->place, err);
    if (!opened || files_identity_equal(files_identity(opened), &file->identity))
        return opened;
    files_close(opened);
    err_set(err, ERR_changed, ERR_NO_OFFSET, "the file changed while it was read; ask again");
    return NULL;
}

/* ---- totals ------------------------------------------------------------------ */

static void totals_read(const struct store_making *making, size_t at, struct store_totals *totals)
{
    totals->programs[at].err = (struct err)ERR_INIT;
    totals->programs[at].totals = analysis_totals_read(
        files_source(making->opened), &making->file->contents->programs[at], &totals->programs[at].err);
}

static void *make_totals(void *context, struct cache_made *made, struct err *err)
{
    struct store_making *making = context;
    const struct analysis_contents *contents = making->file->contents;
    making->opened = store_reopen(making->file, err);
    if (!making->opened)
        return NULL;
    size_t size = sizeof(struct store_totals);
    size += contents->program_count * sizeof(((struct store_totals *)NULL)->programs[0]);
    struct store_totals *totals = memory_new(size);
    totals->count = contents->program_count;
    made->cost_bytes = size;
    struct disk_cache *disk_cache = store_disk_cache(making->store, &making->file->place);
    bool is_kept = kept_facts_totals(disk_cache, &making->file->identity, totals), is_transient = false;
    struct cache_hold unpacked = {0};
    if (!is_kept)
        unpacked_attach(making->store, making->opened, &unpacked);
    for (size_t at = 0; at < totals->count; at++) {
        if (!is_kept)
            totals_read(making, at, totals);
        if (totals->programs[at].totals)
            made->cost_bytes += analysis_totals_memory_bytes(totals->programs[at].totals);
        is_transient |= err_is_transient(totals->programs[at].err.code);
    }
    unpacked_let_go(making->opened, &unpacked);
    if (is_transient) /* not for all the time of this process */
        made->kept_ms = CACHE_TRY_AGAIN_MS;
    bool is_good = files_unchanged(making->opened, err);
    files_close(making->opened);
    if (is_good && !is_kept && !is_transient)
        kept_facts_keep_totals(disk_cache, &making->file->identity, totals);
    if (is_good)
        return totals;
    free_totals(totals);
    return NULL;
}

const struct store_totals *store_totals(struct store *store, const struct store_file *file, struct cache_hold *hold,
                                        struct err *err)
{
    struct store_making making = {.store = store, .file = file};
    struct cache_maker maker = {make_totals, free_totals, &making};
    char *key = files_identity_text(&file->identity);
    const struct store_totals *totals = cache_get(store->cache, STORE_TOTALS, key, &maker, hold, err);
    free(key);
    return totals;
}
