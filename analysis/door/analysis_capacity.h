/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_capacity.h: what a device has, and whether a program fits, as analysis.h hands it out. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "exchange/capacity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of the table of devices. Texts are static. */
struct analysis_device {
    const char *name;     /* as in capacity=NAME: "v5e" */
    const char *title;    /* "TPU v5e" */
    const char *platform; /* "tpu", "gpu" */
    uint64_t physical_bytes;
    uint64_t available_bytes; /* to one program; 0 = not known */
    const char *source;       /* of available_bytes, or of the physical size */
};
/* False past the end. */
bool analysis_device_at(size_t at, struct analysis_device *device);
/* The row of that name in letters of either case, else the smallest of that family: "h100" is H100-80G. False: there is
 * none. */
bool analysis_device_find(const char *name, struct analysis_device *device);
/* Appends the text of a *.gpu_target_config.pbtxt for the GPU of that name, from NVIDIA's figures. False: none is
 * known. */
bool analysis_device_target(const char *name, struct buf *out);
enum { ANALYSIS_TOPOLOGY_SIZE = 64 };
/* Four chips of the device of that name as libtpu calls them, "v5e:2x2"; "" where it does not compile for it.
 * `argument` where there is no such device. */
bool analysis_device_topology(const char *name, char topology[ANALYSIS_TOPOLOGY_SIZE], struct err *err);

/* The chip that a program was compiled for. */
struct analysis_chip {
    struct analysis_device device;
    uint64_t memory_bytes; /* of a GPU, as the file states it to the byte; 0: it does not */
    char topology
        [ANALYSIS_TOPOLOGY_SIZE]; /* "v5e:2x2", by which libtpu makes it; "": a GPU, or its sizes are not told */
};
/* From a file that libtpu or XLA on GPUs dumps beside a program (read/hlo/chip.h). `unsupported` where it is of a chip
 * that is not known, `malformed` where it is no such file. */
bool analysis_chip_read(struct str file, struct analysis_chip *chip, struct err *err);

/* Reads a capacity as users write it: the name of a row in any case (it becomes `device`), or a size such as
 * "15.75GiB", "16G" or a number of bytes (device->name NULL). For a row without an available size it takes the physical
 * one. */
bool analysis_capacity_read(const char *text, uint64_t *bytes, struct analysis_device *device);

/* What an out-of-memory text says of the device it was printed for. */
struct analysis_capacity {
    int64_t space;            /* colour: 0 HBM, 1 VMEM, 4 SMEM */
    uint64_t available_bytes; /* as printed, to ± half_unit_bytes */
    uint64_t half_unit_bytes; /* 0: printed in bytes */
    bool has_needed;
    uint64_t needed_bytes; /* what was asked, as printed */
    size_t offset, length; /* place of the capacity in the text */
    bool may_be_of_xla;    /* false: another runtime says it, of a job that ran no program of XLA */
};
/* The first sentence of `text` that states a capacity; false if there is none. */
bool analysis_capacity_from_text(const char *text, size_t length, struct analysis_capacity *capacity);

/* The order of sources (verdict/capacity.h): does `one` count where `other` of the same space was found before it; may
 * a source of that kind still count where `found` is known (NULL: nothing is); what a program may use of a device in
 * `bytes` (0: not known), true where that is its physical size. */
bool analysis_capacity_counts_before(const struct capacity_stated *one, const struct capacity_stated *other);
bool analysis_capacity_may_count(enum capacity_from from, const struct capacity_stated *found);
bool analysis_capacity_usable(uint64_t available_bytes, uint64_t physical_bytes, uint64_t *bytes);

/* Of all that a job needs the first one to look at (memory_fit_is_worse in plan/memory_fit.h); a capacity that is NULL
 * is not known. */
bool analysis_fit_is_worse(const struct capacity_stated *capacity, uint64_t needed_bytes,
                           const struct capacity_stated *other, uint64_t other_needed_bytes);
/* The member `key`: does it fit (Fit in docs/openapi.yaml); `capacity` NULL: not known. */
void analysis_fit_write(struct json *json, const char *key, const struct capacity_stated *capacity,
                        uint64_t needed_bytes, const char *space_name);
