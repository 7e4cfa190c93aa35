/* SPDX-License-Identifier: Apache-2.0
 * gzip.c: see gzip.h. */
#include "wire/gzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PACKED_WINDOW = 64 * 1024, PLAIN_WINDOW = 128 * 1024 };

/* The plain window holds the last piece inflated: the short look back that a
 * reader of headers does is answered from it. */
struct gzip_state {
    z_stream inflater;
    bool is_begun, is_at_end, has_failed;
    struct err failure;                  /* told to the reader once what came before it was handed out */
    uint64_t packed_at;                  /* bytes of the packed source handed to the inflater */
    uint64_t plain_at;                   /* offset of plain[0] */
    size_t plain_filled;
    unsigned char packed[PACKED_WINDOW];
    unsigned char plain[PLAIN_WINDOW];
};

bool gzip_matches(const struct source *source)
{
    unsigned char head[2];
    return source->read(source->context, 0, head, 2) == 2 && head[0] == 0x1F && head[1] == 0x8B;
}

static void begin(struct gzip_state *state)
{
    if (state->is_begun)
        inflateEnd(&state->inflater);
    memset(&state->inflater, 0, sizeof state->inflater);
    state->is_begun = inflateInit2(&state->inflater, 15 + 16) == Z_OK;
    state->is_at_end = false;
    state->has_failed = !state->is_begun;
    state->failure = (struct err)ERR_INIT;
    state->packed_at = 0;
    state->plain_at = 0;
    state->plain_filled = 0;
}

static void fail(struct gzip *gzip, enum err_code code, const char *text)
{
    gzip->state->has_failed = true;
    err_set(&gzip->state->failure, code, gzip->state->plain_at + gzip->state->plain_filled, "%s", text);
}

/* Puts more packed bytes before the inflater; false at their end. */
static bool refill(struct gzip *gzip)
{
    struct gzip_state *state = gzip->state;
    int64_t got = gzip->packed->read(gzip->packed->context, state->packed_at, state->packed, PACKED_WINDOW);
    if (got < 0)
        fail(gzip, ERR_io, "the bytes cannot be read");
    if (got <= 0)
        return false;
    state->packed_at += (uint64_t)got;
    state->inflater.next_in = state->packed;
    state->inflater.avail_in = (uInt)got;
    return true;
}

/* A member has ended: another may follow. Zero bytes and other rubbish behind
 * the last one are left alone, as gzip does. */
static void after_member(struct gzip *gzip)
{
    struct gzip_state *state = gzip->state;
    if (state->inflater.avail_in == 0 && !refill(gzip)) {
        state->is_at_end = true;
        return;
    }
    if (state->inflater.next_in[0] != 0x1F || inflateReset(&state->inflater) != Z_OK)
        state->is_at_end = true;
}

/* Inflates the next piece into the plain window. */
static void advance(struct gzip *gzip)
{
    struct gzip_state *state = gzip->state;
    state->plain_at += state->plain_filled;
    state->plain_filled = 0;
    if (state->plain_at > GZIP_LEAST_LIMIT + state->packed_at * GZIP_MOST_RATIO) {
        fail(gzip, ERR_limit, "inflates to more than 256 times its size");
        return;
    }
    state->inflater.next_out = state->plain;
    state->inflater.avail_out = PLAIN_WINDOW;
    while (state->inflater.avail_out > 0 && !state->is_at_end && !state->has_failed) {
        if (state->inflater.avail_in == 0 && !refill(gzip)) {
            state->plain_filled = PLAIN_WINDOW - state->inflater.avail_out;
            fail(gzip, ERR_truncated, "the gzip stream is cut");
            return;
        }
        int status = inflate(&state->inflater, Z_NO_FLUSH);
        state->plain_filled = PLAIN_WINDOW - state->inflater.avail_out;
        if (status == Z_STREAM_END)
            after_member(gzip);
        else if (status != Z_OK && status != Z_BUF_ERROR)
            fail(gzip, ERR_malformed, "the gzip stream is damaged");
    }
    if (state->is_at_end)
        gzip->source.size_bytes = state->plain_at + state->plain_filled;
}

static int64_t read_plain(void *context, uint64_t offset, void *into, size_t size)
{
    struct gzip *gzip = context;
    struct gzip_state *state = gzip->state;
    size_t done = 0;
    if (offset < state->plain_at)
        begin(state);
    while (done < size) {
        uint64_t window_end = state->plain_at + state->plain_filled, at = offset + done;
        if (at < window_end) {
            size_t piece = (size_t)(window_end - at);
            if (piece > size - done)
                piece = size - done;
            memcpy((char *)into + done, state->plain + (at - state->plain_at), piece);
            done += piece;
        } else if (state->is_at_end || state->has_failed) {
            break;
        } else {
            advance(gzip);
        }
    }
    if (done > 0 || !state->has_failed || size == 0)
        return (int64_t)done;
    err_set(gzip->err, state->failure.code, state->failure.offset_bytes, "%s", state->failure.text);
    return -1;
}

struct gzip *gzip_open(const struct source *packed, struct err *err)
{
    struct gzip *gzip = calloc(1, sizeof *gzip);
    struct gzip_state *state = gzip == NULL ? NULL : calloc(1, sizeof *state);
    if (state == NULL) {
        free(gzip);
        err_set(err, ERR_limit, ERR_NO_OFFSET, "no memory to inflate");
        return NULL;
    }
    gzip->source = (struct source){gzip, read_plain, UINT64_MAX};
    gzip->packed = packed;
    gzip->err = err;
    gzip->state = state;
    begin(state);
    return gzip;
}

void gzip_close(struct gzip *gzip)
{
    if (gzip == NULL)
        return;
    if (gzip->state->is_begun)
        inflateEnd(&gzip->state->inflater);
    free(gzip->state);
    free(gzip);
}
