/* SPDX-License-Identifier: Apache-2.0
 * blocks.h: the allocations of a timeline's window that are drawn one by one: those that take most of the picture, by
 * their bytes and by how long they are there in it.
 *
 * Each lives from behind one event to behind another, and has at each event between them the bytes that the bands of
 * stacked.h count for it. */
#pragma once

#include "views/memory_profile/stacked.h"

/* Writes the members "blocks", the one that takes most first, at most `limit` of them, each with its place among
 * `bands`, and "block_count", how many the window has; nothing where `limit` is 0. Time: each event once. */
void memory_profile_blocks_write(const struct tool_request *request, const struct memory_profile_drawn *drawn,
                                 const struct memory_profile_bands *bands, uint32_t limit, struct json *json);
/* Member "line": of a snapshot's stack the innermost line that is neither PyTorch's nor Python's; none without one. */
void memory_profile_blocks_line(struct json *json, const struct memory_profile *profile, uint32_t stack,
                                struct arena *arena);
