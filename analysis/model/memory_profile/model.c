/* SPDX-License-Identifier: Apache-2.0
 * model.c: see model.h. */
#include "model/memory_profile/model.h"

#include <stdio.h>
#include <stdlib.h>

void memory_profile_note(struct memory_profile_notes *notes, const char *code, uint64_t count, const char *text)
{
    if (count > 0 && notes->count < PROFILE_NOTES_MAX)
        notes->items[notes->count++] = (struct note){code, count, text};
}

void memory_profile_note_room(struct memory_profile *profile, const char *code, const struct arena *arena,
                              const char *text)
{
    memory_profile_note(&profile->notes, code, arena->is_full, text);
    profile->lacks_room |= arena->is_full;
}

uint32_t memory_profile_after(const struct memory_profile_pool *pool, int64_t time_ps)
{
    const int64_t *times = pool->profile->time_ps + pool->first;
    uint32_t low = 0, high = pool->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (times[middle] <= time_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Traces spell it with six digits and it is kept as a float: finds the number that was written. A whole number
 * divided by a power of ten is rounded just as the decimal text is. */
double memory_profile_fragmentation_of(const struct memory_profile *profile, uint32_t event)
{
    static const double min[] = {0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
    char text[40];
    float value = profile->fragmentation[event];
    double scale = 1e6;
    if (value <= 0)
        return 0;
    for (size_t i = 0; i < sizeof(min) / sizeof(min[0]) && (double)value < min[i]; i++)
        scale *= 10;
    if (value <= 1) {
        double number = (double)(int64_t)((double)value * scale + 0.5) / scale;
        if ((float)number >= value && (float)number <= value)
            return number;
    }
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, (double)value);
        float read = (float)strtod(text, NULL);
        if (read >= value && read <= value)
            break;
    }
    return strtod(text, NULL);
}

const char *memory_profile_data_type(int32_t number)
{
    /* Source: tensorflow/core/framework/types.proto; the names that XProf prints. */
    static const char *const names[] = {
        NULL,
        "float",
        "double",
        "int32",
        "uint8",
        "int16",
        "int8",
        "string",
        "complex64",
        "int64",
        "bool",
        "qint8",
        "quint8",
        "qint32",
        "bfloat16",
        "qint16",
        "quint16",
        "uint16",
        "complex128",
        "half",
        "resource",
        "variant",
        "uint32",
        "uint64",
        "float8_e5m2",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e4m3b11fnuz",
        "float8_e5m2fnuz",
        "int4",
        "uint4",
    };
    return number >= 0 && (size_t)number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

static int by_number(const void *left, const void *right)
{
    const struct trace_step *a = left, *b = right;
    return ORDER(a->number, b->number);
}

static int by_begin(const void *left, const void *right)
{
    const struct trace_step *a = left, *b = right;
    return ORDER(a->begin_ps, b->begin_ps) ?: by_number(a, b);
}

/* Spans of the steps that memory events name, when nothing else tells of them. */
static void steps_of_events(struct memory_profile *profile, struct arena *arena)
{
    int32_t max = -1;
    for (uint32_t i = 0; i < profile->count; i++)
        max = profile->step[i] > max ? profile->step[i] : max;
    if (max < 0 || (uint64_t)max > (uint64_t)profile->count * 16 + 1024) /* numbers without end are of no use */
        return;
    struct trace_step *steps = arena_array(arena, struct trace_step, (size_t)max + 1);
    for (int32_t i = 0; i <= max; i++)
        steps[i] = (struct trace_step){i, -1, -1, INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < profile->count; i++) {
        if (profile->step[i] < 0)
            continue;
        struct trace_step *step = &steps[profile->step[i]];
        step->begin_ps = profile->time_ps[i] < step->begin_ps ? profile->time_ps[i] : step->begin_ps;
        step->end_ps = profile->time_ps[i] > step->end_ps ? profile->time_ps[i] : step->end_ps;
    }
    for (int32_t i = 0; i <= max; i++)
        if (steps[i].end_ps >= steps[i].begin_ps)
            steps[profile->step_count++] = steps[i];
    profile->steps = steps;
    profile->step_names = arena_array(arena, struct str, (size_t)profile->step_count + 1);
}

/* The capture's end as the file tells it: from its start, or by the clock that the lines' times are of. */
static int64_t recorded_of(const struct memory_profile *profile)
{
    const struct memory_events *events = &profile->events;
    uint64_t origin_ns = events->origin_ns != 0 ? (uint64_t)events->origin_ns : events->capture.start_ns;
    uint64_t max_ns = (uint64_t)(TRACE_TIME_MAX_PS / 1000), length_ns = events->capture.stop_ns - origin_ns;
    bool is_told = events->capture.stop_ns > origin_ns && origin_ns != 0 && length_ns <= max_ns;
    int64_t recorded_ps = is_told ? (int64_t)length_ns * 1000 : profile->end_ps;
    recorded_ps = recorded_ps > profile->end_ps ? recorded_ps : profile->end_ps;
    for (size_t i = 0; i < events->line_count; i++) { /* a line starts with its first event */
        bool is_clamped = false;
        int64_t begin_ps = trace_groups_time(events->lines[i].timestamp_ns, events->origin_ns, 0, &is_clamped);
        if (events->lines[i].event_count > 0 && !is_clamped && begin_ps > recorded_ps)
            recorded_ps = begin_ps;
    }
    return recorded_ps;
}

void memory_profile_steps_build(struct memory_profile *profile, struct arena *arena)
{
    profile->start_ps = profile->count > 0 ? INT64_MAX : 0;
    profile->end_ps = profile->count > 0 ? INT64_MIN : 0;
    for (uint32_t p = 0; p < profile->pool_count; p++) {
        const struct memory_profile_pool *pool = &profile->pools[p];
        int64_t first = profile->time_ps[pool->first], last = profile->time_ps[pool->first + pool->count - 1];
        profile->start_ps = first < profile->start_ps ? first : profile->start_ps;
        profile->end_ps = last > profile->end_ps ? last : profile->end_ps;
        for (uint32_t i = 0; i < pool->failure_count; i++) {
            int64_t time_ps = pool->failures[i].time_ps;
            profile->start_ps = time_ps < profile->start_ps ? time_ps : profile->start_ps;
            profile->end_ps = time_ps > profile->end_ps ? time_ps : profile->end_ps;
        }
    }
    profile->recorded_ps = recorded_of(profile);
    if (profile->events.step_count == 0) {
        steps_of_events(profile, arena);
    } else {
        profile->step_count = (uint32_t)profile->events.step_count;
        profile->steps = arena_array(arena, struct trace_step, profile->step_count);
        memcpy(profile->steps, profile->events.steps, profile->step_count * sizeof(*profile->steps));
        profile->step_names = arena_array(arena, struct str, profile->step_count);
    }
    if (profile->step_count > 0)
        qsort(profile->steps, profile->step_count, sizeof(*profile->steps), by_begin);
    for (uint32_t i = 0; i < profile->step_count && profile->events.step_count > 0; i++)
        profile->step_names[i] = profile->events.step_names[profile->steps[i].number];
}

int64_t memory_profile_taken_bytes(const struct memory_profile_pool *pool, uint32_t *event)
{
    const struct memory_profile *profile = pool->profile;
    int64_t most = -1;
    for (uint32_t at = pool->first; at < pool->first + pool->count; at++) {
        int64_t bytes = profile->events.figure_sets[profile->figures[at]].limit_bytes;
        if (bytes == MEMORY_UNKNOWN || bytes <= most)
            continue;
        most = bytes;
        *event = at;
    }
    return most;
}

int64_t memory_profile_in_use_after(const struct memory_profile_pool *pool, uint32_t count)
{
    uint32_t event = pool->first + (count > 0 ? count - 1 : 0);
    return count > 0 ? memory_profile_in_use_bytes(pool->profile, event)
                     : memory_profile_stack_bytes(pool->profile, event) + pool->base_bytes;
}
