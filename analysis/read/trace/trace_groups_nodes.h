/* SPDX-License-Identifier: Apache-2.0
 * trace_groups_nodes.h: what trace_groups.c gathers from events, and trace_groups_number.c makes steps of. */
#pragma once

#include "read/trace/trace_groups.h"
#include "read/trace/trace_pairs.h"

/* A growing list in an arena of its own; items are moved when it grows. */
struct list {
    struct arena *own;
    void *items;
    size_t count, capacity;
};

struct open_event {
    int64_t begin_ps, end_ps;
    uint32_t node;
    bool is_used; /* something hangs on its node */
};

struct question { /* which event that is open before the first one read includes this one? */
    int64_t begin_ps, end_ps;
    bool is_use;    /* something is to hang on its node */
    bool has_nodes; /* nodes were read by then: no earlier one is the last */
};

struct root {
    uint32_t node;
    int64_t level, timestamp_ns, offset_ps, duration_ps, name_id, step_number, step_id;
    bool has_step_id;
    int64_t begin_ps;
};

struct iteration { /* a run of TensorFlow's executor */
    int64_t step_id, number, timestamp_ns, offset_ps, begin_ps;
    uint32_t node;
};

struct trace_groups {
    struct arena *arena, *work;
    int64_t timestamp_ns; /* of the line */
    bool is_resumed;      /* what is open at the line's beginning is not known */
    struct list parents;  /* uint32_t: node around each node */
    struct list open, producers, consumers, roots, iterations, data_steps, questions;
    int64_t *group_of; /* of each node, from here on once numbered */
    uint32_t *child_first, *children, *seen;
    struct trace_pairs pairs;
    uint32_t *hub_first, *hub_of; /* hubs in which a node produces; the one that it consumes from */
    uint32_t *hub_links;
    uint32_t stamp;
};

static inline void list_free(struct list *list)
{
    if (list->own != NULL)
        arena_free(list->own);
    list->own = NULL;
}

static inline void *list_add(struct list *list, struct arena *parent, size_t size)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 256 : list->capacity * 2;
        if (list->own == NULL)
            list->own = arena_child(parent);
        list->items = arena_resize(list->own, capacity * size);
        list->capacity = capacity;
    }
    return (char *)list->items + list->count++ * size;
}
