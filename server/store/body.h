/* SPDX-License-Identifier: Apache-2.0
 * body.h: the finished bytes of an answer, shared by whoever sends them.
 *
 * Never changed once made; the packed form is made at most once, when first
 * asked for. A long one may be made while it is sent, piece by piece, anew for each reader.
 * Threads: any number, each with a reference of its own. */
#pragma once

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

enum { BODY_ETAG_SIZE = 48 };

/* What makes a body in pieces. Any thread may call it, one at a time. */
struct body_pieces {
    /* Appends some bytes from *at on, which is 0 at first; none at the end. False: it cannot go on. */
    bool (*next)(void *context, uint64_t *at, struct buf *out);
    void (*free)(void *context);
    void *context;
};

struct body {
    const char *data; /* NULL in one of body_of_static_gzip: body_plain has them */
    size_t size;
    char etag[BODY_ETAG_SIZE]; /* of the unpacked bytes, with quotes */
    bool is_in_pieces;         /* none of the above is known: only body_reader gives its bytes */
};

/* Takes the bytes of `buf`, one reference held; NULL when the buf has failed. */
struct body *body_new(struct buf *buf);
/* Takes what `pieces` holds; one reference held. */
struct body *body_of_pieces(const struct body_pieces *pieces);
/* Bytes that live for ever, with their entity tag; never packed. */
struct body *body_of_static(const void *data, size_t size, const char *etag);
/* A gzip file that lives for ever, of `size` bytes with this entity tag. Those are inflated when they are asked for. */
struct body *body_of_static_gzip(const void *gzip, size_t gzip_size, size_t size, const char *etag);

struct body *body_hold(struct body *body);
void body_release(struct body *body); /* NULL is fine */

/* The bytes of a body in pieces, from the first on, gzipped with `as_gzip`; holds the body. NULL without memory. */
struct body_reader;
struct body_reader *body_reader_new(struct body *body, bool as_gzip);
/* Up to `size` more bytes; 0 at the end, -1 when it cannot go on. */
int64_t body_reader_read(struct body_reader *reader, char *into, size_t size);
void body_reader_free(struct body_reader *reader); /* NULL is fine */

/* The bytes as they are, with a reference of its own; NULL when there is no memory to inflate them, or in pieces. */
struct body *body_plain(struct body *body);

/* The bytes as gzip, with a reference of its own, or NULL when that would not
 * be worth it (less than 1 kB, not smaller, or in pieces). */
struct body *body_gzip(struct body *body);

/* A gzip file of the bytes of `plain`, one reference held; NULL without memory. */
struct body *body_of_gzip(const struct body *plain);

/* Memory that it may come to hold, packed form included. */
size_t body_cost_bytes(const struct body *body);
