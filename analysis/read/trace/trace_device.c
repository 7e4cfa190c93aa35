/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/trace_device.h"

#include "xplane.fields.h"

enum { STATS_MAX = 256, NAME_MAX = 128 };

enum fact { FACT_KIND, FACT_GPU_NAME, FACT_MEMORY, FACT_COUNT };
static const char *const fact_names[] = {"device_type_string", "gpu_device_name", "memory_size"};

/* The plane's stats, and which ids name the facts. */
struct facts {
    struct stream_scope stats[STATS_MAX];
    size_t stat_count;
    int64_t id[FACT_COUNT];
    bool is_named[FACT_COUNT];
};

static struct str text_of(struct stream *stream, struct stream_scope payload, struct arena *arena)
{
    if (payload.end - payload.at > NAME_MAX)
        payload.end = payload.at + NAME_MAX;
    struct str text = stream_peek(stream, payload, NAME_MAX);
    char *copy = arena_text(arena, text);
    return (struct str){copy, text.length};
}

static bool payload_is(struct stream *stream, struct stream_scope payload, const char *text)
{
    size_t length = strlen(text);
    return payload.end - payload.at == length &&
           str_equal(stream_peek(stream, payload, length), (struct str){text, length});
}

/* The name of an entry of stat_metadata and its id. */
static bool entry_read(struct stream *stream, struct stream_scope entry, int64_t *id, struct stream_scope *name)
{
    struct stream_field field, inner;
    bool has_name = false;
    *id = 0;
    while (stream_next(stream, &entry, &field)) {
        if (field.number == XPLANE_STAT_METADATA_ENTRY_KEY && field.type == WIRE_VARINT)
            *id = (int64_t)field.value;
        if (field.number != XPLANE_STAT_METADATA_ENTRY_VALUE || field.type != WIRE_BYTES)
            continue;
        struct stream_scope value = field.payload;
        while (stream_next(stream, &value, &inner))
            if (inner.number == XSTAT_METADATA_NAME && inner.type == WIRE_BYTES) {
                *name = inner.payload;
                has_name = true;
            }
    }
    return has_name;
}

static void name_learn(struct stream *stream, struct stream_scope entry, struct facts *facts)
{
    struct stream_scope name;
    int64_t id;
    if (!entry_read(stream, entry, &id, &name))
        return;
    for (int fact = 0; fact < FACT_COUNT; fact++)
        if (payload_is(stream, name, fact_names[fact])) {
            facts->id[fact] = id;
            facts->is_named[fact] = true;
        }
}

/* The text of an interned string: the name of another entry. */
static struct str interned(struct stream *stream, struct stream_scope plane, uint64_t wanted, struct arena *arena)
{
    struct stream_field field;
    struct stream_scope name;
    int64_t id;
    while (stream_next(stream, &plane, &field))
        if (field.number == XPLANE_STAT_METADATA && field.type == WIRE_BYTES &&
            entry_read(stream, field.payload, &id, &name) && (uint64_t)id == wanted)
            return text_of(stream, name, arena);
    return (struct str){"", 0};
}

static void stat_take(struct stream *stream, struct stream_scope plane, struct stream_scope stat,
                      const struct facts *facts, struct arena *arena, struct trace_device *out)
{
    struct stream_field field, value = {0};
    int64_t id = 0;
    while (stream_next(stream, &stat, &field)) {
        if (field.number == XSTAT_METADATA_ID && field.type == WIRE_VARINT)
            id = (int64_t)field.value;
        else
            value = field;
    }
    bool is_whole = value.number == XSTAT_UINT64_VALUE || value.number == XSTAT_INT64_VALUE;
    if (facts->is_named[FACT_MEMORY] && id == facts->id[FACT_MEMORY] && is_whole && value.type == WIRE_VARINT &&
        value.value <= INT64_MAX)
        out->memory_bytes = value.value;
    for (int fact = FACT_KIND; fact <= FACT_GPU_NAME; fact++) {
        if (!facts->is_named[fact] || id != facts->id[fact])
            continue;
        if (value.number == XSTAT_STR_VALUE && value.type == WIRE_BYTES)
            out->kind = text_of(stream, value.payload, arena);
        else if (value.number == XSTAT_REF_VALUE && value.type == WIRE_VARINT)
            out->kind = interned(stream, plane, value.value, arena);
    }
}

bool trace_device_read(struct stream *stream, struct stream_scope scope, struct str plane, struct arena *arena,
                       struct trace_device *out)
{
    struct stream_scope whole = scope;
    struct stream_field field;
    struct facts *facts = arena_array(arena, struct facts, 1);
    *out = (struct trace_device){.plane = plane, .kind = {"", 0}};
    while (stream_next(stream, &scope, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == XPLANE_STAT_METADATA)
            name_learn(stream, field.payload, facts);
        else if (field.number == XPLANE_STATS && facts->stat_count < STATS_MAX)
            facts->stats[facts->stat_count++] = field.payload;
    }
    for (size_t i = 0; i < facts->stat_count; i++)
        stat_take(stream, whole, facts->stats[i], facts, arena, out);
    return out->kind.length > 0 || out->memory_bytes > 0;
}
