/* SPDX-License-Identifier: Apache-2.0
 * keeping.h: the disk cache of the daemon, by its options. Its own file: what all of its keys rest on is gathered here.
 */
#pragma once

#include "server/cmd/options.h"
#include "server/store/disk_cache.h"

/* *cache is NULL without --cache-dir. `category_rules` and `libraries` may be NULL. False and a line in `reason`. */
bool keeping_open(const struct options *options, const char *category_rules, const char *libraries,
                  struct disk_cache **cache, char *reason, size_t reason_size);
