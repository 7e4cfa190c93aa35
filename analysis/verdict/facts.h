/* SPDX-License-Identifier: Apache-2.0
 * facts.h: what the parts of a verdict share while it is made; for analysis/verdict alone. */
#pragma once

#include "model/oom/meaning.h"
#include "plan/plan.h"
#include "verdict/live_arrays.h"
#include "verdict/profiles.h"
#include "verdict/verdict.h"

struct memory_profile_pool;
struct torch_moment;
struct torch_join;

struct verdict_facts {
    const struct verdict_parts *parts;
    struct arena *arena;
    struct buf *scratch; /* for one text at a time; the caller frees it */
    struct verdict *out;
    const struct oom_failure *failure; /* NULL: there is none */
    const struct plan_space *space;    /* of the plan: what the failure is about, else HBM; NULL: nothing is there */
    const struct memory_profile_pool *pool; /* of the trace: the worst device memory; NULL */
    const struct torch_moment *moment;      /* of a snapshot of PyTorch; NULL */
    const struct torch_join *join;          /* of the failure and that snapshot; NULL: not both are there */
    bool is_compile;                        /* the failure is one of the compiler, about a whole program or a kernel */
    bool is_on_chip;                        /* it is about VMEM, SMEM or other memory of a kernel */
    bool is_of_request; /* what was asked for at run time is all temporaries, or an output, of the plan */
    bool is_host;    /* about memory of the host, or a process that was killed from outside, and not `is_of_request` */
    bool is_xla;     /* XLA says it, for JAX or another front end but TensorFlow; true without a failure */
    bool is_jax;     /* the same, and it may have been JAX */
    bool is_of_plan; /* the failure may be of a program with a plan; true without a failure */
    int64_t total_bytes;           /* of the plan, in `space`; -1: not known */
    struct profiles_growth growth; /* of the device profiles */
    struct live_arrays live;       /* of the last of them */
    bool is_live_known;            /* the failure is one of JAX at run time, and `live` says what was held besides */
    int64_t limit_bytes;           /* what the program has to land under to fit; -1: not known */
};

/* The figure that the text states, or -1. */
int64_t facts_figure(const struct verdict_facts *facts, enum oom_figure_at at);
/* "33.49 GiB", in the arena. */
const char *facts_size(const struct verdict_facts *facts, int64_t bytes);
/* The same beside another: two that differ do not read alike. */
const char *facts_size_beside(const struct verdict_facts *facts, int64_t bytes, int64_t other);
/* A sentence of a text's verdict as one line, in the arena. */
const char *facts_sentence(const struct verdict_facts *facts, const struct oom_sentence *sentence);
/* What is less than nothing is nothing. */
static inline int64_t facts_positive(int64_t bytes) { return bytes > 0 ? bytes : 0; }
/* The padding in a row's bytes; 0 if the size of its data is not known. */
static inline int64_t facts_padding(const struct plan_row *row)
{
    return row->unpadded_bytes < 0 ? 0 : facts_positive(row->bytes - row->unpadded_bytes);
}
/* Has room for no more: then the rest is left out. */
void facts_note(const struct verdict_facts *facts, enum verdict_note_kind kind, const char *text);
/* "models.py:11" of a row, or "". In the arena. */
const char *facts_source(const struct verdict_facts *facts, const struct plan_row *row);
/* The source line of an instruction; "" also for HLO_NONE. */
const char *facts_source_of(const struct verdict_facts *facts, uint32_t at);

/* "bf16[16,2048]" of a row, or "". In the arena. */
const char *facts_shape(const struct verdict_facts *facts, const struct plan_row *row);

/* Why nothing is predicted of a failure without a plan: a clause, in the arena or static. */
const char *facts_why_no_plan(const struct verdict_facts *facts);
/* Arguments of the program in its plan; -1: there is no plan. */
int64_t facts_arguments_bytes(const struct verdict_facts *facts);
/* Outputs that take memory of their own: not that of a donated argument. */
static inline int64_t facts_outputs_bytes(const struct plan_space *space)
{
    return facts_positive(space->output_bytes - space->output_reused_bytes);
}
/* Live arrays that no arguments of one step explain; all of them where there is no plan. */
int64_t facts_live_besides_bytes(const struct verdict_facts *facts);

/* The memory of the device itself, not JAX's default share of it, which is all that the text of a GPU's allocator
 * gives; -1: not known. */
int64_t fit_device_bytes(const struct verdict_facts *facts);
/* "80.00 GiB", and what it rests on where it is a guess; "one device" where it is not known. */
const char *fit_device_words(const struct verdict_facts *facts);
/* What the advice says where the size that is asked for is none that a program means; NULL: it may be one. */
const char *fit_wrong_size(const struct verdict_facts *facts);
#define FIT_WRONG_SIZE_REASON                                                                                          \
    "A counter or a shape went wrong, or the driver could not tell what the device has: no amount of memory is enough."
/* Is more asked for at run time, in one piece, than the device has? */
bool fit_is_request_past_device(const struct verdict_facts *facts);
/* Would half as much still be past it? */
bool fit_is_half_past_device(const struct verdict_facts *facts);
/* That, or needed by arguments and results alone, or by one array? Then nothing that is released makes room, and no
 * share of the device is large enough. */
bool fit_is_past_device(const struct verdict_facts *facts);

/* Says what the cause is; `text` lives as long as the facts' arena. `bytes`: -1 if not known. */
void cause_set(const struct verdict_facts *facts, enum verdict_cause_kind kind, int64_t bytes,
               enum verdict_confidence confidence, const char *text);
/* What a category is called where it holds most. */
enum verdict_cause_kind cause_of_category(enum category category);

/* The parts of a verdict, each from those before it. */
void fit_make(struct verdict_facts *facts);
void cause_make(const struct verdict_facts *facts);
/* The text's own sentence on it: why, else what more it tells, else what was asked for. */
const char *cause_said(const struct verdict_facts *facts);
/* For cause_make alone: of a text that no plan belongs to, and of a snapshot, whose moment is known. */
void cause_listed_make(const struct verdict_facts *facts);
void torch_cause_make(const struct verdict_facts *facts);
void where_make(const struct verdict_facts *facts);
void peak_make(const struct verdict_facts *facts);
void advice_make(const struct verdict_facts *facts);
void ledger_make(const struct verdict_facts *facts);
/* Where each of their figures comes from; last. */
void evidence_make(const struct verdict_facts *facts);
/* Sets the sureness of `fit`, and where_over_bytes; needs the cause, the text and the snapshot. */
void fit_judge(const struct verdict_facts *facts);
