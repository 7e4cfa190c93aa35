/* SPDX-License-Identifier: Apache-2.0
 * notes.c: see notes.h. */
#include "tool/device_memory/notes.h"

static uint64_t size_of(int64_t count) { return (uint64_t)pprof_size(count); }

static void note_negatives(const struct study *study)
{
    uint64_t count = 0;
    for (uint32_t i = 0; !study->is_diff && i < study->sample_count; i++)
        count += study_value(study, &study->samples[i]) < 0;
    tool_note(
        study->request, "negative_value", count,
        "Samples with a value below 0: the profile was saved as a difference, or it is damaged. They are summed as they are.");
}

void device_memory_notes_left_out(const struct tool_request *request)
{
    const struct profile_set *set = request->model;
    uint64_t other_count = 0;
    for (uint32_t i = 0; i < set->count; i++)
        other_count += set->items[i].is_other;
    tool_note(request, "not_chosen", other_count,
              "Profiles that are not numbered like the others are no part of the series; they can be chosen by hand.");
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].pprof == NULL && !set->items[i].is_other)
            tool_note(request, "left_out", 1,
                      arena_format(request->arena, "%s is left out: %s.", set->items[i].name, set->items[i].reason));
}

void device_memory_notes_add(const struct study *study)
{
    const struct tool_request *request = study->request;
    const struct chips *chips = &study->chips;
    tool_note(
        request, "unknown_size", size_of(study->unknown_count),
        "Executables whose size the device does not tell (-1 in the file). They are counted; their bytes are not in any sum.");
    tool_note(
        request, "no_stack", study->stackless_count,
        "Samples without a stack: tracebacks were switched off when they were made. They stand under \"(no stack)\".");
    tool_note(request, "no_sample", study->pprof->sample_count == 0,
              "The profile has no sample: it was taken when no array was alive.");
    tool_note(
        request, "frame_filter", study->pprof->drop_frames.length > 0,
        study->is_unpruned
            ? "The profile asks for some frames to be dropped (drop_frames), in words that are not understood; they are shown."
            : "Frames that the profile asks to be dropped (drop_frames) are left out, with what they call; their callers hold it.");
    for (uint32_t i = 0; i < chips->count; i++) {
        const struct chip *chip = &chips->items[i];
        if (chip->is_literal)
            tool_note(request, "broken_expression", 1,
                      arena_format(request->arena,
                                   "\"%s\" is no expression (%s at %zu); it is looked for as it stands.",
                                   chip->expression, chip->fault.text, chip->fault.at));
        if (chip->matched_count == 0)
            tool_note(request, "no_match", 1,
                      arena_format(request->arena, "No frame or label matches \"%s\".", chip->expression));
    }
    note_negatives(study);
    device_memory_notes_left_out(request);
}
