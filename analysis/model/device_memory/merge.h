/* SPDX-License-Identifier: Apache-2.0
 * merge.h: several profiles as one, as pprof merges them and takes a base away. */
#pragma once

#include "model/device_memory/profile_set.h"

struct merge_options {
    bool keeps_base_apart; /* -diff_base: what was subtracted stays beside what it is subtracted from */
    bool pairs_base;       /* without keeps_base_apart: base_values tell what was subtracted of each sample */
    bool is_normalized;    /* the profiles are scaled, each column to the base's sum */
};

/* One profile out of those that could be read. Samples of equal stack and labels
 * become one, in the order of the first; those that come to nothing are left
 * out; the columns are the types that all have. False, with a report, when there
 * is no such type or nothing was read. */
bool merge_profiles(const struct profile_set *set, const struct merge_options *options, struct arena *arena,
                    struct pprof *out, struct err *err);
