/* SPDX-License-Identifier: Apache-2.0
 * oom.c: the verdicts of a log (see verdict.h) and the table of its views. */
#include "tool/oom/verdict.h"
#include "tool/oom/write_json.h"
#include "tool/tool.h"

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

static bool report_answer(const struct tool_request *request, struct json *json, struct err *err)
{
    (void)err;
    json_object_begin(json);
    oom_write_json_answer(json, request->model);
    json_object_end(json);
    return true;
}

static const char *const no_params[] = {NULL};
static const struct tool_view views[] = {{"report", no_params, report_answer, true, NULL}};

const struct tool tool_oom = {
    .name = "oom",
    .title = "OOM",
    .model = TOOL_OF_TEXT,
    .views = views,
    .view_count = sizeof(views) / sizeof(views[0]),
};
