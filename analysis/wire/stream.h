/* SPDX-License-Identifier: Apache-2.0
 * stream.h: the protobuf encoding read through a small moving window.
 *
 * For files that are much larger than what is wanted of them: payloads stay
 * where they are, and a field that nobody asks for is skipped by its length.
 * A scope is a message's range of bytes; nested messages are scopes in scopes.
 *
 * A file that was cut while it was written is read up to the cut: a field that
 * runs past the end of the source is handed out clipped, the scopes just end
 * there, and `is_cut` says so. With `is_strict` it is a `truncated` error. */
#pragma once

#include "base/arena.h"
#include "base/cut.h"
#include "base/source.h"
#include "wire/wire.h"

struct stream {
    const struct source *source;
    struct arena *arena; /* holds the window */
    struct err *err;
    uint8_t *window;
    uint64_t window_at;   /* offset of its first byte */
    size_t window_filled; /* bytes in it */
    bool is_strict;
    bool is_cut;
    uint64_t cut_at;      /* where the bytes end */
    uint64_t whole_bytes; /* where they would have to end at least */
};

struct stream_scope {
    uint64_t at, end; /* offsets; end may be UINT64_MAX at the top of a source of unknown size */
};

struct stream_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;              /* varint or fixed */
    struct stream_scope payload; /* of a length-delimited field */
    bool is_clipped;             /* the payload ends early, at the end of the source */
};

void stream_init(struct stream *stream, const struct source *source, struct arena *arena, struct err *err);
/* The same with the window in memory of its own, which stream_close gives back: for what is kept long and small. */
void stream_open(struct stream *stream, const struct source *source, struct arena *arena, struct err *err);
void stream_close(struct stream *stream);
/* Did the bytes end too early, as far as they were read? */
struct cut stream_cut(const struct stream *stream);
/* The whole source as a scope. */
struct stream_scope stream_whole(const struct stream *stream);
/* Size of the source; reads on to the end if it is not known yet. */
uint64_t stream_size(const struct stream *stream);
/* Meets the next field of `scope` and moves it on. False at its end and after an error. */
bool stream_next(struct stream *stream, struct stream_scope *scope, struct stream_field *field);
/* How many bytes after those of stream_peek may be read too; what they are means nothing. */
enum { STREAM_SLACK = 256 };
/* Up to `max` bytes of `payload`, valid until the next call; fewer only if it is shorter or cut. */
struct str stream_peek(struct stream *stream, struct stream_scope payload, size_t max);
/* What stream_peek shows, copied into `arena` and NUL-terminated: for names. */
struct str stream_text(struct stream *stream, struct stream_scope payload, size_t max, struct arena *arena);
/* All bytes of `payload`, copied into `arena`. Reports `truncated` when they end early. */
struct str stream_copy(struct stream *stream, struct stream_scope payload, struct arena *arena);
