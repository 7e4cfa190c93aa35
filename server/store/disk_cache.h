/* SPDX-License-Identifier: Apache-2.0
 * disk_cache.h: bytes that were costly to make, in files of one folder, so that the next start has them.
 *
 * A file is named by the SHA-256 of its key and holds the key, the bytes, and the SHA-256 of both: what is cut,
 * flipped, of another key or no file of ours is as good as not there, and is removed. It is written under another name
 * and renamed, so that processes may share the folder and be killed at any time; nothing is synced, for what is lost is
 * made again. Files may be removed at any time by anybody; a folder that is removed keeps nothing more. Threads: any
 * number. Nothing here fails: without disk it is as without this. */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct disk_cache;

/* The folder is made for this user alone, if it is not there; one that others may open is refused. `about`: what all
 * keys begin with: whatever else the bytes rest on (this build, its settings). It keeps up to `limit_bytes`; what was
 * looked at longest ago goes first. Before the box (server/sandbox). NULL and a line in `reason`. */
struct disk_cache *disk_cache_open(const char *folder, uint64_t limit_bytes, const char *about, char *reason,
                                   size_t reason_size);
void disk_cache_close(struct disk_cache *cache); /* NULL is fine */

/* Appends what was kept under `key` to `out`; false, and nothing appended, when there is nothing, and for a NULL cache.
 */
bool disk_cache_read(struct disk_cache *cache, const char *key, struct buf *out);
/* Keeps it, unless it is larger than a quarter of the limit. */
void disk_cache_write(struct disk_cache *cache, const char *key, const void *data, size_t size);
