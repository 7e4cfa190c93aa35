/* SPDX-License-Identifier: Apache-2.0
 * ask.h: every question of analysis.h about some bytes, with the promises of its answers checked.
 *
 * In:     bytes in memory, of any kind and in any state.
 * Errors: a broken promise (an error without a reason, an answer that is no JSON, an offset past
 *         the end) is printed and ends the process with abort(). */
#pragma once

#include "analysis/analysis.h"

#include <stddef.h>
#include <stdint.h>

/* What is behind a source. */
struct ask_bytes {
    const uint8_t *bytes;
    uint64_t size;
};

/* Texts of failures that belong to a program, to live arrays of JAX and to an allocator of PyTorch. */
#define ASK_FAILURE_OF_PLAN                                                                                            \
    "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: XLA:TPU compile permanent error. Ran out of memory in memory "      \
    "space hbm. Used 17.75G of 15.75G hbm. Exceeded hbm capacity by 2.00G.\n"
#define ASK_FAILURE_OF_ARRAYS                                                                                          \
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 1073741824 bytes.\n"
#define ASK_FAILURE_OF_TORCH                                                                                           \
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB " \
    "of which 1.00 GiB is free. Process 1 has 78.00 GiB memory in use. Of the allocated memory 70.00 GiB is "          \
    "allocated by PyTorch, and 7.00 GiB is reserved by PyTorch but unallocated.\n"

/* `from` and its bytes must stay in place while it is used. */
struct source ask_source_of(struct ask_bytes *from);
/* The same, one at a time. */
struct source ask_source(const uint8_t *bytes, size_t size);

/* Kind, list of programs, and for the first few programs what ask_program asks. */
void ask_file(const struct source *source);

/* The memory events of a trace, and every view of them. */
void ask_trace(const struct source *source);

/* A program (NULL: the runs of a trace) among all modules of a session. */
void ask_modules(const struct source *source, const struct analysis_program *program);

/* The verdict of these parts as JSON, as text and as a row in each form; the row in a fleet. */
void ask_verdict(const struct analysis_verdict_parts *parts);
/* The same beside the first failure of a text, in which there is one. */
void ask_verdict_of_failure(struct analysis_verdict_parts parts, const char *text);
/* May a module be merged: against itself, figures and nothing, in every format. */
void ask_check(const struct analysis_subject *module);

/* Totals, the replayed module and every view of every memory space that it has. */
void ask_program(const struct source *source, const struct analysis_program *program);
