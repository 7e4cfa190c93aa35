/* SPDX-License-Identifier: Apache-2.0
 * confirm.h: asks the compiler about changes to a program of a dump: the unchanged program first, then the changed one.
 *
 * The program is that of a compiled module; what is compiled is the file of the same dump that holds it as it was
 * before optimizations. Threads: any number, each run in the one that calls; a run costs what two compiles do
 * (compile.h). */
#pragma once

#include "server/compile/compile_apart.h"
#include "server/gather/snapshot.h"

enum confirm_stage { CONFIRM_READING, CONFIRM_BASE, CONFIRM_CHANGED };
/* "reading", "base", "changed". */
const char *confirm_stage_name(enum confirm_stage stage);

/* Borrowed for the run. */
struct confirm_request {
    const struct snapshot_session *session; /* where its other files are */
    const struct snapshot_file *module;     /* the compiled program */
    const char *key;                        /* of the program in it */
    const char *libraries;                  /* of analysis_reading; NULL: none */
    const char *const *changes;
    size_t change_count;
    const char *libtpu, *cuda_plugin; /* as plugin.h's `named`; NULL: as it searches */
    const char *topology;             /* as in compile.h; NULL: the chips that the dump tells, TPUs or a GPU */
    const char *otherwise;            /* the topology where neither does; may be NULL */
    const struct compile_result
        *base;        /* of the unchanged program for the same libtpu and topology, which must outlive the
                                          result; NULL: it is compiled */
    int64_t limit_ms; /* of each compile */
    uint64_t limit_bytes;
    struct compile_apart *apart; /* compiles; NULL: this process does */
    const char *folder; /* where the changed program is dumped, as in compile.h; NULL: it goes with the result */
    void (*progress)(void *context, enum confirm_stage stage, const struct compile_progress *progress);
    void *context;
    const atomic_bool *is_cancelled;
};

struct confirm_result {
    struct confirmation confirmation; /* texts are in what follows */
    struct compile_result base, changed;
    bool is_cancelled;
    char *obstacle, *topology;
    char *slice; /* of the changed program, where the topology has not enough chips for it; else NULL */
};

/* Always fills `result`, which confirm_free then frees, with the files in its folders. */
void confirm_run(const struct confirm_request *request, struct confirm_result *result);
void confirm_free(struct confirm_result *result);

/* A slice of the same chips that has enough for a program split over so many devices: as they can be had ("v5e:2x2", 8:
 * "v5e:2x4"). NULL: the one that is named has, or none is known. free(). */
char *confirm_slice(const char *topology, int64_t partition_count);
