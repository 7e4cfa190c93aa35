/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_live.h: a part of analysis.h, and included by it: what processes of a running job have in use
 * (model/live/live.h).
 *
 * Memory: texts are borrowed while it is read, and not kept; analysis_live_free. Errors: limit, exhausted. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "exchange/live.h"

#include <stdbool.h>
#include <stddef.h>

struct analysis_live; /* opaque */

/* NULL: see err. Cost: that of the texts. */
struct analysis_live *analysis_live_read(const struct live_text *texts, size_t count, struct err *err);
void analysis_live_free(struct analysis_live *live);
/* As long as it is not freed. */
const struct live *analysis_live_model(const struct analysis_live *live);
/* Members of an object that is being written: see live_write. */
void analysis_live_write(const struct analysis_live *live, bool with_samples, struct json *json);
