/* SPDX-License-Identifier: Apache-2.0
 * memory.h: small allocations that cannot fail, and pools that are freed at once.
 *
 * For the daemon's own bookkeeping (names, table rows, requests). When the
 * system has no memory left even for these, they take from a reserve, if there is one; when that is gone too,
 * the process says so, with how much was asked for and what ulimit -v allows, and exits with status 70. Whatever grows
 * with an input is allocated elsewhere, where running out is an error of that one request. */
#pragma once

#include "base/buf.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* Sets memory aside for the small allocations, or does so again after they took it. False when the system has too
 * little for that now. Threads: any number. */
bool memory_reserve(void);
/* Did they take it? */
bool memory_is_short(void);

/* `size` zeroed bytes, to be freed with free(). */
void *memory_new(size_t size);

/* What `write` appends to `out`, which is empty; it is called again when the system had no memory, and has to append
 * the same. Not for what grows with an input. */
typedef void memory_writer(const void *context, struct buf *out);
void memory_write(struct buf *out, memory_writer *write, const void *context);

/* Grows the array `items` (of `*capacity` items) so that it holds at least
 * `needed`; returns its new place. The new part is not initialised. */
void *memory_grow(void *items, size_t *capacity, size_t needed, size_t item_size);

/* A NUL-terminated copy, to be freed with free(). */
char *memory_text(const char *text);
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory that lives and dies together. Starts zeroed; not for several threads. */
struct memory_pool {
    struct memory_block *last;
    size_t used_bytes; /* handed out so far */
};

/* `size` zeroed bytes, aligned for anything. */
void *memory_pool_new(struct memory_pool *pool, size_t size);
char *memory_pool_text(struct memory_pool *pool, const char *text, size_t length);
char *memory_pool_format(struct memory_pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
void memory_pool_free(struct memory_pool *pool);

/* Call before any thread starts. Memory goes back to the system when the last thread that uses it frees it. */
void memory_set_up(void);
/* Also before: what is freed is used again, as by who reads many files and ends; a tenth of the processor's time goes
 * into fresh pages otherwise. */
void memory_set_up_to_end(void);
/* Gives what is free back to the system, after much was freed; not after memory_set_up_to_end. */
void memory_trim(void);
