/* SPDX-License-Identifier: Apache-2.0
 * confirmed.h: what a compiler counted for a program, and whether its word counts for a dump.
 *
 * A dump does not hold all that its compiler was given (flags, its own version), so the program is compiled unchanged
 * first: only when that gives the figures of the dump is what the compiler says of a change called confirmed.
 * Units:  bytes of the default memory space (HBM).
 * Source: CompiledMemoryStats of XLA, and 34 programs with their dumps (libtpu 0.0.52). */
#pragma once

#include "base/buf.h"
#include "exchange/confirmation.h"

#include <stdbool.h>
#include <stdint.h>

/* The figures of a buffer assignment's parameters, outputs, reused outputs and temporaries. They equal the compiler's
 * own count to the byte, except that the compiler leaves out temporaries that are only tables of pointers. */
struct confirmed_figures confirmed_of_assignment(int64_t parameter_bytes, int64_t output_bytes,
                                                 int64_t output_reused_bytes, int64_t temporary_bytes);

/* Arguments + outputs − aliased + temporaries; at least 0, at most INT64_MAX. */
int64_t confirmed_total_bytes(const struct confirmed_figures *figures);

/* Is what was compiled from the unchanged program what the dump holds? One sentence in any case, into `sentence`. On a
 * GPU kernels are chosen by running them, so that the temporaries of a compile without one may be CONFIRMED_GPU_SHARE
 * of the total more or less. Builds: numbers of the libtpu of either ("cl/1014260217"); 0: not known. */
bool confirmed_is_same(const struct confirmed_figures *dump, const struct confirmed_figures *compiled,
                       uint64_t dump_build, uint64_t compiler_build, bool is_gpu, struct buf *sentence);
#define CONFIRMED_GPU_SHARE 1000 /* of the total one part */

/* Does what a compiled change saves refute what was predicted? It saves at most half, where more than the page to which
 * compilers round was to be saved; or it does not fit and was to. */
bool confirmed_is_refuted(int64_t predicted_saving_bytes, int64_t saving_bytes, bool was_to_fit, bool does_fit);

/* The number in "module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb" and in "… cl/1014260217"; 0 if there is
 * none. */
uint64_t confirmed_build(const char *text);
