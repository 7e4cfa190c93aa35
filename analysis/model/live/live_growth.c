/* SPDX-License-Identifier: Apache-2.0 */
#include "model/live/live.h"

#include "base/sum.h"
#include "model/trend.h"

enum { STRETCHES = 16, SAMPLES_MIN = 4 * STRETCHES, PARTS = 3 };
enum {
    MS_PER_S = 1000,
    MS_PER_MINUTE = 60 * MS_PER_S,
    MS_PER_HOUR = 60 * MS_PER_MINUTE,
    MS_PER_DAY = 24 * MS_PER_HOUR
};

struct growth_span {
    int64_t from_ms, to_ms;
    int64_t low_bytes[STRETCHES];
};

/* The least of each stretch from sample `first` on; one without a sample is as the one before it. False: there are too
 * few. */
static bool lows_take(const struct live_line *line, size_t first, struct growth_span *span)
{
    const struct live_sample *samples = line->samples;
    span->from_ms = samples[first].at_ms;
    span->to_ms = samples[line->count - 1].at_ms;
    int64_t length_ms = span->to_ms - span->from_ms;
    if (line->count - first < SAMPLES_MIN || length_ms < STRETCHES)
        return false;
    for (size_t at = 0; at < STRETCHES; at++)
        span->low_bytes[at] = -1;
    for (size_t at = first; at < line->count; at++) {
        int64_t stretch = (samples[at].at_ms - span->from_ms) * STRETCHES / (length_ms + 1);
        int64_t *low = &span->low_bytes[stretch];
        *low = *low < 0 || samples[at].low_bytes < *low ? samples[at].low_bytes : *low;
    }
    for (size_t at = 1; at < STRETCHES; at++)
        span->low_bytes[at] = span->low_bytes[at] < 0 ? span->low_bytes[at - 1] : span->low_bytes[at];
    return true;
}

/* The first sample of the last part of the time: the whole, a half, a quarter. */
static size_t part_first(const struct live_line *line, unsigned part)
{
    int64_t from_ms = line->samples[0].at_ms, to_ms = line->samples[line->count - 1].at_ms;
    int64_t begin_ms = to_ms - ((to_ms - from_ms) >> part);
    size_t first = 0;
    while (line->samples[first].at_ms < begin_ms)
        first++;
    return first;
}

/* "40 s", "12 min", "3 h", "2 days" */
static void time_add(struct finding *finding, double ms)
{
    double whole = ms < 2.0 * MS_PER_MINUTE ? MS_PER_S : ms < 2.0 * MS_PER_HOUR ? MS_PER_MINUTE : MS_PER_HOUR;
    const char *unit = whole == MS_PER_S ? "s" : whole == MS_PER_MINUTE ? "min" : "h";
    if (ms >= 2.0 * MS_PER_DAY) {
        whole = MS_PER_DAY;
        unit = "days";
    }
    finding_text(finding, "%.0f %s", ms / whole, unit);
}

/* Rates are given per minute, slow ones per hour. */
static const struct finding *say(const struct live_line *line, const struct growth_span *span, double per_ms,
                                 struct arena *arena)
{
    bool is_slow = per_ms * MS_PER_MINUTE < 1 << 20;
    struct finding *finding = finding_begin(arena, "grows", NULL);
    finding_text(finding, "grows ");
    finding_size(finding, sum_of_real(per_ms * (is_slow ? MS_PER_HOUR : MS_PER_MINUTE) + 0.5));
    finding_text(finding, is_slow ? " an hour: the least in use went from " : " a minute: the least in use went from ");
    finding_size(finding, span->low_bytes[0]);
    finding_text(finding, " to ");
    finding_size(finding, span->low_bytes[STRETCHES - 1]);
    finding_text(finding, " in ");
    time_add(finding, (double)(span->to_ms - span->from_ms));
    if (line->room_bytes >= 0 && !line->is_ended) {
        finding_text(finding, line->room_bytes == 0 ? "; it is full" : "; at this rate it is full in ");
        if (line->room_bytes > 0)
            time_add(finding, (double)line->room_bytes / per_ms);
    }
    return finding_end(finding);
}

const struct finding *live_growth_find(const struct live_line *line, struct arena *arena, int64_t *per_minute_bytes)
{
    struct growth_span span;
    *per_minute_bytes = 0;
    for (unsigned part = 0; part < PARTS; part++) {
        if (!lows_take(line, part_first(line, part), &span))
            return NULL;
        struct trend trend = trend_of(span.low_bytes, STRETCHES);
        double stretch_ms = (double)(span.to_ms - span.from_ms) / STRETCHES;
        if (trend.kind != TREND_GROWS || trend.slope <= 0)
            continue;
        *per_minute_bytes = sum_of_real(trend.slope / stretch_ms * MS_PER_MINUTE + 0.5);
        return say(line, &span, trend.slope / stretch_ms, arena);
    }
    return NULL;
}
