/* SPDX-License-Identifier: Apache-2.0
 * profile_set.h: what a question is about: profiles, and those that are subtracted. */
#pragma once

#include "input/pprof.h"

struct profile_set_item {
    const struct pprof *pprof; /* NULL: it could not be read, see code and reason */
    const char *id, *name;
    uint64_t size_bytes;
    int64_t captured_at_ms;    /* Unix time; 0: not known */
    const char *captured_from; /* "profile", "gzip", "file" or NULL */
    bool is_base;
    bool is_other; /* beside a series and not asked for: not read */
    const char *code, *reason;
};

struct profile_set {
    const struct profile_set_item *items;
    uint32_t count;
    bool has_source; /* a --source-root was given */
};
