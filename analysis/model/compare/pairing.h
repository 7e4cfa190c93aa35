/* SPDX-License-Identifier: Apache-2.0
 * pairing.h: which buffer of A is which buffer of B.
 *
 * Five keys in turn (keys.def), each beside the category; what one has paired the next does not see. Within a key those
 * whose op names agree to the letter come first, so that a layer that was put in between does not shift the others; the
 * rest are paired in program order. */
#pragma once

#include "model/compare/model.h"

/* Finds what is live on each side and sets each item's partner and key. Sets compare->texts too, whose numbers the
 * items have. */
void pairing_find(struct compare *compare, struct arena *arena, struct buf *scratch);
