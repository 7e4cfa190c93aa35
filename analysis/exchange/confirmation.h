/* SPDX-License-Identifier: Apache-2.0
 * exchange/confirmation.h: what came of asking the compiler about changes (whatif/confirmation.h, whatif/confirmed.h).
 * Units: bytes of the default memory space (HBM); −1 where a figure is not known. Texts are borrowed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What a compiler counted for a program. */
struct confirmed_figures {
    int64_t argument_bytes, output_bytes;
    int64_t alias_bytes;     /* of the outputs, what takes the place of an argument */
    int64_t temporary_bytes; /* as the compiler counts: whole pages of 16 KiB */
};

/* One compile. */
struct confirmation_compile {
    const char *status;   /* "done", "does_not_fit", "timed_out", …; NULL: it was not begun */
    const char *sentence; /* what happened */
    const char *topology; /* "v5e:2x2", what it was compiled for; NULL: not known */
    bool has_figures, does_fit;
    struct confirmed_figures figures;
    int64_t needed_bytes;    /* as the compiler printed it when it does not fit; 0: not told */
    int64_t available_bytes; /* what there is for it, told when it does not fit; 0: not told */
    int64_t peak_bytes;
    int64_t took_ms;
    uint64_t resident_bytes;
};

enum confirmation_state {
    CONFIRMATION_CONFIRMED,
    CONFIRMATION_REFUTED,    /* it saves at most half of what was predicted, or does not fit, as was predicted */
    CONFIRMATION_PARTIAL,    /* it compiled, but what the author would write may be another program */
    CONFIRMATION_DIFFERENT,  /* both compiled, but the unchanged program is not that of the dump */
    CONFIRMATION_UNANSWERED, /* there is no figure of the changed program */
};

struct confirmation {
    const char *obstacle_status, *obstacle; /* why nothing was compiled: a word and a sentence; NULL */
    struct confirmed_figures dump;
    int64_t dump_peak_bytes;
    uint64_t dump_build, compiler_build; /* 0: not known */
    struct confirmation_compile base, changed;
    int64_t predicted_bytes; /* total of the changed program */
    uint64_t changed_count;
    uint64_t left_count; /* arguments or layers that were asked for and stay as they are */
    const char *partial; /* why the changed program may be another one than the author's; NULL: it is the author's */
    const char *compiler, *compiler_version; /* "libtpu", "CUDA plug-in"; NULL: not known */
    const char *topology, *topology_source;  /* NULL: not known */
    bool is_gpu;                             /* compiled for a GPU that is not there */
    const char *plan; /* where the changed program's plan is: a path or a session; NULL: it was not kept */
};
