/* SPDX-License-Identifier: Apache-2.0
 * unpacked.h: the inside of packed files (gzip, a zip of one file), inflated once for all that is read from each: what
 * it holds, the sums of its programs, and the programs.
 *
 * Memory: from what is left of the store's account, at most an eighth of it for one file; values of the cache that
 * leave first when others need room. What has no room, or is damaged or cut, is inflated by each reader for itself,
 * who reports what is wrong with it. */
#pragma once

#include "server/store/store.h"

/* Gives an open file its inside (source.unpacked) until unpacked_let_go with the same hold, which has to come before
 * files_close. Nothing happens to other files. May wait for another thread that inflates it. */
void unpacked_attach(struct store *store, struct file *file, struct cache_hold *hold);
/* The same where it is there already: never inflates, never waits. */
void unpacked_attach_kept(struct store *store, struct file *file, struct cache_hold *hold);
void unpacked_let_go(struct file *file, struct cache_hold *hold);

/* For threads that may not wait in the cache: inflates a file for its thread alone; NULL where nothing can be held. One
 * that is kept gives the cache its bytes under the file's key (files_identity_text), or frees them if it has some. */
struct unpacked;
struct unpacked *unpacked_read(struct store *store, struct file *file);
void unpacked_keep(struct store *store, const char *key, struct unpacked *unpacked);
