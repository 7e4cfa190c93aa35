/* SPDX-License-Identifier: Apache-2.0
 * exchange/around.h: what is known around a failure or a program, and is handed to the verdict as it is, by whoever
 * gathers files. Texts are borrowed. */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "exchange/capacity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that a verdict would rest on, and that could not be read. */
struct verdict_unread {
    const char *file; /* the name that the caller uses for it */
    struct err why;
};

enum { TORCH_CHOICE_READ_MAX = 16, TORCH_CHOICE_REASON_BYTES = 400 };

/* Which of several allocator snapshots goes with an error text (verdict/torch_choice.h). Zeroed but for `text` at
 * first. */
struct torch_choice {
    const char *text;            /* name of the text; NULL: it has none */
    const char *taken, *refused; /* names of the best one and of the first that is of no use; NULL: there is none */
    uint32_t shares;             /* of the one that is taken */
    bool is_named;               /* that has the name of the text */
    size_t fitting_count;        /* of the failure, the one that is taken among them */
    size_t left_count;           /* not read */
    char reason[TORCH_CHOICE_REASON_BYTES], why_not[TORCH_CHOICE_REASON_BYTES]; /* of taken and refused; one clause */
};

/* Where the user's source files come from. */
struct patch_sources {
    void *context;
    /* The text of the file that the dump calls `name`, where it lies below a root: `*path` relative to that. False:
     * there is none. What it gives lives at least as long as the answer. */
    bool (*open)(void *context, const char *name, struct str *text, const char **path);
};

/* What a compiler made of a change that is advised; texts are borrowed. */
struct verdict_compiled {
    const char *change;   /* as advice says it */
    int64_t total_bytes;  /* what the changed program takes, as the compiler counts; -1: it gave no figure */
    bool is_of_dump;      /* the unchanged program compiled to the figures of the dump, so that this one counts */
    bool is_partial;      /* it may be another program than what is advised makes: its figure is a bound */
    const char *sentence; /* the result */
};

struct verdict_around {
    const char *failure_file;        /* name of the text that tells the failure; NULL: it has none */
    struct capacity_stated capacity; /* of the device memory; bytes 0: no source gives it */
    const char *device; /* "TPU v5e, from target_arguments.pb": the chip, and the source of its name; NULL: not known */
    const char *joined[2]; /* sentences: what was taken from elsewhere, and why; each may be NULL */
    size_t unnamed_count;  /* programs here, if the failure names none of them; 0: one was taken, or none is here */
    const struct torch_choice *choice;   /* of allocator snapshots that were looked at; NULL: none were */
    const struct verdict_unread *unread; /* files that any of this would have come from; NULL: all were read */
    size_t unread_count;
    const struct verdict_compiled *compiled; /* changes that the compiler has checked; NULL: none */
    size_t compiled_count;
    const struct patch_sources *sources; /* for patches of advice; NULL: none are written */
};
