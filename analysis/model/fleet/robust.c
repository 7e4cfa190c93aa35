/* SPDX-License-Identifier: Apache-2.0
 * robust.c: see robust.h. */
#include "model/fleet/robust.h"

#include "base/str.h"

#include <stdlib.h>

static int by_integer(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return ORDER(a, b);
}

static int by_real(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return ORDER(a, b);
}

int64_t robust_median(int64_t *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_integer);
    int64_t low = values[(count - 1) / 2], high = values[count / 2];
    return low + (high - low) / 2;
}

int64_t robust_deviation(const int64_t *values, size_t count, int64_t middle, int64_t *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = values[i] > middle ? values[i] - middle : middle - values[i];
    return robust_median(scratch, count);
}

double robust_quantile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof(*values), by_real);
    return values[(size_t)(part * (double)(count - 1) + 0.5)];
}
