/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/softmax.h"

#include "plan/pattern.h"

bool softmax_keeps(const struct variant *variant, const struct variant_row *row)
{
    return row->plan_row != PLAN_NONE && (variant->space->rows[row->plan_row].patterns & 1U << PATTERN_LOGITS) != 0;
}
