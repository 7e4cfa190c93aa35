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

/* The id of the row of the text's first failure. */
void notice_row_id(char id[ROWS_ID_SIZE], const struct snapshot_text *text);

/* The notice of a failure. Failures with equal ids are one message. The id is made from job, commit and cause; without
 * a commit, from the run of the job or else its day; without a job, from the session. */
struct notice_made {
    char id[ROWS_ID_SIZE], row_id[ROWS_ID_SIZE];
    struct buf body, host; /* host: see notice_hosts.h */
};
/* About the first failure of the text, with the verdict as GET /api/v1/verdict gives it; why there is none, where it
 * cannot be had. notice_made_free, always. False: see err. */
bool notice_of_failure(struct store *store, const struct notice_failure *failure, struct notice_made *out,
                       struct err *err);
void notice_made_free(struct notice_made *made);

/* The id of the notice of a regression whose new level begins with this record: of its series and commit. */
void notice_regression_id(char id[ROWS_ID_SIZE], const struct fleet_record *after);
/* Appends the notice of a step of the fleet, with its row as GET /api/v1/fleet/regressions gives it. False: see err. */
bool notice_of_regression(struct analysis_fleet *fleet, size_t step, struct buf *out, struct err *err);
