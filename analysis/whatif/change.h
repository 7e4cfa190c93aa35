/* SPDX-License-Identifier: Apache-2.0
 * change.h: a change to a program, as a person writes it, and what it does to the plan.
 *
 * GLOB: "*" matches any text. It is held against the paths of arguments ("opt_state*.mu*"), the scopes of op names
 * ("layer_*", "layer_3/mlp"), from the beginning of a part of them to the end of one, and the names of patterns
 * ("attention_scores").
 * Source: models and their limits in docs/use/what-if.md. */
#pragma once

#include "base/err.h"
#include "whatif/variant.h"

enum change_kind {
#define CHANGE(constant, name, function, form, words) CHANGE_##constant,
#include "whatif/change.def"
#undef CHANGE
    CHANGE_COUNT
};

/* How sure a figure is. */
enum change_confidence {
    CHANGE_EXACT, /* bytes from the plan */
    CHANGE_MODEL, /* the replay of the plan's heap, resized and retimed */
    CHANGE_BOUND, /* at most this much is saved */
    CHANGE_GUESS, /* rests on names, or on what the compiler did elsewhere */
};

struct change {
    enum change_kind kind;
    struct str text;      /* as it was written */
    struct str glob;      /* of donate: "all" or numbers */
    struct str argument;  /* of batch, sequence: its path or number; empty: found */
    int64_t dimension;    /* of `argument` */
    double factor;        /* of batch, sequence */
    uint64_t type;        /* of cast: an element type of xla_data.proto */
    int64_t device_count; /* of shard */
};

struct change_result {
    enum change_confidence confidence;
    const char *reason; /* of the confidence: a sentence, in the arena */
    const char *call;   /* the line of JAX to write, in the arena; "" where there is none */
    uint32_t row_count; /* rows that it changed */
    const char *doubt;  /* of checkpoint: why its saving is not known, behind "because"; NULL: it is known */
    bool has_no_figure; /* of a doubt: not even a guess; the sums stay those of the program before the change */
    bool is_uneven;     /* of checkpoint: one layer keeps most, so that it may save little */
    bool has_extra_flops;
    double extra_flops_percent; /* more work of dots and convolutions, of that of the whole program before */
};

/* To a tenth of a per cent, as it is shown and answered; `percent` from 0. */
static inline double change_extra_flops_shown(double percent) { return (double)(int64_t)(10 * percent + 0.5) / 10; }

/* False with an `argument` report that says how it is written; `kind` is CHANGE_COUNT where it names no change. Texts
 * are borrowed. */
bool change_read(struct str text, struct change *out, struct err *err);
/* Changes the variant. False with an `argument` report where it does not apply: why, and the nearest names. */
bool change_apply(struct variant *variant, const struct change *change, struct change_result *out, struct err *err);
/* What `sums`, measured after it, say of the change: that they are the most that the program takes, or hold too many
 * temporaries to be exact. */
void change_result_settle(struct change_result *result, const struct variant_sums *sums);

/* A dimension of an argument that a batch or a sequence gives another size. */
struct change_target {
    int64_t parameter;  /* number */
    uint32_t dimension; /* from 0 */
    uint32_t at;        /* in variant->dimensions */
    int64_t size_before, size_after;
};
/* The targets of CHANGE_BATCH and CHANGE_SEQUENCE, in the arena of the variant. False with an `argument` report if
 * there is none, or if the factor gives no whole size; else there is at least one. */
bool change_targets(const struct variant *variant, const struct change *change, struct change_target **targets,
                    uint32_t *count, struct err *err);
/* Is a dimension a sequence and the token behind it? Then all of it but one is a part, of a size that halves more
 * often. */
bool change_has_token_behind(const struct variant *variant, uint32_t dimension);
/* Of CHANGE_DONATE: which rows are arguments that it names, by row; how many. "all" are those of the program's state,
 * as people donate; data that comes anew with each call only where there is nothing else to donate. */
uint32_t change_donated(const struct variant *variant, const struct change *change, bool *flags);
/* Flags those of them that get a result for their memory, each a different one. */
void change_donating(const struct variant *variant, const struct change *change, bool *flags);
/* "donate"; static storage, like the texts below. */
const char *change_name(enum change_kind kind);
const char *change_form(enum change_kind kind);
const char *change_words(enum change_kind kind);
/* "exact", "model", "bound", "guess". */
const char *change_confidence_name(enum change_confidence confidence);
