/* SPDX-License-Identifier: Apache-2.0
 * figures.h: what is kept of a module where many are looked at together.
 *
 * In: a plan. Out: a few hundred bytes a memory space, which do not need the plan any more.
 * Units: bytes; of the peak what is live at it. Memory: the arena. */
#pragma once

#include "plan/plan.h"

struct module_space {
    int64_t space;
    const char *name;
    int64_t total_bytes, peak_bytes, padding_bytes, fragmentation_bytes;
    int64_t argument_bytes, temporary_bytes, output_bytes, output_reused_bytes, constant_bytes;
    bool has_peak; /* false: nothing tells when the temporary allocations are used, or the replay ends early */
    int64_t category_bytes[CATEGORY_COUNT];
};

struct module_figures {
    const char *name, *platform;
    bool has_assignment, has_schedule;
    bool has_names;              /* some instruction says which operation of the framework it comes from */
    int64_t code_bytes;          /* machine code of its instructions, as the compiler wrote; -1: it wrote nothing */
    struct module_space *spaces; /* by total, largest first */
    uint32_t space_count;
};

void figures_take(const struct plan *plan, struct arena *arena, struct module_figures *out);
/* NULL if the module has no allocation in that space. */
const struct module_space *figures_space(const struct module_figures *figures, int64_t space);
