/* SPDX-License-Identifier: Apache-2.0
 * text_report.h: what a text of a session says of failures, however it was read. */
#pragma once

#include "server/gather/snapshot.h"
#include "server/store/subjects.h"

/* As the scan that kept it read it, else as it is now. `subject` (subjects_close) holds it; NULL and `err`, and what
 * the subject says, where it cannot be read. */
const struct oom_report *text_report_open(struct store *store, const struct snapshot_text *text,
                                          struct subject *subject, struct err *err);
