/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/unpacked.h"

#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Real dumps and traces inflate to 3 to 30 times their size, with constants of zeros to a thousand: what says so of
 * more bytes than such a dump has is not worth a try. */
enum { PART_OF_ACCOUNT = 8, READ_PART_OF_ACCOUNT = 4, RATIO_MAX = 64, SMALL_BYTES = 64 << 20 };

struct unpacked {
    struct buf bytes;
    struct source source;
    struct account *account;
    uint64_t taken_bytes; /* from it */
};

static int64_t unpacked_bytes_read(void *context, uint64_t offset, void *into, size_t size)
{
    const struct unpacked *unpacked = context;
    size_t left = offset < unpacked->bytes.length ? unpacked->bytes.length - (size_t)offset : 0;
    size = size < left ? size : left;
    if (size > 0)
        memcpy(into, unpacked->bytes.data + offset, size);
    return (int64_t)size;
}

static void unpacked_free(void *value)
{
    struct unpacked *unpacked = value;
    buf_free(&unpacked->bytes);
    account_give(unpacked->account, unpacked->taken_bytes);
    free(unpacked);
}

/* ---- inflating ---- */

/* One byte more is asked for than it says, to meet its end; and for as long as that takes, what it is packed in. */
static struct unpacked *unpacked_make(struct store *store, struct file *file, bool *is_transient, struct err *err)
{
    struct account *account = store_account(store);
    const uint64_t packed_bytes = files_identity(file)->size_bytes;
    uint64_t size_bytes = analysis_packed_says_bytes(files_source(file)), room_bytes = size_bytes + 1 + packed_bytes;
    bool is_likely = size_bytes < SMALL_BYTES || size_bytes / RATIO_MAX <= packed_bytes;
    if (size_bytes == 0 || !is_likely || size_bytes >= account_limit(account) / PART_OF_ACCOUNT) {
        err_set(err, ERR_limit, ERR_NO_OFFSET, "is not held inflated");
        return NULL;
    }
    struct unpacked *unpacked = memory_new(sizeof(*unpacked));
    unpacked->account = account;
    unpacked->taken_bytes = account_take(account, room_bytes, room_bytes);
    *is_transient = unpacked->taken_bytes == 0;
    bool has_room = unpacked->taken_bytes > 0 || err_set(err, ERR_limit, ERR_NO_OFFSET, "there is no room now");
    if (has_room && analysis_inflate(files_source(file), size_bytes, &unpacked->bytes, err) &&
        files_unchanged(file, err)) {
        unpacked->taken_bytes = account_keep(account, unpacked->taken_bytes, size_bytes + 1);
        unpacked->source = (struct source){.context = unpacked,
                                           .read = unpacked_bytes_read,
                                           .size_bytes = size_bytes,
                                           .read_apart = unpacked_bytes_read};
        return unpacked;
    }
    unpacked_free(unpacked);
    return NULL;
}

/* `made`: on another thread; NULL: to be made of `file`. */
struct unpacked_making {
    struct store *store;
    struct file *file;
    struct unpacked *made;
};

static void *unpacked_make_value(void *context, struct cache_made *facts, struct err *err)
{
    struct unpacked_making *making = context;
    struct unpacked *unpacked =
        making->made ? making->made : unpacked_make(making->store, making->file, &facts->is_transient, err);
    making->made = NULL;
    facts->cost_bytes = unpacked ? unpacked->taken_bytes : 0;
    return unpacked;
}

/* ---- asking ---- */

static void unpacked_give(struct file *file, const struct unpacked *unpacked)
{
    if (unpacked)
        files_set_unpacked(file, &unpacked->source);
}

void unpacked_attach(struct store *store, struct file *file, struct cache_hold *hold)
{
    struct unpacked_making making = {.store = store, .file = file};
    const struct cache_maker maker = {unpacked_make_value, unpacked_free, &making};
    struct err ignored = ERR_INIT; /* reading the file reports the fault */
    *hold = (struct cache_hold){0};
    if (!files_is_packed(file))
        return;
    char *key = files_identity_text(files_identity(file));
    unpacked_give(file, cache_get(store_cache(store), STORE_UNPACKED, key, &maker, hold, &ignored));
    free(key);
}

void unpacked_attach_kept(struct store *store, struct file *file, struct cache_hold *hold)
{
    char *key = files_identity_text(files_identity(file));
    *hold = (struct cache_hold){0};
    unpacked_give(file, cache_peek(store_cache(store), STORE_UNPACKED, key, hold));
    free(key);
}

void unpacked_let_go(struct file *file, struct cache_hold *hold)
{
    files_set_unpacked(file, NULL);
    cache_release(hold);
}

struct unpacked *unpacked_read(struct store *store, struct file *file)
{
    bool is_transient = false;
    struct err ignored = ERR_INIT;
    struct account *account = store_account(store);
    /* it cannot be dropped until all files of a session are read, and other work needs memory meanwhile */
    bool may_hold = files_is_packed(file) && account_taken(account) < account_limit(account) / READ_PART_OF_ACCOUNT;
    struct unpacked *unpacked = may_hold ? unpacked_make(store, file, &is_transient, &ignored) : NULL;
    unpacked_give(file, unpacked);
    return unpacked;
}

void unpacked_keep(struct store *store, const char *key, struct unpacked *unpacked)
{
    struct unpacked_making making = {.store = store, .made = unpacked};
    const struct cache_maker maker = {unpacked_make_value, unpacked_free, &making};
    struct cache_hold hold = {0};
    struct err ignored = ERR_INIT;
    if (!unpacked)
        return;
    cache_get(store_cache(store), STORE_UNPACKED, key, &maker, &hold, &ignored);
    cache_release(&hold);
    if (making.made)
        unpacked_free(making.made);
}
