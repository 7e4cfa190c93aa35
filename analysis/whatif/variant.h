/* SPDX-License-Identifier: Apache-2.0
 * variant.h: a program's plan as it would be after changes: the intervals of its heap, resized, retimed, gone or added.
 *
 * In:     a plan with a module (plan/plan.h), one memory space.
 * Out:    what each row takes now and from when to when; the sums that follow. Changes (change_*.c) write into it, one
 *         after the other; variant_measure adds up.
 * Units:  bytes; steps are those of the plan.
 * Memory: the arena; about 40 bytes a row and the dimensions of the program (dimensions.h).
 * Source: what-if models are described in docs/use/what-if.md. */
#pragma once

#include "plan/plan.h"
#include "whatif/dimensions.h"

struct variant_row {
    int64_t bytes;                              /* as resized */
    int64_t added_bytes;                        /* of what a change added: its array as the program has it */
    uint32_t born, dies;                        /* as in struct plan_row */
    uint32_t plan_row;                          /* in space.rows, or PLAN_NONE: a change added it */
    uint32_t leaf;                              /* in dimensions.leaves, whose array it holds; HLO_NONE: not known */
    uint32_t instruction_at;                    /* of the buffer whose size it has; HLO_NONE: not known */
    uint32_t layers;                            /* it is one of this many layers of its array; 0: the whole array */
    uint8_t type;                               /* of its elements now */
    uint8_t divided_by;                         /* devices that share it now; 1: as before */
    bool is_indefinite, is_argument, is_output; /* both: the result lives in the argument */
    bool is_gone, is_unpadded;
};

struct regions;
struct regions_parameters;
struct resize_signs;

/* What changes find in the program before any change, once for all its variants; in the arena of the first. NULL: not
 * yet. */
struct variant_findings {
    struct arena *arena;
    const struct regions *by_scopes, *by_any;
    const struct regions_parameters *by_parameters; /* where by_any is not by_scopes */
    const uint32_t *remat_of;                /* by instruction: which one it rematerializes, or HLO_NONE (remat.h) */
    const double *flops;                     /* by instruction: recompute_flops */
    const uint64_t *value_hashes;            /* by instruction: checkpoint_values */
    const struct resize_signs *resize_signs; /* of change_resize.c alone */
    const uint8_t *checkpointed;             /* by region of by_any: checkpointed_layers */
    const uint32_t *promotions;              /* by instruction: promotions_find */
    bool is_checkpointed_known, are_promotions_known; /* each may be NULL then, too */
};

struct variant {
    const struct plan *plan;
    const struct plan_space *space;
    struct dimensions dimensions;
    struct arena *arena;
    struct variant_findings *findings;
    const int64_t *sizes; /* by dimension, as resized; not changed in place */
    uint8_t
        *types; /* by array (dimensions.arrays), as cast; 0: as it was. NULL: none is. For rows that are added later */
    struct variant_row *rows;
    uint32_t row_count;
    size_t row_capacity;
    uint32_t *step_at; /* by position in the schedule: the first step that belongs to it or what follows */
    /* The same without XLA's own rematerialization (remat.h), which every change is made to as well; NULL: there is
     * none, or a change could not be made. With it, what the unchanged program takes. */
    struct variant *without_remat;
    int64_t limit_bytes;  /* up to which the compiler rematerializes nothing; set where the device is known: less */
    int64_t beside_bytes; /* what the plan has beside the sums of the program as it is, such as constants */
};

struct variant_sums {
    int64_t fixed_bytes;     /* arguments + outputs − aliased */
    int64_t temporary_bytes; /* of the compiler's heap: live bytes × what packing adds */
    int64_t total_bytes;     /* fixed + temporary */
    int64_t live_bytes;      /* largest sum of live temporaries */
    int64_t peak_bytes;      /* everything that is live then */
    uint32_t peak_step;
    bool is_at_most; /* the compiler rematerializes up to its limit, and may stop before: it takes at most this */
};

/* The program as it is. The plan, which is borrowed, has a module and a space of that number. */
void variant_begin(struct variant *variant, const struct plan *plan, const struct plan_space *space,
                   struct arena *arena);
/* Makes a further variant that can be changed by itself; it shares with `of` what does not change. The variant and what
 * changes add are in `arena`: that of `of`, or a child arena for a variant that is only tried. */
void variant_copy(struct variant *variant, const struct variant *of, struct arena *arena);
/* Sets the device's capacity if it is known: a program that needs more was not made to fit. Call it for the program
 * before any change. */
void variant_limit(struct variant *variant, int64_t capacity_bytes);
/* The instruction itself, or the fusion around it that the schedule names; HLO_NONE: neither is scheduled. */
uint32_t variant_scheduled(const struct variant *variant, uint32_t instruction_at);
/* The step at which an instruction of the schedule, or the fusion around it, runs; HLO_NONE: it is not scheduled. */
uint32_t variant_step(const struct variant *variant, uint32_t instruction_at);
/* Does it multiply matrices? A small product may be written as a sum, and still be named one. */
bool variant_has_products(const struct variant *variant);
/* The entry parameter whose memory the row of an argument is. */
static inline int64_t variant_parameter(const struct variant *variant, const struct variant_row *row)
{
    return variant->plan->hlo.allocations[variant->space->rows[row->plan_row].allocation_at].parameter_number;
}
/* A row more. */
struct variant_row *variant_add(struct variant *variant);
/* Sums as the rows are now. `series` (may be NULL): step_count live bytes, indefinite part included. */
void variant_measure(struct variant *variant, struct variant_sums *out, int64_t *series);
