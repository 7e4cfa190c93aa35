/* SPDX-License-Identifier: Apache-2.0
 * compile_report.h: what the child of a compile reports through its pipe: records, each a head and its bytes.
 *
 * Both ends are the same program, but a library that goes wrong may write anything: the reader checks every length. */
#pragma once

#include <stdint.h>

enum compile_report_kind {
    COMPILE_REPORT_STAGE,   /* uint32_t: an enum compile_stage, when it begins */
    COMPILE_REPORT_VERSION, /* text: the platform's version, as the library says it */
    COMPILE_REPORT_FAULT,   /* struct compile_report_fault and text; the last record */
    COMPILE_REPORT_STATS,   /* struct compile_report_stats; the last record */
};

enum compile_report_cause {
    COMPILE_REPORT_CANNOT_START, /* files, limits */
    COMPILE_REPORT_CANNOT_LOAD,  /* no such library, or not one of PJRT */
    COMPILE_REPORT_UNKNOWN_TABLE,
    COMPILE_REPORT_REFUSED, /* by the library: `code` is PJRT's */
};

struct compile_report_head {
    uint32_t kind, length; /* of the bytes that follow, at most COMPILE_REPORT_MAX_BYTES */
};

enum { COMPILE_REPORT_MAX_BYTES = 1 << 20 };

struct compile_report_fault {
    uint32_t cause;
    int32_t code;
};

struct compile_report_stats {
    int64_t argument_bytes, output_bytes, alias_bytes, temporary_bytes, peak_bytes;
};
