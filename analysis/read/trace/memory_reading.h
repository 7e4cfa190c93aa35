/* SPDX-License-Identifier: Apache-2.0
 * memory_reading.h: the events of a plane's lines, or of a part of them, on their way into columns.
 *
 * Between memory_events.c and memory_pieces.c: what is read in pieces is joined before anybody else sees it. */
#pragma once

#include "base/intern.h"
#include "read/trace/memory_events.h"
#include "read/trace/trace_encoded.h"

/* A text or number of an event as written in the file: kind in the two highest bits. */
#define KEY_NONE UINT64_C(0)
#define KEY_REF (UINT64_C(1) << 62)
#define KEY_TEXT (UINT64_C(2) << 62)
#define KEY_NUMBER (UINT64_C(3) << 62)
#define KEY_VALUE(key) ((key) << 2 >> 2)
/* Beside the type in the last word of a what's key. */
#define WHAT_ENCODED (UINT64_C(1) << 32)

enum { MEMORY_POOLS_MAX = 4096 };

struct memory_reading {
    struct memory_events *out;
    struct arena *arena;   /* of the result */
    struct arena *scratch; /* released at the end */
    struct stream *stream;
    const struct trace_plane *plane;
    struct trace_groups *groups;
    const struct trace_encoded *encoded; /* NULL: no memory event is in a name */
    struct table whats, figures, pools;
    uint32_t last_what, last_pool, last_figures[MEMORY_POOLS_MAX]; /* found last; figures of each pool */
    struct intern texts;                                           /* that events themselves contain */
    struct chunks lines;                                           /* struct trace_line */
    struct chunks given_steps;                                     /* int32_t of each event, where the file tells any */
    uint32_t line_at;
    int64_t sum_bytes; /* of all sizes so far */
    bool is_torn;      /* it does not end where it was to: what was taken for the start of an event was none */
};

/* A place in a plane's lines: the number of the line, and the offset in the file; 0 is the start of the line too. */
struct memory_place {
    size_t line;
    uint64_t at;
};

#define COLUMN(name, ordered_name, type) MEMORY_COLUMN_##name,
enum {
#include "read/trace/memory_columns.def"
    MEMORY_COLUMN_pool,
    MEMORY_COLUMN_flags,
    MEMORY_COLUMNS
};
#undef COLUMN
void memory_reading_columns(struct memory_events *out, struct column *columns[MEMORY_COLUMNS]);
/* Empty ones in `arena`, which is no child; and room for some more events. */
void memory_reading_columns_init(struct memory_events *out, struct arena *arena);
void memory_reading_columns_grow(struct memory_events *out);
/* What the columns have too much goes back; there are events. */
void memory_reading_columns_trim(struct memory_events *out);

/* `stream`, `out` and `arena` are kept; `scratch` is a child of `arena`. */
void memory_reading_init(struct memory_reading *reading, struct stream *stream, struct memory_events *out,
                         struct arena *arena, struct arena *scratch);
/* The lines of `plane` from one place, the start of a line or of an event, to another. */
void memory_reading_lines(struct memory_reading *reading, struct memory_place from, struct memory_place to);
/* When all events are read: the texts, figures and pools that they name, into `out`. */
void memory_reading_take(struct memory_reading *reading);
