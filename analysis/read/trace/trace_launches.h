/* SPDX-License-Identifier: Apache-2.0
 * trace_launches.h: the launches of modules in a trace, and nothing else of it.
 *
 * In:     a plain source. Of TPUs only the line XLA Modules of each device is decoded; of GPUs, which have none, the
 *         kernels and the host's calls (kernel_launches.h).
 * Units:  ps from the earliest line of a device.
 * Memory: the arena. */
#pragma once

#include "read/trace/module_launches.h"

/* False when nothing can be had: the report is in err. */
bool trace_launches_read(const struct source *source, struct arena *arena, struct module_launches *out,
                         struct err *err);
