/* SPDX-License-Identifier: Apache-2.0
 * programs.h: what a question to this tool is about; the model of its requests. */
#pragma once

#include "plan/plan.h"

/* A is before, B after; both may be the same. */
struct compare_programs {
    const struct plan *plans[2];
};
