/* SPDX-License-Identifier: Apache-2.0
 * oom.c: see verdict.h. */
#include "tool/oom/verdict.h"

const struct oom_verdict *oom_verdicts_make(const struct oom_result *found, struct arena *arena)
{
    struct oom_verdict *verdicts = arena_array(arena, struct oom_verdict, found->failure_count + 1);
    for (size_t i = 0; i < found->failure_count; i++) {
        verdicts[i].failure = &found->failures[i];
        oom_limits_set(&verdicts[i], arena);
        oom_groups_set(&verdicts[i], arena);
        oom_bar_set(&verdicts[i], arena);
        oom_rows_set(&verdicts[i], arena);
        oom_sentences_set(&verdicts[i], arena);
        oom_next_steps_set(&verdicts[i], arena);
    }
    return verdicts;
}
