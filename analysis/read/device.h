/* SPDX-License-Identifier: Apache-2.0
 * device.h: devices and how much memory a program may use there (rows in device.def). */
#pragma once

#include "base/str.h"
#include "read/space.h"

#include <stddef.h>

struct device {
    const char *name, *title;
    enum space_platform platform;
    int64_t physical_bytes, available_bytes; /* available: 0 = not known */
    const char *source;
    const char *kinds; /* how a trace or a runtime calls it, "|" between names; "" = not known */
};

/* Row `at`, or NULL past the end. */
const struct device *device_at(size_t at);
/* The row of that name, in letters of either case, or NULL. */
const struct device *device_named(const char *name);
/* The same; else the first, and smallest, of that family: "a100" is A100-40G, "h100" H100-80G. NULL: none. */
const struct device *device_of_family(const char *name);
/* The row that a trace's device_type_string means, in letters of either case, or NULL. */
const struct device *device_of_kind(struct str kind);
