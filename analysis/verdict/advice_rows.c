/* SPDX-License-Identifier: Apache-2.0
 * advice_rows.c: programs, or their arrays of all pairs, whose rows are worked on one by one: by parts of them. */
#include "verdict/advice_parts.h"

#include "base/sum.h"
#include "whatif/pairs_apart.h"
#include "whatif/rows_apart.h"

#include <stdlib.h>

/* A training step with few rows gets microbatches instead, by the batch's advice. A prediction has none. */
enum { ROWS_APART_MIN = 8, ROWS_TRAINED_MIN = 256, ROWS_PERCENT = 60, CLASSES_TRIED = 4 };

struct rowed {
    uint32_t class;
    int64_t bytes; /* live at the peak with such a dimension */
};

static int64_t at_once_of(int64_t rows) { return rows > ADVICE_PARTS ? rows / ADVICE_PARTS : 1; }

static int by_rowed(const void *left, const void *right)
{
    const struct rowed *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(a->class, b->class);
}

/* The dimensions of an array of the plan; NULL: it has none that are known, or lives for the whole program. */
static const struct leaf *leaf_of(const struct variant *variant, const struct variant_row *row)
{
    bool is_known = !row->is_indefinite && row->leaf != HLO_NONE && row->plan_row != PLAN_NONE;
    return is_known ? &variant->dimensions.leaves.items[row->leaf] : NULL;
}

/* Classes of dimensions by what has them at the peak, the most first. */
static struct rowed *rowed_find(const struct advice *advice, uint32_t *count)
{
    const struct variant *variant = &advice->start;
    const struct dimensions *dimensions = &variant->dimensions;
    struct arena *arena = advice->facts->arena;
    int64_t *bytes = arena_array(arena, int64_t, (size_t)dimensions->leaves.dimension_count + 1);
    struct rowed *rowed = arena_raw(arena, ((size_t)dimensions->leaves.dimension_count + 1) * sizeof(*rowed));
    for (uint32_t i = 0; i < variant->row_count; i++) {
        const struct variant_row *row = &variant->rows[i];
        const struct leaf *leaf = leaf_of(variant, row);
        if (leaf == NULL ||
            !plan_row_is_alive(&advice->facts->space->rows[row->plan_row], advice->facts->space->peak_step))
            continue;
        for (uint32_t k = 0; k < leaf->rank; k++) {
            uint32_t class = dimensions_class(dimensions, leaf->first + k);
            if (dimensions->leaves.sizes[class] >= ROWS_APART_MIN)
                bytes[class] = sum_add(bytes[class], row->bytes);
        }
    }
    *count = 0;
    for (uint32_t i = 0; i < dimensions->leaves.dimension_count; i++)
        if (bytes[i] >= advice->facts->space->peak_bytes / 100 * ROWS_PERCENT && bytes[i] > 0)
            rowed[(*count)++] = (struct rowed){i, bytes[i]};
    qsort(rowed, *count, sizeof(*rowed), by_rowed);
    return rowed;
}

static bool has_rows(const struct dimensions *dimensions, const struct leaf *leaf, uint32_t class)
{
    return rows_apart_has(dimensions, leaf, class, NULL);
}

/* All arrays that have the class, at any moment; the largest at the peak is named. */
static struct cause_arrays rows_of_class(const struct advice *advice, uint32_t class,
                                         bool (*has)(const struct dimensions *dimensions, const struct leaf *leaf,
                                                     uint32_t class))
{
    const struct variant *variant = &advice->start;
    const struct plan_space *space = advice->facts->space;
    struct cause_arrays all = {.slices = variant->dimensions.leaves.sizes[class]};
    all.rows = arena_array(advice->facts->arena, uint32_t, (size_t)space->row_count + 1);
    for (uint32_t i = 0; i < variant->row_count; i++) {
        const struct variant_row *row = &variant->rows[i];
        const struct leaf *leaf = leaf_of(variant, row);
        if (leaf == NULL || !has(&variant->dimensions, leaf, class))
            continue;
        const struct plan_row *plan_row = &space->rows[row->plan_row];
        all.rows[all.count++] = row->plan_row;
        if (!plan_row_is_alive(plan_row, space->peak_step))
            continue;
        all.bytes = sum_add(all.bytes, plan_row->bytes);
        if (all.said == NULL || plan_row->bytes > all.said->bytes)
            all.said = plan_row;
    }
    return all;
}

/* Does a smaller change leave room? */
static bool is_enough(struct advice *advice, const char *change)
{
    enum { FULL_PERCENT = 75 }; /* a prediction of a checkpoint may be off by a quarter */
    int64_t limit = advice->facts->limit_bytes, lands = advice->has_backward ? advice_lands(advice, change) : -1;
    return limit >= 0 && lands >= 0 && lands <= limit / 100 * FULL_PERCENT;
}

/* Arrays of all pairs that take most of the memory and are read row by row. */
bool advice_pairs_find(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    uint32_t count;
    const struct rowed *rowed = rowed_find(advice, &count);
    const struct dimensions *dimensions = &advice->start.dimensions;
    for (uint32_t i = 0; i < count && i < CLASSES_TRIED; i++) {
        uint32_t class = rowed[i].class;
        int64_t rows = dimensions->leaves.sizes[class];
        const struct cause_arrays all = rows_of_class(advice, class, pairs_apart_is);
        struct verdict_advice item = {
            .reason = "At most this much: each row can be computed alone; the results of the parts are added or "
                      "concatenated."};
        if (all.said == NULL || rows < ROWS_TRAINED_MIN || all.bytes < facts->space->peak_bytes / 100 * ROWS_PERCENT ||
            !pairs_apart_hold(dimensions, class, facts->arena) ||
            !advice_saving_set(advice, &all, at_once_of(rows), rows, &item))
            continue;
        advice_parts_add(advice, &all, at_once_of(rows), item);
        return true;
    }
    return false;
}

/* For programs whose arrays differ in size but share a dimension whose rows are never mixed. */
void advice_rows_find(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    uint32_t count;
    const struct rowed *rowed = rowed_find(advice, &count);
    for (uint32_t i = 0; i < count && i < CLASSES_TRIED; i++) {
        int64_t rows = advice->start.dimensions.leaves.sizes[rowed[i].class], at_once = at_once_of(rows);
        if (rows < (advice->has_backward ? ROWS_TRAINED_MIN : ROWS_APART_MIN) ||
            !rows_apart_hold(&advice->start.dimensions, rowed[i].class, facts->arena))
            continue;
        const struct cause_arrays all = rows_of_class(advice, rowed[i].class, has_rows);
        struct verdict_advice item = {
            .reason = "At most this much. No row is computed from another; sums over the rows, and the inputs of "
                      "the parts, stay whole."};
        if (all.said == NULL || !advice_saving_set(advice, &all, at_once, rows, &item))
            continue;
        advice_parts_add(advice, &all, at_once, item)->is_of_cause &= !is_enough(advice, "checkpoint=*");
        return;
    }
}
