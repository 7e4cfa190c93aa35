/* SPDX-License-Identifier: Apache-2.0
 * saving.c: see saving.h. */
#include "views/memory_viewer/saving.h"

#include "base/sum.h"
#include "plan/describe.h"

void saving_write_figures(struct json *json, const struct marginal_saving *saving)
{
    json_key_int(json, "saves_bytes", saving->bytes);
    json_key_known(json, "next_peak_step", saving->next_peak_step == PLAN_NONE ? -1 : (int64_t)saving->next_peak_step);
}

static void text_write(struct json *json, const char *key, const struct buf *text)
{
    json_key_string(json, key, describe_str(text));
}

void saving_write_sentence(struct json *json, const struct memory_viewer_columns_rows *rows, int64_t bytes,
                           const struct marginal_saving *saving)
{
    const struct marginal_subject subject = {STR("all of it"), true, bytes, bytes > 0};
    marginal_sentence(memory_viewer_columns_marginal(rows), &subject, saving, rows->request->scratch);
    text_write(json, "saving_sentence", rows->request->scratch);
}

/* Sizes are the compiler's; without a trace the times are ours. For the total it is a bound either way. */
static void write(struct json *json, const struct memory_viewer_columns_rows *rows,
                  const struct marginal_subject *subject, const struct marginal_saving *saving)
{
    const struct marginal *marginal = memory_viewer_columns_marginal(rows);
    struct buf *scratch = rows->request->scratch;
    json_key_object(json, "saving");
    json_key_int(json, "bytes", saving->bytes);
    json_key_int(json, "of_bytes", subject->is_live_at_peak ? subject->bytes : 0);
    json_key_int(json, "next_peak_bytes", saving->next_peak_bytes);
    json_key_known(json, "next_peak_step", saving->next_peak_step == PLAN_NONE ? -1 : (int64_t)saving->next_peak_step);
    json_key_text(json, "confidence_of_peak", rows->space->unit == PLAN_UNIT_SCHEDULE ? "bound" : "exact");
    json_key_text(json, "confidence", "bound");
    marginal_sentence(marginal, subject, saving, scratch);
    text_write(json, "sentence", scratch);
    marginal_formula(marginal, saving, scratch);
    text_write(json, "formula", scratch);
    marginal_reason(marginal, saving, scratch);
    text_write(json, "reason", scratch);
    json_object_end(json);
}

void saving_write_row(struct json *json, const struct memory_viewer_columns_rows *rows, uint32_t at)
{
    const struct plan_row *row = &rows->space->rows[at];
    const struct marginal_saving saving = marginal_of_row(memory_viewer_columns_marginal(rows), at);
    char room[DESCRIBE_SHORT];
    struct str name = describe_shortened(memory_viewer_columns_name(rows, at), room);
    /* the scratch, which the name is in, is needed for sentences */
    name.data = arena_text(rows->request->arena, name);
    const struct marginal_subject subject = {name, false, row->bytes, plan_row_is_alive(row, rows->space->peak_step)};
    write(json, rows, &subject, &saving);
}

void saving_write_rows(struct json *json, const struct memory_viewer_columns_rows *rows, const uint32_t *members,
                       uint32_t count, const char *name)
{
    const struct marginal_saving saving = marginal_of_rows(memory_viewer_columns_marginal(rows), members, NULL, count);
    struct marginal_subject subject = {str_of(name), true, 0, false};
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_row *row = &rows->space->rows[members[i]];
        if (!plan_row_is_alive(row, rows->space->peak_step))
            continue;
        subject.is_live_at_peak = true;
        subject.bytes = sum_add(subject.bytes, row->bytes);
    }
    write(json, rows, &subject, &saving);
}
