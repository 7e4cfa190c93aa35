/* SPDX-License-Identifier: Apache-2.0
 * verdict.h: what happened, where the memory went, and what will make it fit, from whatever is at hand.
 *
 * In:     any of a failure that a text states, the plan of a program, what allocators did over time, device profiles.
 * Out:    one cause, four blocks (did it fit, where did it all go, what made the peak, what will make it fit) and a
 *         ledger of what each of them says was taken. The rows of the second block add up to what was needed, to the
 *         byte.
 * Units:  bytes; -1: not known.
 * Memory: the arena. Texts live there, or are static, or belong to what was given.
 * Sure:   every figure that is not read from a file says how sure it is and why. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "exchange/around.h"
#include "plan/category.h"

#include <stdbool.h>
#include <stdint.h>

struct oom_meaning;    /* model/oom/model.h */
struct oom_step;       /* the same */
struct oom_comparison; /* the same */
struct plan;           /* plan/plan.h */
struct program_arrays; /* plan/program_arrays.h */
struct memory_profile; /* model/memory_profile/model.h */
struct torch_choice;   /* verdict/torch_choice.h */
struct cause_arrays;   /* verdict/cause_arrays.h */
struct profile_set;    /* model/device_memory/profile_set.h */

enum verdict_fits { VERDICT_FITS_UNKNOWN, VERDICT_FITS_YES, VERDICT_FITS_NO, VERDICT_FITS_PERHAPS };

enum verdict_confidence {
    VERDICT_CONFIRMED, /* the compiler compiled the changed program */
    VERDICT_EXACT,     /* bytes of a plan or of a file */
    VERDICT_MODEL,     /* the replay of the compiled heap (docs/use/what-if.md) */
    VERDICT_BOUND,     /* true at most or at least */
    VERDICT_GUESS,     /* rests on names, or on what was seen elsewhere */
};

/* What is at hand; each may be NULL. */
struct verdict_parts {
    const struct oom_meaning *failure;
    const struct oom_comparison *comparison; /* of the failure with the plan */
    const char *not_compared; /* why text and plan were not held against each other although both are there; or NULL */
    const struct plan *plan;
    const struct memory_profile *trace;
    const struct profile_set *profiles;
    struct verdict_around around;
    bool is_for_row; /* evidence is not needed, nor what cannot be the first advice or is said of all together */
};

/* ---- where a figure comes from ---- */

enum verdict_evidence_kind {
    VERDICT_EVIDENCE_NONE,       /* nothing shows it; the sentence says why */
    VERDICT_EVIDENCE_BUFFERS,    /* rows of the plan: those that `filter` keeps */
    VERDICT_EVIDENCE_TEXT,       /* a place of the error text */
    VERDICT_EVIDENCE_CAPACITY,   /* who says what the device has */
    VERDICT_EVIDENCE_DIFFERENCE, /* worked out of other figures, which the sentence names */
    VERDICT_EVIDENCE_CHANGE,     /* the prediction of a change: the what-if with it ticked */
    VERDICT_EVIDENCE_TRACE,      /* the curve of an allocator */
    VERDICT_EVIDENCE_PROFILE,    /* rows of a device profile */
    VERDICT_EVIDENCE_KIND_COUNT
};

/* The figure is sum_bytes + rest_bytes, to the byte, where sum_bytes is known. Texts live in the arena or are
 * static. */
struct verdict_evidence {
    enum verdict_evidence_kind kind;
    const char *sentence;    /* what is to be seen there, or how the figure is worked out */
    const char *tool, *view; /* the page that shows it, and its view; NULL: none, the usual view */
    int64_t space;           /* memory space of the plan; -1: it is not of a plan */
    const char *step;        /* "peak", "all": when the rows are alive; NULL: it is not of a plan */
    const char *filter;      /* of the table there; "": all rows; NULL: there is no table */
    const char *column;      /* whose sum over those rows counts: "size", "padding"; NULL: there are no rows */
    uint32_t count;          /* of those rows */
    int64_t sum_bytes;       /* over them, or as a text states it; -1: there is no such sum */
    int64_t rest_bytes;      /* what the figure is more (or, negative, less) */
    const char *rest;        /* what that is; NULL: rest_bytes is 0 */
    const char *key;         /* member of "ranges" of the failure; NULL */
    uint64_t begin, end;     /* bytes of the text `file`, else of the failure's; end 0: none */
    const char *file;        /* name of a text, id of a device profile; NULL */
    const char *change;      /* of the what-if; NULL */
    const char *device;      /* row of the table of devices; NULL */
    bool has_time;           /* the page of a trace opens at time_ps; else at its peak */
    int64_t time_ps;
    const char *memory; /* of a trace with several: which one; NULL: the worst */
};

/* A size in a sentence. */
struct verdict_mention {
    const char *text; /* as the source has it */
    int64_t bytes;
    const struct verdict_evidence *evidence;
};

struct verdict_mentions {
    struct verdict_mention *items;
    uint32_t count;
};

enum verdict_cause_kind {
#define CAUSE(constant, name, words) VERDICT_CAUSE_##constant,
#include "verdict/cause.def"
#undef CAUSE
    VERDICT_CAUSE_COUNT
};

struct verdict_cause {
    enum verdict_cause_kind kind;
    const char *text;                  /* one sentence */
    int64_t bytes;                     /* that it holds */
    const struct cause_arrays *arrays; /* that it is, in the arena; NULL: of another kind than cause_arrays_make says */
    enum verdict_confidence confidence;
    struct verdict_evidence evidence;
    struct verdict_mentions mentions; /* of the text */
};

struct verdict_fit {
    int64_t needed_bytes, capacity_bytes, over_bytes, free_bytes;
    int64_t share_bytes;              /* of a whole GPU: what JAX takes by default (plan/memory_fit.h) */
    const char *word;                 /* as of memory_fit_word_name */
    enum capacity_from capacity_from; /* where it is known */
    const char *capacity_source;      /* NULL: not known */
    const char *device;               /* "TPU v5e, by its limit of 15.75 GiB"; NULL: not known */
    const char *space;                /* "HBM" */
    const char *sentence;
    const char *sureness;        /* of these figures: "exact", "as printed", or a confidence */
    const char *sureness_of;     /* whose they are: "in the snapshot"; "": print nothing */
    const char *sureness_reason; /* NULL: there is none */
    struct verdict_evidence needed, capacity, over, free;
    struct verdict_mentions mentions; /* of the sentence */
};

/* A stretch of what was needed. */
struct verdict_where {
    const char *
        kind; /* "arguments", "outputs", "temporaries", "constants", "program", "reserved", "others", "fragmentation" */
    const char *label; /* in words */
    int64_t bytes;
    const char *category; /* of the rows by category; NULL of the others */
    const char *source;   /* "plan", "error text", "trace", "device profile" */
    const char *key;      /* of a stretch that a text states: member of "ranges"; NULL */
    const char *filter;   /* of one of a device profile: its rows in the view "buffers"; NULL */
    struct verdict_evidence evidence;
};

struct verdict_pattern {
    const char *kind, *sentence, *gone; /* gone: what it looks like when it is */
    int64_t bytes, saves_bytes;         /* held at the peak; by which the peak falls without it */
    struct verdict_evidence evidence, saves;
    struct verdict_mentions mentions; /* of the sentence */
};

/* Equal buffers of repeated layers. */
struct verdict_group {
    const char *key, *category, *label, *shape, *source; /* key: of the view whose; source: "models.py:11" or "" */
    uint32_t count;
    int64_t bytes;
    const char
        *inner; /* of a snapshot: the line within a library that asked for most of its memory; NULL: it is `source` */
    int64_t inner_bytes;
    struct verdict_evidence evidence;
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
    const char *change; /* as `memviewd whatif --change` takes it; NULL: there is no model for it */
    int64_t saves_bytes, lands_at_bytes;
    int64_t predicted_bytes; /* what it was to land at before the compiler was asked, without a prediction what it
                                lands at now; -1: the compiler was not asked, or did not say */
    bool is_partial;         /* what was compiled may be another program than the one advised: `compiled` says why */
    bool is_refuted; /* by the compiler: it saves at most half of what was predicted, or does not fit after all */
    enum verdict_confidence predicted_confidence; /* before the compiler was asked, for the order */
    const char *compiled;    /* what came of asking the compiler, a sentence; NULL: it was not asked */
    int64_t over_bytes;      /* of what it lands at, past what there is; -1: it fits, may fit, or one is not known */
    const char *fits_text;   /* "fits", "may fit", "over by 3.00 GiB", "over"; NULL: what there is is not known */
    bool is_doubtful;        /* of a checkpoint: what it saves is not known, as `reason` says */
    bool is_uneven;          /* of a checkpoint: one layer keeps most, so that it may save little */
    bool is_past;            /* what it lands at is past what there is, although so little that it may fit after all */
    int64_t allocated_bytes; /* of what a replay of PyTorch's allocator lands at, in blocks; -1: it is of none */
    enum verdict_fits fits;
    enum verdict_confidence confidence;
    const char *reason;                         /* of the confidence */
    const char *evidence;                       /* a sentence */
    const char *tool;                           /* that shows the evidence; NULL: none does */
    const char *filter;                         /* of the table there; NULL: all */
    struct verdict_evidence open, saves, lands; /* of the sentence; of the two figures */
    struct verdict_mentions mentions;           /* of the evidence's sentence */
    const char *call;                           /* the line to write or the flag to set */
    uint32_t effort;                            /* of the person, for the order */
    bool is_of_cause;                           /* it takes away the cause: it comes before all others */
    double extra_flops_percent;                 /* work of products that is done once more; < 0: not known */
    const struct patch *patch; /* of the user's source; NULL: no sources are here, or there is none of its kind */
};

struct verdict_bar {
    const char *kind; /* "plan", "allocator_peak", "live_arrays", "programs" */
    const char *label;
    int64_t bytes;
    const char *source;
    struct verdict_evidence evidence;
};

/* A figure that a text of PyTorch or a snapshot of the same failure gives. */
struct verdict_together_row {
    const char *kind, *label; /* "asked", "free", "in_use", "free_in_segments", "largest_hole", "others" */
    int64_t bytes;            /* the snapshot's, which is exact, else the text's */
    int64_t text_bytes;       /* -1: the text does not state it */
    const char *key;          /* of the text's: member of "ranges"; NULL */
    const char *why;          /* one sentence: why the two are not the same although they agree; NULL */
    bool is_from_snapshot, agrees;
    struct verdict_evidence evidence, text_evidence;
};

enum { VERDICT_TOGETHER_ROWS = 8 };
struct verdict_together {
    const char *memory; /* "GPU 0" */
    int64_t time_ps;    /* of the snapshot */
    const char *reason; /* one clause: why they are of one failure */
    struct verdict_together_row rows[VERDICT_TOGETHER_ROWS];
    uint32_t row_count;
};

enum { VERDICT_BARS_MAX = 6, VERDICT_NOTES_MAX = 8 };
struct verdict_ledger {
    int64_t capacity_bytes;
    struct verdict_bar bars[VERDICT_BARS_MAX];
    uint32_t bar_count;
    bool has_drift, balances; /* drift, coverage: of a plan against what an allocator or profile saw */
    double drift_percent, coverage_percent;
    const char *sentence;
    struct verdict_evidence capacity;
    struct verdict_mentions mentions; /* of the sentence */
};

/* What a note is about. */
enum verdict_note_kind {
    VERDICT_NOTE_ELSEWHERE,    /* a plan or trace that was taken from another place */
    VERDICT_NOTE_SNAPSHOT,     /* which allocator snapshot is of the failure, or why one that is here is not */
    VERDICT_NOTE_DISAGREEMENT, /* two sources have different figures of one thing */
    VERDICT_NOTE_AGREEMENT,    /* how a text and the plan of its program agree, or why they were not compared */
    VERDICT_NOTE_TEXT,         /* what the reader of the text could not use, or knows about it */
    VERDICT_NOTE_PLAN,         /* the same of the plan */
    VERDICT_NOTE_PROFILE,      /* what the live arrays of a device profile may hold besides */
    VERDICT_NOTE_KIND_COUNT
};

struct verdict_note {
    enum verdict_note_kind kind;
    const char *text; /* whole sentences */
};

struct verdict_not_read {
    const struct verdict_unread *unread;
    const char *sentence; /* unread_sentence */
};

struct verdict {
    const char *sentence;
    const char *program;       /* "jit_step"; NULL: none is named */
    const char *configuration; /* of that program: plan/configuration.h; NULL: not known */
    enum verdict_fits fits;
    struct verdict_cause cause;
    struct verdict_fit fit;
    struct verdict_where *where, *categories;
    uint32_t where_count, category_count;
    int64_t where_bytes;      /* the rows of `where` together */
    int64_t where_over_bytes; /* of them what lies above the capacity; 0: none does, or what is over is beside them */
    struct verdict_evidence where_evidence;
    struct verdict_pattern *patterns;
    uint32_t pattern_count;
    struct verdict_group *groups;
    uint32_t group_count; /* the largest of group_total_count */
    uint32_t group_total_count;
    int64_t rest_bytes; /* of the smaller groups */
    int64_t peak_bytes;
    /* For an allocator snapshot: what PyTorch took of the device at most, and how often it released segments right
     * before it asked for another one, or failed; -1: not a snapshot, or not recorded. */
    int64_t reserved_bytes, retry_count;
    struct verdict_evidence peak, rest; /* of peak_bytes; of rest_bytes */
    const struct program_arrays
        *arrays;                 /* of a program without a buffer assignment; NULL: it has one, or none is here */
    const char *arrays_sentence; /* what the listed ones take together; NULL: none is listed */
    struct verdict_mentions arrays_mentions;
    struct verdict_advice *advice; /* the best first */
    uint32_t advice_count;
    int64_t
        best_at; /* of `advice`: what to do first, as every face names it; -1: it fits, or nothing is known to help */
    int64_t replayed_bytes;      /* what the program takes in the replay that changes are tried on; -1: there is none */
    bool is_advice_idle;         /* it fits by far: nothing of the list is needed */
    const char *advice_sentence; /* NULL: the first advice suffices */
    struct verdict_mentions mentions, advice_mentions; /* of `sentence`, of `advice_sentence` */
    struct verdict_mentions further; /* figures that are in none of these: about the agreement of a text and its plan */
    const struct oom_step *steps;    /* what to run to see more; model/oom/model.h */
    uint32_t step_count;
    struct verdict_ledger ledger;
    struct verdict_together *together; /* NULL: there are not both a text and a snapshot */
    struct verdict_note notes[VERDICT_NOTES_MAX];
    uint32_t note_count;
    struct verdict_not_read *not_read; /* files whose part in this is missing */
    size_t not_read_count;
};

/* Fills `out`, which is zeroed. `scratch` holds one text at a time. */
void verdict_make(const struct verdict_parts *parts, struct buf *scratch, struct arena *arena, struct verdict *out);

/* May the failure belong to a program that XLA compiled, so that a plan explains it further? */
bool verdict_is_of_plan(const struct oom_meaning *failure);

/* May a device profile beside the text say what else held the memory when its request failed? `is_of_request`: a
 * program here asks for that in one piece. */
bool verdict_is_of_live_arrays(const struct oom_meaning *failure, bool is_of_request);

/* "no_donation"; static storage, like the texts below. */
const char *verdict_cause_name(enum verdict_cause_kind kind);
const char *verdict_cause_words(enum verdict_cause_kind kind);
const char *verdict_advice_name(enum verdict_advice_kind kind);
const char *verdict_confidence_name(enum verdict_confidence confidence);
const char *verdict_fits_name(enum verdict_fits fits);
const char *verdict_evidence_name(enum verdict_evidence_kind kind);
const char *verdict_note_name(enum verdict_note_kind kind);
