/* SPDX-License-Identifier: Apache-2.0
 * trend.h: what becomes of a value over several profiles, in one word.
 *
 * A change counts when it is more than a hundredth of the largest value.
 *   steady      no value differs from another by so much
 *   steps_once  exactly one change from one profile to the next
 *   grows       more at the end, and at least two changes upwards, none downwards;
 *               or nearly a straight line upwards (r² from 0.8 on)
 *   shrinks     the same downwards
 *   irregular   anything else
 *   too_few     fewer than three profiles: no trend can be told */
#pragma once

#include <stdint.h>

enum trend_kind {
    TREND_GROWS,
    TREND_STEPS_ONCE,
    TREND_STEADY,
    TREND_SHRINKS,
    TREND_IRREGULAR,
    TREND_TOO_FEW,
    TREND_KIND_COUNT
};

struct trend {
    enum trend_kind kind;
    int64_t change; /* last − first */
    double slope;   /* per profile, of the straight line that fits best */
};

/* The trend of no values is too_few, without a change. */
struct trend trend_of(const int64_t *values, uint32_t count);
const char *trend_kind_name(enum trend_kind kind);
/* Greater: shown earlier. What grows comes first, by how much. */
double trend_rank(const struct trend *trend);
