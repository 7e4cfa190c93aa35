/* SPDX-License-Identifier: Apache-2.0
 * compile_watch.h: a child that compiles, from its start until nothing of it is left. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "server/compile/compile.h"
#include "server/compile/compile_report.h"

enum compile_watch_end {
    COMPILE_WATCH_REPORTED, /* by a fault or by stats */
    COMPILE_WATCH_STOPPED,  /* the assignment is final: it was ended */
    COMPILE_WATCH_DIED,     /* without a word */
    COMPILE_WATCH_GARBLED,  /* what it reports is no report */
    COMPILE_WATCH_TIME,
    COMPILE_WATCH_MEMORY,
    COMPILE_WATCH_OUTPUT,
    COMPILE_WATCH_CANCELLED,
};

struct compile_watch {
    enum compile_watch_end end;
    enum compile_stage stage;
    bool has_fault, has_stats;
    struct compile_report_fault fault;
    struct compile_report_stats stats;
    struct buf fault_text, version; /* as the library wrote them */
    struct buf output;              /* the beginning and the end of what it printed */
    uint64_t output_bytes;
    int wait_status; /* of wait(2) */
    int64_t took_ms;
    uint64_t resident_bytes; /* the most that was seen */
};

/* Runs `memviewd compile-child` in `folder`, where its files are; `chips` is its TOPOLOGY, `dump` is the path of the
 * folder that it dumps into. The limits of the request are set. False if no process could be started.
 * compile_watch_free in either case. */
bool compile_watch_run(struct compile_watch *watch, const struct compile_request *request, const struct plugin *plugin,
                       const char *chips, const char *folder, const char *dump, struct err *err);
void compile_watch_free(struct compile_watch *watch);
