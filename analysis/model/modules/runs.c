/* SPDX-License-Identifier: Apache-2.0
 * runs.c: see runs.h. */
#include "model/modules/runs.h"

#include "base/sum.h"

#include <stdlib.h>

struct launch {
    int64_t begin_ps, end_ps;
    uint32_t plane, name;
};

static int by_plane_and_begin(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    return ORDER(a->plane, b->plane) ?: ORDER(a->begin_ps, b->begin_ps) ?: ORDER(a->end_ps, b->end_ps);
}

static int by_key(const void *left, const void *right)
{
    const struct module_run *a = left, *b = right;
    return str_compare(a->key, b->key);
}

static struct str runs_kept(struct arena *arena, struct str text)
{
    return (struct str){arena_text(arena, text), text.length};
}

/* Launches are ordered by plane and begin. */
static void overlaps_find(const struct module_launches *from, const struct launch *launches, size_t count,
                          struct arena *arena, struct module_runs *out)
{
    const struct launch *latest = NULL, *first = NULL, *second = NULL; /* latest: whose end is */
    for (size_t i = 0; i < count; i++) {
        const struct launch *launch = &launches[i];
        bool is_same_plane = latest != NULL && latest->plane == launch->plane;
        if (is_same_plane && latest->name != launch->name && launch->begin_ps < latest->end_ps) {
            int64_t end_ps = launch->end_ps < latest->end_ps ? launch->end_ps : latest->end_ps;
            out->overlap_count += end_ps > launch->begin_ps;
            if (end_ps - launch->begin_ps > out->overlap_ps) {
                out->overlap_ps = end_ps - launch->begin_ps;
                first = latest;
                second = launch;
            }
        }
        if (!is_same_plane || launch->end_ps > latest->end_ps)
            latest = launch;
    }
    if (first == NULL)
        return;
    out->overlap_plane = runs_kept(arena, from->planes[first->plane]);
    out->overlap_first = runs_kept(arena, from->names.items[first->name]);
    out->overlap_second = runs_kept(arena, from->names.items[second->name]);
}

void runs_take(const struct module_launches *from, struct arena *scratch, struct arena *arena, struct module_runs *out)
{
    size_t count = from->items.count, name_count = from->names.map.count;
    struct launch *launches = arena_array(scratch, struct launch, count + 1);
    uint32_t *last_plane = arena_array(scratch, uint32_t, name_count + 1); /* of a name, from 1 on */
    int64_t start_ps = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct module_launch *launch = chunks_at(&from->items, i);
        launches[i] = (struct launch){launch->begin_ps, launch->end_ps, launch->plane_at, launch->name_at};
        start_ps = launch->begin_ps < start_ps ? launch->begin_ps : start_ps;
    }
    qsort(launches, count, sizeof(*launches), by_plane_and_begin);
    *out = (struct module_runs){.items = arena_array(arena, struct module_run, name_count + 1),
                                .count = (uint32_t)name_count,
                                .run_count = count,
                                .inferred_count = from->inferred_count,
                                .unclear_count = from->unclear_count,
                                .damaged_count = from->damaged_count};
    for (size_t i = 0; i < name_count; i++)
        out->items[i] = (struct module_run){.key = runs_kept(arena, from->names.items[i]), .first_ps = INT64_MAX};
    for (size_t i = 0; i < count; i++) {
        struct module_run *run = &out->items[launches[i].name];
        int64_t begin_ps = launches[i].begin_ps - start_ps, end_ps = launches[i].end_ps - start_ps;
        out->device_count += i == 0 || launches[i].plane != launches[i - 1].plane;
        run->run_count++;
        run->device_count += last_plane[launches[i].name] != launches[i].plane + 1;
        last_plane[launches[i].name] = launches[i].plane + 1;
        run->first_ps = begin_ps < run->first_ps ? begin_ps : run->first_ps;
        run->last_ps = end_ps > run->last_ps ? end_ps : run->last_ps;
        run->busy_ps = sum_add(run->busy_ps, end_ps - begin_ps);
    }
    overlaps_find(from, launches, count, arena, out);
    qsort(out->items, out->count, sizeof(*out->items), by_key);
}

const struct module_run *runs_find(const struct module_runs *runs, struct str key)
{
    const struct module_run wanted = {.key = key};
    const struct module_run *found =
        runs->count > 0 ? bsearch(&wanted, runs->items, runs->count, sizeof(*runs->items), by_key) : NULL;
    return found != NULL && found->run_count > 0 ? found : NULL;
}
