/* SPDX-License-Identifier: Apache-2.0
 * kernel_launches.h: launches of modules on GPUs, told from their kernels.
 *
 * Profilers of GPUs write no line "XLA Modules", but most kernels tell their module (hlo_module,
 * program_id) and op (hlo_op). On a stream a launch ends where a kernel of another module begins; and
 * where an op comes again, if the host's lines say that another run called it (module_calls.h). Where
 * they do not tell, a launch ends where its first op comes again after others: then a module of a single
 * op that is launched twice without another between them looks like one launch. Those of several streams
 * that overlap are one. */
#pragma once

#include "read/trace/module_calls.h"
#include "read/trace/module_launches.h"

/* The host's plane, whose calls are read once where a device asks for them. */
struct kernel_host {
    const struct trace_plane *plane; /* resolved; NULL: there is none */
    struct arena *arena;             /* of the calls */
    struct module_calls *calls;      /* NULL: not needed yet */
};

/* Adds those of a device plane; a line "XLA Modules", if it has one after all, comes before its kernels. */
void kernel_launches_read(struct stream *stream, struct stream_scope plane, struct kernel_host *host, int64_t origin_ns,
                          struct arena *arena, struct module_launches *launches);
