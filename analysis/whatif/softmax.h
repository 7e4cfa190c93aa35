/* SPDX-License-Identifier: Apache-2.0
 * softmax.h: values that stay in wide numbers whatever the parameters are: the logits under a log-softmax, and
 * attention's softmax itself, which models take in float32. */
#pragma once

#include "plan/value.h"
#include "whatif/regions.h"
#include "whatif/variant.h"

enum softmax_part {
    SOFTMAX_NO,
    SOFTMAX_WIDE,   /* attention's softmax: models take it in float32 */
    SOFTMAX_LOGITS, /* under a log-softmax: cast to float32 for the loss, and kept as they are for the backward pass */
};

struct softmax {
    const struct variant *variant;
    const struct regions *regions;
    struct value_walk walk;
    bool is_begun;           /* by what reads the value that is looked at */
    uint32_t first_backward; /* step of the first reader going backward, or HLO_NONE */
};

void softmax_init(struct softmax *softmax, const struct variant *variant);
/* What the row is in a softmax. For logits, first_backward is when their cast is needed no more. */
enum softmax_part softmax_part_of(struct softmax *softmax, const struct variant_row *row);
