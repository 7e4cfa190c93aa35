/* SPDX-License-Identifier: Apache-2.0
 * remote_listing.h: what lies below an address, at one moment: filled by several threads, then ordered and never
 * changed. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REMOTE_LISTING_MAX = 4000000 }; /* objects; more are not taken */

struct remote_object {
    const char *path; /* below the address, "a/b.xplane.pb"; "" when the address is this object */
    const char *etag; /* as the server wrote it; of GCS the generation; "" when it tells none */
    uint64_t size_bytes;
    int64_t modified_at_ns; /* Unix time; 0: unknown */
    bool is_archived;       /* cannot be read before it is restored (S3 Glacier) */
};

struct remote_listing;

/* A new listing with one holder. It leaves out files for which `is_wanted` is false; NULL: it takes all. */
struct remote_listing *remote_listing_new(bool (*is_wanted)(const char *name));
bool remote_listing_wants(const struct remote_listing *listing, const char *name);
struct remote_listing *remote_listing_hold(struct remote_listing *listing);
void remote_listing_release(struct remote_listing *listing);

/* Copies the object. Counts and leaves out an object whose path cannot be a file's (a part is empty, "." or "..", or it
 * begins with a slash), and those beyond REMOTE_LISTING_MAX. Any thread. */
void remote_listing_add(struct remote_listing *listing, const struct remote_object *object);
/* Orders them by path; what was added twice is there once. Before the first look. */
void remote_listing_end(struct remote_listing *listing);

size_t remote_listing_count(const struct remote_listing *listing);
const struct remote_object *remote_listing_at(const struct remote_listing *listing, size_t at);
/* NULL: there is none. */
const struct remote_object *remote_listing_find(const struct remote_listing *listing, const char *path);

struct remote_listing_left_out {
    uint64_t unnamed; /* whose path is none of a file */
    uint64_t beyond;  /* the limit */
};
struct remote_listing_left_out remote_listing_left_out(const struct remote_listing *listing);
