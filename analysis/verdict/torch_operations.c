/* SPDX-License-Identifier: Apache-2.0
 * torch_operations.c: see torch_moment.h. */

#include "base/sum.h"
#include "model/memory_profile/lines.h"
#include "verdict/torch_moment.h"

void torch_operations_sum(const struct verdict_facts *facts, struct torch_moment *moment)
{
    const struct torch_snapshot *snapshot = moment->pool->profile->events.snapshot;
    int64_t largest_bytes[TORCH_OPERATION_COUNT] = {0};
    struct memory_profile_lines lines;
    memory_profile_lines_make(moment->pool, moment->count, facts->arena, &lines);
    for (size_t i = 0; i < lines.count; i++) {
        const struct memory_profile_line *line = &lines.items[i];
        bool is_of_pass = line->category == CATEGORY_SAVED_ACTIVATION || line->category == CATEGORY_WORKSPACE;
        for (int at = TORCH_OPERATION_NONE + 1; is_of_pass && at < TORCH_OPERATION_COUNT; at++) {
            struct torch_operation_sum *sum = &moment->operations[at];
            if (line->operation_count[at] == 0)
                continue;
            int64_t bytes = sum_add(line->operation_bytes[at], line->operation_bytes[TORCH_OPERATION_NONE]);
            sum->bytes = sum_add(sum->bytes, bytes);
            sum->count += line->operation_count[at] + line->operation_count[TORCH_OPERATION_NONE];
            if (bytes <= largest_bytes[at] || line->words.length == 0)
                continue;
            largest_bytes[at] = bytes;
            sum->line = arena_text(facts->arena, line->words);
            sum->is_of_transformers = str_contains(snapshot->frames[line->frame].file, STR("/transformers/"));
        }
    }
}

enum torch_operation torch_operations_main(const struct torch_moment *moment)
{
    int64_t of_pass_bytes =
        sum_add(moment->sums[CATEGORY_SAVED_ACTIVATION].bytes, moment->sums[CATEGORY_WORKSPACE].bytes);
    for (int i = TORCH_OPERATION_NONE + 1; i < TORCH_OPERATION_COUNT; i++)
        if (moment->operations[i].line != NULL && moment->operations[i].bytes >= of_pass_bytes / 2)
            return (enum torch_operation)i;
    return TORCH_OPERATION_NONE;
}
