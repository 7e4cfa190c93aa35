/* SPDX-License-Identifier: Apache-2.0 */
#include "read/torch/torch_spans.h"

#include <stdlib.h>

/* A trace that was cut wrong may have spans that are in each other without end. */
enum { MAX_DEPTH = 4096 };

struct span {
    int64_t begin_ns, end_ns;
    uint32_t thread, what;
    uint64_t order;
};

struct open_span {
    int64_t end_ns;
    uint32_t node; /* number + 1 */
};

void torch_spans_init(struct torch_spans *spans, struct arena *arena)
{
    chunks_init(&spans->spans, arena, sizeof(struct span));
    table_init(&spans->nodes, arena, 2);
}

void torch_spans_add(struct torch_spans *spans, uint32_t thread, int64_t begin_ns, int64_t end_ns, uint32_t what)
{
    CHUNKS_ADD(&spans->spans, struct span, ((struct span){begin_ns, end_ns, thread, what, spans->spans.count}));
}

/* By thread and time; of those that begin together the longest first, for it lies around the others. */
static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static int compare_moments(const void *left, const void *right)
{
    const struct torch_moment *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

void torch_spans_hold(struct torch_spans *spans, struct torch_moment *moments, size_t count)
{
    struct arena *arena = spans->spans.arena;
    const size_t span_count = spans->spans.count;
    struct span *sorted = chunks_copy(&spans->spans, arena);
    struct open_span open[MAX_DEPTH];
    size_t depth = 0, next = 0;
    arena_work(arena, (span_count + count) * 8);
    qsort(sorted, span_count, sizeof(*sorted), compare_spans);
    qsort(moments, count, sizeof(*moments), compare_moments);
    for (size_t i = 0; i < count; i++) {
        const struct torch_moment *moment = &moments[i];
        if (i == 0 || moment->thread != moments[i - 1].thread)
            depth = 0;
        for (; next < span_count && (sorted[next].thread < moment->thread ||
                                     (sorted[next].thread == moment->thread && sorted[next].begin_ns <= moment->at_ns));
             next++) {
            const struct span *span = &sorted[next];
            if (span->thread != moment->thread || span->end_ns < moment->at_ns)
                continue; /* over before anything happened in it */
            while (depth > 0 && open[depth - 1].end_ns < span->begin_ns)
                depth--;
            if (depth == MAX_DEPTH)
                continue;
            const uint64_t key[2] = {depth == 0 ? 0 : open[depth - 1].node, span->what};
            open[depth++] = (struct open_span){span->end_ns, table_number(&spans->nodes, key) + 1};
        }
        while (depth > 0 && open[depth - 1].end_ns < moment->at_ns)
            depth--;
        moments[i].stack = depth == 0 ? 0 : open[depth - 1].node;
    }
}

struct torch_span_node torch_spans_node(const struct torch_spans *spans, uint32_t number)
{
    const uint64_t *key = table_key(&spans->nodes, number);
    return (struct torch_span_node){(uint32_t)key[0], (uint32_t)key[1]};
}
