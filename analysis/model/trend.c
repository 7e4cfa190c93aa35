/* SPDX-License-Identifier: Apache-2.0 */
#include "model/trend.h"

static const double MIN_FIT = 0.8, TOLERANCE = 0.01;

const char *trend_kind_name(enum trend_kind kind)
{
    static const char *const names[TREND_KIND_COUNT] = {"grows",   "steps_once", "steady",
                                                        "shrinks", "irregular",  "too_few"};
    return names[kind];
}

double trend_rank(const struct trend *trend)
{
    static const double ranks[TREND_KIND_COUNT] = {
        [TREND_GROWS] = 3e20, [TREND_TOO_FEW] = 2e20, [TREND_STEPS_ONCE] = 2e20, [TREND_IRREGULAR] = 1e20};
    return ranks[trend->kind] + (double)trend->change;
}

struct line {
    double slope, fit; /* r² */
};

static struct line line_of(const int64_t *values, uint32_t count)
{
    double mean = 0, middle = ((double)count - 1) / 2, xx = 0, xy = 0, yy = 0;
    for (uint32_t i = 0; i < count; i++)
        mean += (double)values[i] / count;
    for (uint32_t i = 0; i < count; i++) {
        double x = i - middle, y = (double)values[i] - mean;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    return (struct line){xx > 0 ? xy / xx : 0, xx > 0 && yy > 0 ? xy * xy / (xx * yy) : 0};
}

struct trend trend_of(const int64_t *values, uint32_t count)
{
    struct trend trend = {TREND_TOO_FEW, 0, 0};
    if (count == 0)
        return trend;
    struct line line = line_of(values, count);
    double first = (double)values[0], min = first, max = first, last = (double)values[count - 1];
    trend.slope = line.slope;
    uint32_t up_count = 0, down_count = 0;
    if (__builtin_sub_overflow(values[count - 1], values[0], &trend.change))
        trend.change = last > first ? INT64_MAX : INT64_MIN;
    for (uint32_t i = 0; i < count; i++) {
        min = (double)values[i] < min ? (double)values[i] : min;
        max = (double)values[i] > max ? (double)values[i] : max;
    }
    double size = max > -min ? max : -min, noise = size * TOLERANCE;
    for (uint32_t i = 1; i < count; i++) {
        double step = (double)values[i] - (double)values[i - 1];
        up_count += step > noise;
        down_count += step < -noise;
    }
    if (count < 3)
        return trend;
    if (max - min <= noise)
        trend.kind = TREND_STEADY;
    else if (up_count + down_count == 1)
        trend.kind = TREND_STEPS_ONCE;
    else if (last - first > noise && ((up_count >= 2 && down_count == 0) || (line.slope > 0 && line.fit >= MIN_FIT)))
        trend.kind = TREND_GROWS;
    else if (first - last > noise && ((down_count >= 2 && up_count == 0) || (line.slope < 0 && line.fit >= MIN_FIT)))
        trend.kind = TREND_SHRINKS;
    else
        trend.kind = TREND_IRREGULAR;
    return trend;
}
