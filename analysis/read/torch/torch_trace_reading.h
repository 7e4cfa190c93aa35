/* SPDX-License-Identifier: Apache-2.0
 * torch_trace_reading.h: a trace of torch.profiler on its way from JSON into columns: between torch_trace.c and
 * torch_trace_settle.c. */
#pragma once

#include "read/torch/torch_reading.h"
#include "read/torch/torch_trace_stacks.h"

#define PS_PER_NS INT64_C(1000)
enum { DEVICE_CPU = 0, DEVICE_CUDA = 1 };

#define TORCH_TRACE_KEYS(KEY)                                                                                          \
    KEY(ph, "ph")                                                                                                      \
    KEY(cat, "cat")                                                                                                    \
    KEY(name, "name")                                                                                                  \
    KEY(pid, "pid")                                                                                                    \
    KEY(tid, "tid")                                                                                                    \
    KEY(ts, "ts")                                                                                                      \
    KEY(dur, "dur")                                                                                                    \
    KEY(args, "args")                                                                                                  \
    KEY(bytes, "Bytes")                                                                                                \
    KEY(address, "Addr")                                                                                               \
    KEY(allocated, "Total Allocated")                                                                                  \
    KEY(reserved, "Total Reserved")                                                                                    \
    KEY(device_type, "Device Type")                                                                                    \
    KEY(device_id, "Device Id")                                                                                        \
    KEY(properties, "deviceProperties")                                                                                \
    KEY(number, "id")                                                                                                  \
    KEY(memory_of_device, "totalGlobalMem")                                                                            \
    KEY(base, "baseTimeNanoseconds")                                                                                   \
    KEY(events, "traceEvents")                                                                                         \
    KEY(complete, "X")                                                                                                 \
    KEY(instant, "i")                                                                                                  \
    KEY(memory, "[memory]")                                                                                            \
    KEY(failure, "[OutOfMemory]")                                                                                      \
    KEY(operator, "cpu_op")                                                                                            \
    KEY(old_operator, "Operator")                                                                                      \
    KEY(python, "python_function")                                                                                     \
    KEY(annotation, "user_annotation")

#define KEY(name, text) TORCH_TRACE_KEY_##name,
enum torch_trace_key { TORCH_TRACE_KEYS(KEY) TORCH_TRACE_KEY_COUNT };
#undef KEY

struct torch_trace_row {
    int64_t at_ns, bytes, allocated_bytes, reserved_bytes; /* MEMORY_UNKNOWN: not told */
    int64_t device_type, device_id;                        /* the same */
    uint64_t address;
    uint32_t thread;
    uint16_t pool;
    bool has_address, is_failure, has_pool;
};

struct torch_trace_step {
    int64_t begin_ns, end_ns;
    struct str name;
};

struct torch_trace_reading {
    struct pickle *pickle;
    struct arena *arena, *scratch;
    struct memory_events *out;
    struct torch_snapshot *snapshot;
    struct pickle_value keys[TORCH_TRACE_KEY_COUNT];
    struct table threads, devices; /* pid and tid; type and id */
    struct chunks rows, steps, failures;
    uint32_t pool_counts[MEMORY_POOLS_MAX]; /* rows of each that were written so far */
    struct torch_trace_stacks stacks;
    int64_t sum_bytes;
    uint64_t odd_counts[TORCH_TRACE_KEY_COUNT]; /* values of each key that cannot be */
};

/* Each device that is numbered has a row; rows of no device that is known are left out. */
void torch_trace_pools_settle(struct torch_trace_reading *reading);
/* A time far from the others, or none, is that of the event before it in the file. False: no event tells a time. */
bool torch_trace_times_settle(struct torch_trace_reading *reading);
/* What was odd, in words, when all is read. */
void torch_trace_odd_words(struct torch_trace_reading *reading);
