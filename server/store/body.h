/* SPDX-License-Identifier: Apache-2.0
 * body.h: the finished bytes of an answer, shared by whoever sends them.
 *
 * Never changed once made; the packed form is made at most once, when first
 * asked for. Threads: any number, each with a reference of its own. */
#ifndef SERVER_STORE_BODY_H
#define SERVER_STORE_BODY_H

#include "base/buf.h"

#include <stddef.h>

enum { BODY_ETAG_SIZE = 48 };

struct body {
    const char *data;
    size_t size;
    char etag[BODY_ETAG_SIZE]; /* of the unpacked bytes, with quotes */
};

/* Takes the bytes of `buf`, one reference held; NULL when the buf has failed. */
struct body *body_new(struct buf *buf);
/* Bytes that live for ever, with their packed form (or NULL) and entity tag. */
struct body *body_of_static(const void *data, size_t size, const void *gzip, size_t gzip_size, const char *etag);

struct body *body_hold(struct body *body);
void body_release(struct body *body); /* NULL is fine */

/* The bytes as gzip, with a reference of its own, or NULL when that would not
 * be worth it (less than 1 kB, or not smaller). */
struct body *body_gzip(struct body *body);

/* A gzip file of the bytes of `plain`, one reference held; NULL without memory. */
struct body *body_of_gzip(const struct body *plain);

/* Memory that it may come to hold, packed form included. */
size_t body_cost_bytes(const struct body *body);

#endif
