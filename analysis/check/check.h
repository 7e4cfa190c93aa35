/* SPDX-License-Identifier: Apache-2.0
 * check.h: may this program be merged? Its plan against a limit, and against the plan that it had before.
 *
 * In:     the plan of a module, that of the same module before (or none), what is allowed.
 * Out:    findings, at most one a rule (rules.def), with the sentence that every format prints.
 * Units:  bytes. All figures are of the device's memory: space 0, or the largest where there is none.
 * Memory: what is kept lies in `arena`, what only the decision needs in `scratch_arena`.
 * Source: growth is computed by `memviewd diff` (model/compare/sentence.h), A is the baseline. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "plan/memory_fit.h"
#include "plan/plan.h"

enum check_rule {
#define RULE(constant, name, words) CHECK_##constant,
#include "check/rules.def"
#undef RULE
    CHECK_RULE_COUNT
};
/* "donation_lost", "donation lost"; static storage. */
const char *check_rule_name(enum check_rule rule);
const char *check_rule_words(enum check_rule rule);

/* What is allowed. */
struct check_limits {
    int64_t max_total_bytes; /* −1: no limit */
    bool has_baseline;
    uint64_t tolerance_ppm;      /* growth that is none yet, in millionths of the baseline's total */
    bool is_physical, is_of_gpu; /* of a device that was named as the limit: as struct memory_capacity has them */
};

/* What the baseline needed, where its program cannot be read any more. */
struct check_before {
    const char *space_name; /* "HBM"; of a module whose device has another memory it says nothing */
    int64_t total_bytes;
};

/* What a process took of a device, where there is no program: of an allocator snapshot. */
struct check_taken {
    const char *space_name; /* "GPU 0" */
    int64_t total_bytes;
};

struct check_finding {
    enum check_rule rule;
    const char *sentence;
    const char *source_file; /* the user's line that it is about, as recorded; NULL: not known, or several */
    int64_t source_line;
    int64_t bytes;  /* over by, grown by, no longer donated, no longer fused */
    uint64_t count; /* arguments, buffers; 0 of the others */
};

struct check_module {
    const char *file, *name;
    const char *fault; /* why it could not be checked; NULL: it was */
    const char *space_name;
    int64_t total_bytes;
    struct memory_fit *fit; /* into the limit; NULL: there is no limit */
    int64_t baseline_bytes; /* −1: not in the baseline, or there is none */
    bool is_figure_alone;   /* the baseline has only the needed bytes: growth can be computed, losses cannot */
    bool is_snapshot;       /* of PyTorch's allocator: a process, and no program */
    struct check_finding findings[CHECK_RULE_COUNT];
    uint32_t finding_count;
};

struct check_report {
    struct check_limits limits;
    struct check_module *modules; /* in the order they were looked at */
    size_t count, capacity;
    size_t finding_count, fault_count, compared_count; /* compared: modules that the baseline has */
};

/* What a module is held against: a plan, or what is known without one; both NULL: it is in no baseline. */
struct check_baseline {
    const struct plan *plan;
    const struct check_before *before;
};
/* Fills findings and figures of `module`. */
void check_decide(const struct check_limits *limits, const struct plan *plan, const struct check_baseline *baseline,
                  struct arena *arena, struct arena *scratch_arena, struct buf *scratch, struct check_module *module);
/* The same of a process: it has figures alone, and what it allows itself of a device is not known. */
void check_decide_taken(const struct check_limits *limits, const struct check_taken *taken,
                        const struct check_before *before, struct arena *arena, struct buf *scratch,
                        struct check_module *module);
/* Is the rule among those that were looked at for this module? */
bool check_applies(const struct check_limits *limits, const struct check_module *module, enum check_rule rule);
/* "1 of 2 modules has a finding: …": the whole in one line. */
void check_sentence(const struct check_report *report, struct buf *out);
