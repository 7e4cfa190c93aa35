/* SPDX-License-Identifier: Apache-2.0
 * profiles.h: device profiles in the order in which they were taken: whether live arrays grow, and whose lines made
 * them. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "model/device_memory/frames.h"
#include "model/device_memory/profile_set.h"

/* The column of bytes of a profile; type_count: it has none, and tells nothing. */
uint32_t profiles_bytes_type(const struct pprof *pprof);
/* "go-cpu.prof counts nanoseconds, not bytes." of the profiles without that column, in the arena; NULL: all have
 * one. */
const char *profiles_without_bytes(const struct profile_set *set, struct arena *arena);
/* The bytes of a sample in that column; 0 if it is not known. */
int64_t profiles_bytes_of(const struct pprof *pprof, uint32_t type, uint32_t sample);
/* Is it a loaded program? Else it is an array. */
bool profiles_is_program(const struct pprof *pprof, uint32_t sample);
/* The innermost line of a stack that is the user's own; FRAMES_NO_USER, FRAMES_NO_STACK: none is. */
uint32_t profiles_own_line(struct frames *frames, const struct pprof *pprof, uint32_t sample);
/* "init train.py:7", and of what is outside of functions "train.py:47". In the arena. */
const char *profiles_place(const struct frames *frames, uint32_t at, struct buf *scratch, struct arena *arena);

struct profiles_growth {
    bool grows;        /* over three profiles and more, by the rule of the view series */
    int64_t bytes;     /* last - first, of all live arrays */
    const char *place; /* where most of that was allocated: as profiles_place; NULL: not told */
    int64_t place_bytes;
    const char *first_name, *last_name; /* of the profiles */
};
/* Profiles are in the order in which they were taken; texts in the arena. `scratch` holds one text at a time. */
struct profiles_growth profiles_growth_of(const struct profile_set *set, struct buf *scratch, struct arena *arena);
/* The last one that could be read and is no base; NULL. */
const struct profile_set_item *profiles_last(const struct profile_set *set);
