/* SPDX-License-Identifier: Apache-2.0
 * advice.h: what those who find advice share; for advice*.c alone. One function for each row of advice.def. */
#pragma once

#include "plan/pattern.h"
#include "verdict/facts.h"
#include "whatif/change.h"

struct torch_replay;

struct remedy;
enum { ADVICE_GIVEN = 32 };

/* A change that was tried alone, and what came of it. */
struct advice_tried {
    const char *change; /* NULL: none yet */
    bool applies;
    struct variant variant; /* after the change; the others, too, only where it applies */
    struct change_result result;
    struct variant_sums sums;
};

struct advice {
    const struct verdict_facts *facts;
    enum verdict_advice_kind kind; /* that is looked for */
    bool has_program;              /* `start` and `before` are set: a plan whose changes can be predicted */
    struct variant start;          /* the program as it is */
    struct variant_sums before;
    struct arena *tried;      /* of the change that is tried */
    struct advice_tried last; /* in `tried`, as it may be asked about again at once */
    bool has_backward;
    bool is_first_enough;        /* see advice_may_be_first */
    struct torch_replay *replay; /* of a snapshot of PyTorch */
    struct verdict_advice *items;
    size_t capacity;
    uint32_t count;
    const struct remedy *given[ADVICE_GIVEN]; /* rows of remedy.def among them */
    uint32_t given_count;
};

/* A further one of the kind that is looked for; what it lands at decides whether it fits. */
struct verdict_advice *advice_add(struct advice *advice, struct verdict_advice item);
/* Tries item.change. Adds the item, with what that saves, where it applies and saves at least one per cent; NULL
 * otherwise. Empty texts are filled with what the change says of itself; `confidence` is no surer than the item's. Of a
 * doubtful change the reason says why there is no figure. */
struct verdict_advice *advice_try(struct advice *advice, struct verdict_advice item);
/* The program after the change, until the next one is tried; NULL: it does not apply. */
const struct advice_tried *advice_tried(struct advice *advice, const char *change);
/* Empties `tried`. */
void advice_tried_forget(struct advice *advice);
/* What the program takes after the change; false: it does not apply. */
bool advice_sums(struct advice *advice, const char *change, struct variant_sums *sums);
/* False where only the first advice is needed, and one is there that comes before all of this kind that are no surer
 * than `surest`, take at least that effort and are not of the cause: these need not be tried. */
bool advice_may_be_first(const struct advice *advice, enum verdict_confidence surest, uint32_t effort);
/* The item stays, without a figure: `reason` says why that is not known. */
void advice_figure_drop(const struct advice *advice, struct verdict_advice *item, const char *reason);
/* What the change lands at; -1: it does not apply. */
int64_t advice_lands(struct advice *advice, const char *change);
/* For attention that is computed in blocks already, whose scores a scan stacks; false if it is not. */
bool advice_find_blocks(struct advice *advice, const struct plan_pattern *pattern);
/* The pattern of that kind, or NULL. */
const struct plan_pattern *advice_pattern(const struct advice *advice, enum pattern_kind kind);
/* The pattern's sentence, and its rows as a filter of the Memory Viewer, into `item`. */
void advice_evidence(const struct plan_pattern *pattern, struct arena *arena, struct verdict_advice *item);
/* Does the failure, if there is one, speak of memory that a change of the program frees? */
bool advice_is_of_program(const struct advice *advice);

/* Writes patches for the items whose kind allows it, where sources are at hand (advice_patch.c). */
void advice_patch(struct advice *advice);

/* The bytes of the line of live arrays that a filter keeps; -1: there is none. */
int64_t advice_line_bytes(const struct verdict_facts *facts, const char *filter);

/* Finds advice for an allocator snapshot of PyTorch (torch_advice.c). */
void torch_advice_find(struct advice *advice);
/* Is the item from torch_advice_find? */
static inline bool torch_advice_is(const struct verdict_advice *item)
{
    return item->tool != NULL && strcmp(item->tool, "memory_profile") == 0;
}
/* Why torch.cuda.empty_cache() is not listed; NULL: nothing says so. */
const char *torch_advice_sentence(const struct advice *advice);

/* Where there is no plan: what a text alone tells (advice_text.c). */
void advice_text_donate(struct advice *advice);
void advice_text_unpad(struct advice *advice);
void advice_text_shard(struct advice *advice);
/* Where a text lists attention scores; false: it does not, or the program is here. */
bool advice_text_attention(struct advice *advice);
void advice_text_logits(struct advice *advice);
void advice_text_batch(struct advice *advice);
void advice_text_sequence(struct advice *advice);
void advice_text_cast(struct advice *advice);
void advice_text_scan_outputs(struct advice *advice);
/* The line that helps, of a plan and of a text. */
#define ADVICE_SCAN_OUTPUTS_CALL                                                                                       \
    "jax.lax.scan(lambda carry, x: (step(carry, x), metric(carry)), carry, xs)  # a number, not the array; of every "  \
    "k-th: a jax.lax.fori_loop of k steps inside of the scan, and its last value as the output"

#define ADVICE(constant, name, effort, find) void find(struct advice *advice);
#define TEXT_ADVICE(constant, name, effort)
#include "verdict/advice.def"
#undef ADVICE
