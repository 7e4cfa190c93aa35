/* SPDX-License-Identifier: Apache-2.0
 * fleet_diff.h: what `memviewd diff` says first of two programs below the folders that are looked at. */
#pragma once

#include "server/fleet/catalog/fleet_record.h"
#include "server/gather/snapshot.h"
#include "server/store/store.h"

/* Says with a step of the fleet what its two plans differ by, or why that is not known; their programs are found by the
 * references of its records, and read. False: see err. */
bool fleet_diff_explain(struct store *store, const struct snapshot *snapshot, struct analysis_fleet *fleet, size_t step,
                        struct err *err);
