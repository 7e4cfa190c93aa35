/* SPDX-License-Identifier: Apache-2.0
 * fit_compile.h: what a dumped program takes of a device that is not here, by a compiler for it. */
#pragma once

#include "server/cmd/each_module.h"
#include "server/cmd/options.h"
#include "server/compile/compile.h"

struct fit_compile {
    bool is_answered;     /* total_bytes is known */
    int64_t total_bytes;  /* arguments + outputs − aliased + temporaries; −1 */
    int64_t took_ms;      /* of the compile; 0: there was none */
    char *sentence;       /* the result, or why there was none */
    const char *compiler; /* "libtpu", "CUDA plug-in"; NULL: no compile; static storage */
    char *version;        /* of the compiler; NULL: not known */
};

/* Compiles the program as it was before optimizations for one device, or for as many as it is split over: TPUs by
 * libtpu, NVIDIA GPUs by the CUDA plug-in. Fills `out`; fit_compile_free. Takes what a compile takes (compile.h). */
void fit_compile_run(const struct options *options, const struct snapshot_session *session,
                     const struct modules_entry *entry, const struct analysis_device *device, struct fit_compile *out);
void fit_compile_free(struct fit_compile *compile);
