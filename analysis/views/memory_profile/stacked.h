/* SPDX-License-Identifier: Apache-2.0
 * stacked.h: what is in use over time, in bands by program, by op, by what grows and what is steady, or by category.
 *
 * At each event that is drawn the bands together are stack + heap, as the curve says; what no event mentions
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
/* Which band of "stacked" counts an allocation; all zero: there are no bands. In the request's arena. */
struct memory_profile_bands {
    const struct memory_profile *profile;
    const uint32_t *group_of; /* of each `what` */
    const uint8_t *place_of;  /* of each group: its place among the bands, or MEMORY_PROFILE_NO_BAND */
    bool is_by_category;      /* else what was there before the recording is the rest, in the first band */
};

enum { MEMORY_PROFILE_NO_BAND = UINT8_MAX };

/* Writes "stacked", nothing without `by`. Out: its bands. */
struct memory_profile_bands memory_profile_stacked_write(const struct tool_request *request,
                                                         const struct memory_profile_drawn *drawn, const char *by,
                                                         struct json *json);
/* The place among the bands of the one that counts an allocation, from 0; -1: there is none. event: that allocates it,
 * or frees what was there before; PROFILE_NONE: kept is a block of the snapshot, which no event speaks of. */
int64_t memory_profile_stacked_place(const struct memory_profile_bands *bands, uint32_t event, uint32_t kept);
