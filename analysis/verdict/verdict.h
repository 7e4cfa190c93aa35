/* SPDX-License-Identifier: Apache-2.0
 * verdict.h: what happened, where the memory went, and what will make it fit, from whatever is at hand.
 *
 * In:     any of a failure that a text states, the plan of a program, what allocators did over time, device profiles.
 * Out:    one cause, four blocks (did it fit, where did it all go, what made the peak, what will make it fit) and a ledger
 *         of what each of them says was taken. The rows of the second block add up to what was needed, to the byte.
 * Units:  bytes; -1: not known.
 * Memory: the arena. Texts live there, or are static, or belong to what was given.
 * Sure:   every figure that is not read from a file says how sure it is and why. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "plan/category.h"

#include <stdbool.h>
#include <stdint.h>

struct oom_verdict;    /* tool/oom/model.h */
struct oom_comparison; /* the same */
struct plan;           /* plan/plan.h */
struct memory_profile; /* tool/memory_profile/model.h */
struct profile_set;    /* tool/device_memory/profile_set.h */

enum verdict_fits { VERDICT_FITS_UNKNOWN, VERDICT_FITS_YES, VERDICT_FITS_NO, VERDICT_FITS_PERHAPS };

enum verdict_confidence {
    VERDICT_CONFIRMED, /* the compiler compiled the changed program */
    VERDICT_EXACT,     /* bytes of a plan or of a file */
    VERDICT_MODEL,     /* the replay of the compiled heap (docs/what-if.md) */
    VERDICT_BOUND,     /* true at most or at least */
    VERDICT_GUESS,     /* rests on names, or on what was seen elsewhere */
};

/* What is at hand; each may be NULL. */
struct verdict_parts {
    const struct oom_verdict *failure;
    const struct oom_comparison *comparison; /* of the failure with the plan */
    const struct plan *plan;
    const struct memory_profile *trace;
    const struct profile_set *profiles;
    int64_t capacity_bytes;      /* that somebody said, of device memory; -1: nobody did */
    const char *capacity_source; /* who did: "as chosen", "as the trace records it" */
    const char *device;          /* the chip, and what says so; NULL: not known */
    const char *joined[2];       /* sentences: what was taken from elsewhere, and why; each may be NULL */
};

enum verdict_cause_kind {
#define CAUSE(constant, name, words) VERDICT_CAUSE_##constant,
#include "verdict/cause.def"
#undef CAUSE
    VERDICT_CAUSE_COUNT
};

struct verdict_cause {
    enum verdict_cause_kind kind;
    const char *text; /* one sentence */
    int64_t bytes;    /* that it holds */
    enum verdict_confidence confidence;
};

struct verdict_fit {
    int64_t needed_bytes, capacity_bytes, over_bytes, free_bytes;
    const char *capacity_source; /* NULL: not known */
    const char *device;          /* "TPU v5e, by its limit of 15.75 GiB"; NULL: not known */
    const char *space;           /* "HBM" */
    const char *sentence;
};

/* A stretch of what was needed. */
struct verdict_where {
    const char *
        kind; /* "arguments", "outputs", "temporaries", "constants", "program", "reserved", "others", "fragmentation" */
    const char *label; /* in words */
    int64_t bytes;
    const char *category; /* of the rows by category; NULL of the others */
    const char *source;   /* "plan", "error text", "trace", "device profile" */
};

struct verdict_pattern {
    const char *kind, *sentence, *gone; /* gone: what it looks like when it is */
    int64_t bytes, saves_bytes;         /* held at the peak; by which the peak falls without it */
};

/* Equal buffers of repeated layers. */
struct verdict_group {
    const char *key, *category, *label, *shape, *source; /* key: of the view whose; source: "models.py:11" or "" */
    uint32_t count;
    int64_t bytes;
};

/* Kinds of advice, in no order. */
enum verdict_advice_kind {
#define ADVICE(constant, name, effort, find) VERDICT_ADVICE_##constant,
#include "verdict/advice.def"
#undef ADVICE
    VERDICT_ADVICE_COUNT
};

struct verdict_advice {
    enum verdict_advice_kind kind;
    const char *title;  /* verb and object */
    const char *change; /* as `memviewd whatif --change` takes it; NULL: there is no model of it */
    int64_t saves_bytes, lands_at_bytes;
    enum verdict_fits fits;
    enum verdict_confidence confidence;
    const char *reason;         /* of the confidence */
    const char *evidence;       /* a sentence */
    const char *tool;           /* that shows the evidence; NULL: none does */
    const char *filter;         /* of the table there; NULL: all */
    const char *call;           /* the line to write or the flag to set */
    uint32_t effort;            /* of the person, for the order */
    double extra_flops_percent; /* work of products that is done once more; < 0: not known */
};

struct verdict_bar {
    const char *kind; /* "plan", "allocator_peak", "live_arrays", "programs" */
    const char *label;
    int64_t bytes;
    const char *source;
};

enum { VERDICT_BARS_MAX = 6, VERDICT_NOTES_MAX = 8 };
struct verdict_ledger {
    int64_t capacity_bytes;
    struct verdict_bar bars[VERDICT_BARS_MAX];
    uint32_t bar_count;
    bool has_drift, balances; /* drift, coverage: of a plan against what an allocator or profile saw */
    double drift_percent, coverage_percent;
    const char *sentence;
};

struct verdict {
    const char *sentence;
    const char *program; /* "jit_step"; NULL: none is named */
    enum verdict_fits fits;
    struct verdict_cause cause;
    struct verdict_fit fit;
    struct verdict_where *where, *categories;
    uint32_t where_count, category_count;
    int64_t where_bytes; /* the rows of `where` together */
    struct verdict_pattern *patterns;
    uint32_t pattern_count;
    struct verdict_group *groups;
    uint32_t group_count; /* the largest; group_bytes of group_total_count */
    uint32_t group_total_count;
    int64_t peak_bytes;
    struct verdict_advice *advice; /* the best first */
    uint32_t advice_count;
    const char *advice_sentence; /* NULL: the first advice suffices */
    struct verdict_ledger ledger;
    const char *notes[VERDICT_NOTES_MAX];
    uint32_t note_count;
};

/* Fills `out`, which is zeroed. `scratch` holds one text at a time. */
void verdict_make(const struct verdict_parts *parts, struct buf *scratch, struct arena *arena, struct verdict *out);

/* May the failure be of a program that XLA compiled, so that a plan says more of it? */
bool verdict_is_of_plan(const struct oom_verdict *failure);

/* "no_donation"; static storage, as all of these. */
const char *verdict_cause_name(enum verdict_cause_kind kind);
const char *verdict_cause_words(enum verdict_cause_kind kind);
const char *verdict_advice_name(enum verdict_advice_kind kind);
const char *verdict_confidence_name(enum verdict_confidence confidence);
const char *verdict_fits_name(enum verdict_fits fits);
