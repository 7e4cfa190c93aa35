/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_device_fit.h: what a program, or a recording of PyTorch, needs beside what each device of the table
 * has, as analysis.h hands it out. */
#pragma once

#include "base/json.h"
#include "exchange/device_fit.h"

#include <stdbool.h>
#include <stdint.h>

/* Members of the open object: kind, needed_bytes, is_least, devices, sentence, note. */
void analysis_device_fit_write_needs(struct json *json, const struct device_fit_job *job);

/* Would a compiler's word be worth more than the plan: not of the device whose plan it is, nor of a predicted split. */
bool analysis_device_fit_may_compile(const struct device_fit_job *job, const char *device_name);

struct analysis_device_fit {
    bool is_fitting;
    int64_t room_bytes; /* that changes would have to keep to; -1: none are asked for */
};
/* Writes members of the open object for the device with that name: device, title, needed_bytes, capacity_bytes,
 * share_bytes, headroom_bytes, word, fits, sentence, source. `compiled_bytes`: as in device_fit_judge. If no row has
 * the name, or without memory, it writes nothing and the result does not fit. */
struct analysis_device_fit analysis_device_fit_write_row(struct json *json, const struct device_fit_job *job,
                                                         const char *device_name, int64_t compiled_bytes);
