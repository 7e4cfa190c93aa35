/* SPDX-License-Identifier: Apache-2.0
 * inject.h: what arms PyTorch and JAX in each Python below a run: python/memviewd/_hook.py as sitecustomize.py, with
 * the package that it uses, in the run's folder and in front of PYTHONPATH.
 *
 * Python finds nothing there with -I, -E or -S, nor where somebody sets PYTHONPATH anew. So each process that read the
 * hook leaves marks in a file of the run's folder, of which inject_marks_take() tells what was armed. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct inject {
    char *folder; /* in that of the run; NULL: nothing is armed */
    char *path;   /* for the child's PYTHONPATH */
};

/* `before`: the user's PYTHONPATH, or NULL. `io` when the files cannot be written: then nothing is armed.
 * inject_free afterwards. */
bool inject_make(const char *run_folder, const char *before, struct inject *inject, struct err *err);
/* Removes the files too. */
void inject_free(struct inject *inject);

/* Processes, each counted once; `failure_count`: requests for memory that PyTorch refused. */
struct inject_marks {
    size_t python_count, torch_count, jax_count, failure_count;
    char *reason; /* why one of them is not armed, as it says itself; NULL: none says so */
    char *below; /* the folder of the first run that was started below this one, and recorded instead; NULL: none was */
    bool has_told; /* one of those has said why its command failed */
};

/* The marks of a run that goes on. inject_marks_free afterwards. */
struct inject_marks inject_marks_read(const char *run_folder);
/* The marks of a run that has ended; removes their file. */
struct inject_marks inject_marks_take(const char *run_folder);
void inject_marks_free(struct inject_marks *marks);

/* Leaves a mark in the folder of the run that this one, in `run_folder`, was started below: that this one records, or
 * (`has_told`) that it has said why its command failed. Nothing where `outer` is NULL or no run that goes on. */
void inject_tell_outer(const char *outer, const char *run_folder, bool has_told);

/* Processes of a run that goes on which have imported torch and have taken no GPU yet; 0 where there is no /proc. */
size_t inject_waiting_count(const char *run_folder);
/* For a run that goes on: were the files of inject_make written? */
bool inject_is_made(const char *run_folder);

/* "-I" of `python3 -I train.py`: the option by which the command reads no hook; NULL: none, or it is no Python. */
const char *inject_refusal(char *const *arguments);
