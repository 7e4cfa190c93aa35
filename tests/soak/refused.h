/* SPDX-License-Identifier: Apache-2.0
 * refused.h: memory that is refused (refused_memory.c), and what is done meanwhile (refused_things.c). */
#pragma once

#include "tests/unit/subject.h"

enum { LIMIT_BYTES = 256 << 20 };
enum way { AT_LIMIT, ONCE, FROM_THERE_ON, WAY_COUNT };

struct refusing {
    bool is_on;
    enum way way;
    uint64_t at, arena_count, system_count; /* from 1; 0: nothing is refused */
    int64_t held_count;                     /* pieces of the system's memory */
};
extern struct refusing fault;

/* Read, asked or made: into `out`, or why not. */
struct thing {
    const char *name;
    bool (*make)(const struct thing *thing, struct buf *out, struct err *err);
    const struct source *source;
    const struct analysis_program *program;
    enum analysis_subject_kind kind;
    bool is_in_pieces;
    const struct analysis_subject *subject, *text;
    struct analysis_question question;
    enum analysis_verdict_format format;
};

bool do_read(const struct thing *thing, struct buf *out, struct err *err);
bool do_identify(const struct thing *thing, struct buf *out, struct err *err);
bool do_contents(const struct thing *thing, struct buf *out, struct err *err);
bool do_contents_of_bytes(const struct thing *thing, struct buf *out, struct err *err);
bool do_totals(const struct thing *thing, struct buf *out, struct err *err);
bool do_unpack(const struct thing *thing, struct buf *out, struct err *err);
bool do_answer(const struct thing *thing, struct buf *out, struct err *err);
bool do_members(const struct thing *thing, struct buf *out, struct err *err);
bool do_groundwork(const struct thing *thing, struct buf *out, struct err *err);
bool do_verdict(const struct thing *thing, struct buf *out, struct err *err);
bool do_check(const struct thing *thing, struct buf *out, struct err *err);
bool do_change(const struct thing *thing, struct buf *out, struct err *err);
bool do_compare(const struct thing *thing, struct buf *out, struct err *err);
bool do_window(const struct thing *thing, struct buf *out, struct err *err);
