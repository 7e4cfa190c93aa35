/* SPDX-License-Identifier: Apache-2.0
 * live_write.h: what processes have in use as time goes, as JSON (LiveRun of docs/openapi.yaml). */
#pragma once

#include "base/json.h"
#include "model/live/live.h"

/* "lines" and "left_out_count", in an object that is being written. `with_samples`: each line has "samples", too. */
void live_write(const struct live *live, bool with_samples, struct json *json);
