/* SPDX-License-Identifier: Apache-2.0
 * row_ranks.c: see row_ranks.h. The asked rows are sorted; every row that is alive finds by
 * halving how many of them it stands before, and the sums of that are the ranks. */
#include "views/memory_viewer/row_ranks.h"

#include "views/memory_viewer/views_shared.h"

#include <stdlib.h>

struct row_ranks_asked {
    int64_t weight;
    uint32_t program; /* decides between equal weights, as in the strips */
    uint32_t at;      /* in `out` */
};

static int heavier_first(const void *left, const void *right)
{
    const struct row_ranks_asked *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->program > b->program) - (a->program < b->program);
}

/* The first of the requested rows that comes after a row of this weight and place. */
static uint32_t first_behind(const struct row_ranks_asked *asked, uint32_t count, int64_t weight, uint32_t program)
{
    const struct row_ranks_asked row = {weight, program, 0};
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (heavier_first(&row, &asked[middle]) < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int64_t weight_of(const struct plan_row *row, bool by_padding)
{
    return by_padding ? views_padding(row) : row->bytes;
}

static void order_rank(const struct plan_space *space, uint32_t step, bool by_padding, const uint32_t *rows,
                       uint32_t count, struct arena *arena, struct row_ranks *out)
{
    struct row_ranks_asked *asked = arena_array(arena, struct row_ranks_asked, (size_t)count + 1);
    uint32_t *before = arena_array(arena, uint32_t, (size_t)count + 1), asked_count = 0, program = 0, sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t weight = weight_of(&space->rows[rows[i]], by_padding);
        if (out[i].program != PLAN_NONE && (weight > 0 || !by_padding))
            asked[asked_count++] = (struct row_ranks_asked){weight, out[i].program, i};
    }
    qsort(asked, asked_count, sizeof(*asked), heavier_first);
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        if (!plan_row_is_alive(row, step))
            continue;
        int64_t weight = weight_of(row, by_padding);
        if (weight > 0 || !by_padding)
            before[first_behind(asked, asked_count, weight, program)]++;
        program++;
    }
    for (uint32_t i = 0; i < asked_count; i++) {
        sum += before[i];
        *(by_padding ? &out[asked[i].at].padding : &out[asked[i].at].size) = sum;
    }
}

void row_ranks_find(const struct plan_space *space, uint32_t step, const uint32_t *rows, uint32_t count,
                    struct arena *arena, struct row_ranks *out)
{
    uint32_t *program = arena_array(arena, uint32_t, (size_t)space->row_count + 1), next = 0;
    for (uint32_t i = 0; i < space->row_count; i++)
        program[i] = plan_row_is_alive(&space->rows[i], step) ? next++ : PLAN_NONE;
    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct row_ranks){program[rows[i]], PLAN_NONE, PLAN_NONE};
    order_rank(space, step, false, rows, count, arena, out);
    order_rank(space, step, true, rows, count, arena, out);
}
