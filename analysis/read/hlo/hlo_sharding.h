/* SPDX-License-Identifier: Apache-2.0
 * hlo_sharding.h: how a parameter is split over devices. Source: OpSharding of xla_data.proto. */
#pragma once

#include "read/hlo/hlo.h"

/* Every device holds all of parameter `number` of the program, and the file says so: of the instruction, or in the
 * module's list. */
bool hlo_sharding_is_replicated(const struct hlo *hlo, uint32_t instruction_at, int64_t number);

/* How many parts a dimension of the argument is cut into, one for each device or group of devices: the array passed to
 * the function is this many times as large as that of one device's program. 1 in a program of one device, and if the
 * file does not say that it is cut. */
int64_t hlo_sharding_parts(const struct hlo *hlo, uint32_t instruction_at, int64_t number, uint32_t dimension);
