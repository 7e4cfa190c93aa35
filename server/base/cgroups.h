/* SPDX-License-Identifier: Apache-2.0
 * cgroups.h: how much of the machine control groups, of version 1 or 2, leave to this process.
 *
 * A group is asked and all that it lies in; the least counts. `root` comes before /proc and /sys: "" for this
 * machine, a folder in tests. What cannot be read limits nothing: UINT64_MAX.
 * Source: cgroup-v2.rst (memory.max, cpu.max), cgroup-v1/memory.rst and scheduler/sched-bwc.rst of the kernel. */
#pragma once

#include <stdint.h>

uint64_t cgroups_memory_bytes(const char *root);
/* What this process may have: all of the machine's, or what its group, ulimit -v or ulimit -d leave of that. 0 where
 * nothing tells. */
uint64_t cgroups_usable_memory_bytes(void);
/* A part of a processor counts as one. Sets of processors are not asked: sched_getaffinity(2) has them. */
uint64_t cgroups_processor_count(const char *root);
/* Processes of this process's group, and of groups below it, that the kernel has ended so far because there was no
 * memory left; where no group tells, those of the whole machine. UINT64_MAX: not known.
 * Source: cgroup-v2.rst (memory.events), cgroup-v1/memory.rst (memory.oom_control), vmstat of proc(5). */
uint64_t cgroups_oom_kill_count(const char *root);
