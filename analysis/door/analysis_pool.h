/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_pool.h: what an allocator did over time, in figures, as analysis.h hands it out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of one category of memory at the peak. */
struct analysis_trace_category {
    const char *name, *words; /* "saved_activation", "saved activations"; static storage */
    const char *guess_words;  /* behind the words: "", " (guess)", " (part guess)"; the same */
    int64_t bytes, guessed_bytes;
    int64_t failure_bytes; /* when the last request failed; -1: none failed */
};
enum { ANALYSIS_TRACE_CATEGORIES_MAX = 24 };

struct analysis_trace_pool {
    const char *name;   /* of the allocator, bytes as in the file; or the number of a TPU */
    bool is_device;     /* memory of a device; else of the host, or not known */
    int64_t peak_bytes; /* stack and heap */
    int64_t
        taken_bytes; /* of an allocator snapshot: what PyTorch took of the device at most, and, where a request failed,
                            that request with what was taken then; −1: not told */
    int64_t peak_time_ps;
    int64_t capacity_bytes;      /* -1: not told */
    int64_t lifetime_peak_bytes; /* -1: not told */
    uint64_t allocation_count, deallocation_count;
    bool is_end_alone;      /* a snapshot without a history: the peak is its end, and `failure` says so */
    bool is_one_event;      /* no course that could have a peak: peak_bytes is what is in use after the event */
    uint64_t failure_count; /* requests that failed, of an allocator snapshot */
    const char *failure;    /* one clause about the last of them, or about is_end_alone; NULL: nothing */
    struct analysis_trace_category categories[ANALYSIS_TRACE_CATEGORIES_MAX]; /* the largest first; none of a trace */
    size_t category_count;
};
