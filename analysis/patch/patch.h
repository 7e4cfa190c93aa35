/* SPDX-License-Identifier: Apache-2.0
 * patch.h: changes of the user's source, for advice whose kind allows it, as unified diffs.
 *
 * In:     a program with its stack frames, and the texts of source files, which whoever asks reads.
 * Out:    a diff, or why none was written. Where the place of a change is not certain nothing is written.
 * Memory: the arena; texts of sources are borrowed.
 * Names of files and functions come out of the dump and are hostile: they are compared and never printed without
 * escapes; the path of a diff is the one that `open` gives. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "exchange/around.h"

struct plan;
struct variant;
struct plan_space;

struct patch {
    const char *file;   /* below the root, else as the dump names it; NULL: none is known */
    uint32_t line;      /* from 1, of the first changed line, or of what is not clear; 0: none is known */
    const char *diff;   /* NULL: none was written */
    const char *reason; /* why not: a clause behind "not written, because"; NULL with a diff */
    const char *call;   /* what the diff writes, in a line; NULL: what is written for the change anyway */
};

struct patch_asked {
    const struct patch_sources *sources;
    const struct plan *plan;
    const struct variant *start;    /* the program as it is */
    const struct plan_space *space; /* that the advice is about */
    struct buf *scratch;            /* emptied; its owner frees it also where the arena gives up */
    struct arena *arena;
};

/* The user's source files, read. */
struct patch_files;

/* Opens the files that frames of the user's code name, the first 64, for any number of patches. In the arena, and never
 * NULL; `asked` lives as long. */
const struct patch_files *patch_files_open(const struct patch_asked *asked);

/* donate_argnums for the arguments flagged, by plan->arguments: in the call of jax.jit, or the decorator. */
struct patch patch_donate(const struct patch_files *files, const bool *flags);
/* A decorator on the function of the layers. */
struct patch patch_checkpoint(const struct patch_files *files);
/* mu_dtype in the call of optax. */
struct patch patch_optimizer(const struct patch_files *files);
