/* SPDX-License-Identifier: Apache-2.0
 * growth.c: the view "growth": live bytes at the end of each step by op, data
 * type and shape, and what became of them: a leak is the first row.
 *
 * Values change at few boundaries, so each group is settled only when it changes:
 * the cost is that of the events, not of groups × steps. */
#include "base/sum.h"
#include "tool/memory_profile/rows.h"

#include <stdlib.h>

enum { SPARKS = 64 };

enum verdict { STEADY, SHRINKS, VARIES, STEPS_ONCE, GROWS };
static const char *const verdicts[] = {"steady", "shrinks", "varies", "steps_once", "grows"};

/* A course over the boundaries, settled up to `next`. */
struct course {
    uint32_t next;
    int64_t bytes, count;  /* now */
    int64_t settled_bytes; /* at the boundary before `next` */
    int64_t first_bytes, first_count, largest_bytes;
    uint32_t grown_count, shrunk_count;
    double sum, weighted_sum; /* of values, and of values times their boundary's number */
    int64_t sparks[SPARKS];
};

struct group {
    uint32_t event;
    struct course course;
};

enum field { SIZE, SLOPE, OP, DTYPE, SHAPE, VERDICT, COUNT, FIRST, RANK, FIELD_COUNT };
static const struct filter_field fields[FIELD_COUNT + 1] = {
    [SIZE] = {"size", FILTER_NUMBER, false},   [SLOPE] = {"slope", FILTER_NUMBER, false},
    [OP] = {"op", FILTER_TEXT, true},          [DTYPE] = {"dtype", FILTER_TEXT, false},
    [SHAPE] = {"shape", FILTER_SHAPE, true},   [VERDICT] = {"verdict", FILTER_TEXT, false},
    [COUNT] = {"count", FILTER_NUMBER, false}, [FIRST] = {"first", FILTER_NUMBER, false},
    [RANK] = {"rank", FILTER_NUMBER, false},   [FIELD_COUNT] = {NULL, FILTER_TEXT, false},
};
static const struct memory_profile_rows_sort longer[] = {{"verdict", RANK}, {"last", SIZE}, {NULL, 0}};

struct boundary {
    int64_t time_ps, number;
};

struct growth {
    const struct tool_request *request;
    const struct memory_profile *profile;
    const struct memory_profile_pool *pool;
    const char *kind; /* "step", "launch"; NULL: there is none */
    struct boundary *boundaries;
    uint32_t boundary_count;
    struct table keys;
    uint32_t *number_of;  /* group of each `what` of the trace; PROFILE_NONE before it is met */
    struct chunks groups; /* struct group */
    struct course whole;
};

/* ---- boundaries ---- */

static int by_time(const void *left, const void *right)
{
    const struct boundary *a = left, *b = right;
    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* What is live after the last recorded moment is not known: it would look like a rise or a fall. */
static void boundary_add(struct growth *growth, int64_t time_ps, int64_t number)
{
    if (time_ps <= growth->profile->recorded_ps)
        growth->boundaries[growth->boundary_count++] = (struct boundary){time_ps, number};
}

static void step_ends(struct growth *growth)
{
    for (uint32_t i = 0; i < growth->profile->step_count; i++)
        boundary_add(growth, growth->profile->steps[i].end_ps, growth->profile->steps[i].number);
    growth->kind = "step";
}

/* The number of a device: "GPU_1_bfc", "1" and "/device:TPU:1" are 1. UINT32_MAX without one. */
static uint32_t device_of(struct str name)
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
static uint32_t plane_of(const struct growth *growth)
{
    const struct module_launches *launches = &growth->profile->events.launches;
    uint32_t number = growth->pool->kind == PROFILE_DEVICE ? device_of(growth->pool->name) : UINT32_MAX;
    for (uint32_t i = 0; i < launches->plane_count && number != UINT32_MAX; i++)
        if (device_of(launches->planes[i]) == number)
            return i;
    return 0;
}

/* Of the module that was launched most often on the device. */
static void launch_ends(struct growth *growth)
{
    const struct module_launches *launches = &growth->profile->events.launches;
    uint32_t *counts = arena_array(growth->request->arena, uint32_t, (size_t)launches->name_count + 1), most = 0;
    uint32_t plane = plane_of(growth);
    for (size_t i = 0; i < launches->items.count; i++) {
        const struct module_launch *launch = chunks_at(&launches->items, i);
        if (launch->plane_at == plane && ++counts[launch->name_at] > counts[most])
            most = launch->name_at;
    }
    for (size_t i = 0; i < launches->items.count; i++) {
        const struct module_launch *launch = chunks_at(&launches->items, i);
        if (launch->plane_at == plane && launch->name_at == most)
            boundary_add(growth, launch->end_ps, growth->boundary_count);
    }
    growth->kind = "launch";
}

static bool boundaries_make(struct growth *growth, struct err *err)
{
    const char *kind = tool_param_text(growth->request, "boundary");
    bool is_step = kind != NULL && strcmp(kind, "step") == 0, is_launch = kind != NULL && strcmp(kind, "launch") == 0;
    if (kind != NULL && kind[0] != '\0' && !is_step && !is_launch)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "boundary: \"%.40s\" is neither step nor launch", kind);
    size_t launch_count = growth->profile->events.launches.items.count;
    growth->boundaries =
        arena_array(growth->request->arena, struct boundary, growth->profile->step_count + launch_count + 1);
    if (is_step || (!is_launch && growth->profile->step_count > 1))
        step_ends(growth);
    else
        launch_ends(growth);
    qsort(growth->boundaries, growth->boundary_count, sizeof *growth->boundaries, by_time);
    if (growth->boundary_count < 2)
        growth->kind = NULL;
    return true;
}

/* ---- courses ---- */

/* The value now was that of all boundaries up to `to`. */
static void settle(const struct growth *growth, struct course *course, uint32_t to)
{
    uint32_t from = course->next, count = to - from;
    if (count == 0)
        return;
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
    uint32_t sparks = growth->boundary_count < SPARKS ? growth->boundary_count : SPARKS;
    for (uint32_t s = (uint32_t)(((uint64_t)from * sparks + growth->boundary_count - 1) / growth->boundary_count);
         s < sparks; s++) {
        if ((uint64_t)s * growth->boundary_count / sparks >= to)
            break;
        course->sparks[s] = course->bytes;
    }
}

static double slope_of(const struct growth *growth, const struct course *course)
{
    double n = growth->boundary_count, mean = (n - 1) / 2, variance = n * (n * n - 1) / 12;
    return variance > 0 ? (course->weighted_sum - mean * course->sum) / variance : 0;
}

static enum verdict verdict_of(const struct growth *growth, const struct course *course)
{
    uint32_t intervals = growth->boundary_count - 1, grown = course->grown_count, shrunk = course->shrunk_count;
    if (grown + shrunk == 0)
        return STEADY;
    if (grown >= 2 && grown * 2 >= intervals && shrunk * 10 <= intervals && course->bytes > course->first_bytes)
        return GROWS;
    if (shrunk >= 2 && shrunk * 2 >= intervals && grown * 10 <= intervals && course->bytes < course->first_bytes)
        return SHRINKS;
    return grown + shrunk == 1 ? STEPS_ONCE : VARIES;
}

/* Op, data type and shape make a group. */
static struct group *group_of(struct growth *growth, uint32_t event)
{
    const struct memory_profile *profile = growth->profile;
    uint32_t what_at = profile->what[event], number = growth->number_of[what_at];
    if (number != PROFILE_NONE)
        return chunks_at(&growth->groups, number);
    const struct memory_what *what = &profile->events.whats[what_at];
    struct str type = memory_profile_views_data_type(profile, what);
    uint64_t key[4] = {what->op, what->shape, type.length, 0};
    memcpy(&key[3], type.data, type.length < sizeof key[3] ? type.length : sizeof key[3]);
    growth->number_of[what_at] = number = table_number(&growth->keys, key);
    if (number == growth->groups.count) {
        struct group *added = chunks_add(&growth->groups);
        memset(added, 0, sizeof *added);
        added->event = event;
    }
    return chunks_at(&growth->groups, number);
}

static void take(struct growth *growth, uint32_t allocation, bool is_freed, uint32_t passed)
{
    struct group *group = group_of(growth, allocation);
    int64_t size = growth->profile->size_bytes[allocation];
    settle(growth, &group->course, passed);
    group->course.bytes = sum_add(group->course.bytes, is_freed ? -size : size);
    group->course.count += is_freed ? -1 : 1;
}

static void courses_make(struct growth *growth)
{
    const struct memory_profile *profile = growth->profile;
    const struct memory_profile_pool *pool = growth->pool;
    uint32_t passed = 0;
    table_init(&growth->keys, growth->request->arena, 4);
    growth->number_of = arena_array(growth->request->arena, uint32_t, profile->events.what_count + 1);
    memset(growth->number_of, 0xFF, profile->events.what_count * sizeof *growth->number_of);
    chunks_init(&growth->groups, growth->request->arena, sizeof(struct group));
    growth->whole.bytes = memory_profile_stack_bytes(profile, pool->first) + pool->base_bytes;
    for (uint32_t i = pool->first; i < pool->first + pool->count; i++) {
        while (passed < growth->boundary_count && growth->boundaries[passed].time_ps < profile->time_ps[i])
            passed++;
        if (passed == growth->boundary_count)
            break; /* what happens behind the last boundary is of no step */
        uint32_t partner = profile->partner[i];
        settle(growth, &growth->whole, passed);
        growth->whole.bytes = memory_profile_in_use_bytes(profile, i);
        if (!memory_profile_is_free(profile, i))
            take(growth, i, false, passed);
        else if (partner != PROFILE_NONE)
            take(growth, partner, true, passed);
    }
    settle(growth, &growth->whole, growth->boundary_count);
    for (size_t g = 0; g < growth->groups.count; g++)
        settle(growth, &((struct group *)chunks_at(&growth->groups, g))->course, growth->boundary_count);
}

/* ---- rows ---- */

static const struct group *group_at(const struct growth *growth, uint32_t row)
{
    return chunks_at(&growth->groups, row);
}

static bool number_of(const void *context, uint32_t row, size_t field, double *value)
{
    const struct growth *growth = context;
    const struct course *course = &group_at(growth, row)->course;
    switch ((enum field)field) {
    case SIZE:
        *value = (double)course->bytes;
        return true;
    case SLOPE:
        *value = slope_of(growth, course);
        return true;
    case COUNT:
        *value = (double)course->count;
        return true;
    case FIRST:
        *value = (double)course->first_bytes;
        return true;
    case RANK:
        *value = verdict_of(growth, course);
        return true;
    default:
        return false;
    }
}

static struct str text_of(const void *context, uint32_t row, size_t field)
{
    const struct growth *growth = context;
    const struct group *group = group_at(growth, row);
    const struct memory_what *what = &growth->profile->events.whats[growth->profile->what[group->event]];
    switch ((enum field)field) {
    case OP:
        return memory_profile_text(growth->profile, what->op);
    case DTYPE:
        return memory_profile_views_data_type(growth->profile, what);
    case SHAPE:
        return memory_profile_text(growth->profile, what->shape);
    case VERDICT:
        return str_of(verdicts[verdict_of(growth, &group->course)]);
    default:
        return (struct str){"", 0};
    }
}

static void course_write(struct json *json, const struct growth *growth, const struct course *course, bool has_counts)
{
    json_key(json, "slope_bytes_per_step");
    json_double(json, slope_of(growth, course));
    json_key_int(json, "first_bytes", course->first_bytes);
    json_key_int(json, "last_bytes", course->bytes);
    json_key_int(json, "largest_bytes", course->largest_bytes);
    json_key_known(json, "first_count", has_counts ? course->first_count : -1);
    json_key_known(json, "last_count", has_counts ? course->count : -1);
    json_key_uint(json, "step_count", growth->boundary_count - 1);
    json_key_uint(json, "grown_count", course->grown_count);
    json_key_uint(json, "shrunk_count", course->shrunk_count);
    json_key_text(json, "verdict", verdicts[verdict_of(growth, course)]);
    json_key(json, "sparkline_bytes");
    json_array_begin(json);
    for (uint32_t i = 0; i < SPARKS && i < growth->boundary_count; i++)
        json_int(json, course->sparks[i]);
    json_array_end(json);
}

static void row_write(struct json *json, const struct growth *growth, uint32_t row)
{
    const struct str parts[] = {text_of(growth, row, OP), text_of(growth, row, DTYPE), text_of(growth, row, SHAPE)};
    json_object_begin(json);
    memory_profile_rows_key(json, parts, 3, 0);
    memory_profile_views_text(json, "op", parts[0]);
    memory_profile_views_text(json, "dtype", parts[1]);
    memory_profile_views_text(json, "shape", parts[2]);
    course_write(json, growth, &group_at(growth, row)->course, true);
    json_object_end(json);
}

static void boundaries_write(struct json *json, const struct growth *growth)
{
    uint32_t count = growth->boundary_count, sparks = count < SPARKS ? count : SPARKS;
    json_key_uint(json, "boundary_count", count);
    json_key(json, "boundaries");
    json_object_begin(json);
    json_key(json, "step");
    json_array_begin(json);
    for (uint32_t s = 0; s < sparks; s++)
        json_int(json, growth->boundaries[(uint64_t)s * count / sparks].number);
    json_array_end(json);
    json_key(json, "time_ps");
    json_array_begin(json);
    for (uint32_t s = 0; s < sparks; s++)
        json_int(json, growth->boundaries[(uint64_t)s * count / sparks].time_ps);
    json_array_end(json);
    json_object_end(json);
}

/* Bytes at each boundary stand in the JSON alone: they are drawn, and thinned. */
static void csv_write(const struct growth *growth, const struct memory_profile_rows *rows, uint32_t first, uint32_t end)
{
    struct csv csv = CSV_INIT(growth->request->out);
    buf_text(growth->request->out, "op,dtype,shape,verdict,slope_bytes_per_step,first_bytes,last_bytes,largest_bytes,"
                                   "first_count,last_count,grown_count,shrunk_count,step_count\r\n");
    for (uint32_t i = first; i < end && !growth->request->out->failed; i++) {
        uint32_t row = rows->items[i].row;
        const struct course *course = &group_at(growth, row)->course;
        csv_text(&csv, text_of(growth, row, OP));
        csv_text(&csv, text_of(growth, row, DTYPE));
        csv_text(&csv, text_of(growth, row, SHAPE));
        csv_text(&csv, text_of(growth, row, VERDICT));
        csv_double(&csv, slope_of(growth, course));
        memory_profile_rows_cell(&csv, course->first_bytes, true);
        memory_profile_rows_cell(&csv, course->bytes, true);
        memory_profile_rows_cell(&csv, course->largest_bytes, true);
        memory_profile_rows_cell(&csv, course->first_count, true);
        memory_profile_rows_cell(&csv, course->count, true);
        memory_profile_rows_cell(&csv, course->grown_count, true);
        memory_profile_rows_cell(&csv, course->shrunk_count, true);
        memory_profile_rows_cell(&csv, growth->boundary_count - 1, true);
        csv_row_end(&csv);
    }
}

bool memory_profile_growth(const struct tool_request *request, struct json *json, struct err *err)
{
    struct growth growth = {.request = request, .profile = request->trace, .pool = memory_profile_views_pool(request, err)};
    const struct filter_table table = {fields, text_of, number_of, &growth};
    struct memory_profile_rows rows;
    int64_t bytes = 0;
    uint32_t first = 0, end = 0;
    if (growth.pool == NULL || !boundaries_make(&growth, err))
        return false;
    if (growth.kind != NULL)
        courses_make(&growth);
    if (!memory_profile_rows_begin(&rows, request, &table, longer, "-verdict,-slope", (uint32_t)growth.groups.count, err))
        return false;
    for (uint32_t row = 0; row < growth.groups.count; row++)
        if (memory_profile_rows_add(&rows, row))
            bytes = sum_add(bytes, group_at(&growth, row)->course.bytes);
    memory_profile_rows_order(&rows, &first, &end);
    if (rows.is_csv) {
        csv_write(&growth, &rows, first, end);
        return true;
    }
    json_object_begin(json);
    memory_profile_views_memory(json, growth.pool);
    json_key_text(json, "boundary", growth.kind);
    json_key(json, "reason");
    memory_profile_views_reason(
        json, growth.kind == NULL ? "no_steps" : NULL,
        "The trace tells of fewer than two steps or launches of a module: there is nothing to compare. "
        "jax.profiler.StepTraceAnnotation(\"train\", step_num=n) around each step marks them.");
    boundaries_write(json, &growth);
    json_key(json, "whole");
    if (growth.kind != NULL) {
        json_object_begin(json);
        course_write(json, &growth, &growth.whole, false);
        json_object_end(json);
    } else {
        json_null(json);
    }
    memory_profile_rows_counts(json, &rows, (uint32_t)growth.groups.count, bytes);
    json_key(json, "rows");
    json_array_begin(json);
    for (uint32_t i = first; i < end; i++)
        row_write(json, &growth, rows.items[i].row);
    json_array_end(json);
    json_object_end(json);
    return true;
}
