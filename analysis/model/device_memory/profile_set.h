/* SPDX-License-Identifier: Apache-2.0
 * profile_set.h: what a question is about: profiles, and those that are subtracted. */
#pragma once

#include "read/pprof/pprof.h"

/* For a profile that is what was live at a moment of an allocator snapshot. */
struct profile_set_moment {
    const void *source; /* identifies the snapshot and the memory: equal for the same */
    struct str memory;  /* "GPU 0" */
    const char *text;   /* as it was asked for: "peak" */
    const char *words;  /* "the peak, 25.412 ms" */
    int64_t time_ps;    /* from the origin of times */
    int64_t event;      /* the last that had happened, counted from the first of the memory; -1: none had */
    int64_t in_use_bytes;
};

struct profile_set_item {
    const struct pprof *pprof;               /* NULL: it could not be read, see code and reason */
    const struct profile_set_moment *moment; /* NULL: a file of its own */
    const char *id, *name;
    uint64_t size_bytes;
    int64_t captured_at_ms;    /* Unix time; 0: not known */
    const char *captured_from; /* "profile", "gzip", "file", "snapshot" or NULL */
    bool is_base;
    bool is_other; /* beside a series and not asked for: not read */
    const char *code, *reason;
};

struct profile_set {
    const struct profile_set_item *items;
    uint32_t count;
    bool has_source; /* a --source-root was given */
};
