/* SPDX-License-Identifier: Apache-2.0
 * text.h: what a person wants to know of one log, as lines for a terminal. Names come out of the log: what would move a
 * terminal's cursor is escaped. */
#pragma once

#include "base/buf.h"
#include "model/oom/model.h"

/* `name`: what the log is called; `answers`: of each failure the verdict as text, empty where there is none. */
void oom_text(const struct oom_report *report, const char *name, const struct buf *answers, struct buf *out);
