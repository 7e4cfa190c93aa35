/* SPDX-License-Identifier: Apache-2.0
 * frames_write.h: a frame as JSON. */
#pragma once

#include "base/json.h"
#include "model/device_memory/frames.h"

/* {"id", "function", "file", "line", "name", "is_machinery"} */
void frames_write(const struct frames *frames, uint32_t at, struct buf *scratch, struct json *json);
