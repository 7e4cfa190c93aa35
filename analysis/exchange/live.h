/* SPDX-License-Identifier: Apache-2.0
 * exchange/live.h: what processes of a running job have in use as time goes (model/live/live.h): a line for each device
 * of each process. Sizes are bytes, times Unix milliseconds of the process's own clock; -1: not known. */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct finding; /* model/finding.h */

/* Borrowed. */
struct live_text {
    struct str process; /* "rank3.4711" */
    struct str text;
};

enum live_kind {
    LIVE_ALLOCATOR, /* what the framework's allocator has given out of a device */
    LIVE_ARRAYS     /* the sum of live arrays, where there is no allocator to ask: JAX on the CPU */
};

struct live_sample {
    int64_t at_ms, low_bytes, high_bytes; /* in use since the sample before, at the least and at the most */
    int64_t reserved_bytes;               /* the most that the allocator had of the device */
    int64_t free_bytes;                   /* the least that was free for any process */
};

struct live_line {
    const char *process, *device; /* "rank3.4711", "cuda:0" */
    const char *name;             /* "cuda:0 of rank3.4711" */
    enum live_kind kind;
    int64_t total_bytes;         /* of the device, or the allocator's limit */
    struct live_sample *samples; /* at least one, in the order of time */
    size_t count;
    int64_t room_bytes; /* of the newest sample: what the program could still get */
    int64_t peak_bytes, peak_ms;
    /* "cuda:0: 12.30 GiB in use, peak 13.90 GiB, 65.20 GiB of 79.20 GiB free, 14.00 GiB reserved" */
    const char *sentence;
    const struct finding *finding;  /* "grows"; NULL: it does not, or that is not known yet */
    const char *growth_sentence;    /* the finding's, behind the name; NULL: without `finding` */
    int64_t grown_per_minute_bytes; /* 0: without `finding` */
    const char *reason;             /* why no further sample is taken; NULL: more are */
    bool is_ended;                  /* its process has ended in order */
};

struct live {
    struct live_line *lines; /* the fullest first, those that have ended last */
    size_t count, left_out_count;
    const struct live_line *highest; /* whose peak came nearest to the end of its device; NULL: there is no line */
};
