/* SPDX-License-Identifier: Apache-2.0
 * sequence_sign.h: is what follows the batch known to be a sequence? It may as well be a picture's side, a
 * channel, a shot, or the coordinates of a point.
 *
 * In:   the program as it is.
 * Out:  whether there is a sign: rows of whole numbers, as tokens are, or attention along it.
 * Cost: one pass over the products. */
#pragma once

#include "whatif/variant.h"

bool sequence_sign_is_there(const struct variant *variant);
