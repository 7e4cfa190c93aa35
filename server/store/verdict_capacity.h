/* SPDX-License-Identifier: Apache-2.0
 * verdict_capacity.h: the chip and the capacity that a verdict goes by. */
#pragma once

#include "server/store/verdict_parts.h"

/* Fills parts->chip, parts->capacity and what of them the core gets, by the order of capacity.h; a failure that states
 * its own capacity keeps that. A file that would have said it, and could not be read, is noted. */
void verdict_capacity_find(const struct verdict_parts_wanted *wanted, struct verdict_parts *parts);
/* The user's choice (capacity_choose) takes precedence over all other sources; copied. */
void verdict_capacity_choose(struct verdict_parts *parts, const struct capacity *chosen);
