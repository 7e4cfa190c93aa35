/* SPDX-License-Identifier: Apache-2.0 */
#include "input/kind.h"

#include "input/hlo_parts.h"
#include "input/torch_form.h"

/* How many fields of a message are looked at: enough to pass the leading
 * planes of a trace, and little to read. */
enum { FIELDS_SEEN = 48, TEXT_SEEN = 4096, BEGIN_SEEN = 64 };

/* Which field numbers below 32 a message has, by wire type. */
struct shape_of_message {
    uint32_t numbers;          /* varint and fixed */
    uint32_t messages;         /* length-delimited */
    struct stream_scope first; /* payload of the first field 1 */
    bool is_broken;            /* damage among the fields seen */
};

#define BIT(number) (UINT32_C(1) << (number))

static struct shape_of_message look(struct stream *stream, struct stream_scope scope)
{
    struct shape_of_message shape = {0};
    struct stream_field field;
    struct err *outer = stream->err, err = ERR_INIT;
    bool has_first = false;
    stream->err = &err;
    for (int i = 0; i < FIELDS_SEEN && stream_next(stream, &scope, &field); i++) {
        if (field.number >= 32) {
            shape.messages |= BIT(0); /* a mark: something far out */
            continue;
        }
        if (field.type != WIRE_BYTES) {
            shape.numbers |= BIT(field.number);
            continue;
        }
        shape.messages |= BIT(field.number);
        if (field.number == 1 && !has_first) {
            shape.first = field.payload;
            has_first = true;
        }
    }
    shape.is_broken = err_is_set(&err);
    stream->err = outer;
    if (err.code == ERR_io)
        err_set(outer, ERR_io, err.offset_bytes, "%s", err.text);
    return shape;
}

static bool only(uint32_t set, uint32_t allowed) { return (set & ~allowed) == 0; }

/* Printable, as a name is; a message begins with a control byte, its tag. */
static bool is_name(struct stream *stream, struct stream_scope payload)
{
    struct str text = stream_peek(stream, payload, 256);
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.data[i] < 0x20)
            return false;
    return text.length > 0;
}

/* No control bytes, and UTF-8 but for a stray byte here and there, as logs have. */
static bool is_text(struct stream *stream)
{
    struct str text = stream_peek(stream, stream_whole(stream), TEXT_SEEN);
    size_t stray_count = 0, length;
    for (size_t i = 0; i < text.length; i += length) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B)
            return false;
        length = str_utf8_length(text.data + i, text.length - i);
        if (length == 0) {
            stray_count++;
            length = 1;
        }
    }
    return text.length > 0 && stray_count <= text.length / 32;
}

/* HloModuleProto: 1 name, 2 entry computation, 3 computations, 5 and 6 ids. */
static bool is_module(struct stream *stream, const struct shape_of_message *shape)
{
    return (shape->messages & BIT(1)) && (shape->messages & (BIT(2) | BIT(3))) && !shape->is_broken &&
           is_name(stream, shape->first);
}

static enum kind kind_seen(struct stream *stream, const struct err *err)
{
    if (stream->source->size_bytes == 0)
        return KIND_EMPTY;
    if (hlo_parts_is_text(stream_peek(stream, stream_whole(stream), BEGIN_SEEN)))
        return KIND_HLO_PARTS;
    switch (torch_form_of(stream_peek(stream, stream_whole(stream), TORCH_FORM_SEEN))) {
    case TORCH_FORM_PICKLE:
    case TORCH_FORM_JSON:
    case TORCH_FORM_TRACE:
    case TORCH_FORM_PAGE: return KIND_TORCH_SNAPSHOT;
    case TORCH_FORM_CHECKPOINT:
    case TORCH_FORM_OTHER_PICKLE: return KIND_PICKLE;
    case TORCH_FORM_NONE: break;
    }
    struct shape_of_message top = look(stream, stream_whole(stream));
    if (err_is_set(err))
        return KIND_UNKNOWN;
    if (top.numbers == 0 && top.messages == 0)
        return stream_peek(stream, stream_whole(stream), 1).length == 0 ? KIND_EMPTY
               : is_text(stream)                                        ? KIND_TEXT
                                                                        : KIND_UNKNOWN;
    if (!(top.messages & BIT(1)))
        return is_text(stream) ? KIND_TEXT : KIND_UNKNOWN;
    if (is_module(stream, &top))
        return KIND_HLO_MODULE;
    struct shape_of_message second = look(stream, top.first);
    if (is_module(stream, &second))
        return only(top.messages, BIT(1) | BIT(2) | BIT(3)) && !(top.numbers & BIT(1)) ? KIND_HLO_PROTO : KIND_UNKNOWN;
    if ((second.messages & BIT(1)) && only(second.messages, BIT(1) | BIT(2) | BIT(3)) && second.numbers == 0) {
        struct shape_of_message third = look(stream, second.first);
        if (is_module(stream, &third))
            return KIND_HLO_SNAPSHOT;
    }
    if (!second.is_broken && second.messages == 0 && second.numbers != 0 && only(second.numbers, BIT(1) | BIT(2)) &&
        top.first.end - top.first.at <= 22)
        return KIND_PPROF;
    if (!second.is_broken && (second.messages & BIT(2)) && only(second.numbers, BIT(1)) &&
        only(second.messages, BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6)) &&
        only(top.messages, BIT(1) | BIT(2) | BIT(3) | BIT(4)))
        return KIND_XSPACE;
    if (!second.is_broken && only(second.numbers, BIT(1) | BIT(2)) && second.numbers != 0 &&
        second.messages == BIT(3) && top.messages == BIT(1))
        return KIND_MEMORY_USAGE_REPORT;
    if (!second.is_broken && only(second.numbers, BIT(1) | BIT(2) | BIT(4)) && second.messages == BIT(3) &&
        (top.messages & BIT(3)) && only(top.messages, BIT(1) | BIT(2) | BIT(3) | BIT(4) | BIT(5)) && top.numbers == 0)
        return KIND_BUFFER_ASSIGNMENT;
    return is_text(stream) ? KIND_TEXT : KIND_UNKNOWN;
}

enum kind kind_of(const struct source *source, struct arena *arena, struct err *err)
{
    struct stream stream;
    stream_open(&stream, source, arena, err);
    enum kind kind = kind_seen(&stream, err);
    stream_close(&stream);
    return kind;
}

const char *kind_name(enum kind kind)
{
    switch (kind) {
    case KIND_UNKNOWN: return "unknown";
    case KIND_EMPTY: return "empty";
    case KIND_XSPACE: return "xspace";
    case KIND_HLO_PROTO: return "hlo_proto";
    case KIND_HLO_MODULE: return "hlo_module";
    case KIND_HLO_SNAPSHOT: return "hlo_snapshot";
    case KIND_PPROF: return "pprof";
    case KIND_MEMORY_USAGE_REPORT: return "memory_usage_report";
    case KIND_BUFFER_ASSIGNMENT: return "buffer_assignment";
    case KIND_HLO_PARTS: return "hlo_parts";
    case KIND_TORCH_SNAPSHOT: return "torch_snapshot";
    case KIND_PICKLE: return "pickle";
    case KIND_TEXT: return "text";
    }
    return "unknown";
}
