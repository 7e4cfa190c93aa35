/* SPDX-License-Identifier: Apache-2.0
 * remat.h: a program at the limit as it would be without XLA's own rematerialization.
 *
 * In:     the program as it is. Where its values don't fit at once, XLA rematerializes some: it computes them a second
 *         time, shortly before they are read ("fusion.45.remat" beside "fusion.45"), and keeps less meanwhile.
 * Out:    the same with each such value alive from the first time that it is made until it is last read, and without
 *         what was kept only to make it again. A change is judged by this: what it saves, the compiler first uses to
 *         rematerialize less.
 * Source: hlo_rematerialization.cc names the copies: the name of the instruction, ".remat", and a number. */
#pragma once

#include "whatif/variant.h"

/* In the arena of `variant`; NULL: nothing is rematerialized, or what it is a copy of is no longer there. */
struct variant *remat_taken_out(const struct variant *variant);
