/* SPDX-License-Identifier: Apache-2.0
 * xspace.h: a profiler trace (XSpace) as a list of HLO programs.
 *
 * In:     a plain source, read through a small window: planes other than
 *         /host:metadata are skipped by length as soon as their name is known.
 * Out:    the programs' places in the file, in file order, first of equal ids;
 *         which kinds of planes and devices there are; what could not be used.
 * Memory: the arena. Cost: one pass over headers; a 103 MB trace takes a few ms.
 * Source: xplane.proto; names of stats and rules of ids from XLA's
 *         xplane_schema.cc and XProf's hlo_proto_map.cc and xplane_hlo_fixer.cc. */
#pragma once

#include "read/trace/trace_device.h"
#include "wire/stream.h"

struct xspace_program {
    struct str name;         /* the HLO module's own name, else the entry's without "(id)" */
    uint64_t program_id;     /* 64-bit pattern, to be printed unsigned */
    struct stream_scope hlo; /* bytes of the HloProto */
};

/* Devices that say the same of themselves. */
struct xspace_device {
    struct trace_device first;
    uint32_t count;
};

enum { XSPACE_DEVICES_MAX = 16 };

struct xspace {
    struct xspace_device devices[XSPACE_DEVICES_MAX]; /* kinds of devices; of more, the first */
    size_t device_count;
    struct xspace_program *programs;
    size_t program_count;
    struct str *hostnames;
    size_t hostname_count;
    bool has_hlo_stat; /* the metadata plane names the stat that holds HLO protos */
    bool has_gpu_plane, has_tpu_plane, has_host_plane;
    uint64_t allocator_limit_bytes; /* allocator.h; 0: not told */
    bool has_memory_events;         /* the host's plane names memory events, or is cut before all names */
    uint64_t duplicate_count;       /* programs with an id that was there already */
    uint64_t clipped_count;         /* programs whose bytes are cut off */
    uint64_t damaged_count;         /* metadata entries that do not decode */
    struct cut cut;                 /* the file ends early */
};

/* False when nothing can be had: the report is in err. */
bool xspace_read(const struct source *source, struct arena *arena, struct xspace *out, struct err *err);
