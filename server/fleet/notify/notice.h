/* SPDX-License-Identifier: Apache-2.0
 * notice.h: what a receiver is told, as one JSON object (FailureNotice and RegressionNotice of docs/openapi.yaml). */
#pragma once

#include "analysis/analysis.h"
#include "server/fleet/catalog/labels.h"
#include "server/fleet/catalog/rows.h"
#include "server/gather/snapshot.h"
#include "server/store/store.h"

enum { NOTICE_SCHEMA = 1 };

/* A text that tells that its session ran out of memory. */
struct notice_failure {
    const struct snapshot *snapshot; /* in which the program of the text is looked for */
    const struct snapshot_session *session;
    const struct snapshot_text *text;
    struct labels *labels;
};

/* The id of the text's notice: that of the row of its first failure. */
void notice_failure_id(char id[ROWS_ID_SIZE], const struct snapshot_text *text);
/* Appends the notice, about the first failure of the text, with the verdict as GET /api/v1/verdict gives it; why
 * there is none, where it cannot be had. False: see err. */
bool notice_of_failure(struct store *store, const struct notice_failure *failure, struct buf *out, struct err *err);

/* The id of the notice of a regression whose new level begins with this record: of its series and commit. */
void notice_regression_id(char id[ROWS_ID_SIZE], const struct fleet_record *after);
/* Appends the notice of a step of the fleet, with its row as GET /api/v1/fleet/regressions gives it. False: see err. */
bool notice_of_regression(struct analysis_fleet *fleet, size_t step, struct buf *out, struct err *err);
