/* SPDX-License-Identifier: Apache-2.0
 * torch_snapshot.h: what PyTorch's caching allocator wrote down of itself.
 *
 * In:     what torch.cuda.memory._dump_snapshot writes, as pickle, JSON or in a page (torch_form.h): `segments` with
 *         their `blocks` at the moment of the snapshot, and `device_traces`, what was allocated and freed before it,
 *         each with its stack.
 * Out:    segments, blocks, stacks and the rarer events as they are; allocations and frees as memory events, so that
 *         whatever shows those of a trace shows these.
 * Units:  bytes; ps from the first event. Files of before PyTorch 2.1 tell no times: then one event follows the other
 *         after a microsecond, and `has_times` is false.
 * Memory in use: bytes that were asked for and whose block is not free yet ("active"; from `alloc` to
 * `free_completed`).
 *         What was there before the recording began is what later frees and the blocks of the end tell of it: so the
 *         curve is at each event the sum of what is open there, and ends at the sum of the active blocks.
 * Memory: the arena.
 * Source: torch/csrc/cuda/memory_snapshot.cpp, torch/cuda/memory.py. */
#pragma once

#include "read/library.h"
#include "read/trace/memory_events.h"

/* Segments are whole multiples of this, or exactly one request (c10/cuda/CUDACachingAllocator.cpp). Which request gets
 * which segment: memory/allocator/caching_settings.h. */
enum { TORCH_SEGMENT_UNIT_BYTES = 2 << 20 };

struct torch_frame {
    struct str function, file;
    uint32_t line; /* 0: not told */
    bool is_python;
    enum library whose; /* means something where is_python */
};

struct torch_stack {
    uint32_t first, count; /* of stack_frames, the innermost first */
};

enum torch_state { TORCH_ACTIVE, TORCH_PENDING_FREE, TORCH_INACTIVE, TORCH_STATE_UNKNOWN /* while it is read */ };

struct torch_block {
    uint64_t address;
    int64_t size_bytes, requested_bytes; /* requested is size where it is not told */
    uint32_t stack;                      /* TORCH_NO_STACK: not recorded */
    uint32_t segment;
    uint32_t what; /* place in memory_events.whats: its stack in words */
    enum torch_state state;
};

struct torch_segment {
    uint64_t address;
    int64_t total_bytes, allocated_bytes, active_bytes;
    int64_t device, stream;
    int64_t pool_id[2]; /* of a private pool (CUDA graphs, MemPool); 0, 0: the default one, or not told */
    uint32_t stack;
    uint32_t what; /* as that of a block */
    uint32_t first_block, block_count;
    bool is_large, is_expandable;
};

/* Events that are no allocation and no free. */
enum torch_action {
    TORCH_SEGMENT_ALLOC,
    TORCH_SEGMENT_FREE,
    TORCH_SEGMENT_MAP,
    TORCH_SEGMENT_UNMAP,
    TORCH_OOM,
    TORCH_SNAPSHOT,
    TORCH_FREE_REQUESTED, /* other events of its device come before it is completed, if it ever is */
    TORCH_ACTIONS,
};

struct torch_event {
    int64_t offset_ps;
    int64_t size_bytes; /* of TORCH_OOM: what was asked for, rounded as the allocator does (whole 512 bytes at least) */
    int64_t device_free_bytes; /* of TORCH_OOM: what CUDA says is free, of all processes; else MEMORY_UNKNOWN */
    int64_t stream;
    uint64_t address;
    uint32_t stack;
    uint32_t event_at; /* how many allocations and frees of its pool came before it in the file */
    uint16_t pool;     /* of memory_events.pools */
    enum torch_action action;
};

/* +1: memory of the driver came, -1: it went back, 0: neither. */
static inline int torch_snapshot_driver_sign(const struct torch_event *event)
{
    return event->action == TORCH_SEGMENT_ALLOC || event->action == TORCH_SEGMENT_MAP    ? 1
           : event->action == TORCH_SEGMENT_FREE || event->action == TORCH_SEGMENT_UNMAP ? -1
                                                                                         : 0;
}

/* By how much the device memory that the process holds changes. */
static inline int64_t torch_snapshot_driver_bytes(const struct torch_event *event)
{
    return torch_snapshot_driver_sign(event) * event->size_bytes;
}

struct torch_setting {
    struct str name, value;
};

#define TORCH_NO_STACK UINT32_MAX

struct torch_snapshot {
    struct torch_frame *frames;
    struct torch_stack *stacks;
    uint32_t *stack_frames;
    struct torch_segment *segments;
    struct torch_block *blocks; /* by segment */
    struct torch_event *events; /* by pool, in the order of the file */
    uint32_t *pool_events;      /* of each of memory_events.pools its first event, and the end */
    struct torch_setting *settings;
    size_t frame_count, stack_count, segment_count, block_count, event_count, setting_count;
    bool has_times, has_traces;
    bool is_of_profiler; /* a trace of torch.profiler: it records what is in use, so nothing is summed */
    bool
        /* the file has no allocation and no free: each pool has one row of size 0 that represents the end */
        is_end_alone;
    /* what could not be used */
    uint64_t unknown_action_count, damaged_count, time_back_count, free_requested_count;
    uint64_t lone_failure_count; /* requests that failed on devices without any recorded allocation or free */
    uint64_t odd_count;          /* values that cannot be: they count as not told */
    const char *odd_words;       /* their keys: "size (2), line (1)" */
    uint64_t free_size_count;    /* frees of another size than their allocation's, which counts */
    uint64_t found_count;        /* sizes and addresses of events that others tell */
    uint64_t
        low_reserved_count; /* events after which less is reserved than in use: what is reserved counts as not known */
};

/* False when it is none, or cannot be read; the report is in err. */
bool torch_snapshot_read(const struct source *source, struct arena *arena, struct memory_events *out, struct err *err);
/* The frame of a stack that says most: the innermost of the user's own Python, else of any Python, else of the
 * backward pass, else of anything but the allocator; UINT32_MAX of none. */
uint32_t torch_snapshot_own_frame(const struct torch_snapshot *snapshot, uint32_t stack);
/* The innermost frame of Python that is neither PyTorch's nor Python's own: of a model from a library the line in that
 * library. Where there is none, the one above. */
uint32_t torch_snapshot_line_frame(const struct torch_snapshot *snapshot, uint32_t stack);
/* Is the frame at a place as the tables of frames name it? `file`: a piece of the path of a Python file, with slashes;
 * NULL: a frame of C++. `function`: a piece of the name; after "=", the whole name. */
bool torch_snapshot_frame_is(const struct torch_frame *frame, const char *file, const char *function);
/* The last part of its path, of any system; empty if it has no file. */
struct str torch_snapshot_frame_file(const struct torch_frame *frame);
/* "model.py:54 forward"; "AddmmBackward0" for a node of the backward pass; without a Python file, the function without
 * its arguments. */
struct str torch_snapshot_frame_words(const struct torch_frame *frame, struct arena *arena);
