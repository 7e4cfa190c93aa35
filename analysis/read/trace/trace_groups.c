/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/trace_groups_nodes.h"

int64_t trace_groups_time(int64_t timestamp_ns, int64_t origin_ns, int64_t offset_ps, bool *is_clamped)
{
    int64_t ns, ps;
    if (!__builtin_sub_overflow(timestamp_ns, origin_ns, &ns) && !__builtin_mul_overflow(ns, INT64_C(1000), &ps) &&
        !__builtin_add_overflow(ps, offset_ps, &ps) && ps > -TRACE_TIME_MAX_PS && ps < TRACE_TIME_MAX_PS)
        return ps;
    *is_clamped = true;
    return (timestamp_ns < origin_ns ? -1 : 1) * TRACE_TIME_MAX_PS;
}

struct trace_groups *trace_groups_new(struct arena *arena, struct arena *work)
{
    struct trace_groups *groups = arena_array(arena, struct trace_groups, 1);
    groups->arena = arena;
    groups->work = work;
    return groups;
}

void trace_groups_line(struct trace_groups *groups, int64_t timestamp_ns)
{
    groups->timestamp_ns = timestamp_ns;
    groups->is_resumed = false;
    groups->open.count = 0;
}

void trace_groups_resume(struct trace_groups *groups, int64_t timestamp_ns)
{
    trace_groups_line(groups, timestamp_ns);
    groups->is_resumed = true;
}

static struct open_event *top_of(const struct trace_groups *groups)
{
    return groups->open.count > 0 ? (struct open_event *)groups->open.items + groups->open.count - 1 : NULL;
}

static bool includes(const struct open_event *open, int64_t begin_ps, int64_t end_ps)
{
    return open->begin_ps <= begin_ps && end_ps <= open->end_ps;
}

/* Pops open events that do not contain [begin, end). Their node is removed if it has no children and is the newest. */
static __attribute__((noinline)) void others_close(struct trace_groups *groups, int64_t begin_ps, int64_t end_ps,
                                                   bool has_later)
{
    struct open_event *top;
    while ((top = top_of(groups)) != NULL && !includes(top, begin_ps, end_ps)) {
        const struct trace_link *last = groups->consumers.count > 0
                                            ? (struct trace_link *)groups->consumers.items + groups->consumers.count - 1
                                            : NULL;
        if (!has_later && !top->is_used && top->node == groups->parents.count - 1 && last != NULL &&
            last->node == top->node) {
            groups->parents.count--;
            groups->consumers.count--;
        }
        groups->open.count--;
    }
}

/* The innermost open event that includes [begin, end]; those that do not are closed. With `has_later` there are nodes
 * behind those of `groups`. */
static inline struct open_event *nearest(struct trace_groups *groups, int64_t begin_ps, int64_t end_ps, bool has_later)
{
    struct open_event *top = top_of(groups);
    if (top == NULL || includes(top, begin_ps, end_ps))
        return top;
    others_close(groups, begin_ps, end_ps, has_later);
    return top_of(groups);
}

/* The node of the innermost open event that includes [begin, end]. */
static inline uint32_t node_around(struct trace_groups *groups, int64_t begin_ps, int64_t end_ps, bool is_use)
{
    struct open_event *open = nearest(groups, begin_ps, end_ps, false);
    if (open != NULL) {
        open->is_used |= is_use;
        return open->node;
    }
    if (!groups->is_resumed)
        return TRACE_NO_NODE;
    *(struct question *)list_add(&groups->questions, groups->work, sizeof(struct question)) =
        (struct question){begin_ps, end_ps, is_use, groups->parents.count > 0};
    return TRACE_OUTER_NODE | (uint32_t)(groups->questions.count - 1);
}

static void link_add(struct trace_groups *groups, struct list *links, const struct trace_event *event,
                     enum trace_stat type, enum trace_stat id, uint32_t node)
{
    struct trace_link *link = list_add(links, groups->work, sizeof(*link));
    *link = (struct trace_link){(uint64_t)trace_line_number(event, type, 0), (uint64_t)trace_line_number(event, id, 0),
                                node};
}

static void root_add(struct trace_groups *groups, const struct trace_event *event, int64_t level, uint32_t node)
{
    struct root *root = list_add(&groups->roots, groups->work, sizeof(*root));
    *root = (struct root){.node = node,
                          .level = level,
                          .timestamp_ns = groups->timestamp_ns,
                          .offset_ps = event->offset_ps,
                          .duration_ps = event->duration_ps,
                          .name_id = event->metadata_id,
                          .step_number = trace_line_number(event, TRACE_STAT_STEP_NUMBER, -1),
                          .has_step_id = trace_line_has(event, TRACE_STAT_STEP_ID),
                          .step_id = trace_line_number(event, TRACE_STAT_STEP_ID, 0)};
}

static void class_take(struct trace_groups *groups, const struct trace_event *event, uint32_t node)
{
    if (event->class == TRACE_EXECUTOR && trace_line_has(event, TRACE_STAT_STEP_ID) &&
        trace_line_has(event, TRACE_STAT_ITERATION)) {
        struct iteration *iteration = list_add(&groups->iterations, groups->work, sizeof(*iteration));
        *iteration = (struct iteration){trace_line_number(event, TRACE_STAT_STEP_ID, 0),
                                        trace_line_number(event, TRACE_STAT_ITERATION, 0),
                                        groups->timestamp_ns,
                                        event->offset_ps,
                                        0,
                                        node};
    }
    if (event->class == TRACE_DATA_FUNCTION && trace_line_has(event, TRACE_STAT_STEP_ID))
        *(int64_t *)list_add(&groups->data_steps, groups->work, sizeof(int64_t)) =
            trace_line_number(event, TRACE_STAT_STEP_ID, 0);
}

uint32_t trace_groups_event(struct trace_groups *groups, const struct trace_event *event)
{
    bool is_memory = trace_class_is_memory(event->class);
    int64_t end_ps;
    if (!trace_groups_asks(event))
        return TRACE_NO_NODE;
    if (__builtin_add_overflow(event->offset_ps, event->duration_ps, &end_ps))
        end_ps = INT64_MAX;
    if (is_memory && (event->stats & TRACE_LINKS) == 0) /* the common case */
        return node_around(groups, event->offset_ps, end_ps, true);
    int64_t level = trace_line_number(event, TRACE_STAT_ROOT_LEVEL, 0);
    bool is_async = trace_line_number(event, TRACE_STAT_ASYNC, 0) != 0;
    bool is_consumer = trace_line_has(event, TRACE_STAT_CONSUMER_TYPE) && trace_line_has(event, TRACE_STAT_CONSUMER_ID);
    bool is_producer = trace_line_has(event, TRACE_STAT_PRODUCER_TYPE) && trace_line_has(event, TRACE_STAT_PRODUCER_ID);
    if (event->class == TRACE_CONTEXT && level == 0)
        level = 1;
    bool is_use = is_memory || is_producer || level != 0 || is_consumer;
    uint32_t node = is_async ? TRACE_NO_NODE : node_around(groups, event->offset_ps, end_ps, is_use);
    if (level != 0 || is_consumer || event->class == TRACE_EXECUTOR) {
        arena_work(groups->work, 64);
        *(uint32_t *)list_add(&groups->parents, groups->work, sizeof(uint32_t)) = node;
        node = (uint32_t)groups->parents.count - 1;
        if (is_consumer)
            link_add(groups, &groups->consumers, event, TRACE_STAT_CONSUMER_TYPE, TRACE_STAT_CONSUMER_ID, node);
        if (level != 0)
            root_add(groups, event, level, node);
        class_take(groups, event, node);
        if (!is_async) {
            struct open_event *open = list_add(&groups->open, groups->work, sizeof(*open));
            *open = (struct open_event){event->offset_ps, end_ps, node,
                                        is_memory || is_producer || level != 0 || event->class == TRACE_EXECUTOR};
        }
    } else {
        class_take(groups, event, node);
    }
    if (is_producer && node != TRACE_NO_NODE)
        link_add(groups, &groups->producers, event, TRACE_STAT_PRODUCER_TYPE, TRACE_STAT_PRODUCER_ID, node);
    return node;
}

/* ---- joining ---- */

/* Appends the items of `from` to `list`, unchanged; returns their place in `list` and their number in *count. */
static void *list_move(struct list *list, struct list *from, struct arena *parent, size_t size, size_t *count)
{
    *count = from->count;
    if (from->count == 0)
        return NULL;
    if (list->own == NULL) {
        *list = *from;
        *from = (struct list){.own = NULL};
        return list->items;
    }
    if (list->capacity - list->count < from->count) {
        list->capacity = list->count + from->count;
        list->items = arena_resize(list->own, list->capacity * size);
    }
    arena_work(parent, from->count);
    void *moved = (char *)list->items + list->count * size;
    memcpy(moved, from->items, from->count * size);
    list->count += from->count;
    list_free(from);
    return moved;
}

/* Resolves the queries in the order in which they were made, because each one closes open events before the next. */
static uint32_t *answers_of(struct trace_groups *groups, struct trace_groups *next)
{
    const struct question *questions = next->questions.items;
    uint32_t *answers = arena_raw(next->arena, (next->questions.count + 1) * sizeof(*answers));
    for (size_t i = 0; i < next->questions.count; i++) {
        const struct question *asked = &questions[i];
        struct open_event *open = nearest(groups, asked->begin_ps, asked->end_ps, asked->has_nodes);
        answers[i] = open != NULL ? open->node : TRACE_NO_NODE;
        if (open != NULL)
            open->is_used |= asked->is_use;
    }
    return answers;
}

static void links_move(struct trace_groups *groups, struct list *links, struct list *from,
                       const struct trace_joint *joint)
{
    size_t count;
    struct trace_link *moved = list_move(links, from, groups->work, sizeof(*moved), &count);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        moved[kept] = moved[i];
        moved[kept].node = trace_joint_node(joint, moved[i].node);
        kept += moved[kept].node != TRACE_NO_NODE; /* nothing was open around it */
    }
    links->count -= count - kept;
}

void trace_groups_join(struct trace_groups *groups, struct trace_groups *next, struct trace_joint *joint)
{
    size_t count;
    joint->outer = answers_of(groups, next);
    joint->base = (uint32_t)groups->parents.count; /* resolving queries may have removed the newest node */
    links_move(groups, &groups->producers, &next->producers, joint);
    links_move(groups, &groups->consumers, &next->consumers, joint);
    uint32_t *parents = list_move(&groups->parents, &next->parents, groups->work, sizeof(*parents), &count);
    for (size_t i = 0; i < count; i++)
        parents[i] = trace_joint_node(joint, parents[i]);
    struct root *roots = list_move(&groups->roots, &next->roots, groups->work, sizeof(*roots), &count);
    for (size_t i = 0; i < count; i++)
        roots[i].node += joint->base;
    struct iteration *iterations =
        list_move(&groups->iterations, &next->iterations, groups->work, sizeof(*iterations), &count);
    for (size_t i = 0; i < count; i++)
        iterations[i].node += joint->base;
    list_move(&groups->data_steps, &next->data_steps, groups->work, sizeof(int64_t), &count);
    if (!next->is_resumed) /* its last line begins in it */
        groups->open.count = 0;
    struct open_event *open = list_move(&groups->open, &next->open, groups->work, sizeof(*open), &count);
    for (size_t i = 0; i < count; i++)
        open[i].node += joint->base;
    trace_groups_free(next);
    groups->timestamp_ns = next->timestamp_ns;
}

void trace_groups_move(struct trace_groups *groups, struct arena *work) { groups->work = work; }

void trace_groups_free(struct trace_groups *groups)
{
    struct list *lists[] = {&groups->parents, &groups->open,       &groups->producers,  &groups->consumers,
                            &groups->roots,   &groups->iterations, &groups->data_steps, &groups->questions};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        list_free(lists[i]);
}

int64_t trace_groups_of(const struct trace_groups *groups, uint32_t node)
{
    return node == TRACE_NO_NODE || groups->group_of == NULL ? -1 : groups->group_of[node];
}
