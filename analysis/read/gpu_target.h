/* SPDX-License-Identifier: Apache-2.0
 * gpu_target.h: a GPU as XLA's compiler has it described, for GPUs that no dump at hand describes (gpu_target.def).
 *
 * Out:    the text of a GpuTargetConfigProto, as *.gpu_target_config.pbtxt of a dump: the fields that releases since
 * jax 0.4 know; rates of single types of numbers are left out, which weigh estimates of time alone. Source: dumps of
 * jax 0.11.2; the figures as gpu_target.def says. */
#pragma once

#include "base/buf.h"
#include "read/device.h"

#include <stdbool.h>

/* Appends it. False where the table has no such GPU, or the device is none. */
bool gpu_target_write(const struct device *device, struct buf *out);
