/* SPDX-License-Identifier: Apache-2.0
 * capacity_trend.c: see capacity_trend.h. */
#include "model/fleet/capacity_trend.h"

#include "model/fleet/robust.h"

#define MS_PER_DAY (24.0 * 60 * 60 * 1000)

const char *capacity_trend_kind_name(enum capacity_trend_kind kind)
{
    static const char *const names[] = {"reaches", "over", "steady", "far", "too_few", "capacity_unknown"};
    return names[kind];
}

/* Changes a day between each two points; how many, and how many of them rise. */
static size_t slopes_fill(const struct capacity_trend_point *points, size_t count, double *slopes, size_t *rising)
{
    size_t filled = 0;
    *rising = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double days = (double)(points[j].time_ms - points[i].time_ms) / MS_PER_DAY;
            if (days <= 0)
                continue;
            slopes[filled++] = (double)(points[j].bytes - points[i].bytes) / days;
            *rising += points[j].bytes > points[i].bytes;
        }
    return filled;
}

static double days_until(double left_bytes, double bytes_per_day)
{
    return bytes_per_day > 0 ? left_bytes / bytes_per_day : -1;
}

/* Fills a trend of points that were seen over `span_days`. */
static void reach(struct capacity_trend *trend, double left_bytes, double span_days, double *slopes, size_t slope_count)
{
    double soonest = robust_quantile(slopes, slope_count, 0.75), latest = robust_quantile(slopes, slope_count, 0.25);
    double days = days_until(left_bytes, trend->bytes_per_day);
    bool is_far = days > (double)CAPACITY_TREND_DAYS_MAX || days > span_days * (double)CAPACITY_TREND_SPANS_MAX;
    trend->kind = is_far ? CAPACITY_TREND_FAR : CAPACITY_TREND_REACHES;
    if (trend->kind == CAPACITY_TREND_FAR)
        return;
    trend->days = days;
    trend->soonest_days = days_until(left_bytes, soonest);
    trend->latest_days = days_until(left_bytes, latest);
}

struct capacity_trend capacity_trend_find(const struct capacity_trend_point *points, size_t count,
                                          int64_t capacity_bytes, struct arena *arena)
{
    struct capacity_trend trend = {.kind = CAPACITY_TREND_TOO_FEW, .days = -1, .soonest_days = -1, .latest_days = -1};
    double slopes[CAPACITY_TREND_POINTS_MAX * (CAPACITY_TREND_POINTS_MAX - 1) / 2];
    size_t rising = 0;
    while (count > 0 && points[0].time_ms < 0)
        points++, count--;
    size_t used = count < CAPACITY_TREND_POINTS_MAX ? count : CAPACITY_TREND_POINTS_MAX;
    if (used == 0)
        return trend;
    const struct capacity_trend_point *first = points + count - used, *last = points + count - 1;
    trend.point_count = used;
    if (capacity_trend_over_bytes(last->bytes, capacity_bytes) > 0)
        trend.kind = CAPACITY_TREND_OVER;
    else if (capacity_bytes <= 0)
        trend.kind = CAPACITY_TREND_CAPACITY_UNKNOWN;
    if (trend.kind != CAPACITY_TREND_TOO_FEW || used < CAPACITY_TREND_POINTS_LEAST)
        return trend;
    double span_days = (double)(last->time_ms - first->time_ms) / MS_PER_DAY;
    if (span_days < 1)
        return trend;
    arena_work(arena, used * used);
    size_t slope_count = slopes_fill(first, used, slopes, &rising);
    double slope = robust_quantile(slopes, slope_count, 0.5);
    trend.kind = CAPACITY_TREND_STEADY;
    if (slope <= 0 || rising * 100 < slope_count * CAPACITY_TREND_RISING_PERCENT)
        return trend;
    trend.bytes_per_day = slope;
    reach(&trend, (double)(capacity_bytes - last->bytes), span_days, slopes, slope_count);
    return trend;
}
