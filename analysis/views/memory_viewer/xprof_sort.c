/* SPDX-License-Identifier: Apache-2.0
 * xprof_sort.c: see xprof_sort.h. */
#include "views/memory_viewer/xprof_sort.h"

#include <stdbool.h>

enum { SMALL = 16 };

struct sort {
    uint32_t *items;
    const int64_t *sizes;
};

static bool before(const struct sort *sort, size_t a, size_t b)
{
    return sort->sizes[sort->items[a]] > sort->sizes[sort->items[b]];
}

static void xprof_sort_swap(struct sort *sort, size_t a, size_t b)
{
    uint32_t item = sort->items[a];
    sort->items[a] = sort->items[b];
    sort->items[b] = item;
}

static void median_to(struct sort *sort, size_t to, size_t a, size_t b, size_t c)
{
    if (before(sort, a, b))
        xprof_sort_swap(sort, to, before(sort, b, c) ? b : before(sort, a, c) ? c : a);
    else
        xprof_sort_swap(sort, to, before(sort, a, c) ? a : before(sort, b, c) ? c : b);
}

/* Partitions [first, last) about the item at `pivot`, which lies outside. */
static size_t partition(struct sort *sort, size_t first, size_t last, size_t pivot)
{
    for (;;) {
        while (before(sort, first, pivot))
            first++;
        last--;
        while (before(sort, pivot, last))
            last--;
        if (first >= last)
            return first;
        xprof_sort_swap(sort, first, last);
        first++;
    }
}

static void insert(struct sort *sort, size_t at, size_t min)
{
    uint32_t item = sort->items[at];
    while (at > min && sort->sizes[item] > sort->sizes[sort->items[at - 1]]) {
        sort->items[at] = sort->items[at - 1];
        at--;
    }
    sort->items[at] = item;
}

/* Where libstdc++ would go over to heap sort: an order that no real input
 * reaches, so any correct one will do. */
static void heap_sort(struct sort *sort, size_t first, size_t last)
{
    size_t count = last - first;
    for (size_t end = count, start = count / 2; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            end--;
            xprof_sort_swap(sort, first, first + end);
        }
        for (size_t root = start, child; (child = root * 2 + 1) < end; root = child) {
            if (child + 1 < end && before(sort, first + child, first + child + 1))
                child++;
            if (!before(sort, first + root, first + child))
                break;
            xprof_sort_swap(sort, first + root, first + child);
        }
    }
}

static void introsort(struct sort *sort, size_t first, size_t last, int depth)
{
    while (last - first > SMALL) {
        if (depth-- == 0) {
            heap_sort(sort, first, last);
            return;
        }
        median_to(sort, first, first + 1, first + (last - first) / 2, last - 1);
        size_t cut = partition(sort, first + 1, last, first);
        introsort(sort, cut, last, depth);
        last = cut;
    }
}

void xprof_sort(uint32_t *items, size_t count, const int64_t *sizes)
{
    struct sort sort = {items, sizes};
    int depth = 0;
    for (size_t n = count; n > 1; n /= 2)
        depth += 2;
    introsort(&sort, 0, count, depth);
    for (size_t i = 1; i < count; i++)
        insert(&sort, i, 0);
}
