/* SPDX-License-Identifier: Apache-2.0
 * space.h: which platform a program is compiled for, and what its memory
 * spaces (colours of the buffer assignment) are called there.
 * Source: libtpu's and XLA GPU's colours; seen in real programs of both. */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum space_platform { SPACE_PLATFORM_UNKNOWN, SPACE_PLATFORM_TPU, SPACE_PLATFORM_GPU, SPACE_PLATFORM_CPU };

/* How many of a program's instructions are looked at to tell its platform. */
enum { SPACE_PLATFORM_SAMPLE = 512 };

/* "tpu", "gpu", "cpu", "unknown". */
const char *space_platform_name(enum space_platform platform);

/* What an instruction gives away: its backend_config and custom call target.
 * SPACE_PLATFORM_UNKNOWN if nothing. (Tiled layouts mean TPU: shape_has_tiles.) */
enum space_platform space_platform_of(struct str backend_config, struct str custom_call_target);

/* The name, e.g. "HBM", or NULL when it is not known. Static storage. */
const char *space_name(enum space_platform platform, int64_t space);
