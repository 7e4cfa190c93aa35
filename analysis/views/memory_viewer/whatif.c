/* SPDX-License-Identifier: Apache-2.0
 * whatif.c: the view "whatif": what changes to the program would save, predicted from the compiled heap
 * (whatif/change.h); with fit=1 the cheapest sets of changes that make it fit, with alone=1 what each usual change
 * would save by itself. With format=text the same for a terminal. */
#include "base/size_text.h"
#include "plan/memory_fit.h"
#include "views/fit_write.h"
#include "views/memory_viewer/views_shared.h"
#include "views/memory_viewer/whatif_steps.h"
#include "whatif/fit.h"
#include "whatif/groundwork.h"

#include <stdlib.h>

enum { CHANGES_MAX = 32, WIDTH_MAX = 4096, ROWS_MAX = 1000 };

struct answer {
    const struct plan *plan;
    const struct plan_space *space;
    struct variant start, variant;
    struct variant_sums before, after;
    struct whatif_step steps[CHANGES_MAX];
    uint32_t step_count;
    struct memory_capacity capacity; /* bytes -1: not known */
    int64_t room_bytes;              /* the most that fits in it without doubt; -1: not known */
    bool has_fit, has_alone;
    struct fit fit;
    struct whatif_steps alone;
};

/* One that does not apply ends the answer; with alone=1, which is for a person who is choosing, it says so and the
 * others stay. */
static bool changes_apply(const struct tool_request *request, struct answer *answer, struct err *err)
{
    for (size_t i = 0; i < request->param_count; i++) {
        if (strcmp(request->params[i].name, "change") != 0)
            continue;
        if (answer->step_count == CHANGES_MAX)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "change: at most %d of them", CHANGES_MAX);
        struct whatif_step *step = &answer->steps[answer->step_count++];
        step->text = request->params[i].value;
        if (answer->has_alone)
            whatif_steps_try(&answer->variant, &answer->after, step);
        else if (!whatif_steps_apply(&answer->variant, answer->after.total_bytes, step, err))
            return false;
        answer->after = step->sums;
    }
    return true;
}

static void alone_find(const struct tool_request *request, struct answer *answer)
{
    const char *asked[CHANGES_MAX];
    for (uint32_t i = 0; i < answer->step_count; i++)
        asked[i] = answer->steps[i].text;
    whatif_steps_alone(&answer->start, &answer->before, tool_param_text(request, "glob"), asked, answer->step_count,
                       &answer->alone);
}

/* ---- sentences ---- */

/* Of the changes that apply: sums over those whose saving is known, and what names the others. */
struct applied {
    uint32_t count;
    const struct whatif_step *first;
    enum change_confidence confidence; /* of the least sure */
    double extra_flops_percent;
    uint32_t without_count;
    const char *without; /* "checkpoint=* and checkpoint=mlp"; "" where there is none */
};

static struct applied applied_of(const struct answer *answer, struct arena *arena)
{
    struct applied applied = {.confidence = CHANGE_EXACT, .without = ""};
    for (uint32_t i = 0; i < answer->step_count; i++) {
        const struct whatif_step *step = &answer->steps[i];
        if (step->refusal != NULL)
            continue;
        if (step->result.has_no_figure) {
            applied.without =
                arena_format(arena, "%s%s%s", applied.without, applied.without_count++ > 0 ? " and " : "", step->text);
            continue;
        }
        applied.first = applied.count++ == 0 ? step : applied.first;
        applied.extra_flops_percent += step->result.has_extra_flops ? step->result.extra_flops_percent : 0;
        if (step->result.confidence > applied.confidence)
            applied.confidence = step->result.confidence;
    }
    return applied;
}

static struct memory_fit *fit_of(const struct answer *answer, int64_t total_bytes, struct arena *arena)
{
    struct memory_fit *fit = arena_array(arena, struct memory_fit, 1);
    memory_fit_judge(&answer->capacity, total_bytes, answer->space->name, arena, fit);
    return fit;
}

/* "15.75 GiB", "the 59.38 GiB that JAX takes by default (75 % of 79.18 GiB)": what is held against. */
static const char *limit_text(const struct memory_fit *fit, struct arena *arena)
{
    char capacity[SIZE_TEXT_BYTES], share[SIZE_TEXT_BYTES];
    size_text(capacity, (uint64_t)fit->capacity.bytes);
    if (fit->share_bytes < 0 || fit->word == MEMORY_FIT_OVER)
        return arena_text(arena, str_of(capacity));
    return arena_format(arena, "the %s that JAX takes by default (%s of %s)",
                        size_text(share, (uint64_t)fit->share_bytes), MEMORY_FIT_SHARE_WORDS, capacity);
}

/* ", which fits 15.75 GiB", of a bound or a guess ", which may fit 15.75 GiB", or ", 1.20 GiB over 15.75 GiB"; nothing
 * where the device is not known. */
static const char *verdict_of(const struct answer *answer, int64_t total_bytes, enum change_confidence confidence,
                              struct arena *arena)
{
    char over[SIZE_TEXT_BYTES];
    const struct memory_fit *fit = fit_of(answer, total_bytes, arena);
    if (fit->word == MEMORY_FIT_NOT_KNOWN)
        return "";
    const char *limit = limit_text(fit, arena);
    if (fit->word == MEMORY_FIT_FITS && confidence >= CHANGE_BOUND)
        return arena_format(arena, ", which may fit %s", limit);
    if (fit->word == MEMORY_FIT_FITS)
        return arena_format(arena, ", which fits %s", limit);
    if (fit->word == MEMORY_FIT_CLOSE)
        return arena_format(arena, ", too close to %s to tell whether it fits", limit);
    return arena_format(arena, ", %s over %s", size_text(over, (uint64_t)fit->over_bytes), limit);
}

static const char *sentence_of(const struct tool_request *request, const struct answer *answer)
{
    char before[SIZE_TEXT_BYTES], after[SIZE_TEXT_BYTES], saved[SIZE_TEXT_BYTES];
    const struct applied applied = applied_of(answer, request->arena);
    int64_t saving = answer->before.total_bytes - answer->after.total_bytes;
    const char *verdict = verdict_of(answer, answer->after.total_bytes, applied.confidence, request->arena),
               *compute = "", *without = "";
    size_text(before, (uint64_t)answer->before.total_bytes);
    size_text(after, (uint64_t)answer->after.total_bytes);
    size_text(saved, (uint64_t)(saving < 0 ? -saving : saving));
    if (applied.count == 0 && applied.without_count == 0)
        return arena_format(request->arena, "Needs %s as it is%s.", before, verdict);
    if (applied.count == 0)
        return arena_format(request->arena, "%s: how much of %s that saves is not known.",
                            applied.without_count == 1 ? applied.without : "These changes together", before);
    if (applied.without_count > 0)
        without = arena_format(request->arena, "Without %s, whose saving is not known, ", applied.without);
    if (applied.extra_flops_percent > 0)
        compute = arena_format(request->arena, ", +%.1f %% compute", applied.extra_flops_percent);
    return arena_format(request->arena, "%s%s %s %s: %s becomes %s%s (%s%s).", without,
                        applied.count == 1          ? applied.first->text
                        : applied.without_count > 0 ? "the others together"
                                                    : "These changes together",
                        saving < 0           ? applied.count == 1 ? "costs" : "cost"
                        : applied.count == 1 ? "saves"
                                             : "save",
                        saved, before, after, verdict, change_confidence_name(applied.confidence), compute);
}

static enum change_confidence surest_of(const struct fit *fit)
{
    enum change_confidence surest = CHANGE_GUESS;
    for (uint32_t i = 0; i < fit->set_count; i++)
        if (fit->sets[i].confidence < surest)
            surest = fit->sets[i].confidence;
    return surest;
}

static const char *fit_sentence(const struct tool_request *request, const struct answer *answer)
{
    char needed[SIZE_TEXT_BYTES];
    const struct memory_fit *fit = fit_of(answer, answer->after.total_bytes, request->arena);
    const char *limit = limit_text(fit, request->arena);
    const enum change_confidence surest = surest_of(&answer->fit);
    const bool is_sure = surest < CHANGE_BOUND;
    size_text(needed, (uint64_t)answer->after.total_bytes);
    if (answer->fit.has_fit_already)
        return arena_format(request->arena, "It fits %s: %s of %s.",
                            applied_of(answer, request->arena).count > 0 ? "with what is changed" : "as it is", needed,
                            limit);
    if (answer->fit.set_count > 0)
        return arena_format(request->arena, "%u %s of changes %s make it fit %s, by %s.", answer->fit.set_count,
                            answer->fit.set_count == 1 ? "set" : "sets", is_sure ? "would" : "may", limit,
                            is_sure                  ? "prediction"
                            : surest == CHANGE_BOUND ? "a bound"
                                                     : "a guess");
    if (answer->fit.nearest.count == 0)
        return arena_format(request->arena, "Nothing that was tried applies to this program.");
    const char *nearest =
        verdict_of(answer, answer->fit.nearest.total_bytes, answer->fit.nearest.confidence, request->arena);
    return arena_format(request->arena, "Nothing that was tried is enough: the best leaves it%s.", nearest + 1);
}

/* ---- JSON ---- */

static void steps_write(struct json *json, const struct answer *answer)
{
    json_key_array(json, "changes");
    for (uint32_t i = 0; i < answer->step_count; i++)
        whatif_steps_write(json, &answer->steps[i], answer->room_bytes);
    json_array_end(json);
    json_key_array(json, "alone");
    for (uint32_t i = 0; i < answer->alone.count; i++)
        whatif_steps_write(json, &answer->alone.steps[i], answer->room_bytes);
    json_array_end(json);
}

/* The curve of steps [from, to) in `width` columns. */
struct stretch {
    int64_t width, from, to;
};

/* The curves before and after at the same steps: of every column the largest value, so that no peak is lost. */
static void curve_write(struct json *json, struct answer *answer, const struct stretch *stretch, struct arena *arena)
{
    struct variant_sums sums;
    const uint32_t steps = answer->space->step_count;
    const uint64_t to = stretch->to < (int64_t)steps ? (uint64_t)stretch->to : steps,
                   from = stretch->from < (int64_t)to ? (uint64_t)stretch->from : to, count = to - from,
                   columns = (uint64_t)stretch->width < count ? (uint64_t)stretch->width : count;
    if (!json_key_object_if(json, "curve", columns > 0))
        return;
    int64_t *series[2] = {arena_array(arena, int64_t, (size_t)steps + 1),
                          arena_array(arena, int64_t, (size_t)steps + 1)};
    variant_measure(&answer->start, &sums, series[0]);
    variant_measure(&answer->variant, &sums, series[1]);
    json_key_uint(json, "step_count", steps);
    json_key_array(json, "step");
    for (uint64_t i = 0; i < columns; i++)
        json_uint(json, from + i * count / columns);
    json_array_end(json);
    for (unsigned which = 0; which < 2; which++) {
        json_key_array(json, which == 0 ? "bytes_before" : "bytes_after");
        for (uint64_t i = 0; i < columns; i++) {
            int64_t largest = 0;
            for (uint64_t step = from + i * count / columns; step < from + (i + 1) * count / columns; step++)
                largest = series[which][step] > largest ? series[which][step] : largest;
            json_int(json, largest);
        }
        json_array_end(json);
    }
    json_object_end(json);
}

/* The predicted program's table: what is live at its peak, largest first. */
struct live_row {
    uint32_t at;
    int64_t bytes;
};

static int by_bytes(const void *left, const void *right)
{
    const struct live_row *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(a->at, b->at);
}

static void row_write(const struct tool_request *request, struct json *json, const struct answer *answer, uint32_t at)
{
    const struct variant_row *row = &answer->variant.rows[at];
    const struct plan_row *of = row->plan_row == PLAN_NONE ? NULL : &answer->space->rows[row->plan_row];
    uint32_t named_by = of ? of->named_by : row->instruction_at;
    struct str none = {"", 0};
    json_object_begin(json);
    json_key(json, "id");
    if (of)
        views_row_id(json, answer->plan, of);
    else
        json_null(json);
    json_key_string(json, "name",
                    of                                ? views_row_name(answer->plan, of, request->scratch)
                    : row->instruction_at != HLO_NONE ? hlo_instruction_name(&answer->plan->hlo, row->instruction_at)
                                                      : none);
    json_key_string(json, "op_name", named_by == HLO_NONE ? none : graph_op_name(answer->plan->graph, named_by));
    json_key_known(json, "bytes_before", of ? of->bytes : -1);
    json_key_int(json, "bytes", row->bytes);
    json_key_bool(json, "is_indefinite", row->is_indefinite);
    json_key_uint(json, "born_step", row->born);
    json_key_uint(json, "dies_step", row->dies < answer->space->step_count ? row->dies : answer->space->step_count);
    json_object_end(json);
}

static void rows_write(const struct tool_request *request, struct json *json, const struct answer *answer, int64_t max)
{
    const struct variant *variant = &answer->variant;
    struct live_row *live = arena_array(request->arena, struct live_row, (size_t)variant->row_count + 1);
    uint32_t count = 0, step = answer->after.peak_step;
    for (uint32_t i = 0; i < variant->row_count; i++) {
        const struct variant_row *row = &variant->rows[i];
        if (!row->is_gone && (row->is_indefinite || (row->born <= step && step < row->dies)))
            live[count++] = (struct live_row){i, row->bytes};
    }
    if (max > 0)
        qsort(live, count, sizeof(*live), by_bytes);
    json_key_array(json, "rows");
    for (uint32_t i = 0; i < count && i < max; i++)
        row_write(request, json, answer, live[i].at);
    json_array_end(json);
    json_key_uint(json, "row_count", count);
}

static void json_write(const struct tool_request *request, struct answer *answer, const struct stretch *stretch,
                       int64_t rows, struct json *json)
{
    json_object_begin(json);
    json_key_text(json, "sentence", sentence_of(request, answer));
    json_key_int(json, "total_bytes_before", answer->before.total_bytes);
    json_key_int(json, "total_bytes_after", answer->after.total_bytes);
    json_key_int(json, "peak_bytes_before", answer->before.peak_bytes);
    json_key_int(json, "peak_bytes_after", answer->after.peak_bytes);
    json_key_uint(json, "peak_step_after", answer->after.peak_step);
    json_key_known(json, "capacity_bytes", answer->capacity.bytes);
    json_key_known(json, "room_bytes", answer->room_bytes);
    whatif_steps_write_fits(json, "fits_before", answer->room_bytes, answer->before.total_bytes);
    whatif_steps_write_fits(json, "fits_after", answer->room_bytes, answer->after.total_bytes);
    memory_fit_write(json, "fit_before", fit_of(answer, answer->before.total_bytes, request->arena));
    memory_fit_write(json, "fit_after", fit_of(answer, answer->after.total_bytes, request->arena));
    steps_write(json, answer);
    curve_write(json, answer, stretch, request->arena);
    rows_write(request, json, answer, rows);
    fit_write_json(json, answer->has_fit ? &answer->fit : NULL, answer->has_fit ? fit_sentence(request, answer) : NULL,
                   answer->before.total_bytes);
    json_object_end(json);
}

/* ---- text ---- */

static void text_write(const struct tool_request *request, struct answer *answer)
{
    struct buf *out = request->out;
    char saved[SIZE_TEXT_BYTES], total[SIZE_TEXT_BYTES];
    buf_printable(out, answer->plan->hlo.name);
    buf_format(out, ": %s\n", sentence_of(request, answer));
    for (uint32_t i = 0; i < answer->step_count; i++) {
        const struct whatif_step *step = &answer->steps[i];
        int64_t saving = step->saving_bytes;
        if (step->refusal != NULL) {
            buf_format(out, "  %s does not apply\n", step->text);
            fit_write_line(out, step->refusal);
            continue;
        }
        if (step->result.has_no_figure) {
            buf_format(out, "  %s\n", step->text);
            fit_write_line(out, step->result.call);
            fit_write_line(out, step->result.reason);
            continue;
        }
        buf_format(out, "  %s %s %s → %s (%s", step->text, saving < 0 ? "costs" : "saves",
                   size_text(saved, (uint64_t)(saving < 0 ? -saving : saving)),
                   size_text(total, (uint64_t)step->sums.total_bytes), change_confidence_name(step->result.confidence));
        fit_write_compute(out, step->result.has_extra_flops ? step->result.extra_flops_percent : 0);
        buf_text(out, ")\n");
        fit_write_line(out, step->result.call);
        fit_write_line(out, step->result.reason);
    }
    if (answer->has_fit)
        fit_write_text(out, &answer->fit, fit_sentence(request, answer));
}

/* That of the request; where it tells bytes alone, the module's capacity says more of just as many. */
static bool capacity_read(const struct tool_request *request, struct answer *answer, struct err *err)
{
    int64_t bytes;
    if (!tool_param_number(request, "capacity_bytes", 0, INT64_C(1) << 48, -1, &bytes, err))
        return false;
    answer->capacity = (struct memory_capacity){.bytes = bytes};
    for (size_t i = 0; i < request->capacity_count; i++)
        if (request->capacities[i].space == 0 && (bytes < 0 || request->capacities[i].capacity.bytes == bytes))
            answer->capacity = request->capacities[i].capacity;
    answer->capacity.asked_bytes = -1; /* of the program as it was: a change changes that */
    answer->room_bytes = memory_fit_room(&answer->capacity);
    return true;
}

bool memory_viewer_whatif(const struct tool_request *request, struct json *json, struct err *err)
{
    struct answer *answer = arena_array(request->arena, struct answer, 1);
    struct stretch stretch;
    int64_t rows, wants_fit, wants_alone;
    bool is_text;
    answer->plan = request->model;
    answer->space = plan_space_find(answer->plan, 0);
    if (!capacity_read(request, answer, err) ||
        !tool_param_number(request, "width", 0, WIDTH_MAX, 0, &stretch.width, err) ||
        !tool_param_number(request, "from", 0, UINT32_MAX, 0, &stretch.from, err) ||
        !tool_param_number(request, "to", 0, UINT32_MAX, UINT32_MAX, &stretch.to, err) ||
        !tool_param_number(request, "rows", 0, ROWS_MAX, 0, &rows, err) ||
        !tool_param_number(request, "fit", 0, 1, 0, &wants_fit, err) ||
        !tool_param_number(request, "alone", 0, 1, 0, &wants_alone, err) || !tool_param_format(request, &is_text, err))
        return false;
    if (wants_fit && answer->capacity.bytes < 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "fit: say what the device has: capacity_bytes");
    if (!answer->space || !answer->plan->graph || answer->plan->hlo.instruction_count == 0)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "there is no program with its own memory to change");
    groundwork_begin(request->groundwork, answer->plan, answer->space, request->arena, &answer->start);
    variant_limit(&answer->start, answer->capacity.bytes);
    variant_copy(&answer->variant, &answer->start, request->arena);
    variant_measure(&answer->variant, &answer->before, NULL);
    answer->after = answer->before;
    answer->has_alone = wants_alone;
    if (!changes_apply(request, answer, err))
        return false;
    if (wants_alone)
        alone_find(request, answer);
    answer->has_fit = wants_fit;
    if (wants_fit)
        fit_find(&answer->variant, answer->room_bytes, &answer->fit);
    if (is_text)
        text_write(request, answer);
    else
        json_write(request, answer, &stretch, rows, json);
    return true;
}
