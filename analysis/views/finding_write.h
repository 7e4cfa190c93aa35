/* SPDX-License-Identifier: Apache-2.0
 * finding_write.h: a finding as JSON. */
#pragma once

#include "base/json.h"
#include "model/finding.h"

/* "finding": {kind, sentence, parts: [text, {bytes, text}, {name}], evidence: {view, params} or none}; no member for
 * NULL. */
void finding_write(struct json *json, const struct finding *finding);
