/* SPDX-License-Identifier: Apache-2.0
 * thin.h: the events of a window that a drawing of some width needs. */
#pragma once

#include "views/memory_profile/views.h"

/* First, smallest, largest and last event of each of `width` equal parts of the time, ascending;
 * all events of the window when they fit. */
uint32_t *memory_profile_thin(const struct memory_profile_pool *pool, const struct memory_profile_window *window,
                              uint32_t width, struct arena *arena, uint32_t *count);
