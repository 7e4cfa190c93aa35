/* SPDX-License-Identifier: Apache-2.0
 * trace_line.h: the events of one line of a trace, one after the other.
 *
 * Events are decoded in the window that moves over the file; of their stats
 * those of trace_stats.def are kept, as they were written.
 * Units: offsets and durations in ps from the line's own start.
 * Source: xplane.proto (XLine, XEvent, XStat). */
#pragma once

#include "read/trace/trace_plane.h"

#include <math.h>

/* How a stat's value was written: the field number of XStat. 0: not there. */
enum trace_type {
    TRACE_ABSENT = 0,
    TRACE_DOUBLE = 2,
    TRACE_UINT = 3,
    TRACE_INT = 4,
    TRACE_TEXT = 5,
    TRACE_BYTES = 6,
    TRACE_REF = 7, /* id of a name among the plane's stats */
};

struct trace_event {
    int64_t metadata_id;
    int64_t offset_ps, duration_ps;
    bool is_aggregated; /* has a count instead of a start */
    enum trace_class class;
    uint32_t stats;                   /* bit s: stat s is there */
    uint8_t type[TRACE_STAT_COUNT];   /* valid where the bit is set, as are the next two */
    uint64_t value[TRACE_STAT_COUNT]; /* bits of the number, or the id */
    struct str text[TRACE_STAT_COUNT];
};

struct trace_line {
    int64_t id;
    struct str name;
    int64_t timestamp_ns;
    uint64_t event_count, damaged_count;
    uint64_t read_to; /* offset in the file */
};

/* Called for each event in file order; what `event` points to lasts until it returns. */
typedef void trace_line_visit(void *context, const struct trace_event *event);

/* The line's own fields; events are skipped. */
void trace_line_head(struct stream *stream, struct stream_scope scope, struct arena *arena, struct trace_line *out);
/* Its events. Damage inside an event costs that event, damage between events the rest of the line. */
void trace_line_events(struct stream *stream, struct stream_scope scope, const struct trace_plane *plane,
                       struct arena *arena, trace_line_visit *visit, void *context, struct trace_line *line);

static inline bool trace_line_has(const struct trace_event *event, enum trace_stat stat)
{
    return (event->stats >> stat & 1) != 0;
}
/* The same for a stat that is there and not written as a whole number. */
int64_t trace_line_other_number(const struct trace_event *event, enum trace_stat stat, int64_t default_value);
/* A whole number, however it was written; `default_value` when there is none. */
static inline int64_t trace_line_number(const struct trace_event *event, enum trace_stat stat, int64_t default_value)
{
    if (!trace_line_has(event, stat))
        return default_value;
    if (event->type[stat] == TRACE_INT || event->type[stat] == TRACE_UINT)
        return (int64_t)event->value[stat];
    return trace_line_other_number(event, stat, default_value);
}
/* The same for a stat that is there and not written as a double. */
double trace_line_other_real(const struct trace_event *event, enum trace_stat stat, double default_value);
/* A finite number, however it was written. */
static inline double trace_line_real(const struct trace_event *event, enum trace_stat stat, double default_value)
{
    double value;
    if (!trace_line_has(event, stat))
        return default_value;
    if (event->type[stat] != TRACE_DOUBLE)
        return trace_line_other_real(event, stat, default_value);
    memcpy(&value, &event->value[stat], sizeof(value));
    return isfinite(value) ? value : default_value;
}
