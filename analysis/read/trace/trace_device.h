/* SPDX-License-Identifier: Apache-2.0
 * trace_device.h: what a device's plane of a trace says of the device.
 *
 * Memory: the arena. Source: plane stats device_type_string, gpu_device_name and memory_size
 * (xplane_schema.cc). A TPU's plane names its type and no size, a GPU's plane its size. */
#pragma once

#include "wire/stream.h"

struct trace_device {
    struct str plane;      /* "/device:TPU:0" */
    struct str kind;       /* "TPU v6 Lite"; empty when not said */
    uint64_t memory_bytes; /* physical; 0 when not said */
};

/* Reads the plane in `scope`; false if it says neither. */
bool trace_device_read(struct stream *stream, struct stream_scope scope, struct str plane, struct arena *arena,
                       struct trace_device *out);
