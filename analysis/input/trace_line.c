/* SPDX-License-Identifier: Apache-2.0
 * trace_line.c: see trace_line.h. */
#include "input/trace_line.h"

#include "xplane.fields.h"

#include <math.h>

/* What the stream's window holds at most; an event that is larger than that is left out. */
enum { WINDOW_MOST = 32 * 1024, NAME_MOST = 1024 };

_Static_assert(TRACE_STAT_COUNT <= 32, "one bit a stat");

static inline bool varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    const uint8_t *p = *at;
    if (p < end && *p < 0x80) {
        *value = *p;
        *at = p + 1;
        return true;
    }
    return wire_varint(at, end, value);
}

/* Skips the value of a field that nobody asks for. */
static bool skip(const uint8_t **at, const uint8_t *end, uint64_t tag)
{
    uint64_t size;
    switch (tag & 7) {
    case WIRE_VARINT:
        return varint(at, end, &size);
    case WIRE_FIXED64:
        size = 8;
        break;
    case WIRE_FIXED32:
        size = 4;
        break;
    case WIRE_BYTES:
        if (!varint(at, end, &size))
            return false;
        break;
    default:
        return false;
    }
    if (size > (uint64_t)(end - *at))
        return false;
    *at += size;
    return true;
}

static double fixed64(const uint8_t *at, uint64_t *bits)
{
    double value;
    *bits = 0;
    for (unsigned i = 0; i < 8; i++)
        *bits |= (uint64_t)at[i] << (8 * i);
    memcpy(&value, bits, sizeof value);
    return value;
}

#define TAG(field, type) ((uint64_t)(field) << 3 | (type))

/* One XStat. The last value of a oneof holds; the id may come after it. */
static bool stat_read(const uint8_t *at, const uint8_t *end, const struct trace_plane *plane, struct trace_event *event)
{
    enum trace_stat stat = TRACE_STAT_NONE;
    uint64_t tag, value = 0, number;
    int type = TRACE_ABSENT;
    struct str text = {"", 0};
    while (at < end) {
        if (!varint(&at, end, &tag))
            return false;
        switch (tag) {
        case TAG(XSTAT_METADATA_ID, WIRE_VARINT):
            if (!varint(&at, end, &number))
                return false;
            stat = trace_plane_stat(plane, (int64_t)number);
            if (stat == TRACE_STAT_NONE)
                return true; /* nobody asks for it */
            break;
        case TAG(XSTAT_UINT64_VALUE, WIRE_VARINT):
        case TAG(XSTAT_INT64_VALUE, WIRE_VARINT):
        case TAG(XSTAT_REF_VALUE, WIRE_VARINT):
            if (!varint(&at, end, &value))
                return false;
            type = (int)(tag >> 3);
            break;
        case TAG(XSTAT_DOUBLE_VALUE, WIRE_FIXED64):
            if (end - at < 8)
                return false;
            fixed64(at, &value);
            at += 8;
            type = TRACE_DOUBLE;
            break;
        case TAG(XSTAT_STR_VALUE, WIRE_BYTES):
            if (!varint(&at, end, &number) || number > (uint64_t)(end - at))
                return false;
            text = (struct str){(const char *)at, (size_t)number};
            at += number;
            type = TRACE_TEXT;
            break;
        default:
            if (tag >> 3 == 0 || !skip(&at, end, tag))
                return false;
        }
    }
    if (stat == TRACE_STAT_NONE || type == TRACE_ABSENT)
        return true;
    event->stats |= UINT32_C(1) << stat;
    event->type[stat] = (uint8_t)type;
    event->value[stat] = value;
    event->text[stat] = text;
    return true;
}

static bool event_read(const uint8_t *at, const uint8_t *end, const struct trace_plane *plane,
                       struct trace_event *event)
{
    uint64_t tag, number;
    event->metadata_id = event->offset_ps = event->duration_ps = 0;
    event->is_aggregated = false;
    event->stats = 0;
    while (at < end) {
        if (!varint(&at, end, &tag))
            return false;
        if (tag == TAG(XEVENT_STATS, WIRE_BYTES)) {
            if (!varint(&at, end, &number) || number > (uint64_t)(end - at) ||
                !stat_read(at, at + number, plane, event))
                return false;
            at += number;
            continue;
        }
        if ((tag & 7) != WIRE_VARINT) {
            if (tag >> 3 == 0 || !skip(&at, end, tag))
                return false;
            continue;
        }
        if (tag >> 3 == 0 || !varint(&at, end, &number))
            return false;
        switch (tag >> 3) {
        case XEVENT_METADATA_ID:
            event->metadata_id = (int64_t)number;
            break;
        case XEVENT_OFFSET_PS:
            event->offset_ps = (int64_t)number;
            event->is_aggregated = false;
            break;
        case XEVENT_NUM_OCCURRENCES:
            event->is_aggregated = true;
            break;
        case XEVENT_DURATION_PS:
            event->duration_ps = (int64_t)number;
            break;
        default:
            break;
        }
    }
    event->class = trace_plane_class(plane, event->metadata_id);
    return true;
}

void trace_line_head(struct stream *stream, struct stream_scope scope, struct arena *arena, struct trace_line *out)
{
    struct stream_field field;
    bool has_name = false, has_time = false, has_id = false;
    *out = (struct trace_line){.name = {"", 0}};
    while (!(has_name && has_time && has_id) && stream_next(stream, &scope, &field)) {
        if (field.number == XLINE_EVENTS)
            break; /* the fields of a line come before its events; others are met with them */
        if (field.number == XLINE_NAME && field.type == WIRE_BYTES) {
            struct str name = stream_peek(stream, field.payload, NAME_MOST);
            out->name = (struct str){arena_text(arena, name), name.length};
        } else if (field.number == XLINE_ID && field.type == WIRE_VARINT) {
            out->id = (int64_t)field.value;
        } else if (field.number == XLINE_TIMESTAMP_NS && field.type == WIRE_VARINT) {
            out->timestamp_ns = (int64_t)field.value;
        }
    }
    if (stream->err->code == ERR_malformed || stream->err->code == ERR_truncated) {
        *stream->err = (struct err)ERR_INIT;
        out->damaged_count++;
    }
}

/* Reads the events that lie whole in [at, end) and returns how many bytes they take. */
static size_t window_events(const uint8_t *begin, const uint8_t *end, const struct trace_plane *plane,
                            struct arena *arena, trace_line_visit *visit, void *context, struct trace_line *line)
{
    struct trace_event event;
    const uint8_t *at = begin, *whole = begin;
    uint64_t length;
    while (at < end && *at == TAG(XLINE_EVENTS, WIRE_BYTES)) {
        at++;
        if (!varint(&at, end, &length) || length > (uint64_t)(end - at))
            break;
        arena_work(arena, 8 + length);
        if (event_read(at, at + length, plane, &event)) {
            line->event_count++;
            visit(context, &event);
        } else {
            line->damaged_count++;
        }
        at += length;
        whole = at;
    }
    return (size_t)(whole - begin);
}

/* A field that is no event, or an event that the window does not hold. False at the end. */
static bool other_field(struct stream *stream, struct stream_scope *scope, struct trace_line *line)
{
    struct stream_field field;
    if (!stream_next(stream, scope, &field))
        return false;
    if (field.number == XLINE_EVENTS) {
        line->is_cut |= field.is_clipped;
        line->damaged_count += !field.is_clipped;
    } else if (field.number == XLINE_TIMESTAMP_NS && field.type == WIRE_VARINT) {
        line->timestamp_ns = (int64_t)field.value;
    }
    return true;
}

void trace_line_events(struct stream *stream, struct stream_scope scope, const struct trace_plane *plane,
                       struct arena *arena, trace_line_visit *visit, void *context, struct trace_line *line)
{
    while (scope.at < scope.end && !err_is_set(stream->err)) {
        struct str window = stream_peek(stream, scope, WINDOW_MOST);
        const uint8_t *begin = (const uint8_t *)window.data;
        size_t taken = window_events(begin, begin + window.length, plane, arena, visit, context, line);
        scope.at += taken;
        if (taken == 0 && !other_field(stream, &scope, line))
            break;
    }
    if (stream->err->code == ERR_malformed || stream->err->code == ERR_truncated) {
        *stream->err = (struct err)ERR_INIT;
        line->damaged_count++;
    }
}

int64_t trace_line_number(const struct trace_event *event, enum trace_stat stat, int64_t usual)
{
    if (!trace_line_has(event, stat))
        return usual;
    uint64_t bits = event->value[stat];
    double value;
    switch (event->type[stat]) {
    case TRACE_INT:
    case TRACE_UINT:
        return (int64_t)bits;
    case TRACE_DOUBLE:
        memcpy(&value, &bits, sizeof value);
        return value >= -9.2e18 && value <= 9.2e18 ? (int64_t)value : usual;
    default:
        return usual;
    }
}

double trace_line_real(const struct trace_event *event, enum trace_stat stat, double usual)
{
    if (!trace_line_has(event, stat))
        return usual;
    double value;
    switch (event->type[stat]) {
    case TRACE_INT:
        return (double)(int64_t)event->value[stat];
    case TRACE_UINT:
        return (double)event->value[stat];
    case TRACE_DOUBLE:
        memcpy(&value, &event->value[stat], sizeof value);
        return isfinite(value) ? value : usual;
    default:
        return usual;
    }
}
