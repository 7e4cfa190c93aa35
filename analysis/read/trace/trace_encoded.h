/* SPDX-License-Identifier: Apache-2.0
 * trace_encoded.h: events whose stats stand in their name, as TraceMe hands them to the recorder:
 *     MemoryAllocation#allocator_name=GPU_0_bfc,bytes_allocated=256,addr=139#
 * A tool that does not take such names apart leaves them so. Then each event has a name of its own,
 * and the names are read into memory: this is the slow way, for planes that need it.
 *
 * Source: traceme_encode.h and parse_annotation.cc of XLA. */
#pragma once

#include "read/trace/trace_line.h"

struct trace_encoded {
    struct map by_id;  /* of event metadata: number of its name */
    struct str *names; /* those that end with # */
    struct arena *arena;
};

/* Finds the encoded names of a resolved plane: those of memory events; of all events if the plane has no memory
 * event that was taken apart. Memory: `arena`, as long as the names are. */
void trace_encoded_find(struct trace_encoded *encoded, struct stream *stream, const struct trace_plane *plane,
                        struct arena *arena);
/* The event as it were with its stats taken apart; its texts last as long as the arena. False if its name is not
 * encoded. */
bool trace_encoded_read(const struct trace_encoded *encoded, const struct trace_event *event, struct trace_event *out);
/* "train#step_num=3#" → "train" */
struct str trace_encoded_base(struct str name);
