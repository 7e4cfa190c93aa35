/* SPDX-License-Identifier: Apache-2.0
 * capacity_trend.h: when a figure that grows over time reaches the capacity: what fails next.
 *
 * The rule: of the last CAPACITY_TREND_POINTS_MAX points the change a day between each two at different times; its
 * median is the slope (Theil and Sen). It is a trend when there are at least CAPACITY_TREND_POINTS_LEAST points over at
 * least a day, and CAPACITY_TREND_RISING_PERCENT of the pairs rise: a single step is none. The last value goes on with
 * that slope; the quarter of the pairs that rise fastest, and that of the slowest, tell the soonest and the latest day.
 * What is further away than CAPACITY_TREND_SPANS_MAX times the time that was seen, or than CAPACITY_TREND_DAYS_MAX, is
 * not foretold. */
#pragma once

#include "base/arena.h"

enum {
    CAPACITY_TREND_POINTS_MAX = 32,
    CAPACITY_TREND_POINTS_LEAST = 5,
    CAPACITY_TREND_RISING_PERCENT = 75,
    CAPACITY_TREND_SPANS_MAX = 10,
    CAPACITY_TREND_DAYS_MAX = 365,
};

enum capacity_trend_kind {
    CAPACITY_TREND_REACHES,          /* will reach the capacity */
    CAPACITY_TREND_OVER,             /* the last point is over it */
    CAPACITY_TREND_STEADY,           /* does not grow, or not steadily */
    CAPACITY_TREND_FAR,              /* grows, but reaches it too far away to be foretold */
    CAPACITY_TREND_TOO_FEW,          /* points, or over too short a time */
    CAPACITY_TREND_CAPACITY_UNKNOWN, /* of the last point */
};
/* "reaches", "over", "steady", "far", "too_few", "capacity_unknown"; static storage. */
const char *capacity_trend_kind_name(enum capacity_trend_kind kind);

struct capacity_trend_point {
    int64_t time_ms; /* Unix time; below 0: not known, and left out */
    int64_t bytes;
};

struct capacity_trend {
    enum capacity_trend_kind kind;
    size_t point_count;   /* that were looked at */
    double bytes_per_day; /* with REACHES and FAR; else 0 */
    /* With REACHES, days after the last point; a latest of infinity is not known: below 0. Else all below 0. */
    double days, soonest_days, latest_days;
};

/* How far a need is above a capacity: 0: it is not; -1: the capacity is not known. */
static inline int64_t capacity_trend_over_bytes(int64_t bytes, int64_t capacity_bytes)
{
    return capacity_bytes <= 0 ? -1 : bytes > capacity_bytes ? bytes - capacity_bytes : 0;
}
/* `points` by time; `capacity_bytes` below 1: not known. */
struct capacity_trend capacity_trend_find(const struct capacity_trend_point *points, size_t count,
                                          int64_t capacity_bytes, struct arena *arena);
