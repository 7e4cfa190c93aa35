/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/files/remote/http_client.h"
#include "server/files/remote/http_turns.h"
#include "server/files/remote/remote_blocks.h"
#include "server/files/remote/remote_service.h"

#include <nettle/sha2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A list that takes long is made less often: it is asked for no more than a tenth of the time. */
enum { INTERVAL_MS = 30000, IDLE_TIMES = 10, INTERVAL_MAX_MS = 600000, NUDGED_MS = 2000, LOOK_MS = 500 };

struct remote_root {
    struct remote_address address;
    pthread_mutex_t lock;
    struct remote_listing *listing; /* the newest; NULL: none yet */
    bool is_file;
    struct err fault;

    /* For remote_root_follow. */
    pthread_t thread;
    bool has_thread, is_nudged;
    int64_t took_ms; /* to list it, the last time */
    pthread_cond_t nudged;
    void (*news)(void *context);
    void *context;

    struct remote_root *next;
};

static struct {
    pthread_mutex_t lock;
    struct remote_root *first;
} roots = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct remote_settings settings = {.interval_ms = INTERVAL_MS};

bool remote_set_up(const struct remote_settings *wanted, struct err *err)
{
    settings = *wanted;
    if (settings.interval_ms <= 0)
        settings.interval_ms = INTERVAL_MS;
    s3_set_endpoint(settings.endpoint_url);
    remote_blocks_set_limit(settings.cache_bytes);
    return http_client_set_up(err);
}

void remote_stop(void)
{
    http_client_stop();
    pthread_mutex_lock(&roots.lock);
    struct remote_root *first = roots.first;
    pthread_mutex_unlock(&roots.lock);
    for (struct remote_root *root = first; root; root = root->next) {
        if (root->has_thread)
            pthread_join(root->thread, NULL);
        root->has_thread = false;
    }
    remote_blocks_stop();
}

/* ---- roots -------------------------------------------------------------------------------- */

/* With the lock. */
static struct remote_root *root_find(const char *text)
{
    struct remote_root *root = roots.first;
    while (root && strcmp(root->address.text, text) != 0)
        root = root->next;
    return root;
}

static struct remote_root *root_known(const char *text)
{
    pthread_mutex_lock(&roots.lock);
    struct remote_root *root = root_find(text);
    pthread_mutex_unlock(&roots.lock);
    return root;
}

struct remote_root *remote_root_of(const char *text, struct err *err)
{
    struct remote_address address;
    if (!remote_address_read(text, &address, err)) {
        remote_address_free(&address);
        return NULL;
    }
    pthread_mutex_lock(&roots.lock);
    struct remote_root *root = root_find(address.text);
    if (root) {
        remote_address_free(&address);
    } else {
        root = memory_new(sizeof(*root));
        *root = (struct remote_root){.address = address, .fault = ERR_INIT, .next = roots.first};
        pthread_mutex_init(&root->lock, NULL);
        clock_cond_init(&root->nudged);
        roots.first = root;
    }
    pthread_mutex_unlock(&roots.lock);
    return root;
}

void remote_root_forget(const char *text)
{
    pthread_mutex_lock(&roots.lock);
    struct remote_root **place = &roots.first;
    while (*place && strcmp((*place)->address.text, text) != 0)
        place = &(*place)->next;
    struct remote_root *root = *place;
    if (root && !root->has_thread)
        *place = root->next;
    pthread_mutex_unlock(&roots.lock);
    if (!root || root->has_thread)
        return;
    remote_listing_release(root->listing);
    remote_address_free(&root->address);
    pthread_cond_destroy(&root->nudged);
    pthread_mutex_destroy(&root->lock);
    free(root);
}

static void listing_set(struct remote_root *root, struct remote_listing *listing, bool is_file)
{
    pthread_mutex_lock(&root->lock);
    struct remote_listing *before = root->listing;
    root->listing = listing;
    root->is_file = is_file;
    root->fault = (struct err)ERR_INIT;
    pthread_mutex_unlock(&root->lock);
    remote_listing_release(before);
}

static bool list_file(struct remote_root *root, struct err *err)
{
    struct remote_answer_object told;
    if (!remote_service_of(&root->address)->look(&root->address, "", &told, err))
        return false;
    struct remote_listing *listing = remote_listing_new(NULL);
    remote_listing_add(listing, &(struct remote_object){.path = "",
                                                        .etag = told.etag,
                                                        .size_bytes = told.size_bytes,
                                                        .modified_at_ns = told.modified_at_ns});
    remote_listing_end(listing);
    listing_set(root, listing, true);
    return true;
}

static bool list_folder(struct remote_root *root, struct err *err)
{
    struct remote_listing *listing = remote_listing_new(settings.is_wanted);
    if (!remote_service_of(&root->address)->list(&root->address, listing, err)) {
        remote_listing_release(listing);
        return false;
    }
    remote_listing_end(listing);
    listing_set(root, listing, false);
    return true;
}

/* Is it an object or a folder? Some servers answer 403 for a missing object: then the list decides. */
static bool list_any(struct remote_root *root, struct err *err)
{
    struct err reason = ERR_INIT;
    bool is_folder = root->listing && !root->is_file && remote_listing_count(root->listing) > 0;
    if (!root->address.is_folder && !is_folder) {
        if (list_file(root, &reason))
            return true;
        if (reason.code != ERR_notfound && reason.code != ERR_io) {
            *err = reason;
            return false;
        }
    }
    return list_folder(root, err);
}

bool remote_root_list(struct remote_root *root, struct err *err)
{
    if (list_any(root, err))
        return true;
    pthread_mutex_lock(&root->lock);
    root->fault = *err;
    pthread_mutex_unlock(&root->lock);
    return false;
}

struct remote_listing *remote_root_hold(struct remote_root *root)
{
    pthread_mutex_lock(&root->lock);
    struct remote_listing *listing = root->listing ? remote_listing_hold(root->listing) : NULL;
    pthread_mutex_unlock(&root->lock);
    return listing;
}

bool remote_root_is_file(struct remote_root *root)
{
    pthread_mutex_lock(&root->lock);
    bool is_file = root->is_file;
    pthread_mutex_unlock(&root->lock);
    return is_file;
}

bool remote_root_fault(struct remote_root *root, struct err *err)
{
    pthread_mutex_lock(&root->lock);
    *err = root->fault;
    pthread_mutex_unlock(&root->lock);
    return err_is_set(err);
}

/* ---- following ---------------------------------------------------------------------------- */

static int64_t remote_longer(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t remote_shorter(int64_t a, int64_t b) { return a < b ? a : b; }

/* Until the interval is over, somebody nudged, or all ends. */
static void remote_rest(struct remote_root *root, int64_t wait_ms)
{
    const int64_t began_ms = clock_ms();
    pthread_mutex_lock(&root->lock);
    for (;;) {
        int64_t waited_ms = clock_ms() - began_ms, nudged_ms = remote_longer(NUDGED_MS, root->took_ms * 2);
        int64_t left_ms = (root->is_nudged ? remote_shorter(nudged_ms, wait_ms) : wait_ms) - waited_ms;
        if (left_ms <= 0 || http_turns_are_over())
            break;
        struct timespec until = clock_after(remote_shorter(left_ms, LOOK_MS));
        pthread_cond_timedwait(&root->nudged, &root->lock, &until);
    }
    root->is_nudged = false;
    pthread_mutex_unlock(&root->lock);
}

static void *remote_follow(void *context)
{
    struct remote_root *root = context;
    int64_t wait_ms = settings.interval_ms;
    while (!http_turns_are_over()) {
        struct err err = ERR_INIT;
        int64_t began_ms = clock_ms();
        bool is_good = remote_root_list(root, &err);
        root->took_ms = clock_ms() - began_ms;
        wait_ms = is_good ? remote_longer(settings.interval_ms, root->took_ms * IDLE_TIMES) : wait_ms * 2;
        wait_ms = remote_shorter(wait_ms, remote_longer(INTERVAL_MAX_MS, settings.interval_ms));
        root->news(root->context);
        remote_rest(root, wait_ms);
    }
    return NULL;
}

bool remote_root_follow(struct remote_root *root, void (*news)(void *context), void *context)
{
    if (root->has_thread)
        return true; /* the address was named twice */
    root->news = news;
    root->context = context;
    root->has_thread = pthread_create(&root->thread, NULL, remote_follow, root) == 0;
    return root->has_thread;
}

void remote_root_nudge(struct remote_root *root)
{
    pthread_mutex_lock(&root->lock);
    root->is_nudged = true;
    pthread_cond_signal(&root->nudged);
    pthread_mutex_unlock(&root->lock);
}

/* ---- files -------------------------------------------------------------------------------- */

struct remote_file {
    struct remote_blocks_object *blocks;
    struct remote_identity identity;
    char *name; /* the whole address, for messages */
};

static void sha256_text(struct sha256_ctx *context, const char *text)
{
    sha256_update(context, strlen(text) + 1, (const uint8_t *)text);
}

struct remote_identity remote_identity_of(const char *address, const struct remote_object *object)
{
    struct remote_identity identity = {.size_bytes = object->size_bytes, .modified_at_ns = object->modified_at_ns};
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char *whole = memory_format("%s%s%s", address, object->path[0] ? "/" : "", object->path);
    sha256_init(&context);
    sha256_text(&context, whole);
    sha256_text(&context, object->etag);
    sha256_digest(&context, sizeof(digest), digest);
    memcpy(identity.hash, digest, sizeof(identity.hash));
    free(whole);
    return identity;
}

static struct remote_file *file_of(const struct remote_address *address, const struct remote_object *object)
{
    struct remote_file *file = memory_new(sizeof(*file));
    file->identity = remote_identity_of(address->text, object);
    file->name = memory_format("%s%s%s", address->text, object->path[0] ? "/" : "", object->path);
    file->blocks = remote_blocks_open(address, object, file->identity.hash);
    return file;
}

static struct remote_file *open_unlisted(const struct remote_address *address, const char *path, struct err *err)
{
    struct remote_answer_object told;
    if (!remote_service_of(address)->look(address, path, &told, err))
        return NULL;
    return file_of(address, &(struct remote_object){.path = path,
                                                    .etag = told.etag,
                                                    .size_bytes = told.size_bytes,
                                                    .modified_at_ns = told.modified_at_ns});
}

/* What a list does not have is not there, unless it is of a name that is left out of lists. */
static struct remote_file *open_listed(const struct remote_root *root, const struct remote_listing *listing,
                                       const char *path, struct err *err)
{
    const struct remote_object *object = remote_listing_find(listing, path);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (object)
        return file_of(&root->address, object);
    if (settings.is_wanted && !settings.is_wanted(name))
        return open_unlisted(&root->address, path, err);
    err_set(err, ERR_notfound, ERR_NO_OFFSET, "is not there");
    return NULL;
}

struct remote_file *remote_open(const char *text, const char *path, struct err *err)
{
    struct remote_root *root = root_known(text);
    struct remote_listing *listing = root ? remote_root_hold(root) : NULL;
    struct remote_file *file = NULL;
    if (listing) {
        file = open_listed(root, listing, path, err);
    } else {
        struct remote_address address;
        if (remote_address_read(text, &address, err))
            file = open_unlisted(&address, path, err);
        remote_address_free(&address);
    }
    remote_listing_release(listing);
    return file;
}

void remote_close(struct remote_file *file)
{
    if (!file)
        return;
    remote_blocks_close(file->blocks);
    free(file->name);
    free(file);
}

const struct remote_identity *remote_file_identity(const struct remote_file *file) { return &file->identity; }

bool remote_read(const struct remote_file *file, uint64_t offset, void *into, size_t size, struct err *err)
{
    if (remote_blocks_read(file->blocks, offset, into, size, err))
        return true;
    if (err->code != ERR_changed && err->code != ERR_stopped) /* the reader only learns that it failed */
        log_limited(LOG_SERVER_ERRORS, "%s: %s", file->name, err->text);
    return false;
}

bool remote_is_changed(const struct remote_file *file) { return remote_blocks_is_changed(file->blocks); }

void remote_want_start(const struct remote_file *file) { remote_blocks_want_start(file->blocks); }
