/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/regions_period.h"

#include "read/hlo/shape.h"

enum { PERIOD_MAX = 16, PERIODS_LEAST = 3 };

/* Matrices in the order of the arguments. */
struct list {
    uint32_t *regions;
    uint64_t *shapes; /* hashes */
    uint32_t count;
};

static bool is_number(struct str name) { return name.length > 0 && str_digits(name, 0) == name.length; }

/* False: a region has several, or is none of a list's. */
static bool list_read(const struct plan *plan, const struct regions *layers, const uint32_t *of, struct arena *arena,
                      struct list *out)
{
    bool *is_met = arena_array(arena, bool, (size_t)layers->count + 1);
    *out = (struct list){arena_array(arena, uint32_t, (size_t)plan->argument_count + 1),
                         arena_array(arena, uint64_t, (size_t)plan->argument_count + 1), 0};
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        struct shape_array shape;
        uint32_t region = of[i];
        if (region >= layers->count)
            continue;
        if (is_met[region] || !is_number(layers->items[region].name) ||
            layers->items[region].kind != layers->items[0].kind || !shape_array_read(plan->arguments[i].shape, &shape))
            return false;
        is_met[region] = true;
        out->regions[out->count] = region;
        out->shapes[out->count++] = shape_array_hash(&shape);
    }
    return true;
}

static bool are_alike(const struct list *list, uint32_t first, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (list->shapes[first + i] != list->shapes[first])
            return false;
    return true;
}

/* Where the longest run of that period begins; its length into `length`. */
static uint32_t longest_run(const struct list *list, uint32_t period, uint32_t *length)
{
    uint32_t begin = 0, best = 0;
    *length = 0;
    for (uint32_t i = 0; i + period < list->count; i++) {
        if (list->shapes[i] != list->shapes[i + period]) {
            begin = i + 1;
            continue;
        }
        if (i + period + 1 - begin > *length) {
            *length = i + period + 1 - begin;
            best = begin;
        }
    }
    return best;
}

void regions_period_join(const struct plan *plan, struct regions *layers, uint32_t *of, struct arena *arena)
{
    struct list list;
    if (layers->count < PERIODS_LEAST || !list_read(plan, layers, of, arena, &list))
        return;
    for (uint32_t period = 2, length; period <= PERIOD_MAX; period++) {
        uint32_t first = longest_run(&list, period, &length), whole = length / period * period;
        arena_work(arena, list.count);
        if (length < period * PERIODS_LEAST || length < list.count / 2 || are_alike(&list, first, period))
            continue;
        uint32_t *into = arena_raw(arena, ((size_t)layers->count + 1) * sizeof(*into));
        for (uint32_t i = 0; i < layers->count; i++)
            into[i] = i;
        for (uint32_t i = 0; i < whole; i++) {
            uint32_t layer = list.regions[first + i / period * period];
            into[list.regions[first + i]] = layer;
            if (i % period == 0) /* layers before and behind the run are of another kind */
                layers->items[layer].kind = hash_number(period, layers->items[layer].kind);
        }
        for (uint32_t i = 0; i < plan->argument_count; i++)
            of[i] = of[i] < layers->count ? into[of[i]] : of[i];
        return;
    }
}
