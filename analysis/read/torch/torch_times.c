/* SPDX-License-Identifier: Apache-2.0
 * torch_times.c: when the events of a snapshot happened. The allocator writes them in their order; a time that cannot
 * be is taken from the event before it. */
#include "read/torch/torch_reading.h"

#include <stdlib.h>

enum { MAX_SAMPLES = 1024 };

struct torch_event *torch_times_before(const struct torch_reading *reading, size_t row, size_t *next)
{
    struct torch_event *event = *next < reading->events.count ? chunks_at(&reading->events, *next) : NULL;
    if (event == NULL || event->event_at > row)
        return NULL;
    ++*next;
    return event;
}

/* ---- which times can be ---- */

static int compare_times(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The median of the recorded times, or of a sample if there are many; -1: there is none. */
static int64_t middle_of(const struct torch_reading *reading)
{
    const size_t rows = reading->out->count, count = rows + reading->events.count, stride = count / MAX_SAMPLES + 1;
    int64_t *samples = arena_array(reading->scratch, int64_t, count / stride + 2);
    size_t used = 0;
    for (size_t i = 0; i < count; i += stride) {
        int64_t time_us = i < rows ? COLUMN_AT(&reading->out->offset_ps, int64_t, i)
                                   : CHUNKS_AT(&reading->events, struct torch_event, i - rows).offset_ps;
        if (time_us >= 0)
            samples[used++] = time_us;
    }
    if (used == 0)
        return -1;
    qsort(samples, used, sizeof(*samples), compare_times);
    return samples[used / 2];
}

static bool is_near(int64_t time_us, int64_t middle_us)
{
    return time_us >= 0 && time_us >= middle_us - TORCH_MAX_US && time_us <= middle_us + TORCH_MAX_US;
}

static int64_t origin_of(const struct torch_reading *reading, int64_t middle_us)
{
    int64_t origin_us = middle_us;
    for (size_t i = 0; i < reading->out->count; i++) {
        int64_t time_us = COLUMN_AT(&reading->out->offset_ps, int64_t, i);
        origin_us = is_near(time_us, middle_us) && time_us < origin_us ? time_us : origin_us;
    }
    for (size_t i = 0; i < reading->events.count; i++) {
        int64_t time_us = CHUNKS_AT(&reading->events, struct torch_event, i).offset_ps;
        origin_us = is_near(time_us, middle_us) && time_us < origin_us ? time_us : origin_us;
    }
    return origin_us;
}

/* ---- one device ---- */

/* The event at hand waits for the next one: a time behind that one's, which goes on from the one before, is odd
 * itself. */
struct clock {
    int64_t last_us;     /* since the first event */
    int64_t *waiting_ps; /* NULL: none */
    int64_t waiting_us;  /* -1: not known */
};

static void clock_settle(struct torch_reading *reading, struct clock *clock, int64_t next_us)
{
    if (clock->waiting_ps == NULL)
        return;
    bool is_odd = next_us >= clock->last_us && clock->waiting_us > next_us;
    bool goes_back = clock->waiting_us >= 0 && clock->waiting_us < clock->last_us;
    reading->snapshot->time_back_count += is_odd || goes_back;
    if (!is_odd && clock->waiting_us > clock->last_us)
        clock->last_us = clock->waiting_us;
    *clock->waiting_ps = clock->last_us * TORCH_PS_PER_US;
    clock->waiting_ps = NULL;
}

struct setting {
    struct torch_reading *reading;
    int64_t middle_us, origin_us;
    struct clock *clocks; /* of each pool */
};

static void time_take(struct setting *setting, uint16_t pool, int64_t *time)
{
    struct clock *clock = &setting->clocks[pool];
    bool is_told = is_near(*time, setting->middle_us);
    int64_t since_us = is_told ? *time - setting->origin_us : -1;
    if (since_us > TORCH_MAX_US) {
        setting->reading->out->damaged_count++;
        since_us = TORCH_MAX_US;
    }
    setting->reading->odd_counts[TORCH_KEY_time_us] += !is_told && *time != TORCH_ODD_TIME;
    clock_settle(setting->reading, clock, since_us);
    clock->waiting_ps = time;
    clock->waiting_us = since_us;
}

/* Rows and rare events in the order of the file: that of each device. Where none tells a time, one follows the
 * other. */
void torch_times_set(struct torch_reading *reading)
{
    struct memory_events *out = reading->out;
    struct setting setting = {.reading = reading, .middle_us = middle_of(reading)};
    const bool has_times = setting.middle_us >= 0;
    size_t next = 0;
    setting.origin_us = has_times ? origin_of(reading, setting.middle_us) : 0;
    setting.clocks = arena_array(reading->scratch, struct clock, out->pool_count + 1);
    for (size_t i = 0; i <= out->count; i++) {
        for (struct torch_event *event; (event = torch_times_before(reading, i, &next)) != NULL;) {
            event->offset_ps = has_times ? event->offset_ps : (int64_t)(i + next - 1);
            time_take(&setting, event->pool, &event->offset_ps);
        }
        if (i < out->count) {
            int64_t *time = &COLUMN_AT(&out->offset_ps, int64_t, i);
            *time = has_times ? *time : (int64_t)(i + next);
            time_take(&setting, COLUMN_AT(&out->pool, uint16_t, i), time);
        }
    }
    for (size_t pool = 0; pool < out->pool_count; pool++)
        clock_settle(reading, &setting.clocks[pool], -1);
    reading->snapshot->has_times = has_times || out->count + reading->events.count == 0;
    out->origin_ns = setting.origin_us <= INT64_MAX / 1000 && has_times ? setting.origin_us * 1000 : 0;
    struct trace_line *line = arena_array(reading->arena, struct trace_line, 1);
    *line = (struct trace_line){.timestamp_ns = out->origin_ns, .event_count = out->count};
    out->lines = line;
    out->line_count = 1;
}
