/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_blocks.h"

#include "base/hash.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/files/remote/http_turns.h"
#include "server/files/remote/remote_ahead.h"
#include "server/files/remote/remote_service.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FETCHER_COUNT = 8, RANGE_BLOCKS = 16, TABLE_SIZE = 4096, LOOK_MS = 100, TRIES = 3 };
static const uint64_t LIMIT_MIN_BYTES = 32 << 20, LIMIT_BYTES = 256 << 20;

struct remote_blocks_object {
    atomic_int holders; /* who opened it, and ranges that are fetched */
    struct remote_address address;
    char *path, *etag;
    uint64_t size_bytes, identity[2];
    atomic_bool is_changed;
    /* With the lock. */
    struct remote_ahead ahead;
    struct err fault; /* why a block could not be read; then no more blocks are requested */
};

struct block {
    uint64_t identity[2], index;
    struct block *next;          /* in its place of the table */
    struct block *newer, *older; /* of those that are there, by use */
    unsigned char *bytes;
    size_t size;
    bool is_there;
    unsigned pins; /* threads that copy from it */
};

/* Blocks in a row that one request is to bring. */
struct range {
    struct remote_blocks_object *object;
    uint64_t first, count;
    struct range *next;
    /* While it is fetched. */
    uint64_t done;
    size_t filled; /* bytes of block `first + done` */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wanted, arrived;
    bool is_made;
    struct block *table[TABLE_SIZE];
    struct block *newest, *oldest;
    uint64_t kept_bytes, limit_bytes;
    struct range *first, *last; /* to be fetched */
    pthread_t fetchers[FETCHER_COUNT];
    unsigned fetcher_count, idle_count;
    bool is_stopped;
} blocks = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit_bytes = LIMIT_BYTES};

void remote_blocks_set_limit(uint64_t limit_bytes)
{
    blocks.limit_bytes = limit_bytes > LIMIT_MIN_BYTES ? limit_bytes : LIMIT_MIN_BYTES;
}

/* ---- objects ------------------------------------------------------------------------------- */

struct remote_blocks_object *remote_blocks_open(const struct remote_address *address,
                                                const struct remote_object *object, const uint64_t identity[2])
{
    struct remote_blocks_object *opened = memory_new(sizeof(*opened));
    atomic_init(&opened->holders, 1);
    opened->address = (struct remote_address){.kind = address->kind,
                                              .text = memory_text(address->text),
                                              .bucket = memory_text(address->bucket),
                                              .key = memory_text(address->key)};
    opened->path = memory_text(object->path);
    opened->etag = memory_text(object->etag);
    opened->size_bytes = object->size_bytes;
    memcpy(opened->identity, identity, sizeof(opened->identity));
    return opened;
}

void remote_blocks_close(struct remote_blocks_object *object)
{
    if (!object || atomic_fetch_sub(&object->holders, 1) > 1)
        return;
    remote_address_free(&object->address);
    free(object->path);
    free(object->etag);
    free(object);
}

bool remote_blocks_is_changed(const struct remote_blocks_object *object) { return atomic_load(&object->is_changed); }

/* ---- the table; all with the lock ------------------------------------------------------------ */

static struct block **place_of(const uint64_t identity[2], uint64_t index)
{
    struct block **place = &blocks.table[hash_number(index, identity[0] ^ identity[1]) % TABLE_SIZE];
    while (*place &&
           ((*place)->index != index || (*place)->identity[0] != identity[0] || (*place)->identity[1] != identity[1]))
        place = &(*place)->next;
    return place;
}

static void unlink_use(struct block *block)
{
    *(block->newer ? &block->newer->older : &blocks.newest) = block->older;
    *(block->older ? &block->older->newer : &blocks.oldest) = block->newer;
    block->newer = block->older = NULL;
}

static void link_newest(struct block *block)
{
    block->older = blocks.newest;
    *(blocks.newest ? &blocks.newest->newer : &blocks.oldest) = block;
    blocks.newest = block;
}

static void block_free(struct block *block)
{
    struct block **place = place_of(block->identity, block->index);
    *place = block->next;
    if (block->is_there)
        unlink_use(block);
    blocks.kept_bytes -= block->size;
    free(block->bytes);
    free(block);
}

/* Those that are used longest ago go; those that are on their way, or copied from, stay. */
static void make_room(void)
{
    struct block *block = blocks.oldest;
    while (block && blocks.kept_bytes > blocks.limit_bytes) {
        struct block *newer = block->newer;
        if (block->pins == 0)
            block_free(block);
        block = newer;
    }
}

static bool block_add(const struct remote_blocks_object *object, uint64_t index)
{
    uint64_t left = object->size_bytes - index * REMOTE_BLOCKS_BYTES;
    size_t size = left < REMOTE_BLOCKS_BYTES ? (size_t)left : REMOTE_BLOCKS_BYTES;
    unsigned char *bytes = malloc(size);
    if (!bytes)
        return false;
    struct block *block = memory_new(sizeof(*block));
    memcpy(block->identity, object->identity, sizeof(block->identity));
    block->index = index;
    block->bytes = bytes;
    block->size = size;
    struct block **place = place_of(block->identity, index);
    block->next = *place;
    *place = block;
    blocks.kept_bytes += size;
    return true;
}

/* ---- fetching --------------------------------------------------------------------------------- */

static struct block *block_of(const struct range *range)
{
    return *place_of(range->object->identity, range->first + range->done);
}

static void block_arrived(struct range *range)
{
    pthread_mutex_lock(&blocks.lock);
    struct block *block = block_of(range);
    block->is_there = true;
    link_newest(block);
    make_room();
    range->done++;
    range->filled = 0;
    pthread_cond_broadcast(&blocks.arrived);
    pthread_mutex_unlock(&blocks.lock);
}

/* Blocks on their way stay where they are, so that they are filled without the lock. False: these are more than were
 * asked for. */
static bool bytes_take(void *context, const void *bytes, size_t size)
{
    struct range *range = context;
    while (size > 0) {
        if (range->done == range->count)
            return false;
        pthread_mutex_lock(&blocks.lock);
        struct block *block = block_of(range);
        pthread_mutex_unlock(&blocks.lock);
        size_t room = block->size - range->filled, count = size < room ? size : room;
        memcpy(block->bytes + range->filled, bytes, count);
        range->filled += count;
        bytes = (const char *)bytes + count;
        size -= count;
        if (range->filled == block->size)
            block_arrived(range);
    }
    return true;
}

/* A weak tag is the same as a strong one but for its mark. */
static const char *without_mark(const char *etag) { return strncmp(etag, "W/", 2) == 0 ? etag + 2 : etag; }

/* Are these bytes of the object that was opened? */
static bool answer_look(void *context, const struct http_client_answer *answer)
{
    const struct range *range = context;
    struct remote_blocks_object *object = range->object;
    struct remote_answer_object told;
    struct err unsaid = ERR_INIT;
    char generation[64];
    const bool is_gcs = object->address.kind == REMOTE_ADDRESS_GCS;
    bool is_same = !remote_answer_object(answer, &told, &unsaid) || told.size_bytes == object->size_bytes;
    if (is_gcs && http_client_header(answer, "x-goog-generation", generation, sizeof(generation)))
        is_same &= strcmp(generation, object->etag) == 0;
    if (!is_gcs && told.etag[0] && object->etag[0])
        is_same &= strcmp(without_mark(told.etag), without_mark(object->etag)) == 0;
    if (!is_same)
        atomic_store(&object->is_changed, true);
    return is_same;
}

/* What did not come is forgotten, and who waits for it told why. */
static void range_failed(struct range *range, const struct err *err)
{
    struct remote_blocks_object *object = range->object;
    if (err->code == ERR_changed || err->code == ERR_notfound)
        atomic_store(&object->is_changed, true);
    pthread_mutex_lock(&blocks.lock);
    object->fault = *err;
    if (atomic_load(&object->is_changed)) {
        object->fault = (struct err)ERR_INIT;
        err_set(&object->fault, ERR_changed, ERR_NO_OFFSET, "the file changed while it was read; ask again");
    }
    for (; range->done < range->count; range->done++)
        block_free(block_of(range));
    pthread_cond_broadcast(&blocks.arrived);
    pthread_mutex_unlock(&blocks.lock);
}

static void range_fetch(struct range *range)
{
    struct remote_blocks_object *object = range->object;
    struct err err = ERR_INIT;
    const uint64_t at = range->first * REMOTE_BLOCKS_BYTES, end = (range->first + range->count) * REMOTE_BLOCKS_BYTES;
    const struct http_client_request like = {
        .range_at = at,
        .range_bytes = (end < object->size_bytes ? end : object->size_bytes) - at,
        .take = bytes_take,
        .begin = answer_look,
        .context = range,
    };
    if (!remote_service_of(&object->address)->read(&object->address, object->path, object->etag, &like, &err) ||
        range->done < range->count)
        range_failed(range, &err);
    remote_blocks_close(object);
    free(range);
}

/* With the lock; NULL when all is stopped. */
static struct range *range_take(void)
{
    blocks.idle_count++;
    while (!blocks.first && !blocks.is_stopped)
        pthread_cond_wait(&blocks.wanted, &blocks.lock);
    blocks.idle_count--;
    struct range *range = blocks.first; /* also of those that are stopped: they fail at once, and are freed */
    if (range)
        blocks.first = range->next;
    if (!blocks.first)
        blocks.last = NULL;
    return range;
}

static void *fetcher_run(void *context)
{
    pthread_mutex_lock(&blocks.lock);
    for (struct range *range; (range = range_take());) {
        pthread_mutex_unlock(&blocks.lock);
        range_fetch(range);
        pthread_mutex_lock(&blocks.lock);
    }
    pthread_mutex_unlock(&blocks.lock);
    return context;
}

void remote_blocks_stop(void)
{
    pthread_mutex_lock(&blocks.lock);
    blocks.is_stopped = true;
    if (blocks.is_made)
        pthread_cond_broadcast(&blocks.wanted);
    unsigned count = blocks.fetcher_count;
    blocks.fetcher_count = 0;
    pthread_mutex_unlock(&blocks.lock);
    for (unsigned at = 0; at < count; at++)
        pthread_join(blocks.fetchers[at], NULL);
}

/* With the lock. */
static void fetcher_call(void)
{
    if (blocks.idle_count == 0 && blocks.fetcher_count < FETCHER_COUNT && !blocks.is_stopped &&
        pthread_create(&blocks.fetchers[blocks.fetcher_count], NULL, fetcher_run, NULL) == 0)
        blocks.fetcher_count++;
    pthread_cond_signal(&blocks.wanted);
}

static void range_add(struct remote_blocks_object *object, uint64_t first, uint64_t count, bool is_urgent)
{
    struct range *range = memory_new(sizeof(*range));
    *range = (struct range){.object = object, .first = first, .count = count};
    atomic_fetch_add(&object->holders, 1);
    if (is_urgent) {
        range->next = blocks.first;
        blocks.first = range;
        blocks.last = blocks.last ? blocks.last : range;
    } else {
        *(blocks.last ? &blocks.last->next : &blocks.first) = range;
        blocks.last = range;
    }
    fetcher_call();
}

/* With the lock: requests those blocks that are neither held nor requested. `urgent`: the block that a thread waits
 * for, or UINT64_MAX. */
static void ask_for(struct remote_blocks_object *object, uint64_t from, uint64_t to, uint64_t urgent)
{
    uint64_t all = (object->size_bytes + REMOTE_BLOCKS_BYTES - 1) / REMOTE_BLOCKS_BYTES;
    to = to < all ? to : all;
    for (uint64_t first = from; first < to;) {
        uint64_t count = 0;
        while (count < RANGE_BLOCKS && first + count < to && !*place_of(object->identity, first + count) &&
               block_add(object, first + count))
            count++;
        if (count > 0)
            range_add(object, first, count, urgent >= first && urgent < first + count);
        first += count > 0 ? count : 1;
    }
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* With the lock. */
static void conditions_make(void)
{
    if (blocks.is_made)
        return;
    clock_cond_init(&blocks.arrived);
    clock_cond_init(&blocks.wanted);
    blocks.is_made = true;
}

static void wait_a_little(void)
{
    struct timespec until = clock_after(LOOK_MS);
    pthread_cond_timedwait(&blocks.arrived, &blocks.lock, &until);
}

/* With the lock: the block when it is there; NULL with `err`. */
static struct block *block_wait(struct remote_blocks_object *object, uint64_t index, struct err *err)
{
    struct block *block;
    for (int tried = 0; tried < TRIES && !http_turns_are_over(); tried++) {
        if (!*place_of(object->identity, index) && !err_is_set(&object->fault))
            ask_for(object, index, index + 1, index);
        while ((block = *place_of(object->identity, index)) && !block->is_there && !http_turns_are_over())
            wait_a_little();
        if (block && block->is_there)
            return block;
        if (err_is_set(&object->fault)) {
            *err = object->fault;
            return NULL;
        }
    }
    err_set(err, http_turns_are_over() ? ERR_stopped : ERR_io, ERR_NO_OFFSET, "was not read to its end");
    return NULL;
}

/* With the lock, which it releases while it copies the bytes. */
static bool copy_from(struct remote_blocks_object *object, uint64_t index, size_t skip, void *into, size_t size,
                      struct err *err)
{
    const struct remote_ahead_range ahead = remote_ahead_note(&object->ahead, index);
    if (!err_is_set(&object->fault))
        ask_for(object, ahead.from, ahead.from + ahead.count, index);
    struct block *block = block_wait(object, index, err);
    if (!block)
        return false;
    unlink_use(block);
    link_newest(block);
    block->pins++;
    pthread_mutex_unlock(&blocks.lock);
    memcpy(into, block->bytes + skip, size);
    pthread_mutex_lock(&blocks.lock);
    block->pins--;
    return true;
}

bool remote_blocks_read(struct remote_blocks_object *object, uint64_t offset, void *into, size_t size, struct err *err)
{
    bool is_good = true;
    pthread_mutex_lock(&blocks.lock);
    conditions_make();
    for (size_t done = 0, count; is_good && done < size; done += count) {
        uint64_t index = (offset + done) / REMOTE_BLOCKS_BYTES;
        size_t skip = (size_t)((offset + done) % REMOTE_BLOCKS_BYTES), have = REMOTE_BLOCKS_BYTES - skip;
        count = have < size - done ? have : size - done;
        is_good = copy_from(object, index, skip, (char *)into + done, count, err);
    }
    pthread_mutex_unlock(&blocks.lock);
    return is_good;
}

void remote_blocks_want_start(struct remote_blocks_object *object)
{
    pthread_mutex_lock(&blocks.lock);
    conditions_make();
    ask_for(object, 0, 1, UINT64_MAX);
    pthread_mutex_unlock(&blocks.lock);
}

struct remote_blocks_figures remote_blocks_figures(void)
{
    pthread_mutex_lock(&blocks.lock);
    const struct remote_blocks_figures figures = {blocks.kept_bytes, blocks.limit_bytes};
    pthread_mutex_unlock(&blocks.lock);
    return figures;
}
