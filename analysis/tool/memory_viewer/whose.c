/* SPDX-License-Identifier: Apache-2.0
 * whose.c: the view "whose": whose memory a space is: the program's arguments, what is live at the peak by category, and
 * the rules that decided. With format=text the same for a terminal. */
#include "plan/pattern.h"
#include "tool/memory_viewer/views_shared.h"

#include <stdio.h>

static void verdict_write(struct json *json, struct category_verdict verdict)
{
    json_key_text(json, "category", category_name((enum category)verdict.category));
    json_key_text(json, "confidence",
                  category_confidence_name(category_rule_confidence((enum category_rule)verdict.rule)));
    json_key_text(json, "rule", category_rule_name((enum category_rule)verdict.rule));
}

static void arguments_write(struct json *json, const struct plan *plan)
{
    json_key_array(json, "arguments");
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        const struct plan_argument *argument = &plan->arguments[i];
        json_object_begin(json);
        json_key_int(json, "number", argument->number);
        json_key_string(json, "path", argument->path);
        json_key_int(json, "bytes", argument->bytes);
        verdict_write(json, argument->verdict);
        json_object_end(json);
    }
    json_array_end(json);
}

static void peak_write(struct json *json, const struct plan_space *space)
{
    json_key_object(json, "peak");
    json_key_int(json, "bytes", space->peak_bytes);
    json_key_array(json, "categories");
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        if (space->category_bytes[i] == 0)
            continue;
        json_object_begin(json);
        json_key_text(json, "category", category_name((enum category)i));
        json_key_int(json, "bytes", space->category_bytes[i]);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void patterns_write(struct json *json, const struct plan *plan, const struct plan_space *space)
{
    json_key_array(json, "patterns");
    for (uint32_t i = 0; i < space->pattern_count; i++) {
        const struct plan_pattern *pattern = &space->patterns[i];
        json_object_begin(json);
        json_key_text(json, "kind", pattern_name((enum pattern_kind)pattern->kind));
        json_key_int(json, "bytes", pattern->bytes);
        json_key_text(json, "confidence", category_confidence_name(pattern->confidence));
        json_key_text(json, "sentence", pattern->sentence);
        json_key_text(json, "rule", pattern_rule((enum pattern_kind)pattern->kind));
        json_key_text(json, "when_gone", pattern_gone((enum pattern_kind)pattern->kind));
        json_key_array(json, "buffers");
        for (uint32_t j = 0; j < pattern->row_count; j++)
            views_row_id(json, plan, &space->rows[pattern->rows[j]]);
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

bool memory_viewer_whose(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct plan *plan = request->model;
    const struct plan_space *space = views_space(request, err);
    if (space == NULL)
        return false;
    json_object_begin(json);
    json_key_string(json, "name", plan->hlo.name);
    json_key_int(json, "space", space->space);
    arguments_write(json, plan);
    peak_write(json, space);
    patterns_write(json, plan, space);
    json_object_end(json);
    return true;
}
