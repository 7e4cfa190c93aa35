/* SPDX-License-Identifier: Apache-2.0
 * growth.c: the view "growth": live bytes at the end of each step by op, data
 * type and shape, and what became of them: a leak is the first row.
 *
 * Values change at few boundaries, so each group is settled only when it changes:
 * the cost is that of the events, not of groups × steps. */
#include "tool/memory_profile/growth.h"

#include "base/nearest.h"
#include "base/sum.h"
#include "base/table.h"
#include "tool/memory_profile/views.h"
#include "tool/table.h"

#include <assert.h>
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
    uint32_t *counts = arena_array(growth->request->arena, uint32_t, (size_t)launches->names.map.count + 1), max = 0;
    uint32_t plane = plane_of(growth);
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

static bool boundaries_make(struct growth *growth, struct err *err)
{
    const char *kind = tool_param_text(growth->request, "boundary");
    static const char *const kinds[] = {"step", "launch"};
    size_t chosen = 0;
    bool is_asked = kind != NULL && kind[0] != '\0';
    if (is_asked && !nearest_choose("boundary", "boundary", str_of(kind), kinds, 2, &chosen, err))
        return false;
    bool is_step = is_asked && chosen == 0, is_launch = is_asked && chosen == 1;
    size_t launch_count = growth->profile->events.launches.items.count;
    growth->boundaries =
        arena_array(growth->request->arena, struct boundary, growth->profile->step_count + launch_count + 1);
    if (is_step || (!is_launch && growth->profile->step_count > 1))
        step_ends(growth);
    else
        launch_ends(growth);
    qsort(growth->boundaries, growth->boundary_count, sizeof(*growth->boundaries), by_time);
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

/* Op, data type, shape and what it may be make a group. */
static struct group *group_of(struct growth *growth, uint32_t event)
{
    const struct memory_profile *profile = growth->profile;
    uint32_t what_at = profile->what[event], number = growth->number_of[what_at];
    if (number != PROFILE_NONE)
        return chunks_at(&growth->groups, number);
    const struct memory_what *what = &profile->events.whats[what_at];
    struct str type = memory_profile_views_data_type(profile, what);
    bool is_snapshot = profile->events.snapshot != NULL; /* there a category follows from how long a block lives */
    uint64_t key[5] = {what->op, what->shape, type.length, 0, is_snapshot ? MEMORY_NO_TEXT : what->guess};
    memcpy(&key[3], type.data, type.length < sizeof(key[3]) ? type.length : sizeof(key[3]));
    growth->number_of[what_at] = number = table_number(&growth->keys, key);
    if (number == growth->groups.count) {
        struct group *added = chunks_add(&growth->groups);
        memset(added, 0, sizeof(*added));
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
    table_init(&growth->keys, growth->request->arena, 5);
    growth->number_of = arena_array(growth->request->arena, uint32_t, profile->events.what_count + 1);
    memset(growth->number_of, 0xFF, profile->events.what_count * sizeof(*growth->number_of));
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
        if (partner == i)
            continue; /* nothing tells what it belongs to */
        if (!memory_profile_is_free(profile, i))
            take(growth, i, false, passed);
        else if (partner != PROFILE_NONE)
            take(growth, partner, true, passed);
    }
    settle(growth, &growth->whole, growth->boundary_count);
    for (size_t g = 0; g < growth->groups.count; g++)
        settle(growth, &((struct group *)chunks_at(&growth->groups, g))->course, growth->boundary_count);
}

/* ---- for other views ---- */

const char *memory_profile_growth_word(uint8_t verdict)
{
    return verdict < sizeof(verdicts) / sizeof(verdicts[0]) ? verdicts[verdict] : NULL;
}

const uint8_t *memory_profile_growth_verdicts(const struct tool_request *request,
                                              const struct memory_profile_pool *pool)
{
    struct growth *growth = arena_array(request->arena, struct growth, 1);
    *growth = (struct growth){.request = request, .profile = pool->profile, .pool = pool};
    size_t count = pool->profile->events.what_count;
    boundaries_make(growth, NULL);
    if (growth->kind == NULL)
        return NULL;
    courses_make(growth);
    uint8_t *out = arena_array(request->arena, uint8_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        uint32_t number = growth->number_of[i];
        out[i] = UINT8_MAX;
        if (number != PROFILE_NONE)
            out[i] = (uint8_t)verdict_of(growth, &((struct group *)chunks_at(&growth->groups, number))->course);
    }
    return out;
}

bool memory_profile_growth_find_most(const struct tool_request *request, const struct memory_profile_pool *pool,
                                     int64_t min_bytes, struct memory_profile_growth_most *out)
{
    struct growth *growth = arena_array(request->arena, struct growth, 1);
    double steepest = 0;
    *growth = (struct growth){.request = request, .profile = pool->profile, .pool = pool};
    boundaries_make(growth, NULL);
    if (growth->kind == NULL)
        return false;
    courses_make(growth);
    for (size_t i = 0; i < growth->groups.count; i++) {
        const struct group *group = chunks_at(&growth->groups, i);
        const struct course *course = &group->course;
        double slope = slope_of(growth, course);
        int64_t change = course->bytes - course->first_bytes;
        if (verdict_of(growth, course) != GROWS || change < min_bytes || slope <= steepest)
            continue;
        steepest = slope;
        *out = (struct memory_profile_growth_most){group->event,        (int64_t)(slope + 0.5),     change,
                                                   course->grown_count, growth->boundary_count - 1, growth->kind};
    }
    return steepest > 0;
}

/* ---- rows ---- */

static const struct group *group_at(const struct growth *growth, uint32_t row)
{
    return chunks_at(&growth->groups, row);
}

/* What a row is about. Behind the groups stands the row of the whole pool. */
struct line {
    const struct growth *growth;
    const struct course *course;
    const struct memory_what *what;
    bool is_whole;
};

static struct line line_of(const void *context, uint32_t row)
{
    const struct growth *growth = context;
    bool is_whole = row == growth->groups.count;
    const struct group *group = is_whole ? NULL : group_at(growth, row);
    return (struct line){growth, is_whole ? &growth->whole : &group->course,
                         is_whole ? NULL : &growth->profile->events.whats[growth->profile->what[group->event]],
                         is_whole};
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(op, table_text_if_any(memory_profile_text(line.growth->profile, line.what->op)))
VALUE(dtype, table_text_if_any(memory_profile_views_data_type(line.growth->profile, line.what)))
VALUE(shape, table_text_if_any(memory_profile_text(line.growth->profile, line.what->shape)))
VALUE(program, table_text_if_any(memory_profile_views_program(line.growth->profile, line.what)))
VALUE(role, table_text_if_any(memory_profile_views_role(line.growth->profile, line.what)))
/* What comes again from step to step may be of several categories. */
static struct table_value category(const void *context, uint32_t row)
{
    (void)context, (void)row;
    return table_unknown();
}
static struct table_value category_word(const void *context, uint32_t row) { return category(context, row); }
VALUE(confidence, line.growth->profile->events.snapshot != NULL
                      ? table_unknown()
                      : table_text_if_any(memory_profile_views_confidence(line.growth->profile, line.what)))
VALUE(slope, table_real(slope_of(line.growth, line.course)))
VALUE(first, table_integer(line.course->first_bytes))
VALUE(last, table_integer(line.course->bytes))
VALUE(largest, table_integer(line.course->largest_bytes))
VALUE(first_count, table_integer_if(!line.is_whole, line.course->first_count))
VALUE(last_count, table_integer_if(!line.is_whole, line.course->count))
VALUE(step_count, table_integer(line.growth->boundary_count - 1))
VALUE(grown, table_integer(line.course->grown_count))
VALUE(shrunk, table_integer(line.course->shrunk_count))
VALUE(verdict, table_text(str_of(verdicts[verdict_of(line.growth, line.course)])))
VALUE(verdict_rank, table_integer(verdict_of(line.growth, line.course)))

static struct table_value key(const void *context, uint32_t row)
{
    const struct growth *growth = context;
    const struct str parts[] = {op(context, row).text, dtype(context, row).text, shape(context, row).text,
                                program(context, row).text, role(context, row).text};
    bool is_guessed = parts[3].length + parts[4].length > 0; /* else the key is as it is without guesses */
    return table_text(memory_profile_views_key(growth->request->scratch, parts, is_guessed ? 5 : 3, 0));
}

static void sparks_write(struct json *json, const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    json_array_begin(json);
    for (uint32_t i = 0; i < SPARKS && i < line.growth->boundary_count; i++)
        json_int(json, line.course->sparks[i]);
    json_array_end(json);
}

static const struct table_column columns[] = {
    {COLUMN_TEXT("key", key), .json = "key"},
    {COLUMN_TEXT("op", op), .is_searched = true, .json = "op", .csv = "op", .title = "Op",
     .help = "what allocated it; * stands for any text"},
#include "tool/memory_profile/what_columns.def"
    {COLUMN_NUMBER("slope", slope, "bytes_per_step"), .json = "slope_bytes_per_step", .csv = "slope_bytes_per_step",
     .title = "Slope", .help = "bytes a step: slope:>1KiB"},
    {COLUMN_NUMBER("first", first, "bytes"), .json = "first_bytes", .csv = "first_bytes", .title = "First",
     .help = "live at the first boundary"},
    {COLUMN_NUMBER("size", last, "bytes"), .is_main = true, .aliases = "last", .json = "last_bytes",
     .csv = "last_bytes", .title = "Last", .help = "live at the last boundary: size:>1MiB"},
    {COLUMN_NUMBER("largest", largest, "bytes"), .json = "largest_bytes", .csv = "largest_bytes"},
    {COLUMN_NUMBER("first_count", first_count, "count"), .json = "first_count", .csv = "first_count"},
    {COLUMN_NUMBER("count", last_count, "count"), .aliases = "last_count", .json = "last_count", .csv = "last_count",
     .help = "allocations at the last boundary"},
    {COLUMN_NUMBER("step_count", step_count, "count"), .json = "step_count", .csv = "step_count"},
    {COLUMN_NUMBER("grown", grown, "count"), .json = "grown_count", .csv = "grown_count", .title = "Grew in",
     .help = "steps in which it grew"},
    {COLUMN_NUMBER("shrunk", shrunk, "count"), .json = "shrunk_count", .csv = "shrunk_count"},
    {COLUMN_TEXT("verdict", verdict), .order = verdict_rank, .json = "verdict", .csv = "verdict", .title = "Verdict",
     .help = "verdict:grows, steps_once, varies, shrinks, steady"},
    {COLUMN_TEXT("", NULL), .write = sparks_write, .json = "sparkline_bytes"},
    {.name = NULL},
};
enum { COURSE = 8 }; /* the first column that the whole pool has too */
static const char csv_names[] =
    "op dtype shape program role confidence verdict slope first size largest first_count count grown shrunk step_count";
static const struct table_spec spec = {.columns = columns, .sort = "-verdict,-slope"};

static void boundaries_write(struct json *json, const struct growth *growth)
{
    uint32_t count = growth->boundary_count, sparks = count < SPARKS ? count : SPARKS;
    json_key_uint(json, "boundary_count", count);
    json_key_object(json, "boundaries");
    json_key_array(json, "step");
    for (uint32_t s = 0; s < sparks; s++)
        json_int(json, growth->boundaries[(uint64_t)s * count / sparks].number);
    json_array_end(json);
    json_key_array(json, "time_ps");
    for (uint32_t s = 0; s < sparks; s++)
        json_int(json, growth->boundaries[(uint64_t)s * count / sparks].time_ps);
    json_array_end(json);
    json_object_end(json);
}

/* Bytes at each boundary stand in the JSON alone: they are drawn, and thinned. */
static void json_write(const struct growth *growth, const struct table_rows *rows, int64_t bytes, struct json *json)
{
    json_object_begin(json);
    memory_profile_views_memory(json, growth->pool);
    json_key_text(json, "boundary", growth->kind);
    json_key(json, "reason");
    memory_profile_views_reason(
        json, growth->kind == NULL ? "no_steps" : NULL,
        growth->profile->events.snapshot != NULL
            ? "The snapshot tells of fewer than two steps: there is nothing to compare. step() of torch.profiler.profile "
              "around each step marks them; optimizers do from PyTorch 2.6 on."
            : "The trace tells of fewer than two steps or launches of a module: there is nothing to compare. "
              "jax.profiler.StepTraceAnnotation(\"train\", step_num=n) around each step marks them.");

    boundaries_write(json, growth);
    json_key(json, "whole");
    if (growth->kind != NULL) {
        json_object_begin(json);
        table_row_write(columns + COURSE, growth, (uint32_t)growth->groups.count, json);
        json_object_end(json);
    } else {
        json_null(json);
    }
    table_head_write(rows, json);
    json_key_int(json, "matched_bytes", bytes);
    table_rows_write(rows, "rows", json);
    json_object_end(json);
}

bool memory_profile_growth(const struct tool_request *request, struct json *json, struct err *err)
{
    struct growth *growth = arena_array(request->arena, struct growth, 1);
    struct table_rows rows;
    int64_t bytes = 0;
    *growth =
        (struct growth){.request = request, .profile = request->model, .pool = memory_profile_views_pool(request, err)};
    if (growth->pool == NULL || !boundaries_make(growth, err) || !table_read(&rows, request, &spec, growth, err))
        return false;
    if (growth->kind != NULL)
        courses_make(growth);
    table_begin(&rows, (uint32_t)growth->groups.count);
    for (uint32_t row = 0; row < growth->groups.count; row++)
        if (table_take(&rows, row))
            bytes = sum_add(bytes, group_at(growth, row)->course.bytes);
    table_sort(&rows);
    if (table_is_lines(&rows))
        table_lines_write(&rows, csv_names);
    else
        json_write(growth, &rows, bytes, json);
    return true;
}
