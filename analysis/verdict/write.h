/* SPDX-License-Identifier: Apache-2.0
 * write.h: a verdict as JSON (schema Verdict in docs/openapi.yaml), and for a terminal. */
#pragma once

#include "base/json.h"
#include "verdict/verdict.h"

/* An object, as the next value. */
void write_verdict_json(const struct verdict *verdict, struct json *json);
void write_verdict_text(const struct verdict *verdict, struct buf *out);
