/* SPDX-License-Identifier: Apache-2.0
 * robust.h: statistics that a few odd values do not move: the median, the median absolute deviation, the slope of Theil
 * and Sen.
 *
 * Units: values are bytes from 0 to SUM_MAX_BYTES_TOGETHER (base/sum.h), times milliseconds. Memory: none but the
 * caller's. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The standard deviation of a normal distribution is this many times its median absolute deviation. */
#define ROBUST_DEVIATIONS_PER_MAD 1.4826

/* The middle value, or the mean of the middle two, rounded down. Puts `values` in order; `count` is not 0. */
int64_t robust_median(int64_t *values, size_t count);
/* The median distance of `values` from `middle`; `scratch` has room for `count`, which is not 0. */
int64_t robust_deviation(const int64_t *values, size_t count, int64_t middle, int64_t *scratch);
/* The value below which `part` (0 to 1) of `values` lie: the nearest one. Puts them in order; `count` is not 0. */
double robust_quantile(double *values, size_t count, double part);
