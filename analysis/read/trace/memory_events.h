/* SPDX-License-Identifier: Apache-2.0
 * memory_events.h: the memory events of a trace's host, as columns in file order.
 *
 * In:     an XSpace through a moving window; only the lines of /host:CPU and the
 *         module lines of devices are read, and none of the host when no event is
 *         named MemoryAllocation or MemoryDeallocation.
 * Out:    every such event; nothing is left out without being counted.
 * Units:  bytes; ps from the line's start.
 * Memory: columns in arenas of their own (children), the rest in the arena.
 * Source: formats.md's list of stats, from bfc_allocator.cc and the TPU runtime. */
#pragma once

#include "base/chunks.h"
#include "base/column.h"
#include "base/sum.h"
#include "base/table.h"
#include "base/workers.h"
#include "read/trace/host_runs.h"
#include "read/trace/module_launches.h"
#include "read/trace/trace_capture.h"
#include "read/trace/trace_groups.h"

#define MEMORY_NO_TEXT UINT32_MAX
#define MEMORY_UNKNOWN INT64_MIN
/* Sizes that together pass this count as not told; so sums and differences of several sums fit in 63 bits. */
#define MEMORY_MAX_BYTES (SUM_MAX_BYTES_TOGETHER / 4)

enum memory_flag {
    MEMORY_FREED = 1,    /* a deallocation */
    MEMORY_HAS_SIZE = 2, /* allocation_bytes was given, and can be one */
    MEMORY_HAS_REQUESTED = 4,
    MEMORY_HAS_ADDRESS = 8,
    MEMORY_HAS_FRAGMENTATION = 16,
    MEMORY_HAS_IN_USE = 32, /* bytes_allocated was given, and can be a size */
};

/* What many events share: texts are numbers of memory_events.texts, MEMORY_NO_TEXT without one. */
struct memory_what {
    uint32_t op, region, shape;
    int32_t data_type; /* of TensorFlow; 0 = not told */
    bool is_encoded;   /* read from the event's name */
    uint32_t guess;    /* for who reads on: what it may be; MEMORY_NO_TEXT */
    uint32_t stack;    /* of the snapshot's stacks; MEMORY_NO_TEXT */
};

/* Figures of the pool that rarely change; MEMORY_UNKNOWN when not told. */
struct memory_figures {
    int64_t reserved_bytes;
    int64_t limit_bytes; /* reserved + in use + available */
    int64_t peak_bytes;  /* peak_bytes_in_use, of the pool's life */
};

struct torch_snapshot;

struct memory_pool {
    struct str name;         /* "GPU_0_bfc", "0"; empty when no event says it */
    bool is_numbered;        /* an index of a device instead of an allocator's name */
    int64_t device;          /* of an allocator snapshot: as its segments number it; -1: of none */
    const char *device_name; /* of a trace of torch.profiler: "NVIDIA H100 80GB HBM3"; NULL: not told */
    int64_t device_bytes;    /* the same: physical size of the device; 0: not told */
};

struct memory_events {
    size_t count;
#define COLUMN(name, ordered_name, type) struct column name;
#include "read/trace/memory_columns.def"
#undef COLUMN
    struct column pool;  /* uint16_t */
    struct column flags; /* uint8_t, enum memory_flag */
    const struct memory_what *whats;
    const struct memory_figures *figure_sets;
    size_t what_count, figures_count;
    const struct str *texts;
    size_t text_count;
    const struct memory_pool *pools;
    size_t pool_count;
    const struct trace_line *lines; /* of the host plane */
    size_t line_count;
    int64_t origin_ns; /* what times are counted from */
    const struct trace_step *steps;
    const struct str *step_names;
    size_t step_count;
    bool has_steps; /* some event is in a step */
    struct module_launches launches;
    struct trace_capture capture;
    struct host_runs runs; /* read where a GPU's allocations have no names */
    bool has_unnamed;      /* some allocation of a GPU's trace names no op */
    bool is_empty;         /* the file has no byte */
    bool has_host_plane, has_tpu_plane, has_gpu_plane;
    /* what could not be used */
    uint64_t damaged_count, aggregated_count, missing_count, absurd_count, pool_overflow_count;
    uint64_t line_overflow_count;          /* further lines than can be read */
    uint64_t encoded_count;                /* events that were read from their names */
    uint64_t unparsed_count;               /* figures in a name that is too long, or cut */
    const struct torch_snapshot *snapshot; /* of PyTorch, which these were read from; NULL: from a trace */
    struct cut cut;
    /* of a file that is cut, where names of what its host tells are missing: */
    bool lacks_names;
    uint64_t unnamed_count;   /* events whose name is not known */
    uint64_t untold_count;    /* memory events whose figures cannot be told apart */
    uint64_t lost_text_count; /* texts of memory events */
    size_t piece_count;       /* that were read side by side; 1: it was read in one go */
};

/* Does it name no op? "dummy" is what PjRt says when none is pending; older ones wrote "(null)". */
bool memory_events_is_unnamed(const struct memory_events *events, uint32_t what_at);
/* False when nothing can be had: the report is in err. With `workers` (or NULL) long lines are read in pieces side by
 * side; what comes out is the same. */
bool memory_events_read(const struct source *source, const struct workers *workers, struct arena *arena,
                        struct memory_events *out, struct err *err);
