/* SPDX-License-Identifier: Apache-2.0
 * runtime.c: the TPU allocator's own account, which follows a refusal or stands alone. */
#include "read/oom/handlers.h"
#include "read/oom/patterns.h"

enum { NEAR = 16 << 10 };

static bool is_refusal_near(const struct oom_reader *reader, size_t at)
{
    return oom_draft_takes(reader, OOM_FAMILY_tpu_buffer, at, NEAR) ||
           oom_draft_takes(reader, OOM_FAMILY_tpu_program_load, at, NEAR);
}

/* Its lines in any order, for which no figure before them is given up. */
static size_t account_read(struct oom_reader *reader, size_t from, size_t at)
{
    struct oom_figure figures[OOM_FIGURE_COUNT];
    size_t end = from;
    bool is_near = is_refusal_near(reader, from);
    if (oom_pattern_figures(&reader->text, &end, OOM_LINE_tpu_account, figures) < (is_near ? 1 : 3))
        return 0;
    if (!is_near)
        oom_draft_begin(reader, OOM_FAMILY_tpu_buffer, "account", from, at > end ? at : end);
    end = oom_pattern_add(reader, from, OOM_LINE_tpu_account);
    return oom_draft_reach(reader, at > end ? at : end);
}

const struct oom_handler oom_runtime_handlers[] = {
    {"HBMcapacity", account_read, false},
    {"Top-of-Memoryreserved", account_read, false},
    {"Currentlyallocated", account_read, false},
    {"Maxfreechunk", account_read, false},
    {NULL, NULL, false},
};
