/* SPDX-License-Identifier: Apache-2.0
 * oom_json.h: failures as JSON.
 *
 * An array, one object a failure: family, form, phase, error_code, …, each figure under
 * its name, `buffers` and `io_buffers`, `replicas`, `notes` [{code, text}] and `ranges`:
 * [begin, end) in the input of the whole text (`text`), of each known figure and word under
 * its key, and for the buffers the same as arrays. What the text does not give is null. */
#ifndef ANALYSIS_INPUT_OOM_JSON_H
#define ANALYSIS_INPUT_OOM_JSON_H

#include "base/json.h"
#include "input/oom.h"

void oom_json_write(struct json *json, const struct oom_result *result);

#endif
