/* SPDX-License-Identifier: Apache-2.0
 * remote.h: addresses of buckets and https servers, listed and read: the door of this folder.
 *
 * An address names one object or, like a folder, all objects below it. What was listed last is kept, so that
 * opening asks no server. An object is told from every other, and from what it was before, by its address, ETag, size
 * and time: the same on every machine.
 * Threads: any number, but for remote_set_up and remote_stop. */
#pragma once

#include "base/err.h"
#include "server/files/remote/remote_address.h"
#include "server/files/remote/remote_listing.h"

#include <stdbool.h>
#include <stdint.h>

struct remote_settings {
    const char *endpoint_url;            /* of --endpoint-url; NULL: see remote_service.h. Borrowed for good */
    uint64_t cache_bytes;                /* for blocks of objects */
    int64_t interval_ms;                 /* between two lists of an address, at least */
    bool (*is_wanted)(const char *name); /* files of other names are left out of lists */
};

/* Once, before any thread and the sandbox. False with `err` where this build cannot do it. */
bool remote_set_up(const struct remote_settings *settings, struct err *err);
/* All that is under way ends, and its threads. Harmless without remote_set_up. */
void remote_stop(void);

struct remote_root;

/* The same one each time for an address; it stays to the end. NULL with `err` (argument) when it is none. */
struct remote_root *remote_root_of(const char *address, struct err *err);

/* Forgets what is known of an address that is no longer used and was not followed. */
void remote_root_forget(const char *address);

/* Asks the server for the current list: the objects below the address, or the object that it names. False with `err`:
 * then the former list stays. */
bool remote_root_list(struct remote_root *root, struct err *err);
/* The newest list, to be released; NULL before the first one. */
struct remote_listing *remote_root_hold(struct remote_root *root);
/* By the newest list: the address is one object, whose path is "". */
bool remote_root_is_file(struct remote_root *root);
/* Why the newest attempt to list it failed; false: it did not. */
bool remote_root_fault(struct remote_root *root, struct err *err);

/* Lists it again and again on a thread of its own, at the interval and less often where that takes long or fails, and
 * calls `news` after each time. Until remote_stop; once for an address. */
bool remote_root_follow(struct remote_root *root, void (*news)(void *context), void *context);
/* Something that no longer fits was met: it is listed soon. */
void remote_root_nudge(struct remote_root *root);

/* Identifies an object in one state. */
struct remote_identity {
    uint64_t hash[2];
    uint64_t size_bytes;
    int64_t modified_at_ns; /* Unix time; 0: unknown */
};
struct remote_identity remote_identity_of(const char *address, const struct remote_object *object);

struct remote_file;

/* `path` below the address, "" for itself. By the newest list of that address where there is one; else the server is
 * asked. NULL with `err`: notfound, io, argument, … */
struct remote_file *remote_open(const char *address, const char *path, struct err *err);
void remote_close(struct remote_file *file);
const struct remote_identity *remote_file_identity(const struct remote_file *file);
/* Reads within its size. False with `err`; `changed` when it is no longer what was opened. */
bool remote_read(const struct remote_file *file, uint64_t offset, void *into, size_t size, struct err *err);
bool remote_is_changed(const struct remote_file *file);
/* Requests the beginning of the file, without waiting. */
void remote_want_start(const struct remote_file *file);
