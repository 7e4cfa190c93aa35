/* SPDX-License-Identifier: Apache-2.0
 * stacked.h: what is in use over time, in bands by program, by op, by what grows and what is steady, or by category.
 *
 * At each event that is drawn the bands together are stack + heap, as the curve says; what is not told by any event
 * that went before is a band of its own, which is negative where events are missing. */
#pragma once

#include "views/memory_profile/views.h"

/* The events of a timeline, counted from the pool's first. */
struct memory_profile_drawn {
    const struct memory_profile_pool *pool;
    const struct memory_profile_window *window;
    const uint32_t *at;
    uint32_t count;
};

/* What the parameter `stack` asks for: "program", "op", "trend" or "category"; NULL without it. False: another word. */
bool memory_profile_stacked_read(const struct tool_request *request, const char **by, struct err *err);
/* Writes "stacked", null without `by`. */
void memory_profile_stacked_write(const struct tool_request *request, const struct memory_profile_drawn *drawn,
                                  const char *by, struct json *json);
