/* SPDX-License-Identifier: Apache-2.0
 * finding_write.h: a finding as JSON. */
#pragma once

#include "base/json.h"
#include "model/finding.h"

/* "finding": {kind, sentence, parts: [text, {bytes, text, figure?}, {name}], evidence: {view, params} or none}; no
 * member for NULL. */
void finding_write(struct json *json, const struct finding *finding);
/* The member `name`: {sentence, parts}, of whole sentences with a capital and a full stop; no member for NULL. */
void finding_write_sentences(struct json *json, const char *name, const struct finding *finding);
