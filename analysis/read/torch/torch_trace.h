/* SPDX-License-Identifier: Apache-2.0
 * torch_trace.h: what torch.profiler wrote down of the allocators of PyTorch.
 *
 * In:     the Chrome trace of torch.profiler.profile(profile_memory=True), JSON as Kineto writes it: events "[memory]"
 *         with Bytes (below 0: freed), Addr, Total Allocated, Total Reserved, Device Type and Device Id; the
 *         name and size of each GPU (totalGlobalMem of deviceProperties); spans of operators, of Python's functions
 *         (with_stack=True) and of what the program names (record_function), on each thread.
 * Out:    as torch_snapshot.h, without segments and blocks: memory events in the order of their times, each with the
 *         stack of the spans that lie around it on its thread, the innermost first.
 * Units:  bytes; ps from the first memory event.
 *         A request that failed ("[OutOfMemory]") is an event as that of a snapshot.
 * Memory in use: Total Allocated, which is told after each event.
 * Memory: the arena; while it is read, 32 bytes a span and 48 a memory event beside it.
 * Source: torch/csrc/profiler/kineto_shim.cpp, torch/csrc/autograd/profiler_kineto.cpp,
 * libkineto/src/output_json.cpp. */
#pragma once

#include "read/torch/torch_snapshot.h"

/* False when it has no memory events, or cannot be read; the report is in err. */
bool torch_trace_read(const struct source *source, struct arena *arena, struct memory_events *out, struct err *err);
