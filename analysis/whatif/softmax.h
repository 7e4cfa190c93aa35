/* SPDX-License-Identifier: Apache-2.0
 * softmax.h: values that stay in wide numbers whatever the parameters are: the logits under a log-softmax. */
#pragma once

#include "whatif/variant.h"

/* Is the row the operand of a log-softmax, or its result? */
bool softmax_keeps(const struct variant *variant, const struct variant_row *row);
