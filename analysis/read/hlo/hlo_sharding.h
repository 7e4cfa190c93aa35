/* SPDX-License-Identifier: Apache-2.0
 * hlo_sharding.h: how a parameter is split over devices. Source: OpSharding of xla_data.proto. */
#pragma once

#include "read/hlo/hlo.h"

/* Every device holds all of parameter `number` of the program, and the file says so: of the instruction, or in the
 * module's list. */
bool hlo_sharding_is_replicated(const struct hlo *hlo, uint32_t instruction_at, int64_t number);

/* Parts that a dimension of it is cut into, one for each device or group of devices, so that the array that the
 * function is given has so many times the size that the program of one device has; 1 in a program of one device, and
 * where the file does not say that it is cut. */
int64_t hlo_sharding_parts(const struct hlo *hlo, uint32_t instruction_at, int64_t number, uint32_t dimension);
