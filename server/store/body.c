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
    struct body_pieces pieces; /* of one in pieces; under the lock */
    pthread_mutex_t lock;      /* for the two below */
    bool was_packed;
    struct shared_body *packed; /* NULL when not worth it */
};

static struct shared_body *body_shared(struct body *body) { return (struct shared_body *)body; /* its first member */ }

static struct shared_body *body_make(const char *data, size_t size)
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
    struct shared_body *made = body_make(data, size);
    snprintf(made->body.etag, sizeof(made->body.etag), "\"%016llx\"", (unsigned long long)hash_bytes(data, size, 0));
    return &made->body;
}

static struct shared_body *make_static(const void *data, size_t size, const char *etag)
{
    struct shared_body *made = body_make(data, size);
    made->is_static = true;
    made->was_packed = true;
    snprintf(made->body.etag, sizeof(made->body.etag), "%s", etag);
    return made;
}

struct body *body_of_static(const void *data, size_t size, const char *etag)
{
    return &make_static(data, size, etag)->body;
}

struct body *body_of_static_gzip(const void *gzip, size_t gzip_size, size_t size, const char *etag)
{
    struct shared_body *made = make_static(NULL, size, etag);
    made->is_static = false; /* its bytes will be its own */
    made->packed = make_static(gzip, gzip_size, "");
    return &made->body;
}

struct body *body_of_pieces(const struct body_pieces *pieces)
{
    struct shared_body *made = body_make(NULL, 0);
    made->body.is_in_pieces = made->was_packed = true;
    made->pieces = *pieces;
    return &made->body;
}

struct body *body_hold(struct body *body)
{
    atomic_fetch_add(&body_shared(body)->holders, 1);
    return body;
}

void body_release(struct body *body)
{
    if (!body || atomic_fetch_sub(&body_shared(body)->holders, 1) != 1)
        return;
    struct shared_body *last = body_shared(body);
    if (last->packed)
        body_release(&last->packed->body);
    if (body->is_in_pieces)
        last->pieces.free(last->pieces.context);
    else if (!last->is_static)
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
            packed = body_make(exact, out.length);
        }
    }
    buf_free(&out);
    return packed;
}

struct body *body_gzip(struct body *body)
{
    struct shared_body *whole = body_shared(body);
    pthread_mutex_lock(&whole->lock);
    if (!whole->was_packed) {
        whole->packed = pack(body);
        whole->was_packed = true;
    }
    pthread_mutex_unlock(&whole->lock);
    return whole->packed ? body_hold(&whole->packed->body) : NULL;
}

/* NULL without memory. */
static char *inflate_whole(const struct body *packed, size_t size)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed->data, .avail_in = (uInt)packed->size};
    char *plain = malloc(size ? size : 1);
    if (!plain || inflateInit2(&stream, 15 + 16) != Z_OK) {
        free(plain);
        return NULL;
    }
    stream.next_out = (Bytef *)plain;
    stream.avail_out = (uInt)size;
    bool is_whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    if (is_whole)
        return plain;
    free(plain);
    return NULL;
}

struct body *body_plain(struct body *body)
{
    struct shared_body *whole = body_shared(body);
    if (body->is_in_pieces)
        return NULL;
    pthread_mutex_lock(&whole->lock);
    if (!body->data && whole->packed)
        body->data = inflate_whole(&whole->packed->body, body->size);
    bool is_there = body->data != NULL;
    pthread_mutex_unlock(&whole->lock);
    return is_there ? body_hold(body) : NULL;
}

/* ---- in pieces ---------------------------------------------------------------------- */

struct body_reader {
    struct shared_body *body;
    uint64_t at;
    struct buf piece; /* as it was made */
    size_t taken;     /* bytes of the piece that were read */
    bool is_at_end;   /* nothing comes after the piece */
    bool is_gzip, is_closed;
    z_stream gzip;
};

struct body_reader *body_reader_new(struct body *body, bool as_gzip)
{
    struct body_reader *reader = memory_new(sizeof(*reader));
    if (as_gzip && deflateInit2(&reader->gzip, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(reader);
        return NULL;
    }
    reader->is_gzip = as_gzip;
    reader->body = body_shared(body_hold(body));
    return reader;
}

void body_reader_free(struct body_reader *reader)
{
    if (!reader)
        return;
    if (reader->is_gzip)
        deflateEnd(&reader->gzip);
    buf_free(&reader->piece);
    body_release(&reader->body->body);
    free(reader);
}

/* Makes the next piece when the last was read. */
static bool body_fill(struct body_reader *reader)
{
    struct body_pieces *pieces = &reader->body->pieces;
    if (reader->taken < reader->piece.length || reader->is_at_end)
        return true;
    reader->piece.length = reader->taken = 0;
    pthread_mutex_lock(&reader->body->lock);
    bool is_good = pieces->next(pieces->context, &reader->at, &reader->piece);
    pthread_mutex_unlock(&reader->body->lock);
    reader->is_at_end = reader->piece.length == 0;
    return is_good;
}

static int64_t read_gzip(struct body_reader *reader, char *into, size_t size)
{
    z_stream *gzip = &reader->gzip;
    gzip->next_out = (Bytef *)into;
    gzip->avail_out = size < UINT32_MAX ? (uInt)size : UINT32_MAX;
    while (gzip->next_out == (Bytef *)into && !reader->is_closed) {
        if (!body_fill(reader))
            return -1;
        gzip->next_in = (Bytef *)(reader->piece.data + reader->taken);
        gzip->avail_in = (uInt)(reader->piece.length - reader->taken);
        int done = deflate(gzip, reader->is_at_end ? Z_FINISH : Z_NO_FLUSH);
        if (done != Z_OK && done != Z_STREAM_END)
            return -1;
        reader->taken = reader->piece.length - gzip->avail_in;
        reader->is_closed = done == Z_STREAM_END;
    }
    return (char *)gzip->next_out - into;
}

int64_t body_reader_read(struct body_reader *reader, char *into, size_t size)
{
    if (reader->is_gzip)
        return read_gzip(reader, into, size);
    if (!body_fill(reader))
        return -1;
    size_t left = reader->piece.length - reader->taken, got = left < size ? left : size;
    if (got > 0)
        memcpy(into, reader->piece.data + reader->taken, got);
    reader->taken += got;
    return (int64_t)got;
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
