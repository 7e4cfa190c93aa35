/* SPDX-License-Identifier: Apache-2.0
 * summary.c: the view "summary": what the two are, what they need, the sentence, and the way from A to B by
 * category. */
#include "model/compare/sentence.h"
#include "plan/describe.h"
#include "views/compare/views.h"

static void side_write(const struct compare_side *side, const struct sentence_peak *peak, struct json *json,
                       const char *key)
{
    json_key_object(json, key);
    json_key_string(json, "module", side->plan->hlo.name);
    json_key_int(json, "space", side->space->space);
    json_key_text(json, "space_name", side->space->name);
    json_key_known(json, "step", side->space->step_count > 0 ? (int64_t)side->step : -1);
    json_key_bool(json, "is_peak", side->is_peak);
    json_key_uint(json, "step_count", side->space->step_count);
    json_key_int(json, "total_bytes", side->space->total_bytes);
    json_key_int(json, "live_bytes", side->live_bytes);
    json_key_uint(json, "live_count", side->count);
    json_key_known(json, "peak_schedule_position", peak->position);
    json_key_uint(json, "schedule_length", side->plan->schedule.length);
    json_key_string_if_any(json, "peak_scope", peak->scope);
    json_key_string_if_any(json, "peak_instruction", peak->instruction);
    json_object_end(json);
}

static void waterfall_write(const struct compare *compare, struct json *json)
{
    json_key_array(json, "waterfall");
    for (uint32_t i = 0; i < compare->part_count; i++) {
        json_object_begin(json);
        json_key_text(json, "label", compare->parts[i].label);
        json_key_text(json, "category", compare->parts[i].category);
        json_key_int(json, "bytes", compare->parts[i].delta_bytes);
        json_object_end(json);
    }
    json_array_end(json);
}

void summary_head_write(const struct tool_request *request, const struct compare *compare, struct json *json)
{
    struct alignment alignment;
    alignment_make(compare, ALIGNMENT_SCOPE, request->arena, &alignment);
    struct sentence_peaks peaks = sentence_peaks_find(compare, &alignment);
    json_key_int(json, "total_before", compare->sides[COMPARE_A].needed_bytes);
    json_key_int(json, "total_after", compare->sides[COMPARE_B].needed_bytes);
    request->scratch->length = 0;
    sentence_write(compare, &peaks, request->scratch);
    json_key_string(json, "sentence", describe_str(request->scratch));
    json_key_bool(json, "peak_has_moved", peaks.has_moved);
    waterfall_write(compare, json);
    side_write(&compare->sides[COMPARE_A], &peaks.sides[COMPARE_A], json, "a");
    side_write(&compare->sides[COMPARE_B], &peaks.sides[COMPARE_B], json, "b");
    json_key_bool(json, "is_of_steps", compare->is_of_steps);
    json_key_int(json, "matched_bytes", compare->matched_bytes);
    json_key_int(json, "compared_bytes", compare->all_bytes);
}

bool compare_summary(const struct tool_request *request, struct json *json, struct err *err)
{
    struct compare *compare = arena_array(request->arena, struct compare, 1);
    if (!views_compare(request, compare, err))
        return false;
    json_object_begin(json);
    summary_head_write(request, compare, json);
    json_key_object(json, "counts");
    for (int i = 0; i < COMPARE_STATE_COUNT; i++)
        json_key_uint(json, compare_state_name((enum compare_state)i), compare->counts[i]);
    json_object_end(json);
    json_key_uint(json, "pair_count", compare->pair_count);
    json_key_uint(json, "group_count", compare->group_count);
    json_object_end(json);
    return true;
}
