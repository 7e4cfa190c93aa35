/* SPDX-License-Identifier: Apache-2.0
 * remote_blocks.h: objects on servers, read in blocks of 256 KiB that are kept.
 *
 * A block belongs to one state of an object (its address and ETag), so that what is kept is never old. Who reads
 * forwards, with or without gaps, is read ahead of: each time he comes near what was not asked for yet, four times as
 * much is asked for as the last time, up to 16 MiB, as ranges of at most 4 MiB by several connections; who jumps about
 * gets the block that he needs. Blocks that are used longest ago go first when all of them would take more than the
 * limit. Threads: any number. */
#pragma once

#include "base/err.h"
#include "server/files/remote/remote_address.h"
#include "server/files/remote/remote_listing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REMOTE_BLOCKS_BYTES = 256 * 1024 };

/* Memory that all blocks may take; at least 32 MiB are taken. Before the first read. */
void remote_blocks_set_limit(uint64_t limit_bytes);

struct remote_blocks_object;

/* One state of an object, to be read. `identity`: 128 bits that tell it from every other. All is copied. */
struct remote_blocks_object *remote_blocks_open(const struct remote_address *address,
                                                const struct remote_object *object, const uint64_t identity[2]);
void remote_blocks_close(struct remote_blocks_object *object);

/* `size` bytes at `offset`, which are within the object. False with `err`: changed (no longer that state), io,
 * stopped. */
bool remote_blocks_read(struct remote_blocks_object *object, uint64_t offset, void *into, size_t size, struct err *err);
/* Requests the object's first block if it is not held, and does not wait. */
void remote_blocks_want_start(struct remote_blocks_object *object);
/* Was it found to be another one than when it was opened? */
bool remote_blocks_is_changed(const struct remote_blocks_object *object);

/* After http_client_stop: waits until no thread fetches any more. A second time it does nothing. */
void remote_blocks_stop(void);

struct remote_blocks_figures {
    uint64_t kept_bytes, limit_bytes;
};
struct remote_blocks_figures remote_blocks_figures(void);
