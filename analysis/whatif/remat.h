/* SPDX-License-Identifier: Apache-2.0
 * remat.h: a program at the limit as it would be if the compiler had computed nothing again.
 *
 * In:     the program as it is. Where its values don't fit at once, XLA computes some of them a second time, shortly
 *         before they are read ("fusion.45.remat" beside "fusion.45"), and keeps less meanwhile.
 * Out:    the same with each such value alive from the first time that it is made until it is last read, and without
 *         what was kept only to make it again. A change is judged by this: what it saves, the compiler first uses to
 *         compute less again.
 * Source: hlo_rematerialization.cc names the copies: the name of the instruction, ".remat", and a number. */
#pragma once

#include "whatif/variant.h"

/* In the arena of `variant`; NULL: nothing is computed again, or what it is a copy of is no longer there. */
struct variant *remat_undone(const struct variant *variant);
