/* SPDX-License-Identifier: Apache-2.0
 * exchange/fleet.h: many jobs over their commits: records that go in, steps and hosts that come out (model/fleet).
 * Texts are borrowed. Units: bytes, Unix time in ms; below 0, or NULL: not known. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of `memviewd index`, or what many of them come to. */
struct fleet_record {
    const char *job, *module, *kind, *memory_space, *configuration, *commit;
    const char *host, *user_name, *device, *verdict;
    const char *id, *logdir, *file, *session_id; /* of the row; of many that of the one with the largest value */
    const char
        *reference; /* SESSION/HOST/MODULE, as views of comparisons take it; NULL: not below this daemon's logdirs */
    int64_t first_at_ms, last_at_ms; /* when the files were written */
    int64_t row_count, host_count;   /* that it comes to; host_count 0: as `host` says */
    int64_t needed_min_bytes, needed_bytes, peak_bytes, capacity_bytes;
    const int64_t *category_bytes; /* one for each name; NULL: not known */
};

/* Where a series goes to another level and stays there (model/fleet/level_steps.h). */
struct level_step {
    size_t at;                        /* the first value of the new level */
    int64_t before_bytes;             /* median of the values before */
    int64_t after_bytes;              /* median of the values from `at` on that were looked at */
    int64_t noise_bytes;              /* a robust standard deviation */
    int64_t threshold_bytes;          /* what the step had to exceed */
    size_t before_count, after_count; /* values that were looked at */
    bool is_lasting;                  /* enough of both */
};

/* One of the hosts that did the same (model/fleet/odd_hosts.h). */
enum odd_host_reason { ODD_HOST_NOT, ODD_HOST_LIMIT, ODD_HOST_PROGRAM, ODD_HOST_PLAN };

struct odd_host {
    const char *name, *program;
    int64_t needed_bytes, capacity_bytes;
    /* out */
    enum odd_host_reason reason;
    int64_t off_bytes; /* from the median, of two from the other one; 0: not known */
};
