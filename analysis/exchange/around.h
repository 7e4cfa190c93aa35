/* SPDX-License-Identifier: Apache-2.0
 * around.h: what is known around a failure or a program, and is handed to the verdict as it is: by the door, which gets
 * it from whoever gathers files. */
#pragma once

#include "patch/patch.h"
#include "verdict/capacity.h"
#include "verdict/torch_choice.h"
#include "verdict/unread.h"

/* What a compiler made of a change that is advised; texts are borrowed. */
struct verdict_compiled {
    const char *change;   /* as advice says it */
    int64_t total_bytes;  /* what the changed program takes, as the compiler counts; -1: it gave no figure */
    bool is_of_dump;      /* the unchanged program compiled to the figures of the dump, so that this one counts */
    const char *sentence; /* what came of it */
};

struct verdict_around {
    const char *failure_file;        /* name of the text that tells the failure; NULL: it has none */
    struct capacity_stated capacity; /* of the device memory; bytes 0: nobody says it */
    const char *device;    /* "TPU v5e, from target_arguments.pb": the chip, and what says so; NULL: not known */
    const char *joined[2]; /* sentences: what was taken from elsewhere, and why; each may be NULL */
    const struct torch_choice *choice;   /* of allocator snapshots that were looked at; NULL: none were */
    const struct verdict_unread *unread; /* files that any of this would have come from; NULL: all were read */
    size_t unread_count;
    const struct verdict_compiled *compiled; /* changes of which the compiler was asked; NULL: of none */
    size_t compiled_count;
    const struct patch_sources *sources; /* for patches of advice; NULL: none are written */
};
