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

/* Totals, the replayed module and every view of every memory space that it has. */
void ask_program(const struct source *source, const struct analysis_program *program);
