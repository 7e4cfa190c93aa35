/* SPDX-License-Identifier: Apache-2.0
 * dump.h: the folder into which a compile dumps, while it is written and afterwards.
 *
 * XLA writes "….after_optimizations.hlo.pb" as soon as the buffers are assigned, then either
 * "….after_optimizations_after_buffer_assignment.hlo.pb" or, when the program does not fit,
 * "….oom_intermediate_module.hlo.pb" and an error. When the second is there, the first is whole, the assignment is
 * final and it fits: what is left to do is code generation, mostly nine tenths of the time. (libtpu 0.0.30 to 0.0.52.)
 * On GPUs it writes "….sm_9.0a_gpu_after_optimizations.hlo.pb" and then "….debug_options" (jax 0.11.2); where an older
 * release does not, nobody knows that it is whole before the compile ends. */
#pragma once

#include "analysis/analysis.h"

#include <stdbool.h>

/* The path of the module with its buffer assignment, which the caller frees; NULL: not there yet. If there are several
 * programs, it is the first, which is the requested one. `is_final`: it is whole and fits. */
char *dump_find(const char *folder, bool *is_final);

/* What the program there takes of memory space 0, as the compiler counts it, and the most that is live at once.
 * `malformed`, `notfound` without an assignment, `io`. */
bool dump_figures(const char *path, struct confirmed_figures *figures, int64_t *peak_bytes, struct err *err);
/* The same of a module that is read already. */
bool dump_subject_figures(const struct analysis_subject *module, struct confirmed_figures *figures, int64_t *peak_bytes,
                          struct err *err);
