/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/stream.h"

/* Larger windows read more that is then skipped, smaller ones ask the system
 * more often; 16 to 64 KiB measured alike on traces of 16 to 103 MB. */
enum { WINDOW = 32 * 1024 };

void stream_init(struct stream *stream, const struct source *source, struct arena *arena, struct err *err)
{
    *stream = (struct stream){.source = source, .arena = arena, .err = err};
    stream->window = arena_raw(arena, WINDOW + STREAM_SLACK);
    memset(stream->window + WINDOW, 0, STREAM_SLACK);
}

void stream_open(struct stream *stream, const struct source *source, struct arena *arena, struct err *err)
{
    stream_init(stream, source, arena_child(arena), err);
}

void stream_close(struct stream *stream)
{
    arena_free(stream->arena);
    stream->window = NULL;
}

struct cut stream_cut(const struct stream *stream)
{
    const struct source *source = stream->source;
    bool is_packed = source->cut_packed_bytes > 0;
    uint64_t at_bytes = is_packed ? source->size_bytes : stream->cut_at;
    return (struct cut){
        .is = stream->is_cut || is_packed,
        .at_bytes = at_bytes,
        .whole_bytes = stream->is_cut && stream->whole_bytes > at_bytes ? stream->whole_bytes : 0,
        .packed_bytes = source->cut_packed_bytes,
    };
}

struct stream_scope stream_whole(const struct stream *stream)
{
    return (struct stream_scope){0, stream->source->size_bytes};
}

uint64_t stream_size(const struct stream *stream)
{
    uint8_t byte;
    if (stream->source->size_bytes == UINT64_MAX)
        stream->source->read(stream->source->context, UINT64_MAX - 1, &byte, 1);
    return stream->source->size_bytes;
}

/* Makes the bytes from `offset` on available, as many as fit and exist, and
 * returns how many; 0 at the end of the source, and after a failed read, which
 * is reported. */
static size_t window_at(struct stream *stream, uint64_t offset, size_t wanted, const uint8_t **at)
{
    uint64_t skipped = offset - stream->window_at;
    if (offset < stream->window_at || skipped > stream->window_filled || stream->window_filled - skipped < wanted) {
        int64_t got = stream->source->read(stream->source->context, offset, stream->window, WINDOW);
        if (got < 0) {
            err_set(stream->err, ERR_io, offset, "the bytes cannot be read");
            got = 0;
        }
        stream->window_at = offset;
        stream->window_filled = (size_t)got;
        skipped = 0;
    }
    *at = stream->window + skipped;
    return stream->window_filled - (size_t)skipped;
}

/* The source's size may become known only on the way (gzip). */
static bool past_the_end(const struct stream *stream, uint64_t offset)
{
    return stream->source->size_bytes != UINT64_MAX && offset > stream->source->size_bytes;
}

/* The bytes end at `offset` or before it, too early: something goes on to `whole_bytes` at least. Always false. */
static bool stream_cut_one(struct stream *stream, uint64_t offset, uint64_t whole_bytes, const char *text)
{
    uint64_t known = stream->source->size_bytes;
    stream->is_cut = true;
    stream->cut_at = known < offset ? known : offset;
    stream->whole_bytes = whole_bytes > stream->whole_bytes ? whole_bytes : stream->whole_bytes;
    if (stream->is_strict)
        err_set(stream->err, ERR_truncated, stream->cut_at, "%s", text);
    return false;
}

/* Where the scope ends, 0 if that is not known. */
static uint64_t known_end(const struct stream_scope *scope) { return scope->end == UINT64_MAX ? 0 : scope->end; }

static bool is_end_of_source(const struct stream *stream, const struct stream_scope *scope)
{
    return scope->end >= stream->source->size_bytes;
}

/* A header that does not parse because it ends is a cut at the end of the source, and damage elsewhere. */
static bool broken(struct stream *stream, const struct stream_scope *scope, bool has_ended, const char *text)
{
    if (has_ended && is_end_of_source(stream, scope))
        return stream_cut_one(stream, scope->end, known_end(scope), text);
    return err_set(stream->err, has_ended ? ERR_truncated : ERR_malformed, scope->at, "%s", text);
}

/* Parses the header in [p, end) and returns its size, or 0 after a report. */
static size_t header_of(struct stream *stream, const struct stream_scope *scope, const uint8_t *p, const uint8_t *end,
                        struct stream_field *field, uint64_t *length)
{
    const uint8_t *begin = p;
    bool is_short = end - p < 20; /* a longer header is damage, a shorter one may be cut */
    uint64_t tag;
    *length = 0;
    field->value = 0;
    if (!wire_varint(&p, end, &tag))
        return broken(stream, scope, is_short, "a field's tag is cut or too long");
    if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF)
        return broken(stream, scope, false, "a field number is out of range");
    field->number = (uint32_t)(tag >> 3);
    field->type = (enum wire_type)(tag & 7);
    if (field->type == WIRE_VARINT || field->type == WIRE_BYTES) {
        if (!wire_varint(&p, end, field->type == WIRE_BYTES ? length : &field->value))
            return broken(stream, scope, is_short, "a number is cut or too long");
        return (size_t)(p - begin);
    }
    if (field->type == WIRE_GROUP || field->type == WIRE_GROUP_END)
        return (size_t)(p - begin);
    size_t size = field->type == WIRE_FIXED64 ? 8 : field->type == WIRE_FIXED32 ? 4 : 0;
    if (size == 0)
        return broken(stream, scope, false, "a field is of no kind that there is");
    if ((size_t)(end - p) < size)
        return broken(stream, scope, true, "a fixed-size number runs past the end");
    for (size_t i = 0; i < size; i++)
        field->value |= (uint64_t)p[i] << (8 * i);
    return (size_t)(p - begin) + size;
}

/* The next field, begins and ends of groups too. */
static bool any_next(struct stream *stream, struct stream_scope *scope, struct stream_field *field)
{
    if (scope->at >= scope->end || err_is_set(stream->err))
        return false;
    /* A tag and a length, or a tag and a number, take at most 20 bytes. */
    const uint8_t *bytes;
    uint64_t left = scope->end - scope->at, length;
    size_t got = window_at(stream, scope->at, left < 20 ? (size_t)left : 20, &bytes);
    if (err_is_set(stream->err))
        return false;
    if (got == 0) { /* the clean end of a source of unknown size, or not */
        bool is_clean = scope->end == UINT64_MAX && !past_the_end(stream, scope->at);
        uint64_t whole_bytes = scope->end == UINT64_MAX ? scope->at : scope->end;
        return is_clean ? false : stream_cut_one(stream, scope->at, whole_bytes, "the bytes end inside a message");
    }
    if (got > left)
        got = (size_t)left;
    size_t header = header_of(stream, scope, bytes, bytes + got, field, &length);
    if (header == 0)
        return false;
    field->is_clipped = false;
    field->payload.at = scope->at + header;
    uint64_t known = stream->source->size_bytes, end = scope->end < known ? scope->end : known;
    if (length > end - field->payload.at) {
        if (!is_end_of_source(stream, scope))
            return err_set(stream->err, ERR_truncated, scope->at, "a length runs past the end");
        uint64_t whole_bytes = length < UINT64_MAX - field->payload.at ? field->payload.at + length : 0;
        stream_cut_one(stream, end, whole_bytes, "a length runs past the end");
        if (stream->is_strict)
            return false;
        field->is_clipped = true;
        length = end - field->payload.at;
    }
    field->payload.end = field->payload.at + length;
    scope->at = field->payload.end;
    return true;
}

/* On behind the end of the group that `field` begins. */
static bool group_pass(struct stream *stream, struct stream_scope *scope, struct stream_field *field)
{
    uint32_t open[WIRE_GROUP_DEPTH_MAX] = {field->number};
    size_t depth = 1;
    while (depth > 0) {
        if (!any_next(stream, scope, field))
            return err_is_set(stream->err) ? false : broken(stream, scope, true, "a group of fields does not end");
        bool is_end = field->type == WIRE_GROUP_END, is_begin = field->type == WIRE_GROUP;
        if ((is_end && open[depth - 1] != field->number) || (is_begin && depth == WIRE_GROUP_DEPTH_MAX))
            return broken(stream, scope, false, "a group of fields does not end as it began");
        depth -= is_end;
        if (is_begin)
            open[depth++] = field->number;
    }
    return true;
}

bool stream_next(struct stream *stream, struct stream_scope *scope, struct stream_field *field)
{
    for (uint64_t begin = scope->at; any_next(stream, scope, field); begin = scope->at) {
        if (field->type == WIRE_GROUP_END)
            return broken(stream, scope, false, "a group of fields ends that did not begin");
        if (field->type != WIRE_GROUP)
            return true;
        if (!group_pass(stream, scope, field)) {
            scope->at = begin; /* what lies behind is not read: who reads a part of a line has to know */
            return false;
        }
    }
    return false;
}

static const char nothing[STREAM_SLACK] = {0};

struct str stream_peek(struct stream *stream, struct stream_scope payload, size_t max)
{
    uint64_t size = payload.end - payload.at;
    if (size < max)
        max = (size_t)size;
    if (max > WINDOW)
        max = WINDOW;
    const uint8_t *bytes;
    size_t got = max == 0 ? 0 : window_at(stream, payload.at, max, &bytes);
    if (got == 0)
        return (struct str){nothing, 0};
    return (struct str){(const char *)bytes, got < max ? got : max};
}

struct str stream_text(struct stream *stream, struct stream_scope payload, size_t max, struct arena *arena)
{
    struct str text = stream_peek(stream, payload, max);
    return (struct str){arena_text(arena, text), text.length};
}

struct str stream_copy(struct stream *stream, struct stream_scope payload, struct arena *arena)
{
    uint64_t size = payload.end - payload.at;
    /* Ask for no memory on the word of a length alone: the last byte must exist. */
    const uint8_t *last;
    if (size > WINDOW && stream->source->size_bytes == UINT64_MAX &&
        window_at(stream, payload.end - 1, 1, &last) == 0) {
        err_set(stream->err, ERR_truncated, payload.at, "the bytes end inside a message");
        return (struct str){"", 0};
    }
    if (past_the_end(stream, payload.end) || size > SIZE_MAX / 4) {
        err_set(stream->err, ERR_truncated, payload.at, "the bytes end inside a message");
        return (struct str){"", 0};
    }
    char *copy = arena_raw(arena, (size_t)size + 1);
    size_t filled = 0;
    while (filled < size) {
        int64_t got =
            stream->source->read(stream->source->context, payload.at + filled, copy + filled, (size_t)size - filled);
        if (got <= 0) {
            err_set(stream->err, got < 0 ? ERR_io : ERR_truncated, payload.at + filled,
                    got < 0 ? "the bytes cannot be read" : "the bytes end inside a message");
            return (struct str){"", 0};
        }
        filled += (size_t)got;
    }
    copy[size] = '\0';
    return (struct str){copy, (size_t)size};
}
