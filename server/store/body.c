/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/body.h"

#include "base/hash.h"
#include "server/base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MIN_BYTES = 1024, LEVEL = 1 };

struct shared_body {
    struct body body;
    atomic_int holders;
    bool is_static;
    pthread_mutex_t lock; /* for the two below */
    bool was_packed;
    struct shared_body *packed; /* NULL when not worth it */
};

static struct shared_body *shared(struct body *body) { return (struct shared_body *)body; /* its first member */ }

static struct shared_body *make(const char *data, size_t size)
{
    struct shared_body *made = memory_new(sizeof(*made));
    made->body.data = data;
    made->body.size = size;
    atomic_init(&made->holders, 1);
    pthread_mutex_init(&made->lock, NULL);
    return made;
}

struct body *body_new(struct buf *buf)
{
    size_t size = 0;
    if (buf->failed) {
        buf_free(buf);
        return NULL;
    }
    char *data = buf_take(buf, &size), *exact = realloc(data, size ? size : 1);
    data = exact ? exact : data;
    struct shared_body *made = make(data, size);
    snprintf(made->body.etag, sizeof(made->body.etag), "\"%016llx\"", (unsigned long long)hash_bytes(data, size, 0));
    return &made->body;
}

struct body *body_of_static(const void *data, size_t size, const void *gzip, size_t gzip_size, const char *etag)
{
    struct shared_body *made = make(data, size);
    made->is_static = true;
    made->was_packed = true;
    snprintf(made->body.etag, sizeof(made->body.etag), "%s", etag);
    if (gzip && gzip_size < size) {
        made->packed = make(gzip, gzip_size);
        made->packed->is_static = made->packed->was_packed = true;
    }
    return &made->body;
}

struct body *body_hold(struct body *body)
{
    atomic_fetch_add(&shared(body)->holders, 1);
    return body;
}

void body_release(struct body *body)
{
    if (!body || atomic_fetch_sub(&shared(body)->holders, 1) != 1)
        return;
    struct shared_body *last = shared(body);
    if (last->packed)
        body_release(&last->packed->body);
    if (!last->is_static)
        free((char *)(uintptr_t)body->data);
    pthread_mutex_destroy(&last->lock);
    free(last);
}

/* False when the gzip stream would be larger than `room_bytes`. */
static bool deflate_into(const struct body *body, size_t room_bytes, struct buf *out)
{
    z_stream stream = {0};
    int done = Z_BUF_ERROR;
    if (room_bytes > UINT32_MAX || deflateInit2(&stream, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    char *room = buf_reserve(out, room_bytes);
    if (room) {
        stream.next_in = (Bytef *)(uintptr_t)body->data;
        stream.avail_in = (uInt)body->size;
        stream.next_out = (Bytef *)room;
        stream.avail_out = (uInt)room_bytes;
        done = deflate(&stream, Z_FINISH);
        out->length = room_bytes - stream.avail_out;
    }
    deflateEnd(&stream);
    return done == Z_STREAM_END;
}

static struct shared_body *pack(const struct body *body)
{
    struct buf out = BUF_INIT;
    struct shared_body *packed = NULL;
    if (body->size >= MIN_BYTES && deflate_into(body, body->size, &out)) {
        char *exact = malloc(out.length);
        if (exact) {
            memcpy(exact, out.data, out.length);
            packed = make(exact, out.length);
        }
    }
    buf_free(&out);
    return packed;
}

struct body *body_gzip(struct body *body)
{
    struct shared_body *whole = shared(body);
    pthread_mutex_lock(&whole->lock);
    if (!whole->was_packed) {
        whole->packed = pack(body);
        whole->was_packed = true;
    }
    pthread_mutex_unlock(&whole->lock);
    return whole->packed ? body_hold(&whole->packed->body) : NULL;
}

struct body *body_of_gzip(const struct body *plain)
{
    struct buf out = BUF_INIT;
    if (deflate_into(plain, plain->size + plain->size / 100 + 256, &out))
        return body_new(&out);
    buf_free(&out);
    return NULL;
}

size_t body_cost_bytes(const struct body *body) { return sizeof(struct shared_body) * 2 + body->size + body->size / 4; }
