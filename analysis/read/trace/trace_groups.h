/* SPDX-License-Identifier: Apache-2.0
 * trace_groups.h: which step of the program an event of the host belongs to.
 *
 * Follows XProf's grouping (group_events.cc, host plane): an event nests in the
 * nearest one of its line whose span includes its own; a producer is a parent of
 * its consumers on any line; roots number the steps and hand their number down.
 * Only roots and consumers are nodes here: whatever else has the number of the
 * nearest node around it, so that two million events are a few hundred thousand nodes.
 * Memory: an arena that can be emptied when the numbers are known. */
#pragma once

#include "read/trace/trace_line.h"

#define TRACE_NO_NODE UINT32_MAX
/* Stats that make an event a node, or tie it to one. */
#define TRACE_LINKS (TRACE_BIT(PRODUCER_ID) | TRACE_BIT(CONSUMER_ID) | TRACE_BIT(ROOT_LEVEL) | TRACE_BIT(ASYNC))

struct trace_step {
    int64_t number;           /* 0, 1, 2, … */
    int64_t name_id;          /* event metadata of its root; -1: none is known */
    int64_t step_number;      /* as the program counts (stat step_num); -1: not told */
    int64_t begin_ps, end_ps; /* of its root, from the origin of times */
};

struct trace_groups;

/* Times are counted from `origin_ns`, a line's timestamp. `arena` holds everything until it is emptied. */
struct trace_groups *trace_groups_new(struct arena *arena, struct arena *work);
void trace_groups_line(struct trace_groups *groups, int64_t timestamp_ns);
/* The same in the middle of a line: trace_groups_join adds what was open there, once the events before are known. It
 * can be joined if fewer than TRACE_OUTER_NODE events follow. */
void trace_groups_resume(struct trace_groups *groups, int64_t timestamp_ns);
/* Is the event a node, or does it ask for one? Most do neither. */
static inline bool trace_groups_asks(const struct trace_event *event)
{
    return !event->is_aggregated &&
           ((event->class != TRACE_OTHER && event->class != TRACE_UNNAMED) || (event->stats & TRACE_LINKS) != 0);
}
/* The event's node, or the nearest one around it. Events come in the order of their line. */
uint32_t trace_groups_event(struct trace_groups *groups, const struct trace_event *event);

/* How nodes of groups that were joined to others are numbered among these. */
struct trace_joint {
    uint32_t base;
    const uint32_t *outer; /* nodes of what was open before, by question */
};
#define TRACE_OUTER_NODE (UINT32_C(1) << 31) /* the answer to a question; never TRACE_NO_NODE */
/* Adds what `next` found behind what `groups` found: in later lines, or in the rest of the same one. Then `next` is
 * empty, and `joint` lasts as long as its arena. What both hold is in the same arena, or was adopted by it; both
 * together are fewer than TRACE_OUTER_NODE events. */
void trace_groups_join(struct trace_groups *groups, struct trace_groups *next, struct trace_joint *joint);
static inline uint32_t trace_joint_node(const struct trace_joint *joint, uint32_t node)
{
    if (node == TRACE_NO_NODE)
        return node;
    return (node & TRACE_OUTER_NODE) != 0 ? joint->outer[node ^ TRACE_OUTER_NODE] : node + joint->base;
}

/* From now on its work is that of another arena, which adopted the former one. */
void trace_groups_move(struct trace_groups *groups, struct arena *work);

/* Numbers the steps; those in `arena`, by number. With is_grouped the numbers of the file hold and none are made. */
void trace_groups_number(struct trace_groups *groups, bool is_grouped, int64_t origin_ns, struct arena *arena,
                         struct trace_step **steps, size_t *step_count);
/* Lets go of what it holds; no number is known any more. */
void trace_groups_free(struct trace_groups *groups);
/* The number of a node, -1 without one. */
int64_t trace_groups_of(const struct trace_groups *groups, uint32_t node);

/* Times lie between minus this and this, so that the difference of two never wraps. */
#define TRACE_TIME_MAX_PS (INT64_C(1) << 61)
/* Time in ps from `origin_ns`; beyond what 63 bits hold the nearest value that they do (*is_clamped). */
int64_t trace_groups_time(int64_t timestamp_ns, int64_t origin_ns, int64_t offset_ps, bool *is_clamped);
