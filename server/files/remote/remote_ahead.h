/* SPDX-License-Identifier: Apache-2.0
 * remote_ahead.h: which blocks of an object to ask for, by which were read so far. Pure. */
#pragma once

#include <stdint.h>

enum { REMOTE_AHEAD_STREAMS = 16, REMOTE_AHEAD_MAX = 64 };

/* Somebody who reads forwards. */
struct remote_ahead_stream {
    uint64_t last, end; /* the block that he read last, and the first that was not asked for */
    uint64_t window;    /* blocks of the last request; 0: none was made */
    uint64_t used_at;
};

/* Starts zeroed. */
struct remote_ahead {
    struct remote_ahead_stream streams[REMOTE_AHEAD_STREAMS];
    uint64_t clock;
};

struct remote_ahead_range {
    uint64_t from, count; /* count 0: nothing */
};

/* Block `index` is read: what is to be asked for now. It does not say whether that is there already. */
struct remote_ahead_range remote_ahead_note(struct remote_ahead *ahead, uint64_t index);
