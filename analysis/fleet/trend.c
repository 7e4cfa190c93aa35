/* SPDX-License-Identifier: Apache-2.0
 * trend.c: see trend.h. */
#include "fleet/trend.h"

#include "fleet/robust.h"

#define MS_PER_DAY (24.0 * 60 * 60 * 1000)

const char *trend_kind_name(enum trend_kind kind)
{
    static const char *const names[] = {"reaches", "over", "steady", "far", "too_few", "capacity_unknown"};
    return names[kind];
}

/* Changes a day between each two points; how many, and how many of them rise. */
static size_t slopes_fill(const struct trend_point *points, size_t count, double *slopes, size_t *rising)
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
static void reach(struct trend *trend, double left_bytes, double span_days, double *slopes, size_t slope_count)
{
    double soonest = robust_quantile(slopes, slope_count, 0.75), latest = robust_quantile(slopes, slope_count, 0.25);
    double days = days_until(left_bytes, trend->bytes_per_day);
    trend->kind = days > TREND_DAYS_MAX || days > span_days * TREND_SPANS_MAX ? TREND_FAR : TREND_REACHES;
    if (trend->kind == TREND_FAR)
        return;
    trend->days = days;
    trend->soonest_days = days_until(left_bytes, soonest);
    trend->latest_days = days_until(left_bytes, latest);
}

struct trend trend_find(const struct trend_point *points, size_t count, int64_t capacity_bytes, struct arena *arena)
{
    struct trend trend = {.kind = TREND_TOO_FEW, .days = -1, .soonest_days = -1, .latest_days = -1};
    double slopes[TREND_POINTS_MAX * (TREND_POINTS_MAX - 1) / 2];
    size_t rising = 0;
    while (count > 0 && points[0].time_ms < 0)
        points++, count--;
    size_t used = count < TREND_POINTS_MAX ? count : TREND_POINTS_MAX;
    if (used == 0)
        return trend;
    const struct trend_point *first = points + count - used, *last = points + count - 1;
    trend.point_count = used;
    if (capacity_bytes > 0 && last->bytes > capacity_bytes)
        trend.kind = TREND_OVER;
    else if (capacity_bytes <= 0)
        trend.kind = TREND_CAPACITY_UNKNOWN;
    if (trend.kind != TREND_TOO_FEW || used < TREND_POINTS_LEAST)
        return trend;
    double span_days = (double)(last->time_ms - first->time_ms) / MS_PER_DAY;
    if (span_days < 1)
        return trend;
    arena_work(arena, used * used);
    size_t slope_count = slopes_fill(first, used, slopes, &rising);
    double slope = robust_quantile(slopes, slope_count, 0.5);
    trend.kind = TREND_STEADY;
    if (slope <= 0 || rising * 100 < slope_count * TREND_RISING_PERCENT)
        return trend;
    trend.bytes_per_day = slope;
    reach(&trend, (double)(capacity_bytes - last->bytes), span_days, slopes, slope_count);
    return trend;
}
