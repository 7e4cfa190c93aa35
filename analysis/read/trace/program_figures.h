/* SPDX-License-Identifier: Apache-2.0
 * program_figures.h: the programs of a trace as sizes that allocations can be held against.
 *
 * What a launch of a program needs, from the headers of its buffer assignment: outputs and temporaries, which the
 * runtime allocates for each launch in the order of the assignment, and arguments, which it is handed. Constants and
 * what is local to a thread take nothing then. The program itself is passed by length, but for its arguments and its
 * result: of a program without an assignment they are all that is known, by their shapes.
 * Units:  bytes; a GPU's buffers have no padding beyond what the assignment says.
 * Memory: the arena; 24 bytes a figure.
 * Source: hlo.proto; BufferAllocations in gpu_executable.cc of XLA for what is allocated, and in which order. */
#pragma once

#include "base/source.h"
#include "wire/stream.h"

enum program_role { PROGRAM_OUTPUT, PROGRAM_TEMPORARY, PROGRAM_ARGUMENT, PROGRAM_ROLES };

struct program_figure {
    int64_t bytes; /* above 0 */
    uint32_t program;
    uint32_t number; /* of the argument; 0 otherwise */
    uint8_t role;    /* enum program_role */
};

struct program {
    struct str name; /* "jit_conv" */
    uint64_t id;     /* 64-bit pattern, to be printed unsigned */
    bool has_assignment;
    uint32_t first, count;       /* in `figures`, in the order of the assignment */
    const struct str *arguments; /* by number: "params['w']", as JAX names them; empty without a name */
    uint32_t argument_count;
};

struct program_figures {
    struct program *programs;
    uint32_t program_count;
    struct program_figure *figures;
    uint32_t count;
};

/* Reads file after file; in the arena. */
struct program_figures_reader;
struct program_figures_reader *program_figures_begin(struct arena *arena);
/* Adds all programs of a trace, or that of an HLO file; of those with an assignment none that has name and id of one
 * before. What cannot be read is left out: the report is in err, and what was read holds. */
void program_figures_add(struct program_figures_reader *reader, const struct source *source, struct err *err);
/* What was added so far. */
void program_figures_take(const struct program_figures_reader *reader, struct program_figures *out);
/* Is there one with an assignment, so that what a launch allocates is known? */
bool program_figures_has_assignment(const struct program_figures_reader *reader);
