/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/patch.h"
#include "views/verdict/write.h"

#include "views/arrays_write.h"
#include "views/oom_write_json.h"
#include "whatif/change.h"

#include <string.h>

/* ---- where a figure comes from ---- */

static const char *unless(const char *text, const char *usual)
{
    return text != NULL && strcmp(text, usual) == 0 ? NULL : text;
}

/* Without what nearly every row would say. */
static void rows_write(struct json *json, const struct verdict_evidence *evidence)
{
    json_key_known(json, "space", evidence->space);
    json_key_text(json, "step", unless(evidence->step, "peak"));
    json_key_text(json, "filter", evidence->filter);
    json_key_text(json, "column", unless(evidence->column, "size"));
    if (evidence->step != NULL)
        json_key_uint(json, "count", evidence->count);
    json_key_known(json, "sum_bytes", evidence->sum_bytes);
    if (evidence->sum_bytes >= 0 && evidence->rest_bytes != 0)
        json_key_int(json, "rest_bytes", evidence->rest_bytes);
    json_key_text(json, "rest", evidence->rest);
}

/* One evidence shows many figures: it is written once, and each figure has its number. */
struct evidence_list {
    struct buf texts; /* those that were written so far, as JSON, one after the other */
    struct buf ends;  /* size_t: where in `texts` each of them ends */
};

static size_t list_count(const struct evidence_list *list) { return list->ends.length / sizeof(size_t); }

/* That of a number, borrowed until the next one is added. */
static struct str list_text(const struct evidence_list *list, size_t at)
{
    const size_t *ends = (const size_t *)(const void *)list->ends.data;
    size_t begin = at == 0 ? 0 : ends[at - 1];
    return (struct str){list->texts.data + begin, ends[at] - begin};
}

/* The number of `text`, which ends `texts`; a text that is in the list already is removed again. */
static size_t list_number(struct evidence_list *list, size_t begin)
{
    const struct str text = {list->texts.data + begin, list->texts.length - begin};
    const size_t count = list_count(list), end = list->texts.length;
    for (size_t at = 0; at < count; at++) {
        if (str_equal(list_text(list, at), text)) {
            list->texts.length = begin;
            return at;
        }
    }
    buf_add(&list->ends, &end, sizeof(end));
    return count;
}

static void evidence_object_write(struct json *json, const struct verdict_evidence *evidence)
{
    json_object_begin(json);
    json_key_text(json, "kind", verdict_evidence_name(evidence->kind));
    if (evidence->kind != VERDICT_EVIDENCE_BUFFERS) /* which count and sum say as well */
        json_key_text(json, "sentence", evidence->sentence);
    json_key_text(json, "tool", evidence->tool);
    json_key_text(json, "view", evidence->view);
    rows_write(json, evidence);
    json_key_text(json, "key", evidence->key);
    if (evidence->end > 0) {
        json_key_array(json, "range");
        json_uint(json, evidence->begin);
        json_uint(json, evidence->end);
        json_array_end(json);
    }
    json_key_text(json, "file", evidence->file);
    json_key_text(json, "change", evidence->change);
    if (evidence->has_time)
        json_key_int(json, "time_ps", evidence->time_ps);
    json_key_text(json, "memory", evidence->memory);
    json_key_text(json, "device", evidence->device);
    json_object_end(json);
}

/* The number of the evidence; no member where nothing shows the figure. */
static void evidence_write(struct json *json, struct evidence_list *list, const char *key,
                           const struct verdict_evidence *evidence)
{
    if (evidence->kind == VERDICT_EVIDENCE_NONE)
        return;
    struct json one = JSON_INIT(&list->texts);
    const size_t begin = list->texts.length;
    evidence_object_write(&one, evidence);
    if (!list->texts.failed && !list->ends.failed)
        json_key_uint(json, key, list_number(list, begin));
}

static void evidence_list_write(struct json *json, struct evidence_list *list)
{
    buf_fail_with(json->out, &list->texts);
    buf_fail_with(json->out, &list->ends);
    json_key_array(json, "evidence");
    for (size_t at = 0; at < list_count(list); at++)
        json_written(json, list_text(list, at));
    json_array_end(json);
    buf_free(&list->texts);
    buf_free(&list->ends);
}

static void mentions_write(struct json *json, struct evidence_list *list, const char *key,
                           const struct verdict_mentions *mentions)
{
    json_key_array(json, key);
    for (uint32_t i = 0; i < mentions->count; i++) {
        json_object_begin(json);
        json_key_text(json, "text", mentions->items[i].text);
        json_key_int(json, "bytes", mentions->items[i].bytes);
        evidence_write(json, list, "evidence", mentions->items[i].evidence);
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- the blocks ---- */

static void cause_write(struct json *json, struct evidence_list *list, const struct verdict_cause *cause)
{
    json_key_object(json, "cause");
    json_key_text(json, "kind", verdict_cause_name(cause->kind));
    json_key_text(json, "words", verdict_cause_words(cause->kind));
    json_key_text(json, "text", cause->text);
    json_key_known(json, "bytes", cause->bytes);
    json_key_text(json, "confidence", verdict_confidence_name(cause->confidence));
    evidence_write(json, list, "evidence", &cause->evidence);
    mentions_write(json, list, "figures", &cause->mentions);
    json_object_end(json);
}

static void fit_write(struct json *json, struct evidence_list *list, const struct verdict_fit *fit)
{
    json_key_object(json, "fit");
    json_key_known(json, "needed_bytes", fit->needed_bytes);
    json_key_known(json, "capacity_bytes", fit->capacity_bytes);
    json_key_text(json, "source", fit->capacity_source);
    json_key_text(json, "word", fit->word);
    json_key_known(json, "share_bytes", fit->share_bytes);
    json_key_known(json, "over_bytes", fit->over_bytes);
    json_key_known(json, "free_bytes", fit->free_bytes);
    json_key_text(json, "device", fit->device);
    json_key_text(json, "space", fit->space);
    json_key_text(json, "sentence", fit->sentence);
    json_key_text(json, "sureness", fit->sureness);
    json_key_text(json, "sureness_of", fit->sureness_of);
    json_key_text(json, "sureness_reason", fit->sureness_reason);
    mentions_write(json, list, "figures", &fit->mentions);
    json_key_object(json, "evidence");
    evidence_write(json, list, "needed", &fit->needed);
    evidence_write(json, list, "capacity", &fit->capacity);
    evidence_write(json, list, "over", &fit->over);
    evidence_write(json, list, "free", &fit->free);
    json_object_end(json);
    json_object_end(json);
}

static void where_write(struct json *json, struct evidence_list *list, const char *key,
                        const struct verdict_where *rows, uint32_t count)
{
    json_key_array(json, key);
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(json);
        json_key_text(json, "kind", rows[i].kind);
        json_key_text(json, "label", rows[i].label);
        json_key_int(json, "bytes", rows[i].bytes);
        json_key_text(json, "category", rows[i].category);
        json_key_text(json, "source", rows[i].source);
        evidence_write(json, list, "evidence", &rows[i].evidence);
        json_object_end(json);
    }
    json_array_end(json);
}

static void peak_write(struct json *json, struct evidence_list *list, const struct verdict *verdict)
{
    json_key_object(json, "peak");
    json_key_known(json, "bytes", verdict->peak_bytes > 0 ? verdict->peak_bytes : -1);
    json_key_array(json, "patterns");
    for (uint32_t i = 0; i < verdict->pattern_count; i++) {
        const struct verdict_pattern *pattern = &verdict->patterns[i];
        json_object_begin(json);
        json_key_text(json, "kind", pattern->kind);
        json_key_int(json, "bytes", pattern->bytes);
        json_key_int(json, "saves_bytes", pattern->saves_bytes);
        json_key_text(json, "sentence", pattern->sentence);
        json_key_text(json, "when_gone", pattern->gone);
        evidence_write(json, list, "evidence", &pattern->evidence);
        evidence_write(json, list, "saves_evidence", &pattern->saves);
        mentions_write(json, list, "figures", &pattern->mentions);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_array(json, "groups");
    for (uint32_t i = 0; i < verdict->group_count; i++) {
        const struct verdict_group *group = &verdict->groups[i];
        json_object_begin(json);
        json_key_text(json, "key", group->key);
        json_key_text(json, "category", group->category);
        json_key_text(json, "label", group->label);
        json_key_text(json, "shape", group->shape);
        json_key_uint(json, "count", group->count);
        json_key_int(json, "bytes", group->bytes);
        json_key_text(json, "source", group->source);
        if (json_key_object_if(json, "inner", group->inner != NULL)) {
            json_key_text(json, "source", group->inner);
            json_key_int(json, "bytes", group->inner_bytes);
            json_object_end(json);
        }
        evidence_write(json, list, "evidence", &group->evidence);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_uint(json, "group_count", verdict->group_total_count);
    json_key_int(json, "rest_bytes", verdict->rest_bytes);
    evidence_write(json, list, "evidence", &verdict->peak);
    evidence_write(json, list, "rest_evidence", &verdict->rest);
    json_object_end(json);
}

/* A change shows what it saves by what it lands at. */
static const struct verdict_evidence *or_landing(const struct verdict_advice *advice,
                                                 const struct verdict_evidence *evidence)
{
    const struct verdict_evidence *lands = &advice->lands;
    bool is_same = evidence->kind == VERDICT_EVIDENCE_CHANGE && lands->kind == VERDICT_EVIDENCE_CHANGE &&
                   strcmp(evidence->change, lands->change) == 0;
    return is_same ? lands : evidence;
}

static void advice_evidence_write(struct json *json, struct evidence_list *list, const struct verdict_advice *advice)
{
    json_key_object(json, "evidence");
    json_key_text(json, "sentence", advice->evidence);
    mentions_write(json, list, "figures", &advice->mentions);
    evidence_write(json, list, "open", or_landing(advice, &advice->open));
    evidence_write(json, list, "saves", or_landing(advice, &advice->saves));
    evidence_write(json, list, "lands_at", &advice->lands);
    json_object_end(json);
}

static void patch_write(struct json *json, const struct patch *patch)
{
    if (!json_key_object_if(json, "patch", patch != NULL))
        return;
    json_key_text(json, "file", patch->file);
    json_key_known(json, "line", patch->line > 0 ? (int64_t)patch->line : -1);
    json_key_text(json, "diff", patch->diff);
    json_key_text(json, "reason", patch->reason);
    json_object_end(json);
}

static void advice_write(struct json *json, struct evidence_list *list, const struct verdict *verdict)
{
    json_key_array(json, "advice");
    for (uint32_t i = 0; i < verdict->advice_count; i++) {
        const struct verdict_advice *advice = &verdict->advice[i];
        json_object_begin(json);
        json_key_text(json, "kind", verdict_advice_name(advice->kind));
        json_key_text(json, "title", advice->title);
        json_key_text(json, "change", advice->change);
        json_key_known(json, "saves_bytes", advice->saves_bytes);
        json_key_known(json, "lands_at_bytes", advice->lands_at_bytes);
        json_key_known(json, "predicted_bytes", advice->predicted_bytes);
        if (advice->predicted_bytes >= 0)
            json_key_bool(json, "is_refuted", advice->is_refuted);
        if (advice->predicted_bytes >= 0)
            json_key_bool(json, "is_partial", advice->is_partial);
        json_key_text(json, "compiled", advice->compiled);
        json_key_known(json, "over_bytes", advice->over_bytes);
        json_key_known(json, "allocated_bytes", advice->allocated_bytes);
        json_key_text(json, "fits", verdict_fits_name(advice->fits));
        json_key_text(json, "fits_text", advice->fits_text);
        json_key_text(json, "confidence", verdict_confidence_name(advice->confidence));
        json_key_text(json, "reason", advice->reason);
        if (advice->extra_flops_percent >= 0)
            json_key_double(json, "extra_flops_percent", change_extra_flops_shown(advice->extra_flops_percent));
        advice_evidence_write(json, list, advice);
        json_key_text(json, "do", advice->call);
        patch_write(json, advice->patch);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_known(json, "best", verdict->best_at);
    json_key_bool(json, "advice_is_idle", verdict->is_advice_idle);
    json_key_text(json, "advice_sentence", verdict->advice_sentence);
    mentions_write(json, list, "advice_figures", &verdict->advice_mentions);
}

static void ledger_write(struct json *json, struct evidence_list *list, const struct verdict_ledger *ledger)
{
    json_key_object(json, "ledger");
    json_key_known(json, "capacity_bytes", ledger->capacity_bytes);
    json_key_array(json, "bars");
    for (uint32_t i = 0; i < ledger->bar_count; i++) {
        json_object_begin(json);
        json_key_text(json, "kind", ledger->bars[i].kind);
        json_key_text(json, "label", ledger->bars[i].label);
        json_key_int(json, "bytes", ledger->bars[i].bytes);
        json_key_text(json, "source", ledger->bars[i].source);
        evidence_write(json, list, "evidence", &ledger->bars[i].evidence);
        json_object_end(json);
    }
    json_array_end(json);
    if (ledger->has_drift) {
        json_key_double(json, "drift_percent", ledger->drift_percent);
        json_key_double(json, "coverage_percent", ledger->coverage_percent);
        json_key_bool(json, "balances", ledger->balances);
    }
    json_key_text(json, "sentence", ledger->sentence);
    mentions_write(json, list, "figures", &ledger->mentions);
    evidence_write(json, list, "capacity_evidence", &ledger->capacity);
    json_object_end(json);
}

static void together_write(struct json *json, struct evidence_list *list, const struct verdict_together *together)
{
    if (!json_key_object_if(json, "together", together != NULL))
        return;
    json_key_text(json, "memory", together->memory);
    json_key_int(json, "time_ps", together->time_ps);
    json_key_text(json, "reason", together->reason);
    json_key_array(json, "rows");
    for (uint32_t i = 0; i < together->row_count; i++) {
        const struct verdict_together_row *row = &together->rows[i];
        json_object_begin(json);
        json_key_text(json, "kind", row->kind);
        json_key_text(json, "label", row->label);
        json_key_int(json, "bytes", row->bytes);
        json_key_text(json, "source", row->is_from_snapshot ? "snapshot" : "error text");
        json_key_known(json, "text_bytes", row->text_bytes);
        json_key_bool(json, "agrees", row->agrees);
        json_key_text(json, "why", row->why);
        evidence_write(json, list, "evidence", &row->evidence);
        evidence_write(json, list, "text_evidence", &row->text_evidence);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void note_write(struct json *json, const struct verdict_note *note)
{
    json_object_begin(json);
    json_key_text(json, "kind", verdict_note_name(note->kind));
    json_key_text(json, "text", note->text);
    json_object_end(json);
}

static void not_read_write(struct json *json, const struct verdict_not_read *not_read)
{
    json_object_begin(json);
    json_keys_of_err(json, not_read->unread->file, &not_read->unread->why);
    json_key_text(json, "sentence", not_read->sentence);
    json_object_end(json);
}

void write_verdict_json(const struct verdict *verdict, struct json *json)
{
    struct evidence_list list = {BUF_INIT, BUF_INIT};
    list.texts.limit_bytes = json->out->limit_bytes;
    json_object_begin(json);
    json_key_text(json, "verdict", verdict->sentence);
    mentions_write(json, &list, "figures", &verdict->mentions);
    mentions_write(json, &list, "further", &verdict->further);
    json_key_text(json, "program", verdict->program);
    json_key_text(json, "fits", verdict_fits_name(verdict->fits));
    cause_write(json, &list, &verdict->cause);
    fit_write(json, &list, &verdict->fit);
    where_write(json, &list, "where", verdict->where, verdict->where_count);
    json_key_int(json, "where_bytes", verdict->where_bytes);
    json_key_int(json, "where_over_bytes", verdict->where_over_bytes);
    evidence_write(json, &list, "where_evidence", &verdict->where_evidence);
    where_write(json, &list, "categories", verdict->categories, verdict->category_count);
    peak_write(json, &list, verdict);
    arrays_write(json, "arrays", verdict->arrays);
    json_key_text(json, "arrays_sentence", verdict->arrays_sentence);
    mentions_write(json, &list, "arrays_figures", &verdict->arrays_mentions);
    advice_write(json, &list, verdict);
    ledger_write(json, &list, &verdict->ledger);
    together_write(json, &list, verdict->together);
    json_key_array(json, "notes");
    for (uint32_t i = 0; i < verdict->note_count; i++)
        note_write(json, &verdict->notes[i]);
    json_array_end(json);
    json_key_array(json, "not_read");
    for (size_t i = 0; i < verdict->not_read_count; i++)
        not_read_write(json, &verdict->not_read[i]);
    json_array_end(json);
    oom_write_json_steps(json, verdict->steps, verdict->step_count);
    evidence_list_write(json, &list);
    json_object_end(json);
}
