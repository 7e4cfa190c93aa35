/* SPDX-License-Identifier: Apache-2.0
 * allocator.h: which memory an allocator is of, and how much of a GPU it may hand out, by memory events of a trace.
 *
 * JAX gives programs three quarters of a GPU unless told otherwise; a trace names the size of the whole alone,
 * but each memory event tells what is reserved, in use and free, which together are the limit.
 * In:     the host's plane, resolved; events whose figures stand in their names are not looked at.
 * Cost:   the first MiB of each line up to the first that tells a limit, 64 MiB at most; nothing is kept.
 * Source: bytes_reserved, bytes_allocated and bytes_available of MemoryAllocation events (XLA's bfc_allocator.cc). */
#pragma once

#include "read/trace/trace_plane.h"

/* What a pool is of, by its name: "GPU_0_bfc", "gpu_host_bfc"; those of TPUs are numbers. Source: XLA's
 * compute_xspace_stats.cc. */
enum allocator_kind { ALLOCATOR_DEVICE, ALLOCATOR_HOST, ALLOCATOR_OTHER };
enum allocator_kind allocator_kind_of(struct str name);

/* The least limit of the allocators of device memory on the first line that tells one, in bytes; 0: none does. */
uint64_t allocator_limit_find(struct stream *stream, const struct trace_plane *plane, struct arena *scratch);
