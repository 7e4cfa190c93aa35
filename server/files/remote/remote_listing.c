/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_listing.h"

#include "server/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct remote_listing {
    atomic_int holders;
    pthread_mutex_t lock; /* while it is filled */
    struct memory_pool pool;
    struct remote_object *objects;
    size_t count, capacity;
    struct remote_listing_left_out left_out;
    bool (*is_wanted)(const char *name);
};

struct remote_listing *remote_listing_new(bool (*is_wanted)(const char *name))
{
    struct remote_listing *listing = memory_new(sizeof(*listing));
    listing->is_wanted = is_wanted;
    atomic_init(&listing->holders, 1);
    pthread_mutex_init(&listing->lock, NULL);
    return listing;
}

struct remote_listing *remote_listing_hold(struct remote_listing *listing)
{
    atomic_fetch_add(&listing->holders, 1);
    return listing;
}

void remote_listing_release(struct remote_listing *listing)
{
    if (!listing || atomic_fetch_sub(&listing->holders, 1) > 1)
        return;
    pthread_mutex_destroy(&listing->lock);
    free(listing->objects);
    memory_pool_free(&listing->pool);
    free(listing);
}

bool remote_listing_wants(const struct remote_listing *listing, const char *name)
{
    return !listing->is_wanted || listing->is_wanted(name);
}

/* Each part between slashes is a name. "" is the object at the address itself. */
static bool is_path(const char *path)
{
    bool is = true;
    for (const char *part = path; is && *path; part += strcspn(part, "/") + 1) {
        size_t length = strcspn(part, "/");
        is = length > 0 && !(length == 1 && part[0] == '.') && !(length == 2 && part[0] == '.' && part[1] == '.');
        if (part[length] == '\0')
            break;
    }
    return is;
}

static void remote_listing_add_one(struct remote_listing *listing, const struct remote_object *object)
{
    const char *slash = strrchr(object->path, '/'), *name = slash ? slash + 1 : object->path;
    if (slash && !name[0])
        return; /* represents a folder, as web consoles create them */
    if (name[0] && !remote_listing_wants(listing, name))
        return;
    if (!is_path(object->path)) {
        listing->left_out.unnamed++;
    } else if (listing->count >= REMOTE_LISTING_MAX) {
        listing->left_out.beyond++;
    } else {
        listing->objects =
            memory_grow(listing->objects, &listing->capacity, listing->count + 1, sizeof(*listing->objects));
        struct remote_object *added = &listing->objects[listing->count++];
        *added = *object;
        added->path = memory_pool_text(&listing->pool, object->path, strlen(object->path));
        added->etag = memory_pool_text(&listing->pool, object->etag, strlen(object->etag));
    }
}

void remote_listing_add(struct remote_listing *listing, const struct remote_object *object)
{
    pthread_mutex_lock(&listing->lock);
    remote_listing_add_one(listing, object);
    pthread_mutex_unlock(&listing->lock);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct remote_object *)a)->path, ((const struct remote_object *)b)->path);
}

void remote_listing_end(struct remote_listing *listing)
{
    size_t kept = 0;
    if (listing->count)
        qsort(listing->objects, listing->count, sizeof(*listing->objects), by_path);
    for (size_t at = 0; at < listing->count; at++) {
        if (kept == 0 || by_path(&listing->objects[kept - 1], &listing->objects[at]) != 0)
            listing->objects[kept++] = listing->objects[at];
    }
    listing->count = kept;
}

size_t remote_listing_count(const struct remote_listing *listing) { return listing->count; }

const struct remote_object *remote_listing_at(const struct remote_listing *listing, size_t at)
{
    return &listing->objects[at];
}

const struct remote_object *remote_listing_find(const struct remote_listing *listing, const char *path)
{
    const struct remote_object wanted = {.path = path};
    return listing->count ? bsearch(&wanted, listing->objects, listing->count, sizeof(wanted), by_path) : NULL;
}

struct remote_listing_left_out remote_listing_left_out(const struct remote_listing *listing)
{
    return listing->left_out;
}
