/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_fit.h: capacities as the door gets them; for the door alone. */
#pragma once

#include "analysis.h"
#include "door/job.h"
#include "plan/memory_fit.h"

struct memory_capacity analysis_fit_capacity(const struct capacity_stated *capacity);
