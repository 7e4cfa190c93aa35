/* SPDX-License-Identifier: Apache-2.0
 * torch_join.h: an error text of PyTorch and an allocator snapshot of the same failure: whether they are of one, and
 * what they say together. For analysis/verdict alone.
 *
 * They are of one where the snapshot has a request that failed, on the device that the text names, of the size that the
 * text states: PyTorch asks the driver for a whole segment, which is what the text says, and the snapshot tells the
 * request itself. A snapshot that has no failed request is of the same failure where what it holds of that device at
 * its end is what the text says, to the text's digits. */
#pragma once

#include "model/memory_profile/model.h"
#include "verdict/facts.h"

struct torch_join {
    const struct memory_profile_pool *pool;       /* NULL: it is not of this failure */
    const struct memory_profile_failure *failure; /* NULL: at the snapshot's end */
    uint32_t agree_count;                         /* figures of the text that the snapshot has, too */
    bool is_of_size;                              /* some request of the size of the text's failed in it */
    const char *reason;                           /* one clause: what they share, or why they are not of one */
};

/* Fills `out`. `trace` is a snapshot. */
void torch_join_find(const struct oom_failure *failure, const struct memory_profile *trace, struct arena *arena,
                     struct torch_join *out);
/* Is the figure of the text `bytes`, as it rounds? */
bool torch_join_is(const struct oom_failure *failure, enum oom_figure_at at, int64_t bytes);

/* Parts of the verdict of both (torch_beside.c); facts->join is set. */
void torch_beside_make(struct verdict_facts *facts);
void torch_beside_where(const struct verdict_facts *facts);
/* Shows what facts->out->together and the rows of `where` hold. */
void torch_beside_show(const struct verdict_facts *facts);
