/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_oom.h: a part of analysis.h, and included by it: what the out-of-memory texts of a log say.
 *
 * Memory: a report and its failures live as long as the subject that was read. Errors: those of analysis.h. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/source.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis_subject; /* analysis.h */
struct oom_report;       /* opaque: what a text tells */
struct oom_meaning;      /* opaque: one failure of a report */
struct oom_comparison;   /* opaque: a failure beside the plan of its program */

/* What each distinct failure of a text means; equal replicas are counted. */
const struct oom_report *analysis_text_report(const struct analysis_subject *text);
size_t analysis_oom_count(const struct oom_report *report);
/* Failure `at`, below analysis_oom_count, in the order of the log. */
const struct oom_meaning *analysis_oom_at(const struct oom_report *report, size_t at);
/* Does it tell of a failure, of one that was tried and given up, or of the memory of a compile that went well? */
bool analysis_oom_is_recognised(const struct oom_report *report);

/* What a failure states, as lists of failures show it. Texts are static or live as long as the failure; sizes are
 * bytes, -1: not stated. */
struct analysis_oom_facts {
    const char *family;              /* "tpu_compile", …: who refused */
    const char *title;               /* "TPU compile-time OOM (E1000)" */
    const char *memory_class;        /* "hbm", "vmem", …: which memory did not suffice; NULL: not known */
    const char *phase;               /* "compile", "load", "run"; NULL: not known */
    struct str memory_space, module; /* as the text names them; data NULL: it does not */
    int64_t needed_bytes, capacity_bytes, exceeded_bytes, free_bytes, largest_free_bytes;
    uint64_t needed_rounding_bytes; /* how far a size may be from needed_bytes that says the same */
    int64_t limit_bytes;            /* what the request is held against */
    const char *limit_phrase;       /* "are available", "are free", …; NULL */
    int64_t over_bytes;             /* past the limit */
    const char *over_text;          /* as it is to be printed; NULL */
};
void analysis_oom_facts(const struct oom_meaning *failure, struct analysis_oom_facts *out);

/* One object a failure, into an array that is open in `json`; `file`, if not NULL, becomes a member of each. */
void analysis_oom_write_failures(const struct oom_report *report, const char *file, struct json *json);
/* One of them as such an object; `answer`, an object or NULL, is its last member. */
void analysis_oom_write_failure(const struct oom_meaning *failure, const char *file, const struct buf *answer,
                                struct json *json);
/* What a person wants to know of a log, as lines for a terminal: `name` is what it is called, `answers` the verdict of
 * each failure as text. Names out of the log are escaped. */
void analysis_oom_write_text(const struct oom_report *report, const char *name, const struct buf *answers,
                             struct buf *out);

/* A module of a session, by the name in its program. */
struct analysis_oom_module {
    const char *name;
    uint64_t total_bytes; /* of its largest memory space; 0 where it is the only one, or not known */
    uint64_t temporary_bytes, largest_output_bytes;
};
/* The size of one piece that a program takes which failed at run time: its module takes at least this much in all. 0:
 * none is known. */
uint64_t analysis_oom_piece_bytes(const struct oom_meaning *failure);
/* The place of the module that a failure is about: of that name, or of any where none is named, the one of which the
 * request is the total, as compilers ask for it, or all temporaries or an output, as is asked for at run time. Else of
 * that name the one with the largest total, if that is no smaller than a piece of it; where none is named, the only
 * one. `count` when there is none. */
size_t analysis_oom_choose_module(const struct oom_meaning *failure, const struct analysis_oom_module *modules,
                                  size_t count);

/* A failure of a report beside the plan of its program: do they say the same, and which buffers are meant. NULL on
 * error: notfound for a program without a plan, limit. Its texts are those of the report and of the module. Free with
 * analysis_oom_comparison_free. */
struct oom_comparison *analysis_oom_compare(const struct oom_meaning *failure, const struct analysis_subject *module,
                                            struct err *err);
void analysis_oom_comparison_free(struct oom_comparison *comparison);
/* An object, as the next value of `json`: schema OomPlan in docs/openapi.yaml. */
void analysis_oom_write_comparison(const struct oom_comparison *comparison, const struct oom_meaning *failure,
                                   struct json *json);

/* Appends the bytes [from, to) of a log, unpacked; fewer at its end. Errors: io, malformed gzip. */
bool analysis_oom_window(const struct source *source, uint64_t from, uint64_t to, struct buf *out, struct err *err);

/* Row `at` of what is looked for, one line each; NULL past the end. Static storage. */
const char *analysis_oom_looked_for(size_t at);
