/* SPDX-License-Identifier: Apache-2.0
 * trace_plane.h: one plane of a profiler trace: where its lines are, what its ids mean.
 *
 * The maps of names stand behind the lines on the wire, so a plane is walked
 * twice: once over the headers of its parts, which skips the lines, then line by line.
 * Memory: the arena. Source: xplane.proto (XPlane, XEventMetadata, XStatMetadata). */
#pragma once

#include "base/map.h"
#include "wire/stream.h"

enum trace_stat {
    TRACE_STAT_NONE,
#define STAT(name, text) TRACE_STAT_##name,
#include "read/trace/trace_stats.def"
#undef STAT
    TRACE_STAT_COUNT
};
#define TRACE_BIT(stat) (UINT32_C(1) << TRACE_STAT_##stat)

/* The class of an event, by its name. */
enum trace_class {
    TRACE_OTHER,
    TRACE_ALLOCATION,
    TRACE_DEALLOCATION,
    TRACE_LOOP,          /* an op of a TensorFlow loop: such a trace is not grouped */
    TRACE_EXECUTOR,      /* ExecutorState::Process */
    TRACE_CONTEXT,       /* TraceContext, a root of old traces */
    TRACE_UNPARSED,      /* a memory event whose figures are in its name, as TraceMe writes them */
    TRACE_DATA_FUNCTION, /* a function that tf.data runs; its steps are no steps of the program */
    TRACE_UNNAMED,       /* its name is behind the place where the file was cut */
};

static inline bool trace_class_is_memory(enum trace_class class)
{
    return class == TRACE_ALLOCATION || class == TRACE_DEALLOCATION;
}

struct trace_names;

struct trace_plane {
    struct str name;
    struct stream_scope *lines;
    size_t line_count;
    struct trace_names *events, *stats;                            /* ids and where their names are */
    uint8_t *stat_of_id;                                           /* enum trace_stat of ids below TRACE_DENSE */
    uint8_t *class_of_id;                                          /* enum trace_class of ids below TRACE_DENSE */
    struct map rare_stats, rare_classes;                           /* of other ids */
    bool has_memory_events, has_unparsed, has_loops, has_group_id; /* by the names that it holds */
    bool is_cut;                                                   /* the file ends inside it: names are missing */
    bool lacks_figures;        /* among them those of the figures that every memory event tells */
    enum trace_class nameless; /* class of ids without a name */
    uint64_t damaged_count;
    struct err damage; /* why the plane ends early, if it does */
};

enum { TRACE_DENSE = 16384 };

/* Walks the parts of the plane in `scope`. */
void trace_plane_read(struct stream *stream, struct stream_scope scope, struct arena *arena, struct trace_plane *out);
/* The plane's name alone; empty if it has none before its lines. */
struct str trace_plane_name(struct stream *stream, struct stream_scope scope, struct arena *arena);
/* Learns which stats and events matter; lines can be read after that. */
void trace_plane_resolve(struct stream *stream, struct arena *arena, struct trace_plane *plane);

static inline enum trace_stat trace_plane_stat(const struct trace_plane *plane, int64_t id)
{
    if ((uint64_t)id < TRACE_DENSE)
        return (enum trace_stat)plane->stat_of_id[id];
    uint32_t found = map_get(&plane->rare_stats, (uint64_t)id);
    return found == MAP_NONE ? TRACE_STAT_NONE : (enum trace_stat)found;
}

static inline enum trace_class trace_plane_class(const struct trace_plane *plane, int64_t id)
{
    if ((uint64_t)id < TRACE_DENSE)
        return (enum trace_class)plane->class_of_id[id];
    uint32_t found = map_get(&plane->rare_classes, (uint64_t)id);
    return found == MAP_NONE ? plane->nameless : (enum trace_class)found;
}

/* What a name means. */
enum trace_stat trace_plane_stat_of(struct str name);
enum trace_class trace_plane_class_of(struct str name);

/* The names of events one by one, in file order: up to `max` bytes, until the next look at the stream. */
size_t trace_plane_event_count(const struct trace_plane *plane);
struct str trace_plane_event_at(struct stream *stream, const struct trace_plane *plane, size_t at, size_t max,
                                int64_t *id);
/* Names by id, copied into `arena`; empty for an id that the plane does not name. */
struct str trace_plane_event_name(struct stream *stream, const struct trace_plane *plane, int64_t id,
                                  struct arena *arena);
bool trace_plane_has_stat(const struct trace_plane *plane, int64_t id);
struct str trace_plane_stat_name(struct stream *stream, const struct trace_plane *plane, int64_t id,
                                 struct arena *arena);
