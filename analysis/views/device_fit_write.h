/* SPDX-License-Identifier: Apache-2.0
 * device_fit_write.h: what fits on which device (verdict/device_fit.h), as members of `memviewd fit --json`. */
#pragma once

#include "base/json.h"
#include "verdict/device_fit.h"

/* Members of a program, from "kind" to "note". */
void device_fit_write_needs(const struct device_fit_job *job, struct arena *arena, struct json *json);
/* Members of a row, from "device" to "source". */
void device_fit_write_row(const struct device_fit *row, struct json *json);
