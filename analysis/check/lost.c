/* SPDX-License-Identifier: Apache-2.0
 * lost.c: see lost.h. */
#include "check/lost.h"

#include "base/sum.h"
#include "plan/arguments.h"
#include "read/hlo/graph.h"
#include "read/hlo/hlo_aliases.h"
#include "whatif/call.h"

/* ---- arguments ---- */

struct donated {
    const struct plan *plan;
    bool *flags; /* as plan->arguments */
};

static void donated_take(void *context, uint64_t result, int64_t parameter_number)
{
    struct donated *donated = context;
    const struct plan_argument *argument = arguments_find(donated->plan, parameter_number);
    (void)result;
    if (argument != NULL)
        donated->flags[argument - donated->plan->arguments] = true;
}

static bool *donated_find(const struct plan *plan, struct arena *arena)
{
    struct donated donated = {plan, arena_array(arena, bool, (size_t)plan->argument_count + 1)};
    for (uint32_t i = 0; i < plan->hlo.alias_count; i++)
        arena_work(arena, plan->hlo.alias_bytes[i].length);
    hlo_aliases_each(&plan->hlo, donated_take, &donated);
    return donated.flags;
}

/* The argument of `plan` that one of the program before is now. */
static const struct plan_argument *argument_now(const struct plan *plan, const struct map *by_path,
                                                const struct plan_argument *before, struct arena *arena)
{
    if (before->path.length == 0) {
        const struct plan_argument *same = arguments_find(plan, before->number);
        return same != NULL && same->path.length == 0 && same->bytes == before->bytes ? same : NULL;
    }
    uint32_t at = map_get(by_path, map_hash_text(arena, before->path, 0));
    return at != MAP_NONE && str_equal(plan->arguments[at].path, before->path) ? &plan->arguments[at] : NULL;
}

void lost_donation_find(const struct plan *plan, const struct plan *before, struct arena *arena,
                        struct lost_donation *out)
{
    const bool *was = donated_find(before, arena), *is = donated_find(plan, arena);
    bool *lost = arena_array(arena, bool, (size_t)plan->argument_count + 1);
    const struct plan_argument *largest = NULL;
    struct map by_path;
    *out = (struct lost_donation){.call = ""};
    map_init(&by_path, arena, plan->argument_count);
    for (uint32_t i = 0; i < plan->argument_count; i++)
        map_put(&by_path, map_hash_text(arena, plan->arguments[i].path, 0), i, false);
    for (uint32_t i = 0; i < before->argument_count; i++) {
        const struct plan_argument *now = was[i] ? argument_now(plan, &by_path, &before->arguments[i], arena) : NULL;
        if (now == NULL || is[now - plan->arguments] || lost[now - plan->arguments])
            continue;
        lost[now - plan->arguments] = true;
        out->count++;
        out->bytes = sum_add(out->bytes, now->bytes);
        if (largest == NULL || now->bytes > largest->bytes)
            largest = now;
    }
    if (largest == NULL)
        return;
    out->largest = largest->path.length > 0 ? largest->path
                                            : str_of(arena_format(arena, "argument %lld", (long long)largest->number));
    out->call = call_donation(plan, lost, arena);
}

/* ---- fusions ---- */

static bool is_inside(const struct plan *plan, uint32_t at)
{
    uint32_t computation_at = plan->hlo.instructions[at].computation_at;
    return plan->graph->root_of[computation_at] != at && graph_fusion_around(plan->graph, at) != HLO_NONE;
}

static void name_add(struct map *names, const struct plan *plan, uint32_t at, struct arena *arena)
{
    struct str name = at == HLO_NONE ? (struct str){"", 0} : graph_op_name(plan->graph, at);
    if (name.length > 0)
        map_put(names, map_hash_text(arena, name, 0), 0, true);
}

/* Op names of what a program stores, and of what it computes inside of fusions. */
static void names_find(const struct plan *plan, struct map *stored, struct map *inside, struct arena *arena)
{
    map_init(stored, arena, plan->hlo.buffer_count);
    map_init(inside, arena, 0);
    for (uint32_t i = 0; i < plan->hlo.buffer_count; i++)
        name_add(stored, plan, plan->hlo.buffers[i].instruction_at, arena);
    for (uint32_t space = 0; space < plan->space_count; space++)
        for (uint32_t i = 0; i < plan->spaces[space].row_count; i++) {
            name_add(stored, plan, plan->spaces[space].rows[i].made_by, arena);
            name_add(stored, plan, plan->spaces[space].rows[i].named_by, arena);
        }
    for (uint32_t i = 0; i < plan->hlo.instruction_count; i++)
        if (is_inside(plan, i))
            name_add(inside, plan, i, arena);
}

static bool is_lost(const struct compare *compare, const struct compare_pair *pair, const struct map *stored,
                    const struct map *inside, struct arena *arena)
{
    const struct compare_item *item = compare_item_of(compare, pair, COMPARE_B);
    if (pair->state != COMPARE_NEW || item == NULL || !item->has_name || item->row->is_indefinite)
        return false;
    uint64_t key = map_hash_text(arena, compare_name(compare, item, false), 0);
    return map_get(stored, key) == MAP_NONE && map_get(inside, key) != MAP_NONE;
}

void lost_fusion_find(const struct compare *compare, struct arena *arena, struct lost_fusion *out)
{
    const struct plan *before = compare->sides[COMPARE_A].plan;
    struct map stored, inside;
    *out = (struct lost_fusion){.count = 0};
    if (before->graph == NULL || compare->counts[COMPARE_NEW] == 0)
        return;
    names_find(before, &stored, &inside, arena);
    for (uint32_t i = 0; i < compare->pair_count; i++) {
        const struct compare_pair *pair = &compare->pairs[i];
        if (!is_lost(compare, pair, &stored, &inside, arena))
            continue;
        const struct compare_group *group = &compare->groups[pair->group];
        out->count++;
        out->bytes = sum_add(out->bytes, pair->delta_bytes);
        if (out->largest == NULL || group->delta_bytes > out->largest->delta_bytes)
            out->largest = group;
    }
}
