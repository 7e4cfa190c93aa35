/* SPDX-License-Identifier: Apache-2.0
 * overview.c: see overview.h. */
#include "model/modules/overview.h"

#include "base/sum.h"
#include "plan/program_arrays.h"

#include <stdlib.h>

enum { DEVICE_SPACE = 0 };

/* ---- modules and hosts ---- */

struct member {
    struct str name, key;
    uint32_t item, host;
};

static int by_name(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    return str_compare(a->name, b->name) ?: ORDER(a->item, b->item);
}

static int by_key(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    return str_compare(a->key, b->key) ?: ORDER(a->item, b->item);
}

static bool is_host_of(const struct module_item *a, const struct module_item *b)
{
    return a->host_id == b->host_id ||
           (a->host_id != NULL && b->host_id != NULL && strcmp(a->host_id, b->host_id) == 0);
}

static void hosts_find(struct overview *overview)
{
    const struct module_set *set = overview->set;
    overview->hosts = arena_array(overview->arena, struct overview_host, (size_t)set->count + 1);
    for (uint32_t i = 0; i < set->count; i++) {
        if (i == 0 || !is_host_of(&set->items[i], &set->items[i - 1]))
            overview->hosts[overview->host_count++] = (struct overview_host){.item = i, .row = OVERVIEW_NONE};
        struct overview_host *host = &overview->hosts[overview->host_count - 1];
        overview->host_of[i] = overview->host_count - 1;
        host->module_count++;
        host->failed_count += set->items[i].code != NULL;
        overview->read_count += set->items[i].figures != NULL;
        overview->failed_count += set->items[i].code != NULL;
    }
    overview->unread_count = set->count - overview->read_count - overview->failed_count;
}

static void group_add(struct overview *overview, const struct member *members, uint32_t count, uint32_t first)
{
    struct overview_group *group = &overview->groups[overview->group_count];
    *group = (struct overview_group){.first = first, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        const struct module_item *item = &overview->set->items[members[i].item];
        overview->order[first + i] = members[i].item;
        overview->group_of[members[i].item] = overview->group_count;
        group->read_count += item->figures != NULL;
        group->failed_count += item->code != NULL;
    }
    if (count < overview->host_count)
        group->absent_count = overview->host_count - count;
    overview->group_count++;
}

/* Members of one name, by item: by host, then. */
static bool is_one_a_host(const struct member *members, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (members[i].host == members[i - 1].host)
            return false;
    return true;
}

static void groups_find(struct overview *overview)
{
    const struct module_set *set = overview->set;
    struct arena *arena = overview->arena;
    struct member *members = arena_array(arena, struct member, (size_t)set->count + 1);
    overview->groups = arena_array(arena, struct overview_group, (size_t)set->count + 1);
    for (uint32_t i = 0; i < set->count; i++)
        members[i] = (struct member){str_of(set->items[i].name), str_of(set->items[i].key), i, overview->host_of[i]};
    qsort(members, set->count, sizeof(*members), by_name);
    for (uint32_t first = 0, end; first < set->count; first = end) {
        for (end = first + 1; end < set->count && str_equal(members[first].name, members[end].name);)
            end++;
        if (is_one_a_host(members + first, end - first)) {
            group_add(overview, members + first, end - first, first);
            continue;
        }
        qsort(members + first, end - first, sizeof(*members), by_key);
        for (uint32_t part = first, stop; part < end; part = stop) {
            for (stop = part + 1; stop < end && str_equal(members[part].key, members[stop].key);)
                stop++;
            group_add(overview, members + part, stop - part, part);
        }
    }
}

/* ---- rows ---- */

static int by_number(const void *left, const void *right)
{
    return ORDER(*(const int64_t *)left, *(const int64_t *)right);
}

struct pair {
    int64_t total_bytes, peak_bytes;
};

static int by_pair(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    return ORDER(a->total_bytes, b->total_bytes) ?: ORDER(a->peak_bytes, b->peak_bytes);
}

static const struct module_figures *figures_at(const struct overview *overview, const struct overview_group *group,
                                               uint32_t at)
{
    return overview->set->items[overview->order[group->first + at]].figures;
}

static struct pair pair_of(const struct module_figures *figures, int64_t number)
{
    const struct module_space *space = figures_space(figures, number);
    return space != NULL ? (struct pair){space->total_bytes, space->peak_bytes} : (struct pair){0, 0};
}

/* The figures that most hosts have. */
static struct pair usual_of(const struct overview *overview, const struct overview_group *group, int64_t number)
{
    struct pair *pairs = arena_array(overview->arena, struct pair, group->read_count + 1);
    uint32_t count = 0, best = 0, best_count = 0;
    for (uint32_t i = 0; i < group->count; i++)
        if (figures_at(overview, group, i) != NULL)
            pairs[count++] = pair_of(figures_at(overview, group, i), number);
    qsort(pairs, count, sizeof(*pairs), by_pair);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && by_pair(&pairs[first], &pairs[end]) == 0;)
            end++;
        if (end - first > best_count) {
            best = first;
            best_count = end - first;
        }
    }
    return pairs[best];
}

static struct overview_row *row_add(struct overview *overview)
{
    size_t capacity = overview->row_capacity;
    overview->rows = arena_grown(overview->arena, overview->rows, (size_t)overview->row_count + 1, &capacity,
                                 sizeof(*overview->rows));
    overview->row_capacity = (uint32_t)capacity;
    return &overview->rows[overview->row_count++];
}

/* A memory space of a module, over all hosts. */
struct across {
    int64_t number;
    const char *name;
    struct pair usual;
    uint32_t outlier_count;
};

static struct across across_of(const struct overview *overview, const struct overview_group *group, int64_t number)
{
    struct across across = {.number = number, .name = "", .usual = usual_of(overview, group, number)};
    arena_work(overview->arena, group->count);
    for (uint32_t i = group->count; i-- > 0;) {
        const struct module_figures *figures = figures_at(overview, group, i);
        const struct module_space *space = figures != NULL ? figures_space(figures, number) : NULL;
        struct pair pair = figures != NULL ? pair_of(figures, number) : across.usual;
        across.outlier_count += by_pair(&pair, &across.usual) != 0;
        across.name = space != NULL ? space->name : across.name;
    }
    return across;
}

static void row_of_host(struct overview *overview, uint32_t group_at, const struct across *across, uint32_t at)
{
    const struct overview_group *group = &overview->groups[group_at];
    struct pair pair = pair_of(figures_at(overview, group, at), across->number);
    *row_add(overview) = (struct overview_row){
        .group = group_at,
        .item = overview->order[group->first + at],
        .space = figures_space(figures_at(overview, group, at), across->number),
        .has_space = true,
        .space_number = across->number,
        .space_name = across->name,
        .outlier_count = across->outlier_count,
        .has_usual = group->read_count > 1,
        .difference_bytes = pair.total_bytes - across->usual.total_bytes,
        .is_outlier = by_pair(&pair, &across->usual) != 0,
        .is_single = true,
    };
}

/* For all hosts together, takes the host with the largest total. */
static void row_of_all(struct overview *overview, uint32_t group_at, const struct across *across)
{
    const struct overview_group *group = &overview->groups[group_at];
    uint32_t largest = OVERVIEW_NONE;
    int64_t largest_bytes = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        if (figures_at(overview, group, i) == NULL)
            continue;
        int64_t bytes = pair_of(figures_at(overview, group, i), across->number).total_bytes;
        if (largest == OVERVIEW_NONE || bytes > largest_bytes) {
            largest = i;
            largest_bytes = bytes;
        }
    }
    row_of_host(overview, group_at, across, largest);
    struct overview_row *row = &overview->rows[overview->row_count - 1];
    row->is_single = false;
    row->is_outlier = across->outlier_count > 0;
}

static void row_without_space(struct overview *overview, uint32_t group_at, uint32_t item, bool is_single)
{
    *row_add(overview) = (struct overview_row){.group = group_at, .item = item, .is_single = is_single};
}

/* The numbers of the spaces that any host's module has, each once. */
static uint32_t spaces_of(const struct overview *overview, const struct overview_group *group, int64_t **numbers)
{
    size_t capacity = 0;
    uint32_t count = 0, kept = 0;
    *numbers = NULL;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct module_figures *figures = figures_at(overview, group, i);
        for (uint32_t space = 0; figures != NULL && space < figures->space_count; space++) {
            *numbers = arena_grown(overview->arena, *numbers, (size_t)count + 1, &capacity, sizeof(**numbers));
            (*numbers)[count++] = figures->spaces[space].space;
        }
    }
    if (count > 0)
        qsort(*numbers, count, sizeof(**numbers), by_number);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || (*numbers)[i] != (*numbers)[i - 1])
            (*numbers)[kept++] = (*numbers)[i];
    return kept;
}

/* One row of a group that no host's figures are known of says why: a failure before what was not read yet. */
static uint32_t item_to_tell(const struct overview *overview, const struct overview_group *group)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (overview->set->items[overview->order[group->first + i]].code != NULL)
            return overview->order[group->first + i];
    return overview->order[group->first];
}

static void rows_make(struct overview *overview, bool is_split)
{
    overview->row_count = overview->row_capacity = 0;
    overview->rows = NULL;
    for (uint32_t at = 0; at < overview->group_count; at++) {
        const struct overview_group *group = &overview->groups[at];
        int64_t *numbers;
        uint32_t count = spaces_of(overview, group, &numbers);
        for (uint32_t i = 0; i < count; i++) {
            struct across across = across_of(overview, group, numbers[i]);
            for (uint32_t host = 0; is_split && host < group->count; host++)
                if (figures_at(overview, group, host) != NULL)
                    row_of_host(overview, at, &across, host);
            if (!is_split)
                row_of_all(overview, at, &across);
        }
        for (uint32_t i = 0; is_split && i < group->count; i++)
            if (figures_at(overview, group, i) == NULL || count == 0)
                row_without_space(overview, at, overview->order[group->first + i], true);
        if (!is_split && count == 0)
            row_without_space(overview, at, item_to_tell(overview, group), false);
    }
}

void overview_split(struct overview *overview) { rows_make(overview, true); }

/* sentences about hosts */

static void main_space_find(struct overview *overview)
{
    int64_t largest = -1;
    for (uint32_t i = 0; i < overview->row_count; i++) {
        const struct overview_row *row = &overview->rows[i];
        bool is_better = row->space != NULL && (!overview->has_space || overview->main_space != DEVICE_SPACE) &&
                         (row->space_number == DEVICE_SPACE || row->space->total_bytes > largest);
        if (!is_better)
            continue;
        overview->has_space = true;
        overview->main_space = row->space_number;
        overview->main_space_name = row->space_name;
        largest = row->space->total_bytes;
    }
}

static int64_t overview_magnitude(int64_t value) { return value < 0 ? -value : value; }

static void host_differs(struct overview *overview, uint32_t host_at, uint32_t row_at, int64_t difference)
{
    struct overview_host *host = &overview->hosts[host_at];
    host->outlier_count++;
    bool is_main = overview->rows[row_at].space_number == overview->main_space;
    if (is_main &&
        (host->row == OVERVIEW_NONE || overview_magnitude(difference) > overview_magnitude(host->difference_bytes))) {
        host->row = row_at;
        host->difference_bytes = difference;
    }
}

static void outliers_find(struct overview *overview)
{
    for (uint32_t at = 0; at < overview->row_count; at++) {
        const struct overview_row *row = &overview->rows[at];
        const struct overview_group *group = &overview->groups[row->group];
        if (!row->has_space || row->outlier_count == 0)
            continue;
        struct pair usual = usual_of(overview, group, row->space_number);
        for (uint32_t i = 0; i < group->count; i++) {
            const struct module_figures *figures = figures_at(overview, group, i);
            struct pair pair = figures != NULL ? pair_of(figures, row->space_number) : usual;
            if (by_pair(&pair, &usual) != 0)
                host_differs(overview, overview->host_of[overview->order[group->first + i]], at,
                             pair.total_bytes - usual.total_bytes);
        }
    }
}

/* A module that more than half of the hosts have is missing on the others. */
static void missing_find(struct overview *overview)
{
    uint32_t *last = arena_array(overview->arena, uint32_t, (size_t)overview->host_count + 1);
    for (uint32_t at = 0; at < overview->group_count; at++) {
        const struct overview_group *group = &overview->groups[at];
        if (group->absent_count == 0 || group->count * UINT64_C(2) <= overview->host_count)
            continue;
        arena_work(overview->arena, overview->host_count);
        for (uint32_t i = 0; i < group->count; i++)
            last[overview->host_of[overview->order[group->first + i]]] = at + 1;
        for (uint32_t host = 0; host < overview->host_count; host++)
            overview->hosts[host].missing_count += last[host] != at + 1;
    }
}

void overview_build(const struct module_set *set, int64_t capacity_bytes, struct arena *arena, struct buf *scratch,
                    struct overview *out)
{
    *out = (struct overview){.set = set, .arena = arena, .scratch = scratch, .capacity_bytes = capacity_bytes};
    out->order = arena_array(arena, uint32_t, (size_t)set->count + 1);
    out->host_of = arena_array(arena, uint32_t, (size_t)set->count + 1);
    out->group_of = arena_array(arena, uint32_t, (size_t)set->count + 1);
    hosts_find(out);
    groups_find(out);
    rows_make(out, false);
    main_space_find(out);
    outliers_find(out);
    missing_find(out);
}

/* ---- a row ---- */

enum overview_state overview_state_of(const struct overview *overview, const struct overview_row *row)
{
    const struct module_item *item = overview_item(overview, row);
    if (row->has_space)
        return OVERVIEW_READ;
    if (item->figures != NULL)
        return item->figures->has_assignment ? OVERVIEW_READ : OVERVIEW_NO_ASSIGNMENT;
    return item->code != NULL ? OVERVIEW_FAILED : OVERVIEW_NOT_READ;
}

const char *overview_state_name(enum overview_state state)
{
    static const char *const names[] = {"read", "not_read", "failed", "no_assignment"};
    return names[state];
}

struct memory_capacity overview_device(const struct overview *overview, const struct overview_row *row)
{
    if (!row->has_space || row->space_number != DEVICE_SPACE)
        return (struct memory_capacity){.bytes = -1, .asked_bytes = -1};
    if (overview->capacity_bytes > 0)
        return (struct memory_capacity){.bytes = overview->capacity_bytes, .asked_bytes = -1, .source = "as chosen"};
    return overview_item(overview, row)->capacity;
}

int64_t overview_capacity(const struct overview *overview, const struct overview_row *row)
{
    int64_t bytes = overview_device(overview, row).bytes;
    return bytes > 0 ? bytes : 0;
}

const struct module_run *overview_run(const struct module_item *item)
{
    return item->runs != NULL ? runs_find(item->runs, str_of(item->key)) : NULL;
}

static const char *figures_remark(const struct overview_row *row, const struct module_figures *figures)
{
    if (!figures->has_assignment)
        return PROGRAM_ARRAYS_NOTHING;
    if (row->space == NULL)
        return row->has_space ? "On this host it takes nothing in this space." : "It takes no memory.";
    if (!row->space->has_peak)
        return figures->has_schedule
                   ? "The replay of its heap trace ends early: its peak is not known."
                   : "It has neither heap trace nor schedule: what is live at a given time is not known, but totals "
                     "are right.";
    if (!figures->has_names)
        return "No instruction names its operation: names do not show whose memory it is.";
    return NULL;
}

const char *overview_remark(const struct overview *overview, const struct overview_row *row)
{
    const struct module_item *item = overview_item(overview, row);
    const struct overview_group *group = &overview->groups[row->group];
    uint32_t unread_count = group->count - group->read_count - group->failed_count;
    switch (overview_state_of(overview, row)) {
    case OVERVIEW_FAILED: return item->reason;
    case OVERVIEW_NOT_READ: return "Not read yet.";
    default: break;
    }
    if (!row->is_single && group->failed_count > 0)
        return arena_format(overview->arena, "On %u of %u hosts it cannot be read.", group->failed_count, group->count);
    if (!row->is_single && unread_count > 0)
        return arena_format(overview->arena, "On %u of %u hosts it is not read yet.", unread_count, group->count);
    return figures_remark(row, item->figures);
}
