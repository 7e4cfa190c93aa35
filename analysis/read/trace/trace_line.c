/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/trace_line.h"

#include "wire/number.h"
#include "xplane.fields.h"

/* Size limit of an event: what the stream's window can hold. Larger events are left out. */
enum { WINDOW_MAX = 32 * 1024, NAME_MAX = 1024 };

_Static_assert(TRACE_STAT_COUNT < 32, "one bit a stat");

/* Skips the value of a field: its end, or NULL when it is malformed. */
static const uint8_t *skipped(const uint8_t *at, const uint8_t *end, uint64_t tag)
{
    struct number number;
    uint64_t size;
    switch (tag & 7) {
    case WIRE_VARINT: return number_at(at, end).after;
    case WIRE_FIXED64: size = 8; break;
    case WIRE_FIXED32: size = 4; break;
    case WIRE_BYTES:
        number = number_at(at, end);
        if (number.after == NULL)
            return NULL;
        at = number.after;
        size = number.value;
        break;
    case WIRE_GROUP: return wire_group_after(at, end, (uint32_t)(tag >> 3));
    default: return NULL;
    }
    return size > (uint64_t)(end - at) ? NULL : at + size;
}

#define TAG(field, type) ((uint64_t)(field) << 3 | (type))

/* The stats that are read of a memory event, and of any other. A memory event that is a root takes the slow path. */
#define BITS_OF_LINKS                                                                                                  \
    (TRACE_BIT(ROOT_LEVEL) | TRACE_BIT(ASYNC) | TRACE_BIT(PRODUCER_TYPE) | TRACE_BIT(PRODUCER_ID) |                    \
     TRACE_BIT(CONSUMER_TYPE) | TRACE_BIT(CONSUMER_ID))
#define BITS_OF_STEPS (TRACE_BIT(STEP_ID) | TRACE_BIT(STEP_NUMBER) | TRACE_BIT(ITERATION))
#define BITS_OF_KERNELS (TRACE_BIT(HLO_MODULE) | TRACE_BIT(HLO_OP) | TRACE_BIT(PROGRAM_ID) | TRACE_BIT(CORRELATION_ID))
#define BITS_OF_ALL ((UINT32_C(1) << TRACE_STAT_COUNT) - 1 - TRACE_BIT(NONE))

static inline uint32_t asked_of(enum trace_class class)
{
    return trace_class_is_memory(class) ? BITS_OF_ALL & ~(BITS_OF_STEPS | BITS_OF_KERNELS)
                                        : BITS_OF_LINKS | BITS_OF_STEPS | BITS_OF_KERNELS;
}

/* Reads one XStat. If the oneof has several values, the last one counts; the id may follow the value. Stats that are
 * not asked for are skipped. */
static bool stat_read(const uint8_t *at, const uint8_t *end, const struct trace_plane *plane, uint32_t asked,
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
            if ((UINT32_C(1) << stat & asked) == 0)
                return true;
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
            value = number_bytes(at);
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

static bool fields_read(const uint8_t *at, const uint8_t *end, const struct trace_plane *plane, bool is_all,
                        struct trace_event *event)
{
    event->metadata_id = event->offset_ps = event->duration_ps = 0;
    event->is_aggregated = false;
    event->stats = 0;
    uint32_t asked = BITS_OF_ALL;
    while (at < end) {
        struct number tag = number_at(at, end), number;
        if (tag.after == NULL)
            return false;
        at = tag.after;
        if (tag.value == TAG(XEVENT_STATS, WIRE_BYTES)) {
            number = number_at(at, end);
            if (number.after == NULL || number.value > (uint64_t)(end - number.after) ||
                !stat_read(number.after, number.after + number.value, plane, asked, event))
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
            asked = is_all ? BITS_OF_ALL : asked_of(trace_plane_class(plane, event->metadata_id));
            break;
        case XEVENT_OFFSET_PS:
            event->offset_ps = (int64_t)number.value;
            event->is_aggregated = false;
            break;
        case XEVENT_NUM_OCCURRENCES: event->is_aggregated = true; break;
        case XEVENT_DURATION_PS: event->duration_ps = (int64_t)number.value; break;
        default: break;
        }
    }
    event->class = trace_plane_class(plane, event->metadata_id);
    return true;
}

static inline bool is_memory_root(const struct trace_event *event)
{
    return trace_class_is_memory(event->class) && (event->stats & TRACE_BIT(ROOT_LEVEL)) != 0;
}

/* Slow path: any well-formed event, whatever the order of its fields and the types of its stats. */
static __attribute__((noinline)) bool any_event_read(const uint8_t *at, const uint8_t *end,
                                                     const struct trace_plane *plane, struct trace_event *event)
{
    return fields_read(at, end, plane, false, event) &&
           (!is_memory_root(event) || fields_read(at, end, plane, true, event));
}

/* ---- events as writers lay them out ---- */

/* Nearly all events with the same metadata id are serialized alike: the same stats in the same order, only the values
 * differ. So the encoded tags of the stats of the last such event are cached, and a stat that begins with the expected
 * tags is read by a comparison and a varint. On a mismatch the stat is parsed in full and replaces the cached one. */
enum { LAYOUTS = 64, PLACES_MAX = 24 };

struct place {
    uint64_t mask, head; /* its first bytes, length byte masked out: tag, tag of the id, id, tag of the value */
    uint32_t stats;      /* its bit, and those of the stats before it */
    uint8_t before;      /* bytes in it before its value */
    uint8_t type;        /* enum trace_type; TRACE_ABSENT: the value is skipped */
    uint8_t stat;
    bool is_number;
};

struct layout {
    int64_t metadata_id;
    enum trace_class class;
    uint32_t asked;
    struct place places[PLACES_MAX]; /* ends with no_place */
    uint8_t types[TRACE_STAT_COUNT];
};

static const struct place no_place = {.mask = 0, .head = 1}; /* matches no stat */

static void layout_begin(struct layout *layout, int64_t metadata_id, const struct trace_plane *plane)
{
    layout->metadata_id = metadata_id;
    layout->class = trace_plane_class(plane, metadata_id);
    layout->asked = asked_of(layout->class);
    layout->places[0] = no_place;
    memset(layout->types, 0, sizeof(layout->types));
}

/* A double, a text or a skipped value: it must fill exactly the `size` bytes from `at` on. */
static __attribute__((noinline)) bool other_value_read(const uint8_t *at, size_t size, const struct place *place,
                                                       struct trace_event *event)
{
    if (place->type == TRACE_ABSENT)
        return size > 0 && size < STREAM_SLACK;
    event->value[place->stat] = number_bytes(at);
    event->text[place->stat] = (struct str){(const char *)at + 1, *at};
    return place->type == TRACE_DOUBLE ? size == 8 : size == (size_t)*at + 1 && *at < 0x80;
}

/* Caches the layout of a stat that begins with `head`. False when the fast path cannot read it: its id is longer than
 * three bytes, its value is neither number nor text, or the event has this stat already. */
static __attribute__((noinline)) bool place_learn(struct layout *layout, struct place *place, uint64_t head,
                                                  const struct trace_plane *plane)
{
    static const uint64_t begin = TAG(XSTAT_METADATA_ID, WIRE_VARINT) << 16 | TAG(XEVENT_STATS, WIRE_BYTES);
    unsigned id_size = (head >> 31 & 1) == 0 ? 1 : (head >> 39 & 1) == 0 ? 2 : 3, tag_at = 24 + 8 * id_size;
    uint64_t id = number_joined(head >> 24 & number_bits[id_size].sevens), tag = head >> tag_at & 0xFF;
    struct place made = {.mask = UINT64_MAX >> (56 - tag_at) & ~UINT64_C(0x7F00), .before = (uint8_t)(id_size + 2)};
    made.head = head & made.mask;
    made.stat = (uint8_t)trace_plane_stat(plane, (int64_t)id);
    made.stats = place == layout->places ? 0 : place[-1].stats;
    uint32_t bit = UINT32_C(1) << made.stat & layout->asked;
    bool is_number = tag == TAG(XSTAT_INT64_VALUE, WIRE_VARINT) || tag == TAG(XSTAT_REF_VALUE, WIRE_VARINT) ||
                     tag == TAG(XSTAT_UINT64_VALUE, WIRE_VARINT);
    bool is_known =
        is_number || tag == TAG(XSTAT_DOUBLE_VALUE, WIRE_FIXED64) || tag == TAG(XSTAT_STR_VALUE, WIRE_BYTES);
    bool is_plain = (head & 0xFF80FF) == begin && (id_size < 3 || (head >> 47 & 1) == 0) &&
                    (bit == 0 || (is_known && (made.stats & bit) == 0)) && place < layout->places + PLACES_MAX - 1;
    place[0] = no_place;
    if (!is_plain)
        return false;
    if (bit != 0) {
        layout->types[made.stat] = made.type = (uint8_t)(tag >> 3);
        made.stats |= bit;
        made.is_number = is_number;
    }
    place[0] = made;
    place[1] = no_place;
    return true;
}

static inline bool plain_stats_read(const uint8_t *at, const uint8_t *end, const struct trace_plane *plane,
                                    struct layout *layout, struct trace_event *event)
{
    struct place *place = layout->places;
    for (; at < end; place++) {
        uint64_t head = number_bytes(at);
        if ((head & place->mask) != place->head && !place_learn(layout, place, head, plane))
            return false;
        size_t size = at[1];
        const uint8_t *after = at + 2 + size, *value = at + 2 + place->before;
        size -= place->before; /* may wrap on malformed input: number_of_size and other_value_read check it */
        if (after > end || !(place->is_number ? number_of_size(value, size, &event->value[place->stat])
                                              : other_value_read(value, size, place, event)))
            return false;
        at = after;
    }
    event->stats = place == layout->places ? 0 : place[-1].stats;
    memcpy(event->type, layout->types, sizeof(event->type));
    return true;
}

/* Fast path: id, start, duration, stats in this order. False for any other layout: any_event_read reads it then. */
static inline bool plain_event_read(const uint8_t *at, const uint8_t *end, const struct trace_plane *plane,
                                    struct layout *layouts, struct trace_event *event)
{
    if (end - at < 2 || *at != TAG(XEVENT_METADATA_ID, WIRE_VARINT))
        return false;
    struct number id = number_at(at + 1, end);
    struct layout *layout = &layouts[id.value % LAYOUTS];
    if (layout->metadata_id != (int64_t)id.value)
        layout_begin(layout, (int64_t)id.value, plane);
    at = id.after;
    event->metadata_id = (int64_t)id.value;
    event->class = layout->class;
    event->offset_ps = event->duration_ps = 0;
    event->is_aggregated = false;
    if (at != NULL && at < end && *at == TAG(XEVENT_OFFSET_PS, WIRE_VARINT)) {
        struct number number = number_long(at + 1, end);
        event->offset_ps = (int64_t)number.value;
        at = number.after;
    }
    if (at != NULL && at < end && *at == TAG(XEVENT_DURATION_PS, WIRE_VARINT)) {
        struct number number = number_long(at + 1, end);
        event->duration_ps = (int64_t)number.value;
        at = number.after;
    }
    return at != NULL && plain_stats_read(at, end, plane, layout, event) && !is_memory_root(event);
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
            struct str name = stream_peek(stream, field.payload, NAME_MAX);
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
                            struct layout *layouts, struct arena *arena, trace_line_visit *visit, void *context,
                            struct trace_line *line)
{
    struct trace_event event;
    const uint8_t *at = begin, *whole = begin;
    uint64_t work = 0;
    while (at < end && *at == TAG(XLINE_EVENTS, WIRE_BYTES)) {
        struct number length = number_at(at + 1, end);
        if (length.after == NULL || length.value > (uint64_t)(end - length.after))
            break;
        at = length.after + length.value;
        if (plain_event_read(length.after, at, plane, layouts, &event) ||
            any_event_read(length.after, at, plane, &event)) {
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
        line->damaged_count += !field.is_clipped; /* else the file ends there */
    } else if (field.number == XLINE_TIMESTAMP_NS && field.type == WIRE_VARINT) {
        line->timestamp_ns = (int64_t)field.value;
    }
    return true;
}

void trace_line_events(struct stream *stream, struct stream_scope scope, const struct trace_plane *plane,
                       struct arena *arena, trace_line_visit *visit, void *context, struct trace_line *line)
{
    struct layout layouts[LAYOUTS];
    for (size_t i = 0; i < LAYOUTS; i++)
        layout_begin(&layouts[i], (int64_t)i, plane);
    while (scope.at < scope.end && !err_is_set(stream->err)) {
        struct str window = stream_peek(stream, scope, WINDOW_MAX);
        const uint8_t *begin = (const uint8_t *)window.data;
        size_t taken = window_events(begin, begin + window.length, plane, layouts, arena, visit, context, line);
        scope.at += taken;
        if (taken == 0 && !other_field(stream, &scope, line))
            break;
    }
    line->read_to = scope.at;
    if (stream->err->code == ERR_malformed || stream->err->code == ERR_truncated) {
        *stream->err = (struct err)ERR_INIT;
        line->damaged_count++;
    }
}

int64_t trace_line_other_number(const struct trace_event *event, enum trace_stat stat, int64_t default_value)
{
    double value;
    if (event->type[stat] != TRACE_DOUBLE)
        return default_value;
    memcpy(&value, &event->value[stat], sizeof(value));
    return value >= -9.2e18 && value <= 9.2e18 ? (int64_t)value : default_value;
}

double trace_line_other_real(const struct trace_event *event, enum trace_stat stat, double default_value)
{
    switch (event->type[stat]) {
    case TRACE_INT: return (double)(int64_t)event->value[stat];
    case TRACE_UINT: return (double)event->value[stat];
    default: return default_value;
    }
}
