/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/gzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define CUT "the gzip stream is cut at byte %llu of the file"

enum {
    PACKED_WINDOW = 64 * 1024,
    PLAIN_WINDOW = 128 * 1024,
    CHECKPOINTS_MAX = 64,
    FIRST_INTERVAL = 1 << 20,
    HEAD_MAX = 4 << 20 /* a multiple of PLAIN_WINDOW */
};

/* The inflater as it was at an offset, to go on from there (about 40 KiB each).
 * It must not move: zlib's state points back to it. */
struct checkpoint {
    z_stream inflater;
    uint64_t packed_at, plain_at;
};

/* The plain window holds the last piece inflated: the short look back that a
 * reader of headers does is answered from it. */
struct gzip_state {
    z_stream inflater;
    bool is_begun, is_at_end, has_failed;
    struct err failure; /* told to the reader once what came before it was handed out */
    uint64_t packed_at; /* bytes of the packed source handed to the inflater */
    uint64_t plain_at;  /* offset of plain[0] */
    size_t plain_filled;
    unsigned char *head; /* the first plain bytes, to which those go back who tell what a file is */
    size_t head_filled, head_room;
    struct checkpoint *checkpoints[CHECKPOINTS_MAX]; /* ascending */
    size_t checkpoint_count;
    uint64_t interval; /* of plain bytes between two of them */
    unsigned char packed[PACKED_WINDOW];
    unsigned char plain[PLAIN_WINDOW];
};

bool gzip_matches(const struct source *source)
{
    unsigned char head[2];
    return source->read(source->context, 0, head, 2) == 2 && head[0] == 0x1F && head[1] == 0x8B;
}

static void gzip_begin(struct gzip_state *state)
{
    if (state->is_begun)
        inflateEnd(&state->inflater);
    memset(&state->inflater, 0, sizeof(state->inflater));
    state->is_begun = inflateInit2(&state->inflater, 15 + 16) == Z_OK;
    state->is_at_end = false;
    state->failure = (struct err)ERR_INIT;
    state->has_failed = !state->is_begun && !err_exhausted(&state->failure);
    state->packed_at = 0;
    state->plain_at = 0;
    state->plain_filled = 0;
}

/* Goes on from the last checkpoint at or before `offset`, else from the begin. */
static void gzip_resume(struct gzip_state *state, uint64_t offset)
{
    size_t at = state->checkpoint_count;
    while (at > 0 && state->checkpoints[at - 1]->plain_at > offset)
        at--;
    if (at == 0) {
        gzip_begin(state);
        return;
    }
    struct checkpoint *checkpoint = state->checkpoints[at - 1];
    if (state->is_begun)
        inflateEnd(&state->inflater);
    state->is_begun = inflateCopy(&state->inflater, &checkpoint->inflater) == Z_OK;
    state->inflater.avail_in = 0; /* its unread bytes are read again */
    state->is_at_end = false;
    state->failure = (struct err)ERR_INIT;
    state->has_failed = !state->is_begun && !err_exhausted(&state->failure);
    state->packed_at = checkpoint->packed_at;
    state->plain_at = checkpoint->plain_at;
    state->plain_filled = 0;
}

static void checkpoint_free(struct checkpoint *checkpoint)
{
    inflateEnd(&checkpoint->inflater);
    free(checkpoint);
}

/* When there are too many, every second goes and the interval doubles. */
static void checkpoints_thin(struct gzip_state *state)
{
    size_t kept = 0;
    for (size_t i = 0; i < state->checkpoint_count; i++) {
        if (i % 2 == 0)
            checkpoint_free(state->checkpoints[i]);
        else
            state->checkpoints[kept++] = state->checkpoints[i];
    }
    state->checkpoint_count = kept;
    state->interval *= 2;
}

static void checkpoint_take(struct gzip_state *state)
{
    uint64_t last = state->checkpoint_count > 0 ? state->checkpoints[state->checkpoint_count - 1]->plain_at : 0;
    if (state->plain_at < last + state->interval)
        return;
    if (state->checkpoint_count == CHECKPOINTS_MAX)
        checkpoints_thin(state);
    struct checkpoint *checkpoint = calloc(1, sizeof(*checkpoint));
    if (checkpoint == NULL || inflateCopy(&checkpoint->inflater, &state->inflater) != Z_OK) {
        free(checkpoint); /* reading goes on without it */
        return;
    }
    checkpoint->packed_at = state->packed_at - state->inflater.avail_in;
    checkpoint->plain_at = state->plain_at;
    state->checkpoints[state->checkpoint_count++] = checkpoint;
}

static void gzip_fail(struct gzip *gzip, enum err_code code, const char *text)
{
    gzip->state->has_failed = true;
    err_set(&gzip->state->failure, code, gzip->state->plain_at + gzip->state->plain_filled, "%s", text);
}

static void fail_cut(struct gzip *gzip)
{
    struct gzip_state *state = gzip->state;
    state->has_failed = true;
    err_set(&state->failure, ERR_truncated, state->plain_at + state->plain_filled, CUT,
            (unsigned long long)state->packed_at);
}

/* The end of the file, for readers that use a cut one. */
static bool ends_early(struct gzip *gzip)
{
    struct gzip_state *state = gzip->state;
    if (!gzip->may_end_early || !state->has_failed || state->failure.code != ERR_truncated)
        return false;
    gzip->source.size_bytes = state->failure.offset_bytes;
    gzip->source.cut_packed_bytes = state->packed_at;
    return true;
}

bool gzip_needs_whole(struct gzip *gzip)
{
    gzip->may_end_early = false;
    if (gzip->source.cut_packed_bytes == 0)
        return true;
    return err_set(gzip->err, ERR_truncated, gzip->source.size_bytes, CUT,
                   (unsigned long long)gzip->source.cut_packed_bytes);
}

/* Puts more packed bytes before the inflater; false at their end. */
static bool refill(struct gzip *gzip)
{
    struct gzip_state *state = gzip->state;
    int64_t got = gzip->packed->read(gzip->packed->context, state->packed_at, state->packed, PACKED_WINDOW);
    if (got < 0)
        gzip_fail(gzip, ERR_io, "the bytes cannot be read");
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

/* Without memory for more of them the head ends where it is. */
static void head_add(struct gzip_state *state)
{
    size_t filled = state->head_filled + state->plain_filled;
    if (state->plain_filled == 0 || state->plain_at != state->head_filled || filled > HEAD_MAX)
        return;
    if (filled > state->head_room) {
        size_t room = state->head_room * 2 > filled ? state->head_room * 2 : filled;
        unsigned char *head = realloc(state->head, room);
        if (head == NULL)
            return;
        state->head = head;
        state->head_room = room;
    }
    memcpy(state->head + state->head_filled, state->plain, state->plain_filled);
    state->head_filled = filled;
}

/* Inflates the next piece into the plain window. */
static void inflate_piece(struct gzip *gzip)
{
    struct gzip_state *state = gzip->state;
    state->plain_at += state->plain_filled;
    state->plain_filled = 0;
    if (state->plain_at > GZIP_MIN_LIMIT + state->packed_at * GZIP_MAX_RATIO) {
        gzip_fail(gzip, ERR_limit, "inflates to more than 256 times its size");
        return;
    }
    checkpoint_take(state);
    state->inflater.next_out = state->plain;
    state->inflater.avail_out = PLAIN_WINDOW;
    while (state->inflater.avail_out > 0 && !state->is_at_end && !state->has_failed) {
        if (state->inflater.avail_in == 0 && !refill(gzip)) {
            state->plain_filled = PLAIN_WINDOW - state->inflater.avail_out;
            if (!state->has_failed)
                fail_cut(gzip);
            return;
        }
        int status = inflate(&state->inflater, Z_NO_FLUSH);
        state->plain_filled = PLAIN_WINDOW - state->inflater.avail_out;
        if (status == Z_STREAM_END)
            after_member(gzip);
        else if (status == Z_MEM_ERROR)
            gzip_fail(gzip, ERR_exhausted, "the system has no more memory");
        else if (status != Z_OK && status != Z_BUF_ERROR)
            gzip_fail(gzip, ERR_malformed, "the gzip stream is damaged");
    }
    if (state->is_at_end)
        gzip->source.size_bytes = state->plain_at + state->plain_filled;
}

static void advance(struct gzip *gzip)
{
    inflate_piece(gzip);
    head_add(gzip->state);
}

static int64_t read_plain(void *context, uint64_t offset, void *into, size_t size)
{
    struct gzip *gzip = context;
    struct gzip_state *state = gzip->state;
    size_t done = 0;
    while (done < size) {
        uint64_t at = offset + done;
        bool is_in_head = at < state->plain_at && at < state->head_filled;
        if (at < state->plain_at && !is_in_head)
            gzip_resume(state, at);
        uint64_t end = is_in_head ? state->head_filled : state->plain_at + state->plain_filled;
        if (at < end) {
            const unsigned char *from = is_in_head ? state->head + at : state->plain + (at - state->plain_at);
            size_t piece = (size_t)(end - at);
            if (piece > size - done)
                piece = size - done;
            memcpy((char *)into + done, from, piece);
            done += piece;
        } else if (state->is_at_end || state->has_failed) {
            break;
        } else {
            advance(gzip);
        }
    }
    if (ends_early(gzip) || done > 0 || !state->has_failed || size == 0)
        return (int64_t)done;
    err_set(gzip->err, state->failure.code, state->failure.offset_bytes, "%s", state->failure.text);
    return -1;
}

struct gzip *gzip_open(const struct source *packed, struct err *err)
{
    struct gzip *gzip = calloc(1, sizeof(*gzip));
    struct gzip_state *state = gzip == NULL ? NULL : calloc(1, sizeof(*state));
    if (state == NULL) {
        free(gzip);
        err_exhausted(err);
        return NULL;
    }
    gzip->source = (struct source){.context = gzip, .read = read_plain, .size_bytes = UINT64_MAX};
    gzip->packed = packed;
    gzip->err = err;
    gzip->state = state;
    state->interval = FIRST_INTERVAL;
    gzip_begin(state);
    return gzip;
}

void gzip_close(struct gzip *gzip)
{
    if (gzip == NULL)
        return;
    if (gzip->state->is_begun)
        inflateEnd(&gzip->state->inflater);
    for (size_t i = 0; i < gzip->state->checkpoint_count; i++)
        checkpoint_free(gzip->state->checkpoints[i]);
    free(gzip->state->head);
    free(gzip->state);
    free(gzip);
}
