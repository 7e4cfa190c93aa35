/* SPDX-License-Identifier: Apache-2.0
 * oom.c: the meanings of a log (see meaning.h) and the table of its views. */
#include "model/oom/meaning.h"
#include "views/oom_write_json.h"
#include "views/tool.h"

const struct oom_meaning *oom_meanings_make(const struct oom_result *found, struct arena *arena)
{
    struct oom_meaning *meanings = arena_array(arena, struct oom_meaning, found->failure_count + 1);
    for (size_t i = 0; i < found->failure_count; i++) {
        meanings[i].failure = &found->failures[i];
        oom_limits_set(&meanings[i], arena);
        oom_groups_set(&meanings[i], arena);
        oom_bar_set(&meanings[i], arena);
        oom_rows_set(&meanings[i], arena);
        oom_sentences_set(&meanings[i], arena);
        oom_next_steps_set(&meanings[i], arena);
    }
    return meanings;
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
