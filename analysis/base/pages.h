/* SPDX-License-Identifier: Apache-2.0
 * pages.h: memory in whole pages, for large arrays: they grow and are joined by moving pages, not bytes.
 *
 * A page costs nothing until it is written to, and then more than filling it: what moves is never touched twice. Up to
 * 64 KiB come from malloc and are copied, which takes less than telling all threads of the process that a page is gone.
 * Memory: the system's, until pages_resize to 0. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct pages {
    char *at;
    size_t size; /* bytes, in whole pages; 0: none, and `at` is NULL */
};

/* What `size` bytes take, in whole pages; SIZE_MAX when that is out of range. */
size_t pages_whole(size_t size);
/* A hint for `size` bytes at `at` that are all about to be filled: the system may take pages of 2 MiB for them. But for
 * zeroing it, such a page takes no longer to get than one of 4 KiB. */
void pages_fill_soon(void *at, size_t size);
/* Makes room for `size` bytes, a result of pages_whole. The content stays and may move; new pages are zero. False when
 * the system has no memory, which may happen even for fewer bytes; then nothing changed. */
bool pages_resize(struct pages *pages, size_t size);
/* Moves what `from` holds to the offset `at` of `pages`, a sum of results of pages_whole, where there is room for it;
 * `from` is empty then. False when the system has no memory; then `pages` is good for nothing but pages_resize to 0. */
bool pages_take(struct pages *pages, size_t at, struct pages *from);
