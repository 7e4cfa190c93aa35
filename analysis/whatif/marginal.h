/* SPDX-License-Identifier: Apache-2.0
 * marginal.h: how far the peak of a memory space falls when something in it is gone, and where the new peak is.
 *
 * In:     a space: its curve, and the rows that add up to it at every step.
 * Out:    of a buffer, or of any set of rows that go together, the bytes by which the peak falls and the first step of
 *         the largest value that is left.
 * Units:  bytes; steps of the space.
 * Sure:   exact for the curve: live bytes of one space, everything else as and when it was. What the compiler would
 *         allocate then, with fragmentation, is only bounded: it is no less than the new peak.
 * Memory: the arena: about 6 bytes a step, 8 more once a large set is asked for, and 12 a row once a row is.
 * Cost:   building: linear in the steps; a row: constant; a set of k rows: O(k log k), or linear in the steps. Charged
 * to the arena's work. Source: range maxima: blocks of 32 steps, in each a mask for every step of the values behind
 * which nothing larger comes (Alstrup, Gavoille, Kaplan, Rauhe 2004), and a sparse table over the blocks' maxima. */
#pragma once

#include "base/buf.h"
#include "plan/plan.h"

struct marginal_saving {
    int64_t bytes; /* never more than what goes of what is live at the peak */
    int64_t next_peak_bytes;
    uint32_t next_peak_step; /* PLAN_NONE: the space has no step that is a peak */
};

struct marginal {
    const struct plan_space *space;
    struct arena *arena;
    uint32_t step_count; /* of the space, up to the one at which the replay of its trace failed */
    uint32_t *masks;     /* of each step, in its block: from where on nothing larger comes up to this step */
    uint32_t *levels;    /* level after level: step of the largest value of 2^level blocks, from each block on */
    uint32_t block_count;
    int64_t *row_bytes; /* savings of rows; NULL: not asked for yet */
    uint32_t *row_steps;
    struct marginal_event *events; /* room for one set */
    size_t event_capacity;
    int64_t *changes; /* of each step, 0 but while a large set is added up */
};

void marginal_build(struct marginal *marginal, const struct plan_space *space, struct arena *arena);
/* The saving of row `at`, with all other rows of its buffer. The first call computes all of them. */
struct marginal_saving marginal_of_row(struct marginal *marginal, uint32_t at);
/* Of `count` rows, each once, that go together; of row i only bytes[i] if `bytes` is not NULL. */
struct marginal_saving marginal_of_rows(struct marginal *marginal, const uint32_t *rows, const int64_t *bytes,
                                        uint32_t count);
/* First step of the largest live bytes in [from, to), which is not empty. */
uint32_t marginal_highest(const struct marginal *marginal, uint32_t from, uint32_t to);

/* What would be cut, in words. */
struct marginal_subject {
    struct str name;      /* "fusion.31", "the group" */
    bool is_set;          /* several buffers may be meant */
    int64_t bytes;        /* of a buffer its size, of a set what is live at the peak */
    bool is_live_at_peak; /* or a part of it is */
};

/* Sets `out` to "Cutting fusion.31 alone saves 0.40 of its 2.00 GiB: another peak is at step 2,204." */
void marginal_sentence(const struct marginal *marginal, const struct marginal_subject *subject,
                       const struct marginal_saving *saving, struct buf *out);
/* Sets `out` to "peak 33.41 GiB − 33.01 GiB, the most that is live without it, at step 2,204, = 0.40 GiB". */
void marginal_formula(const struct marginal *marginal, const struct marginal_saving *saving, struct buf *out);
/* Sets `out` to why it is a bound. */
void marginal_reason(const struct marginal *marginal, const struct marginal_saving *saving, struct buf *out);
