/* SPDX-License-Identifier: Apache-2.0
 * buf.h: bytes that grow, with sticky failure.
 *
 * Write freely and look at `failed` once at the end. Memory: malloc; whoever
 * holds the buf calls buf_free, or takes the bytes with buf_take. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *data;         /* NULL while empty */
    size_t length;      /* bytes written */
    size_t capacity;    /* bytes allocated */
    size_t limit_bytes; /* never grows past it; 0 = no limit */
    bool failed;        /* out of memory or past the limit; data is then incomplete */
    bool is_refused;    /* failed, and not by the limit: the system had no memory */
};

#define BUF_INIT {NULL, 0, 0, 0, false, false}

void buf_add(struct buf *buf, const void *data, size_t size);
void buf_char(struct buf *buf, char c);
void buf_text(struct buf *buf, const char *text);
/* The text for a terminal: names come out of files, and what a terminal would act upon is escaped (printable.h). */
void buf_printable(struct buf *buf, struct str text);
/* The same for a text of many lines. */
void buf_printable_lines(struct buf *buf, struct str text);
/* As buf_printable; of a text of more than `max` bytes what fits, cut between letters, and "…". */
void buf_printable_cut(struct buf *buf, struct str text, size_t max);
/* Digits, as %lld writes them but at a tenth of its cost. */
void buf_int(struct buf *buf, int64_t value);
void buf_uint(struct buf *buf, uint64_t value);
void buf_format(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Room for at least `size` more bytes at the end, or NULL after a failure.
 * Advance `length` by what was written. */
char *buf_reserve(struct buf *buf, size_t size);
/* A part of what `buf` was to hold is not whole: then `buf` has failed, too. */
void buf_fail_with(struct buf *buf, const struct buf *part);
/* True unless it failed; then `err` says why: `limit`, or `exhausted` where the system had no memory. `what`: "the
 * answer". */
bool buf_is_whole(const struct buf *buf, const char *what, struct err *err);
/* Gives the bytes (to be freed with free()) to the caller and empties the buf. */
char *buf_take(struct buf *buf, size_t *length);
void buf_free(struct buf *buf);
