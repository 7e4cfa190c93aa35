/* SPDX-License-Identifier: Apache-2.0
 * live_arrays.h: what the last device profile says one device held: arrays by the user's own lines that made them,
 * and loaded programs.
 *
 * Of a profile of several devices one is taken: the one that a failure names, else the one whose arrays hold most; what
 * a device has is a figure of one device too.
 * Units: bytes. Memory: the arena; texts are borrowed from the profile where they can be. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "model/device_memory/profile_set.h"

/* Lines that are named; the others are one sum. */
enum { LIVE_LINES_MAX = 6 };

/* Arrays that one line of the user's code made. */
struct live_line {
    const char *place;  /* "init train.py:7", "train.py:47"; "(no stack)" */
    const char *filter; /* of the view "buffers" that keeps these rows alone; NULL: its name cannot be written in one */
    int64_t bytes;
};

struct live_arrays {
    bool is_known;      /* there is a profile, and it has sizes */
    const char *name;   /* of the profile: "memory-000001.prof" */
    const char *id;     /* the same, as evidence names it */
    const char *device; /* "cuda:1"; NULL: the profile is of one device, or tells them not apart */
    int64_t array_bytes, program_bytes;
    struct live_line lines[LIVE_LINES_MAX]; /* the largest first */
    uint32_t line_count;
    uint32_t other_count; /* further lines */
    int64_t other_bytes;
    const char *array_filter, *program_filter; /* of the view "buffers": all arrays; all programs */
};

/* `wanted_device`: as a failure names it ("0"), or empty. `scratch` holds one text at a time. `out` is filled
 * always. */
void live_arrays_find(const struct profile_set *set, struct str wanted_device, struct buf *scratch, struct arena *arena,
                      struct live_arrays *out);
