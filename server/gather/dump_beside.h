/* SPDX-License-Identifier: Apache-2.0
 * dump_beside.h: what the files beside a dumped module say of how it was compiled.
 *
 * Of "module_0000.jit_f.cl_1.before_optimizations.hlo.pb" these are "module_0000.jit_f.cl_1.target_arguments.pb" and,
 * in the folder "module_0000.jit_f.cl_1", "topology.pb" and "compile_options.pb"; in a dump of texts
 * "….target_arguments.txt" and "topology.textproto"; of GPUs "….gpu_target_config.pbtxt". Dumps before 2026 have none
 * of them. */
#pragma once

#include "analysis/analysis.h"
#include "server/gather/snapshot.h"

struct dump_beside {
    char topology[ANALYSIS_TOPOLOGY_SIZE]; /* "v5e:2x2"; "": not told, or a GPU */
    const char *source;               /* "target_arguments.pb", "topology.pb", "gpu_target_config.pbtxt"; NULL: none */
    struct buf target;                /* the text of the last of them; empty: none there */
    char gpu[ANALYSIS_TOPOLOGY_SIZE]; /* its name, "NVIDIA H200"; "": not told */
    uint64_t memory_bytes;            /* of that GPU; 0: not told */
    struct buf options;               /* a CompileOptionsProto; empty: none there */
};

/* Reads the files beside the module at `place`; a module in memory has none. Files that do not exist or cannot be read
 * leave their members empty. dump_beside_free afterwards. */
void dump_beside_read(const struct files_place *place, struct dump_beside *beside);
void dump_beside_free(struct dump_beside *beside);

/* A file that is there, and would say it, but could not be read; the first one. */
struct dump_beside_lost {
    char file[256]; /* its name; "": all that are there were read */
    struct err err;
};
/* Keeps the first one; `lost` may be NULL. Not one that is not there, or of a chip that is not known. */
void dump_beside_lost_note(struct dump_beside_lost *lost, const char *path, const struct err *err);

/* The chip that the module of a group was compiled for, and what is put behind its stem to name the file that says so
 * (".target_arguments.pb", "/topology.pb").
 * Files of the session first, so that one in memory is found as well. False: no file says it; `lost`, if not NULL,
 * names one that could not be read. */
bool dump_beside_chip(const struct snapshot_session *session, const struct snapshot_group *group,
                      struct analysis_chip *chip, const char **ending, struct dump_beside_lost *lost);
