/* SPDX-License-Identifier: Apache-2.0
 * verdict_snapshot.h: the allocator snapshot of PyTorch that is of a failure, among those of its session, those beside its
 * text, or those that were named with it. Whether one is of the failure the core says (analysis_verdict_shares). */
#pragma once

#include "server/store/verdict_parts.h"

/* Fills parts->trace, trace_session, trace_host and snapshot: which one was taken, or why none of those that are there
 * was. Of several that fit the one that shares most figures, of these the one of the text's own name, then the first. At
 * most 16 are read. */
void verdict_snapshot_find(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts);
/* May there be one? False: the text is of no allocator of PyTorch. */
bool verdict_snapshot_may(const struct oom_verdict *failure);
