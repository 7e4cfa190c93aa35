/* SPDX-License-Identifier: Apache-2.0
 * beside.h: the files of a session, beside one of its traces, that may hold programs: HLO files first (XProf keeps
 * those that it has looked at beside the trace), then the traces of other hosts. The core opens them when it needs
 * them. Threads: one. */
#pragma once

#include "analysis/analysis.h"
#include "server/gather/snapshot.h"

struct beside {
    const struct snapshot_session *session; /* NULL: no file is beside */
    const struct files_place *own;          /* the trace itself */
    struct file *file;                      /* that was opened last */
    const struct source *of;                /* its bytes */
    struct source source;                   /* the same, looked at: for the core */
    bool has_failed;                        /* one could not be opened or read, although when it was listed it could */
    struct analysis_beside core;            /* for the core, as long as this lives */
};

/* beside_close when the trace is read. */
void beside_open(struct beside *beside, const struct snapshot_session *session, const struct files_place *own);
void beside_close(struct beside *beside);
/* Tells these files, as they were found, from all others; 0 when there is none. */
uint64_t beside_hash(const struct snapshot_session *session, const struct files_place *own);
