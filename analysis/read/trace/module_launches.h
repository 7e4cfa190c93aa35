/* SPDX-License-Identifier: Apache-2.0
 * module_launches.h: when which HLO module ran on which device.
 *
 * Read from the lines "XLA Modules" of device planes; of GPUs see kernel_launches.h. Times in ps from the
 * origin; in file order, so by plane. Memory: the arena. */
#pragma once

#include "base/intern.h"
#include "base/table.h"
#include "read/trace/trace_line.h"

struct module_launch {
    int64_t begin_ps, end_ps;
    int64_t offset_ps; /* from its own line: what XProf shows */
    uint32_t plane_at, name_at;
    bool is_inferred; /* from kernels; see kernel_launches.h */
};

struct module_launches {
    struct chunks items; /* struct module_launch */
    struct str *planes;  /* "/device:TPU:0" */
    uint32_t plane_count;
    size_t plane_capacity;
    struct intern names; /* "jit_step(1915)" */
    uint64_t inferred_count, damaged_count;
    uint64_t unnamed_count; /* launches whose module is lost, because the file is cut */
    uint64_t unclear_count; /* kernels that may begin a launch; see kernel_launches.h */
};

void module_launches_init(struct module_launches *launches, struct arena *arena);
/* Adds those of a device plane. */
void module_launches_read(struct stream *stream, struct stream_scope plane, int64_t origin_ns, struct arena *arena,
                          struct module_launches *launches);
/* When an event of a line ran. False: its times are damaged. */
bool module_launches_span(const struct trace_event *event, int64_t timestamp_ns, int64_t origin_ns, int64_t *begin_ps,
                          int64_t *end_ps);
/* A further plane; its launches follow. */
void module_launches_plane(struct module_launches *launches, struct arena *arena, struct str plane);
