/* SPDX-License-Identifier: Apache-2.0
 * arrays_write.h: arrays of a program without a buffer assignment, for the views that have them. */
#pragma once

#include "base/json.h"
#include "plan/program_arrays.h"

/* The member `key`; null for none. */
void arrays_write(struct json *json, const char *key, const struct program_arrays *arrays);
