/* SPDX-License-Identifier: Apache-2.0
 * compile.h: one program compiled ahead of time by the user's own libtpu.so, or CUDA plug-in of JAX, in a process
 * that may do what it wants.
 *
 * No TPU or GPU is needed, and the rest of memviewd needs neither library. They may abort, hang, take gigabytes and
 * print: so this program runs itself again (compile_child.h), watches time, memory and output, and ends it together
 * with all that it started. It is ended early as well: once the buffer assignment is dumped the figures are final, and
 * what is left is code generation (0.6 s instead of 11 s for a step of 3,000 instructions). What only code generation
 * finds is not found then: a kernel of Pallas whose scratch memory is too large, of which buffer assignment knows
 * nothing. Threads: any number at once, each compile in the one that calls; it needs a processor and some 0.2 to 1.5
 * GiB. Source:  compiling without a TPU or GPU: JAX's ahead-of-time compilation, which goes through the same calls. */
#pragma once

#include "analysis/analysis.h"
#include "server/compile/compile_stage.h"
#include "server/compile/plugin.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum compile_status {
    COMPILE_DONE,         /* figures are there */
    COMPILE_DOES_NOT_FIT, /* the compiler says that HBM is too small; figures are there if it dumped the assignment */
    COMPILE_NO_LIBTPU,    /* none is found, or what is found cannot be loaded */
    COMPILE_NO_PLUGIN,    /* the same of the CUDA plug-in */
    COMPILE_UNKNOWN_VERSION, /* its table of functions is not one that is known here */
    COMPILE_REFUSED,         /* the compiler gives an error: of the chip's name, the program, the options */
    COMPILE_CRASHED,         /* it ended by a signal or without a word, or what it wrote cannot be read */
    COMPILE_TIMED_OUT,
    COMPILE_OUT_OF_MEMORY, /* it took more than it may */
    COMPILE_TOO_MUCH_OUTPUT,
    COMPILE_CANCELLED,
    COMPILE_CANNOT_START, /* no program, no chip, no folder, no process */
};

/* "done", "does_not_fit", …: as in JSON; static storage. */
const char *compile_status_name(enum compile_status status);

struct compile_progress {
    enum compile_stage stage;
    int64_t took_ms;
    uint64_t resident_bytes; /* of the child; 0: not known */
};

/* Texts and bytes are borrowed for the call. */
struct compile_request {
    struct str module;       /* a HloProto or HloModuleProto before optimizations, not packed */
    struct str options;      /* bytes of a compile_options.pb; empty: as jax.jit compiles */
    int64_t partition_count; /* of a program that was split; 0: as the module says */
    /* The text of a *.gpu_target_config.pbtxt: the program is compiled for that GPU, of as many as it is split over.
     * Empty: for a TPU. */
    struct str target;
    const char *topology; /* "v5e:2x2"; NULL: "no chip is told". For a GPU its readable name, "NVIDIA H200" */
    const char *plugin;   /* --libtpu, for a GPU --pjrt-plugin; NULL: as plugin.h searches */
    int64_t limit_ms;     /* 0: COMPILE_LIMIT_MS */
    uint64_t limit_bytes; /* resident memory; 0: half of what this process may have */
    bool with_code;       /* let it finish, and ask it for its own count */
    const char *folder;   /* for the dump, empty or not there yet; it stays. NULL: one that goes with the result */
    /* Called from the same thread some ten times a second; may be NULL. */
    void (*progress)(void *context, const struct compile_progress *progress);
    void *context;
    const atomic_bool *is_cancelled; /* may be NULL */
};

#define COMPILE_LIMIT_MS ((int64_t)10 * 60 * 1000)

struct compile_result {
    enum compile_status status;
    char *sentence; /* what happened, for a person; one line, ends with a full stop */

    bool has_figures;
    bool is_of_compiler; /* the figures are the compiler's own count; else those of the assignment that it dumped */
    struct confirmed_figures figures;
    int64_t total_bytes; /* arguments + outputs − aliased + temporaries */
    int64_t peak_bytes;  /* the most that is live at once, by the assignment; −1: not known */

    char *text;                            /* of a refusal, as the compiler wrote it (E1000 …); NULL */
    int64_t needed_bytes, available_bytes; /* as printed in it, to 5 MiB; 0: not told */

    char *folder;      /* of the dump: the request's, or one that compile_free removes; NULL: none */
    char *module_path; /* of the program with its buffer assignment (…after_optimizations.hlo.pb); NULL: none */

    int module_descriptor; /* of compile_apart.h: reads the module, which has no name any more; else −1 */
    enum plugin_kind kind; /* of what was used */
    char *plugin;          /* the path that was used; NULL: none was found */
    char *plugin_version;  /* "0.0.52"; NULL: not known */
    uint64_t build;        /* "cl/1014260217"; 0: not known */
    int64_t took_ms;
    uint64_t resident_bytes; /* the most that was seen */
    char *work;              /* what compile_free removes */
};

/* Compiles, and waits for it. Always fills `result`, which compile_free then frees. */
void compile_run(const struct compile_request *request, struct compile_result *result);
void compile_free(struct compile_result *result);
/* Removes the files that compile_free would: module_path and folder are then only names, unless the folder is the
 * request's. */
void compile_drop_files(struct compile_result *result);
