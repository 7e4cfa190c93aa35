/* SPDX-License-Identifier: Apache-2.0
 * changes.h: two profiles side by side: what call sites, whole stacks and kinds of things hold before and after.
 *
 * In:     a set of two profiles, the first of which is the base; they are merged as pprof -diff_base does.
 * Out:    rows, each with what it held before and holds after. The changes of the sites add up to that of the totals,
 *         and so do those of the stacks.
 * Units:  of the metric, mostly bytes.
 * Memory: the request's arena.
 * Cost:   walking each stack once. */
#pragma once

#include "views/device_memory/sums.h"

enum changes_state { CHANGES_NEW, CHANGES_GONE, CHANGES_GROWN, CHANGES_SHRUNK, CHANGES_SAME, CHANGES_STATE_COUNT };
/* "new", "gone", "grown", "shrunk", "same"; static storage. */
const char *changes_state_name(enum changes_state state);

/* What both sides have in common. */
struct changes_row {
    uint32_t site;                     /* call site: the user's innermost line and what it called */
    uint32_t kind;                     /* in `kinds`: value of the label "kind" */
    uint32_t group;                    /* of a stack: its row among the sites; of a site: its own */
    const uint32_t *frames;            /* of a stack, the outermost first */
    uint32_t frame_count;              /* 0: a site */
    uint32_t stack_count;              /* of a site; of a stack 1 */
    int64_t before, after;             /* of the metric */
    int64_t before_count, after_count; /* things, those of unknown size included */
    uint8_t state;                     /* enum changes_state */
};

struct changes_rows {
    struct changes_row *items;
    uint32_t count;
    uint32_t counts[CHANGES_STATE_COUNT];
    size_t capacity;
    struct map table;
};

struct changes_kind {
    struct str name; /* empty: without a label */
    int64_t before, after, before_count, after_count;
};

struct changes {
    struct model model;
    struct sites sites;
    struct intern kind_names;
    struct changes_kind *kinds; /* by number */
    size_t kind_capacity;
    struct changes_rows of_sites, of_stacks;
    uint32_t *ranked;      /* the sites by the size of their change, the largest first */
    int64_t before, after; /* all of either side */
};

/* Reads the parameters that all views of profiles share and fills `changes`. False with a report. */
bool changes_make(const struct tool_request *request, struct changes *changes, struct err *err);

/* What a row has more after than before. */
int64_t changes_of(const struct changes_row *row);
/* "init_state train.py:88 › jnp.zeros": a site's name; in `scratch` of the request until it is next used. */
struct str changes_site_name(const struct changes *changes, const struct changes_row *row);
/* The same behind what is in `out`. */
void changes_add_site_name(const struct changes *changes, const struct changes_row *row, struct buf *out);
/* "fit train.py:102 › init_state train.py:88": those of a stack, at most `frames_max` of them, the innermost; the
 * same. */
struct str changes_stack_name(const struct changes *changes, const struct changes_row *row, uint32_t frames_max);

/* ---- in words ---- */

/* Appends what has changed and why, in a sentence or some. */
void changes_sentence(const struct changes *changes, struct buf *out);
/* Appends "5.68 MiB", "12 objects": an amount of the metric. */
void changes_amount(const struct changes *changes, int64_t amount, struct buf *out);
/* Appends "+1.80 MiB", "−12 objects", "0 B". */
void changes_signed(const struct changes *changes, int64_t change, struct buf *out);

/* A step of the way from A to B. */
struct changes_part {
    const struct changes_row *row; /* NULL: all others together */
    uint32_t row_count;
    int64_t change;
};
enum { CHANGES_PARTS_MAX = 11 };
/* The sites that changed most, and the others; their changes add up to that of the totals. Returns how many. */
uint32_t changes_parts(const struct changes *changes, struct changes_part parts[CHANGES_PARTS_MAX]);
/* "init_state train.py:88", "12 other call sites"; in the arena. */
const char *changes_part_name(const struct changes *changes, const struct changes_part *part);
