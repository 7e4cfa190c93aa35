/* SPDX-License-Identifier: Apache-2.0
 * chip.h: the chip that a program was compiled for, from the files that libtpu or XLA on GPUs dumps beside it.
 *
 * In:     bytes of *.target_arguments.pb or topology.pb, or of their text forms (*.target_arguments.txt,
 *         topology.textproto), or of *.gpu_target_config.pbtxt; any content.
 * Out:    the row of device.def and the topology.
 * Memory: none. Cost: linear.
 * Source: dumps of libtpu 0.0.52 for six kinds of TPU, of jax 0.11.2 on an H100. Its messages are published nowhere.
 *         Of the code names in text forms, VIPERFISH is in a dump; the others are those of public libtpu headers
 *         and documents. */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "read/device.h"

#include <stdint.h>

struct chip {
    const struct device *device; /* row of device.def */
    const char *topology_name;   /* as libtpu calls it in a topology: "v5e", "tpu7x"; NULL: a GPU */
    int axis_count;              /* of its topologies: 2 or 3 */
    uint64_t chips[3];           /* along each axis; 0: not told, or out of bounds */
    uint64_t memory_bytes;       /* of a GPU, as the file states it to the byte; 0: it does not */
};

/* `unsupported` where it is of a chip that is not known, `malformed` where it is no such file. */
bool chip_read(struct str file, struct chip *chip, struct err *err);

/* Four chips of that device, as one host has them: the least that libtpu compiles for. False where it is of no device
 * that libtpu compiles for. */
bool chip_of_device(const struct device *device, struct chip *chip);

enum { CHIP_TOPOLOGY_SIZE = 64 };
/* The name by which libtpu makes such a topology, "v5e:2x2". `unsupported` where its sizes are not told. */
bool chip_topology(const struct chip *chip, char name[CHIP_TOPOLOGY_SIZE], struct err *err);
