/* SPDX-License-Identifier: Apache-2.0
 * naming_fit.h: which figures of programs fit an allocation, and the guess that follows from them.
 *
 * Between naming.c, which knows of threads and launches, and naming_fit.c. Questions that come again are answered
 * once. */
#pragma once

#include "base/table.h"
#include "model/memory_profile/naming.h"

#define NAMING_NONE UINT32_MAX
enum { NAMING_ARGUMENTS_SHOWN = 3 };

/* An allocation without a name, on its thread. */
struct naming_item {
    int64_t time_ps;
    uint32_t line, event;
    uint32_t guess;
    uint32_t call, next; /* modules: whose function its thread called, which one it launched next; NAMING_NONE */
    bool is_host;
};

struct naming {
    struct memory_profile *profile;
    const struct program_figures *figures;
    struct host_runs *runs;
    struct arena *arena, *scratch;
    uint32_t *by_size;   /* places of figures, by bytes, program, role and number */
    uint32_t *module_of; /* of each program, a number of runs->modules */
    uint32_t *programs;  /* by module */
    uint32_t *first_of;  /* of each module, in `programs`; one more at the end */
    bool *has_run;       /* of each module */
    uint32_t module_count;
    struct table keys; /* questions that came up, and their answers: places of guesses or NAMING_NONE */
    struct chunks answers;
    struct intern texts; /* of guesses, so that equal ones are one */
    struct chunks guesses;
    struct naming_item *items; /* by line and time */
    size_t item_count;
    uint32_t *needed;  /* how many allocations each launch of a program makes, by program */
    uint32_t *fitting; /* room for all programs */
    uint64_t work_left;
};

/* Sizes that an allocation may represent: what was asked for, or all that are rounded up to what was given. */
struct naming_sizes {
    int64_t min, max;
};

/* What the figures that fit have in common. */
struct naming_fit {
    uint32_t program, program_count; /* the first one, and how many */
    bool is_one_module;
    bool has_role[PROGRAM_ROLES];
    uint32_t arguments[NAMING_ARGUMENTS_SHOWN], argument_count; /* numbers, each once; of more the count alone */
};

/* Steps of a limit of its own: naming may end early, reading the trace may not. False when none are left. */
static inline bool naming_charge(struct naming *naming, uint64_t steps)
{
    naming->work_left -= steps < naming->work_left ? steps : naming->work_left;
    return naming->work_left > 0;
}
/* Fills what is known of the programs by name and size. */
void naming_fit_programs(struct naming *naming);
struct naming_sizes naming_fit_sizes(const struct memory_profile *profile, uint32_t event);
/* Figures of one program come one after the other; `last` is kept between them. */
void naming_fit_add(const struct naming *naming, struct naming_fit *fit, const struct program_figure *figure,
                    uint32_t *last);
/* The place of the guess; NAMING_NONE where nothing fits. Equal guesses are one. */
uint32_t naming_fit_guess(struct naming *naming, const struct naming_fit *fit, enum naming_rule rule, bool is_host);
/* The place of the answer to a question; NAMING_NONE when it is new. */
uint32_t *naming_fit_answer(struct naming *naming, const uint64_t key[4], bool *is_new);
/* The guess by size, among the figures of a module (NAMING_NONE: of all). */
uint32_t naming_fit_by_size(struct naming *naming, const struct naming_item *item, uint32_t module,
                            enum naming_rule rule);
