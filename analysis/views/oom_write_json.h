/* SPDX-License-Identifier: Apache-2.0
 * oom_write_json.h: a report as JSON; docs/openapi.yaml describes each member (OomFailure, OomAnswer). */
#pragma once

#include "base/json.h"
#include "model/oom/model.h"

/* One object a failure, into an array that is open. `file` names the log as a member of each; NULL: not. */
void oom_write_json_failures(struct json *json, const struct oom_report *report, const char *file);
/* One of them; `answer`, JSON of a value, is its last member "answer"; NULL: it has none. */
void oom_write_json_failure(struct json *json, const struct oom_meaning *meaning, const char *file,
                            const struct buf *answer);

/* A failure beside the plan of its program, as an object. */
void oom_write_json_comparison(struct json *json, const struct oom_meaning *meaning,
                               const struct oom_comparison *comparison);

/* All that the daemon answers about a log, as members of an object that is open: "size_bytes", "encoding", "failures",
 * "left_out_count", "report_line_count", "usage", "lines", "looked_for". */
void oom_write_json_answer(struct json *json, const struct oom_report *report);

/* What to run next, as the member "next_steps" of an object that is open. */
void oom_write_json_steps(struct json *json, const struct oom_step *steps, size_t count);
