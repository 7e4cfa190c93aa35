/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory_profile/growth.h"

#include "base/sum.h"
#include "model/memory_profile/what.h"

#include <assert.h>
#include <stdlib.h>

static const char *const kinds[] = {"steady", "shrinks", "varies", "steps_once", "grows"};

/* ---- boundaries ---- */

static int boundaries_by_time(const void *left, const void *right)
{
    const struct memory_profile_growth_boundary *a = left, *b = right;
    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* What is live after the last recorded moment is not known: it would look like a rise or a fall. */
static void boundary_add(struct memory_profile_growth *growth, int64_t time_ps, int64_t number)
{
    if (time_ps <= growth->profile->recorded_ps)
        growth->boundaries[growth->boundary_count++] = (struct memory_profile_growth_boundary){time_ps, number};
}

static void growth_step_ends(struct memory_profile_growth *growth)
{
    for (uint32_t i = 0; i < growth->profile->step_count; i++)
        boundary_add(growth, growth->profile->steps[i].end_ps, growth->profile->steps[i].number);
    growth->kind = "step";
}

/* The number of a device: "GPU_1_bfc", "1" and "/device:TPU:1" are 1. UINT32_MAX without one. */
static uint32_t growth_device_of(struct str name)
{
    size_t at = 0;
    while (at < name.length && (name.data[at] < '0' || name.data[at] > '9'))
        at++;
    uint32_t number = at < name.length ? 0 : UINT32_MAX;
    for (; at < name.length && name.data[at] >= '0' && name.data[at] <= '9' && number < 1 << 20; at++)
        number = number * 10 + (uint32_t)(name.data[at] - '0');
    return number;
}

/* The device whose memory it is; the first one for other pools. */
static uint32_t growth_plane_of(const struct memory_profile_growth *growth)
{
    const struct module_launches *launches = &growth->profile->events.launches;
    uint32_t number = growth->pool->kind == PROFILE_DEVICE ? growth_device_of(growth->pool->name) : UINT32_MAX;
    for (uint32_t i = 0; i < launches->plane_count && number != UINT32_MAX; i++)
        if (growth_device_of(launches->planes[i]) == number)
            return i;
    return 0;
}

/* Takes the launches of the module that was launched most often on the device. */
static void growth_launch_ends(struct memory_profile_growth *growth)
{
    const struct module_launches *launches = &growth->profile->events.launches;
    uint32_t *counts = arena_array(growth->arena, uint32_t, (size_t)launches->names.map.count + 1), max = 0;
    uint32_t plane = growth_plane_of(growth);
    for (size_t i = 0; i < launches->items.count; i++) {
        const struct module_launch *launch = chunks_at(&launches->items, i);
        if (launch->plane_at == plane && ++counts[launch->name_at] > counts[max])
            max = launch->name_at;
    }
    for (size_t i = 0; i < launches->items.count; i++) {
        const struct module_launch *launch = chunks_at(&launches->items, i);
        if (launch->plane_at == plane && launch->name_at == max)
            boundary_add(growth, launch->end_ps, growth->boundary_count);
    }
    growth->kind = "launch";
}

static void boundaries_make(struct memory_profile_growth *growth, enum memory_profile_growth_by by)
{
    size_t launch_count = growth->profile->events.launches.items.count;
    growth->boundaries = arena_array(growth->arena, struct memory_profile_growth_boundary,
                                     growth->profile->step_count + launch_count + 1);
    if (by == GROWTH_BY_STEP || (by == GROWTH_BY_ANY && growth->profile->step_count > 1))
        growth_step_ends(growth);
    else
        growth_launch_ends(growth);
    qsort(growth->boundaries, growth->boundary_count, sizeof(*growth->boundaries), boundaries_by_time);
    if (growth->boundary_count < 2)
        growth->kind = NULL;
}

/* ---- courses ---- */

/* The value now was that of all boundaries up to `to`. */
static void growth_settle(const struct memory_profile_growth *growth, struct memory_profile_growth_course *course,
                          uint32_t to)
{
    uint32_t from = course->next, count = to - from;
    if (count == 0)
        return;
    assert(from < to && to <= growth->boundary_count);
    double value = (double)course->bytes;
    course->sum += value * count;
    course->weighted_sum += value * ((double)from + (double)to - 1) / 2 * count;
    if (from == 0) {
        course->first_bytes = course->bytes;
        course->first_count = course->count;
    } else {
        course->grown_count += course->bytes > course->settled_bytes;
        course->shrunk_count += course->bytes < course->settled_bytes;
    }
    course->largest_bytes = course->bytes > course->largest_bytes ? course->bytes : course->largest_bytes;
    course->settled_bytes = course->bytes;
    course->next = to;
    uint32_t sparks = growth->boundary_count < GROWTH_SPARKS ? growth->boundary_count : GROWTH_SPARKS;
    for (uint32_t s = (uint32_t)(((uint64_t)from * sparks + growth->boundary_count - 1) / growth->boundary_count);
         s < sparks; s++) {
        if ((uint64_t)s * growth->boundary_count / sparks >= to)
            break;
        course->sparks[s] = course->bytes;
    }
}

double memory_profile_growth_slope(const struct memory_profile_growth *growth,
                                   const struct memory_profile_growth_course *course)
{
    double n = growth->boundary_count, mean = (n - 1) / 2, variance = n * (n * n - 1) / 12;
    return variance > 0 ? (course->weighted_sum - mean * course->sum) / variance : 0;
}

enum memory_profile_growth_course_kind memory_profile_growth_kind(const struct memory_profile_growth *growth,
                                                                  const struct memory_profile_growth_course *course)
{
    uint32_t intervals = growth->boundary_count - 1, grown = course->grown_count, shrunk = course->shrunk_count;
    if (grown + shrunk == 0)
        return GROWTH_STEADY;
    if (grown >= 2 && grown * 2 >= intervals && shrunk * 10 <= intervals && course->bytes > course->first_bytes)
        return GROWTH_GROWS;
    if (shrunk >= 2 && shrunk * 2 >= intervals && grown * 10 <= intervals && course->bytes < course->first_bytes)
        return GROWTH_SHRINKS;
    return grown + shrunk == 1 ? GROWTH_STEPS_ONCE : GROWTH_VARIES;
}

/* Op, data type, shape and what it may be make a group. */
static struct memory_profile_growth_group *growth_group_of(struct memory_profile_growth *growth, uint32_t event)
{
    const struct memory_profile *profile = growth->profile;
    uint32_t what_at = profile->what[event], number = growth->number_of[what_at];
    if (number != PROFILE_NONE)
        return chunks_at(&growth->groups, number);
    const struct memory_what *what = &profile->events.whats[what_at];
    struct str type = memory_profile_what_data_type(profile, what);
    bool is_snapshot = profile->events.snapshot != NULL; /* there a category follows from how long a block lives */
    uint64_t key[5] = {what->op, what->shape, type.length, 0, is_snapshot ? MEMORY_NO_TEXT : what->guess};
    memcpy(&key[3], type.data, type.length < sizeof(key[3]) ? type.length : sizeof(key[3]));
    growth->number_of[what_at] = number = table_number(&growth->keys, key);
    if (number == growth->groups.count) {
        struct memory_profile_growth_group *added = chunks_add(&growth->groups);
        memset(added, 0, sizeof(*added));
        added->event = event;
    }
    return chunks_at(&growth->groups, number);
}

static void growth_take(struct memory_profile_growth *growth, uint32_t allocation, bool is_freed, uint32_t passed)
{
    struct memory_profile_growth_group *group = growth_group_of(growth, allocation);
    int64_t size = growth->profile->size_bytes[allocation];
    growth_settle(growth, &group->course, passed);
    group->course.bytes = sum_add(group->course.bytes, is_freed ? -size : size);
    group->course.count += is_freed ? -1 : 1;
}

static void courses_make(struct memory_profile_growth *growth)
{
    const struct memory_profile *profile = growth->profile;
    const struct memory_profile_pool *pool = growth->pool;
    uint32_t passed = 0;
    table_init(&growth->keys, growth->arena, 5);
    growth->number_of = arena_array(growth->arena, uint32_t, profile->events.what_count + 1);
    memset(growth->number_of, 0xFF, profile->events.what_count * sizeof(*growth->number_of));
    chunks_init(&growth->groups, growth->arena, sizeof(struct memory_profile_growth_group));
    growth->whole.bytes = memory_profile_stack_bytes(profile, pool->first) + pool->base_bytes;
    for (uint32_t i = pool->first; i < pool->first + pool->count; i++) {
        while (passed < growth->boundary_count && growth->boundaries[passed].time_ps < profile->time_ps[i])
            passed++;
        if (passed == growth->boundary_count)
            break; /* what happens behind the last boundary is of no step */
        uint32_t partner = profile->partner[i];
        growth_settle(growth, &growth->whole, passed);
        growth->whole.bytes = memory_profile_in_use_bytes(profile, i);
        if (partner == i)
            continue; /* nothing tells what it belongs to */
        if (!memory_profile_is_free(profile, i))
            growth_take(growth, i, false, passed);
        else if (partner != PROFILE_NONE)
            growth_take(growth, partner, true, passed);
    }
    growth_settle(growth, &growth->whole, growth->boundary_count);
    for (size_t g = 0; g < growth->groups.count; g++)
        growth_settle(growth, &((struct memory_profile_growth_group *)chunks_at(&growth->groups, g))->course,
                      growth->boundary_count);
}

/* ---- the door ---- */

void memory_profile_growth_make(struct memory_profile_growth *growth, const struct memory_profile_pool *pool,
                                enum memory_profile_growth_by by, struct arena *arena)
{
    *growth = (struct memory_profile_growth){.arena = arena, .profile = pool->profile, .pool = pool};
    boundaries_make(growth, by);
    if (growth->kind != NULL)
        courses_make(growth);
}

const char *memory_profile_growth_word(uint8_t kind) { return kind < GROWTH_KINDS ? kinds[kind] : NULL; }

const uint8_t *memory_profile_growth_kinds(const struct memory_profile_pool *pool, struct arena *arena)
{
    struct memory_profile_growth *growth = arena_array(arena, struct memory_profile_growth, 1);
    memory_profile_growth_make(growth, pool, GROWTH_BY_ANY, arena);
    if (growth->kind == NULL)
        return NULL;
    size_t count = pool->profile->events.what_count;
    uint8_t *out = arena_array(arena, uint8_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        uint32_t number = growth->number_of[i];
        out[i] = UINT8_MAX;
        if (number != PROFILE_NONE) {
            const struct memory_profile_growth_group *group = chunks_at(&growth->groups, number);
            out[i] = (uint8_t)memory_profile_growth_kind(growth, &group->course);
        }
    }
    return out;
}

bool memory_profile_growth_find_most(const struct memory_profile_pool *pool, int64_t min_bytes, struct arena *arena,
                                     struct memory_profile_growth_most *out)
{
    struct memory_profile_growth *growth = arena_array(arena, struct memory_profile_growth, 1);
    double steepest = 0;
    memory_profile_growth_make(growth, pool, GROWTH_BY_ANY, arena);
    if (growth->kind == NULL)
        return false;
    for (size_t i = 0; i < growth->groups.count; i++) {
        const struct memory_profile_growth_group *group = chunks_at(&growth->groups, i);
        const struct memory_profile_growth_course *course = &group->course;
        double slope = memory_profile_growth_slope(growth, course);
        int64_t change = course->bytes - course->first_bytes;
        if (memory_profile_growth_kind(growth, course) != GROWTH_GROWS || change < min_bytes || slope <= steepest)
            continue;
        steepest = slope;
        *out = (struct memory_profile_growth_most){group->event,        (int64_t)(slope + 0.5),     change,
                                                   course->grown_count, growth->boundary_count - 1, growth->kind};
    }
    return steepest > 0;
}
