/* SPDX-License-Identifier: Apache-2.0
 * alignment.h: where one program is when the other is at the same place.
 *
 * Both schedules are laid along one common axis. By scope: op names that both programs have, in the order that both
 * have them in, are anchors; between two of them the longer stretch sets the length. By position: the two are laid on
 * each other as they are. A step of a heap trace is where the instruction whose buffer it takes or gives is.
 *
 * Cost: sorting the instructions of both schedules. */
#pragma once

#include "model/compare/model.h"

enum alignment_way { ALIGNMENT_SCOPE, ALIGNMENT_POSITION, ALIGNMENT_WAY_COUNT };

/* A place that both have; the first and the last are the ends. */
struct alignment_anchor {
    uint32_t positions[COMPARE_SIDE_COUNT], common;
};

struct alignment {
    struct alignment_anchor *anchors;
    uint32_t anchor_count;
    uint32_t lengths[COMPARE_SIDE_COUNT], length; /* of the schedules; of the common axis */
    uint32_t *positions[COMPARE_SIDE_COUNT];      /* in the schedule, of each step */
};

/* Works on any two sides, with their pairs made or not. */
void alignment_make(const struct compare *compare, enum alignment_way way, struct arena *arena, struct alignment *out);
/* Place on the common axis of a step of one side. */
uint32_t alignment_of_step(const struct alignment *alignment, int side, uint32_t step);
