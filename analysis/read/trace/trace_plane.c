/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/trace_plane.h"

#include "xplane.fields.h"

enum { NAME_MAX = 16 * 1024, KNOWN_NAME_MAX = 64 };

/* Without these a level, a size or a pair would be a guess, and without one of those it is not known whose they are. */
#define FIGURES (TRACE_BIT(BYTES_ALLOCATED) | TRACE_BIT(ALLOCATION_BYTES) | TRACE_BIT(ADDRESS))
#define POOL_NAMES (TRACE_BIT(ALLOCATOR_NAME) | TRACE_BIT(DEVICE_ORDINAL) | TRACE_BIT(INDEX_ON_HOST))

/* Entries of one of the two maps, in file order; of equal ids the last holds. */
struct trace_names {
    struct trace_name {
        int64_t id;
        struct stream_scope entry; /* then, once resolved, the name's bytes */
    } *items;
    size_t count, capacity;
    struct map by_id;
};

static void names_add(struct trace_names *names, struct arena *arena, struct stream_scope entry)
{
    if (names->count == names->capacity) {
        names->capacity = names->capacity == 0 ? 64 : names->capacity * 2;
        struct trace_name *items = arena_raw(arena, names->capacity * sizeof(*items));
        if (names->count > 0)
            memcpy(items, names->items, names->count * sizeof(*items));
        names->items = items;
    }
    names->items[names->count++] = (struct trace_name){0, entry};
}

static void line_add(struct trace_plane *plane, struct arena *arena, struct stream_scope line)
{
    if ((plane->line_count & (plane->line_count - 1)) == 0) { /* a power of two: full */
        struct stream_scope *lines =
            arena_array(arena, struct stream_scope, plane->line_count == 0 ? 1 : plane->line_count * 2);
        if (plane->line_count > 0)
            memcpy(lines, plane->lines, plane->line_count * sizeof(*lines));
        plane->lines = lines;
    }
    plane->lines[plane->line_count++] = line;
}

static struct str text_of(struct stream *stream, struct stream_scope payload, struct arena *arena)
{
    struct str text = stream_peek(stream, payload, NAME_MAX);
    return (struct str){arena_text(arena, text), text.length};
}

struct str trace_plane_name(struct stream *stream, struct stream_scope scope, struct arena *arena)
{
    struct stream_field field;
    while (stream_next(stream, &scope, &field)) {
        if (field.number == XPLANE_NAME && field.type == WIRE_BYTES)
            return text_of(stream, field.payload, arena);
        if (field.number == XPLANE_LINES)
            break;
    }
    return (struct str){"", 0};
}

/* Damage inside one part costs that part alone. */
static void take_damage(struct stream *stream, uint64_t *damaged_count)
{
    if (stream->err->code != ERR_malformed && stream->err->code != ERR_truncated)
        return;
    *stream->err = (struct err)ERR_INIT;
    ++*damaged_count;
}

void trace_plane_read(struct stream *stream, struct stream_scope scope, struct arena *arena, struct trace_plane *out)
{
    struct stream_field field;
    uint64_t end = scope.end;
    *out = (struct trace_plane){.name = {"", 0}, .damage = ERR_INIT};
    out->events = arena_array(arena, struct trace_names, 1);
    out->stats = arena_array(arena, struct trace_names, 1);
    while (stream_next(stream, &scope, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        arena_work(arena, 16);
        if (field.number == XPLANE_NAME)
            out->name = text_of(stream, field.payload, arena);
        else if (field.number == XPLANE_LINES)
            line_add(out, arena, field.payload);
        else if (field.number == XPLANE_EVENT_METADATA)
            names_add(out->events, arena, field.payload);
        else if (field.number == XPLANE_STAT_METADATA)
            names_add(out->stats, arena, field.payload);
    }
    out->is_cut = stream->is_cut && end >= stream->source->size_bytes;
    out->damage = *stream->err;
    take_damage(stream, &out->damaged_count);
}

/* Key of a map entry, and where the name in its value lies. Both kinds of metadata have it in field 2. False when
 * it holds no whole name. */
static bool entry_read(struct stream *stream, struct trace_name *name)
{
    _Static_assert((int)XEVENT_METADATA_NAME == (int)XSTAT_METADATA_NAME, "one reader for both maps");
    struct stream_scope entry = name->entry;
    struct stream_field field, inner;
    bool has_name = false;
    name->entry = (struct stream_scope){entry.at, entry.at};
    while (stream_next(stream, &entry, &field)) {
        if (field.number == XPLANE_EVENT_METADATA_ENTRY_KEY && field.type == WIRE_VARINT)
            name->id = (int64_t)field.value;
        if (field.number != XPLANE_EVENT_METADATA_ENTRY_VALUE || field.type != WIRE_BYTES)
            continue;
        while (stream_next(stream, &field.payload, &inner))
            if (inner.number == XSTAT_METADATA_NAME && inner.type == WIRE_BYTES) {
                name->entry = inner.payload;
                has_name = !inner.is_clipped;
                break; /* the stats of an event's metadata may be large */
            }
    }
    return has_name;
}

/* The first KNOWN_NAME_MAX bytes of a name, until the next look; names that matter whole are shorter. */
static struct str short_name(struct stream *stream, const struct trace_name *name)
{
    return stream_peek(stream, name->entry, KNOWN_NAME_MAX);
}

enum trace_stat trace_plane_stat_of(struct str name)
{
    static const char *const texts[] = {
        "",
#define STAT(stat, text) text,
#include "read/trace/trace_stats.def"
#undef STAT
    };
    for (int i = 1; i < TRACE_STAT_COUNT; i++)
        if (str_equal(name, str_of(texts[i])))
            return (enum trace_stat)i;
    return TRACE_STAT_NONE;
}

enum trace_class trace_plane_class_of(struct str name)
{
    static const struct {
        const char *name;
        enum trace_class class;
    } known[] = {
        {"MemoryAllocation", TRACE_ALLOCATION},
        {"MemoryDeallocation", TRACE_DEALLOCATION},
        {"ExecutorState::Process", TRACE_EXECUTOR},
        {"TraceContext", TRACE_CONTEXT},
        {"WhileOp-EvalCond", TRACE_LOOP},
        {"WhileOp-StartBody", TRACE_LOOP},
        {"ForOp", TRACE_LOOP},
        {"ParallelForOp", TRACE_LOOP},
        {"ForeverOp", TRACE_LOOP},
        {"InstantiatedCapturedFunction::Run", TRACE_DATA_FUNCTION},
        {"InstantiatedCapturedFunction::RunAsync", TRACE_DATA_FUNCTION},
        {"InstantiatedCapturedFunction::RunInstantiated", TRACE_DATA_FUNCTION},
        {"InstantiatedCapturedFunction::RunWithBorrowedArgs", TRACE_DATA_FUNCTION},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (str_equal(name, str_of(known[i].name)))
            return known[i].class;
    if (str_starts(name, STR("MemoryAllocation#")) || str_starts(name, STR("MemoryDeallocation#")))
        return TRACE_UNPARSED;
    return TRACE_OTHER;
}

/* The last entry of a plane that is cut may have no name any more: it is left out. */
static void names_resolve(struct stream *stream, struct arena *arena, struct trace_plane *plane,
                          struct trace_names *names)
{
    const struct source *source = stream->source;
    map_init(&names->by_id, arena, names->count);
    for (size_t i = 0; i < names->count; i++) {
        arena_work(arena, 32);
        bool is_last = plane->is_cut && names->items[i].entry.end >= source->size_bytes;
        bool has_name = entry_read(stream, &names->items[i]);
        take_damage(stream, &plane->damaged_count);
        if (is_last && !has_name) {
            names->count = i;
            break;
        }
        map_put(&names->by_id, (uint64_t)names->items[i].id, (uint32_t)i, true);
    }
}

static void kind_put(uint8_t *dense, struct map *rare, int64_t id, int kind)
{
    if ((uint64_t)id < TRACE_DENSE)
        dense[id] = (uint8_t)kind;
    else
        map_put(rare, (uint64_t)id, (uint32_t)kind, true);
}

static void take_event_name(struct trace_plane *plane, int64_t id, struct str name)
{
    enum trace_class class = trace_plane_class_of(name);
    plane->has_memory_events |= class == TRACE_ALLOCATION || class == TRACE_DEALLOCATION;
    plane->has_unparsed |= class == TRACE_UNPARSED;
    plane->has_loops |= class == TRACE_LOOP;
    kind_put(plane->class_of_id, &plane->rare_classes, id, (int)class);
}

static enum trace_stat take_stat_name(struct trace_plane *plane, int64_t id, struct str name)
{
    enum trace_stat stat = trace_plane_stat_of(name);
    plane->has_group_id |= stat == TRACE_STAT_GROUP_ID;
    kind_put(plane->stat_of_id, &plane->rare_stats, id, (int)stat);
    return stat;
}

void trace_plane_resolve(struct stream *stream, struct arena *arena, struct trace_plane *plane)
{
    names_resolve(stream, arena, plane, plane->events);
    names_resolve(stream, arena, plane, plane->stats);
    plane->stat_of_id = arena_array(arena, uint8_t, TRACE_DENSE);
    plane->class_of_id = arena_array(arena, uint8_t, TRACE_DENSE);
    plane->nameless = plane->is_cut ? TRACE_UNNAMED : TRACE_OTHER;
    if (plane->is_cut)
        memset(plane->class_of_id, TRACE_UNNAMED, TRACE_DENSE);
    map_init(&plane->rare_stats, arena, plane->stats->count);
    map_init(&plane->rare_classes, arena, plane->events->count);
    for (size_t i = 0; i < plane->events->count; i++)
        take_event_name(plane, plane->events->items[i].id, short_name(stream, &plane->events->items[i]));
    uint32_t named = 0;
    for (size_t i = 0; i < plane->stats->count; i++)
        named |= UINT32_C(1) << take_stat_name(plane, plane->stats->items[i].id,
                                               short_name(stream, &plane->stats->items[i]));
    plane->lacks_figures = plane->is_cut && ((named & FIGURES) != FIGURES || (named & POOL_NAMES) == 0);
}

size_t trace_plane_event_count(const struct trace_plane *plane) { return plane->events->count; }

struct str trace_plane_event_at(struct stream *stream, const struct trace_plane *plane, size_t at, size_t max,
                                int64_t *id)
{
    *id = plane->events->items[at].id;
    return stream_peek(stream, plane->events->items[at].entry, max);
}

static struct str name_of(struct stream *stream, const struct trace_names *names, int64_t id, struct arena *arena)
{
    uint32_t at = names->count > 0 ? map_get(&names->by_id, (uint64_t)id) : MAP_NONE;
    return at == MAP_NONE ? (struct str){"", 0} : text_of(stream, names->items[at].entry, arena);
}

struct str trace_plane_event_name(struct stream *stream, const struct trace_plane *plane, int64_t id,
                                  struct arena *arena)
{
    return name_of(stream, plane->events, id, arena);
}

bool trace_plane_has_stat(const struct trace_plane *plane, int64_t id)
{
    return plane->stats->count > 0 && map_get(&plane->stats->by_id, (uint64_t)id) != MAP_NONE;
}

struct str trace_plane_stat_name(struct stream *stream, const struct trace_plane *plane, int64_t id,
                                 struct arena *arena)
{
    return name_of(stream, plane->stats, id, arena);
}
