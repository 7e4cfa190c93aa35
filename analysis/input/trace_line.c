/* SPDX-License-Identifier: Apache-2.0
 * trace_line.c: see trace_line.h. */
#include "input/trace_line.h"

#include "xplane.fields.h"

#include <math.h>

/* What the stream's window holds at most; an event that is larger than that is left out. */
enum { WINDOW_MOST = 32 * 1024, NAME_MOST = 1024 };

_Static_assert(TRACE_STAT_COUNT <= 32, "one bit a stat");

static inline uint64_t eight_bytes(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word : __builtin_bswap64(word);
}

/* A number and where it ends; NULL when it is cut or too long. Both stay in registers. */
struct number {
    const uint8_t *after;
    uint64_t value;
};

static __attribute__((noinline)) struct number longest_number(const uint8_t *at, const uint8_t *end)
{
    struct number number = {at, 0};
    if (!wire_varint(&number.after, end, &number.value))
        number.after = NULL;
    return number;
}

/* Several bytes without a branch for each; bytes after `end` may be read (STREAM_SLACK). */
static inline struct number long_number(const uint8_t *at, const uint8_t *end)
{
    uint64_t word = eight_bytes(at), stops = ~word & 0x8080808080808080u;
    if (stops == 0)
        return longest_number(at, end);
    const uint8_t *after = at + ((unsigned)__builtin_ctzll(stops) + 1) / 8;
    word &= (stops ^ (stops - 1)) & 0x7F7F7F7F7F7F7F7Fu;
    word = (word & 0x007F007F007F007Fu) | (word & 0x7F007F007F007F00u) >> 1;
    word = (word & 0x00003FFF00003FFFu) | (word & 0x3FFF00003FFF0000u) >> 2;
    word = (word & 0x0FFFFFFFu) | (word & 0x0FFFFFFF00000000u) >> 4;
    return (struct number){after <= end ? after : NULL, word};
}

static inline struct number number_at(const uint8_t *at, const uint8_t *end)
{
    if (at >= end)
        return (struct number){NULL, 0};
    if (*at < 0x80)
        return (struct number){at + 1, *at};
    return long_number(at, end);
}

/* The end of a field's value that nobody asks for, NULL when it is broken. */
static const uint8_t *skipped(const uint8_t *at, const uint8_t *end, uint64_t tag)
{
    struct number number;
    uint64_t size;
    switch (tag & 7) {
    case WIRE_VARINT:
        return number_at(at, end).after;
    case WIRE_FIXED64:
        size = 8;
        break;
    case WIRE_FIXED32:
        size = 4;
        break;
    case WIRE_BYTES:
        number = number_at(at, end);
        if (number.after == NULL)
            return NULL;
        at = number.after;
        size = number.value;
        break;
    default:
        return NULL;
    }
    return size > (uint64_t)(end - at) ? NULL : at + size;
}

#define TAG(field, type) ((uint64_t)(field) << 3 | (type))

/* One XStat. The last value of a oneof holds; the id may come after it. */
static inline bool stat_read(const uint8_t *at, const uint8_t *end, const struct trace_plane *plane,
                             struct trace_event *event)
{
    enum trace_stat stat = TRACE_STAT_NONE;
    uint64_t value = 0;
    int type = TRACE_ABSENT;
    struct str text = {"", 0};
    while (at < end) {
        struct number tag = number_at(at, end), number;
        if (tag.after == NULL)
            return false;
        at = tag.after;
        switch (tag.value) {
        case TAG(XSTAT_METADATA_ID, WIRE_VARINT):
            number = number_at(at, end);
            if (number.after == NULL)
                return false;
            at = number.after;
            stat = trace_plane_stat(plane, (int64_t)number.value);
            if (stat == TRACE_STAT_NONE)
                return true; /* nobody asks for it */
            break;
        case TAG(XSTAT_UINT64_VALUE, WIRE_VARINT):
        case TAG(XSTAT_INT64_VALUE, WIRE_VARINT):
        case TAG(XSTAT_REF_VALUE, WIRE_VARINT):
            number = number_at(at, end);
            if (number.after == NULL)
                return false;
            at = number.after;
            value = number.value;
            type = (int)(tag.value >> 3);
            break;
        case TAG(XSTAT_DOUBLE_VALUE, WIRE_FIXED64):
            if (end - at < 8)
                return false;
            value = eight_bytes(at);
            at += 8;
            type = TRACE_DOUBLE;
            break;
        case TAG(XSTAT_STR_VALUE, WIRE_BYTES):
            number = number_at(at, end);
            if (number.after == NULL || number.value > (uint64_t)(end - number.after))
                return false;
            text = (struct str){(const char *)number.after, (size_t)number.value};
            at = number.after + number.value;
            type = TRACE_TEXT;
            break;
        default:
            at = tag.value >> 3 == 0 ? NULL : skipped(at, end, tag.value);
            if (at == NULL)
                return false;
        }
    }
    if (stat == TRACE_STAT_NONE || type == TRACE_ABSENT)
        return true;
    event->stats |= UINT32_C(1) << stat;
    event->type[stat] = (uint8_t)type;
    event->value[stat] = value;
    if (type == TRACE_TEXT)
        event->text[stat] = text;
    return true;
}

static inline bool event_read(const uint8_t *at, const uint8_t *end, const struct trace_plane *plane,
                              struct trace_event *event)
{
    event->metadata_id = event->offset_ps = event->duration_ps = 0;
    event->is_aggregated = false;
    event->stats = 0;
    while (at < end) {
        struct number tag = number_at(at, end), number;
        if (tag.after == NULL)
            return false;
        at = tag.after;
        if (tag.value == TAG(XEVENT_STATS, WIRE_BYTES)) {
            number = number_at(at, end);
            if (number.after == NULL || number.value > (uint64_t)(end - number.after) ||
                !stat_read(number.after, number.after + number.value, plane, event))
                return false;
            at = number.after + number.value;
            continue;
        }
        if (tag.value >> 3 == 0)
            return false;
        if ((tag.value & 7) != WIRE_VARINT) {
            at = skipped(at, end, tag.value);
            if (at == NULL)
                return false;
            continue;
        }
        number = number_at(at, end);
        if (number.after == NULL)
            return false;
        at = number.after;
        switch (tag.value >> 3) {
        case XEVENT_METADATA_ID:
            event->metadata_id = (int64_t)number.value;
            break;
        case XEVENT_OFFSET_PS:
            event->offset_ps = (int64_t)number.value;
            event->is_aggregated = false;
            break;
        case XEVENT_NUM_OCCURRENCES:
            event->is_aggregated = true;
            break;
        case XEVENT_DURATION_PS:
            event->duration_ps = (int64_t)number.value;
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
    uint64_t work = 0;
    while (at < end && *at == TAG(XLINE_EVENTS, WIRE_BYTES)) {
        struct number length = number_at(at + 1, end);
        if (length.after == NULL || length.value > (uint64_t)(end - length.after))
            break;
        at = length.after + length.value;
        if (event_read(length.after, at, plane, &event)) {
            line->event_count++;
            visit(context, &event);
        } else {
            line->damaged_count++;
        }
        work += 8 + length.value;
        whole = at;
    }
    arena_work(arena, work);
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
