/* SPDX-License-Identifier: Apache-2.0
 * passes.h: passes forward and backward of a training, distinguished by what is asked for on the way: a run of requests
 * of one direction, whatever lies beside them, is a pass. Whoever walks through a recording says of each request which
 * way it goes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum passes_course { PASSES_BESIDE, PASSES_FORWARD, PASSES_BACKWARD };

struct passes {
    enum passes_course course;              /* of the pass at work; BESIDE: none was seen yet */
    uint32_t forward_count, backward_count; /* that have begun */
    uint32_t forward_begin;                 /* where the last one forward did */
};

/* Does `at` begin a pass? */
static inline bool passes_see(struct passes *passes, enum passes_course course, uint32_t at)
{
    if (course == PASSES_BESIDE || course == passes->course)
        return false;
    passes->course = course;
    passes->forward_count += course == PASSES_FORWARD;
    passes->backward_count += course == PASSES_BACKWARD;
    passes->forward_begin = course == PASSES_FORWARD ? at : passes->forward_begin;
    return true;
}
