/* SPDX-License-Identifier: Apache-2.0
 * torch_named.h: causes that a moment of an allocator snapshot names, and what takes each of them away: parts of
 * programs and libraries (plan/torch_holder.h), steps that keep something, gradients wider than their weights, private
 * pools. For analysis/verdict alone. */
#pragma once

#include "model/memory_profile/steps_kept.h"
#include "plan/torch_holder.h"
#include "plan/torch_phase.h"
#include "verdict/facts.h"

struct torch_moment;
struct advice;

struct torch_holder_sum {
    int64_t bytes, parameter_bytes; /* of all blocks; of those that are parameters */
    uint32_t count;                 /* blocks */
    const char *line;               /* that holds most; "" where none is known */
    enum category category;         /* that of most of the bytes */
};

/* In the order in which they are reported. */
enum torch_named_cause {
    TORCH_NAMED_STEPS_KEEP,
    TORCH_NAMED_WEIGHTS_TWICE,
    TORCH_NAMED_EVALUATION,
    TORCH_NAMED_FIRST_STEP,
    TORCH_NAMED_STEP_TEMPORARIES,
    TORCH_NAMED_GRAPH_POOLS,
    TORCH_NAMED_AUTOTUNING,
    TORCH_NAMED_CUDNN,
    TORCH_NAMED_CUBLAS,
    TORCH_NAMED_BUCKETS,
    TORCH_NAMED_AVERAGED,
    TORCH_NAMED_WIDE_GRADIENTS,
    TORCH_NAMED_LATE_GRADIENTS,
    TORCH_NAMED_TRAINING_CACHE,
    TORCH_NAMED_COUNT
};

struct torch_named {
    struct torch_holder_sum sums[TORCH_HOLDER_COUNT];
    bool is_training;           /* a backward pass or an optimizer is in some stack */
    bool has_loss;              /* a source line of the failure's text makes a loss, or calls backward() of one */
    enum torch_phase failed_in; /* of the request that failed; NONE */
    uint8_t failed_of;          /* its holders, as torch_holders_find has them */
    struct memory_profile_kept kept;
    int64_t private_bytes;            /* segments of private pools */
    int64_t bytes[TORCH_NAMED_COUNT]; /* what each holds; 0: nothing */
    bool is_cause[TORCH_NAMED_COUNT]; /* it holds enough to be why memory ran short */
};

/* Fills moment->named; sums, failure, `is_retained` and operations of the moment are known. */
void torch_named_find(const struct verdict_facts *facts, struct torch_moment *moment);
/* The first that may be the cause; COUNT: none is. */
enum torch_named_cause torch_named_first(const struct torch_moment *moment);
/* Makes it the verdict's cause. */
void torch_named_set(const struct verdict_facts *facts, enum torch_named_cause named);
/* That which is the verdict's cause; COUNT: none is. */
enum torch_named_cause torch_named_of_cause(const struct verdict_facts *facts);
/* What the page shows of it: the rows of its category at the moment, and what lies between these and it. */
struct verdict_evidence torch_named_evidence(const struct verdict_facts *facts, enum torch_named_cause named);
/* Adds what takes each of them away. */
void torch_named_advise(struct advice *advice);
