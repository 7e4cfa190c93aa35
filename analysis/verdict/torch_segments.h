/* SPDX-License-Identifier: Apache-2.0
 * torch_segments.h: what PyTorch takes of the device beside what is in use, and what its allocator would take of it
 * with segments that grow. For analysis/verdict alone.
 *
 * A process takes the segments, not the blocks in them. What is free in them is fragmentation where segments that grow
 * would do without: by a replay of the recording (model/memory_profile/replay.h), and only so. */
#pragma once

#include "model/memory_profile/replay.h"
#include "verdict/facts.h"

struct torch_moment;

struct torch_segments {
    int64_t peak_bytes;                         /* all segments, where they are most; -1: not told */
    int64_t peak_time_ps;                       /* when */
    int64_t beside_bytes;                       /* of these, more than what is in use at the moment */
    const struct memory_profile_replay *replay; /* of the recording; NULL: none was worth it yet */
    /* With expandable_segments:True; NULL where the question is not worth a replay. */
    const struct memory_profile_replay_change *expandable;
    int64_t saves_bytes; /* that way; 0 where it would not, or is not known */
    bool is_placed;      /* the request that failed would have got its memory that way */
    bool is_refused;     /* it would have failed all the same, surely */
    bool is_fragmented;  /* more is lost in pieces than any category holds */
};

void torch_segments_find(const struct verdict_facts *facts, struct torch_moment *moment);
/* Are they what the verdict's "needed" is? */
bool torch_segments_is_needed(const struct verdict_facts *facts);
/* Behind the sentence on the fit: how much of them is in use. */
const char *torch_segments_sentence(const struct verdict_facts *facts);
/* Shows peak_bytes, and beside_bytes. */
struct verdict_evidence torch_segments_evidence(const struct verdict_facts *facts);
struct verdict_evidence torch_segments_beside(const struct verdict_facts *facts);
enum verdict_confidence torch_segments_confidence(const struct torch_segments *segments);
