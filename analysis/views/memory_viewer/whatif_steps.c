/* SPDX-License-Identifier: Apache-2.0
 * whatif_steps.c: see whatif_steps.h. */
#include "views/memory_viewer/whatif_steps.h"

#include "views/fit_write.h"

#include <stdlib.h>

bool whatif_steps_apply(struct variant *variant, int64_t before_bytes, struct whatif_step *step, struct err *err)
{
    if (!change_read(str_of(step->text), &step->change, err) ||
        !change_apply(variant, &step->change, &step->result, err))
        return false;
    variant_measure(variant, &step->sums, NULL);
    change_result_settle(&step->result, &step->sums);
    step->saving_bytes = before_bytes - step->sums.total_bytes;
    return true;
}

void whatif_steps_try(struct variant *variant, const struct variant_sums *before, struct whatif_step *step)
{
    struct err err = ERR_INIT;
    struct variant changed;
    variant_copy(&changed, variant, variant->arena);
    if (whatif_steps_apply(&changed, before->total_bytes, step, &err)) {
        *variant = changed;
        return;
    }
    step->refusal = arena_text(variant->arena, str_of(err.text));
    step->result = (struct change_result){.reason = "", .call = ""};
    step->sums = *before;
    step->saving_bytes = 0;
}

/* ---- each alone ---- */

/* What can be done to the things that a GLOB names: before and behind it. */
static const char *const of_glob[][2] = {
    {"checkpoint=", ""}, {"cast=", ":bf16"}, {"offload=", ""}, {"shard=", ":4"}, {"unpad=", ""},
};
enum { OF_GLOB_COUNT = sizeof(of_glob) / sizeof(of_glob[0]) };

/* `arena`: for the variant that is tried. */
static void whatif_steps_add(const struct variant *start, const struct variant_sums *before, const char *text,
                             struct arena *arena, struct whatif_steps *out)
{
    struct variant variant = *start;
    for (uint32_t i = 0; i < out->count; i++)
        if (strcmp(out->steps[i].text, text) == 0)
            return;
    struct whatif_step *step = &out->steps[out->count++];
    step->text = text;
    variant.arena = arena;
    whatif_steps_try(&variant, before, step);
    step->result.reason = arena_text(start->arena, str_of(step->result.reason));
    step->result.call = arena_text(start->arena, str_of(step->result.call));
    if (step->refusal != NULL)
        step->refusal = arena_text(start->arena, str_of(step->refusal));
    arena_free(arena);
}

/* Equal savings stay in the order of the list, which `text` is no part of. */
static int by_saving(const void *left, const void *right)
{
    const struct whatif_step *a = left, *b = right;
    return ORDER(a->refusal != NULL, b->refusal != NULL) ?: ORDER(b->saving_bytes, a->saving_bytes)
           ?: ORDER((int)a->change.kind, (int)b->change.kind) ?: strcmp(a->text, b->text);
}

void whatif_steps_alone(const struct variant *start, const struct variant_sums *before, const char *glob,
                        const char *const *asked, uint32_t asked_count, struct whatif_steps *out)
{
    uint32_t usual_count = 0;
    struct arena *arena = arena_child(start->arena);
    while (fit_usual(usual_count) != NULL)
        usual_count++;
    *out = (struct whatif_steps){
        arena_array(start->arena, struct whatif_step, (size_t)usual_count + OF_GLOB_COUNT + asked_count + 1), 0};
    for (uint32_t i = 0; glob == NULL && i < usual_count; i++)
        whatif_steps_add(start, before, fit_usual(i), arena, out);
    for (uint32_t i = 0; glob != NULL && i < OF_GLOB_COUNT; i++)
        whatif_steps_add(start, before, arena_format(start->arena, "%s%s%s", of_glob[i][0], glob, of_glob[i][1]), arena,
                         out);
    for (uint32_t i = 0; i < asked_count; i++)
        whatif_steps_add(start, before, asked[i], arena, out);
    qsort(out->steps, out->count, sizeof(*out->steps), by_saving);
}

/* ---- JSON ---- */

void whatif_steps_write_fits(struct json *json, const char *key, int64_t room_bytes, int64_t total_bytes)
{
    if (room_bytes >= 0)
        json_key_bool(json, key, total_bytes <= room_bytes);
}

void whatif_steps_write(struct json *json, const struct whatif_step *step, int64_t room_bytes)
{
    json_object_begin(json);
    json_key_text(json, "change", step->text);
    json_key_text(json, "words", step->change.kind < CHANGE_COUNT ? change_words(step->change.kind) : "");
    if (step->refusal != NULL)
        json_key_text(json, "refusal", step->refusal);
    if (step->result.has_no_figure)
        json_key_bool(json, "has_no_figure", true);
    else
        json_key_int(json, "saving_bytes", step->saving_bytes);
    json_key_int(json, "total_bytes", step->sums.total_bytes);
    json_key_int(json, "peak_bytes", step->sums.peak_bytes);
    if (!step->result.has_no_figure)
        whatif_steps_write_fits(json, "fits", room_bytes, step->sums.total_bytes);
    json_key_text(json, "confidence", step->refusal != NULL ? NULL : change_confidence_name(step->result.confidence));
    json_key_text(json, "reason", step->result.reason);
    fit_write_extra_flops(json, step->result.has_extra_flops, step->result.extra_flops_percent);
    json_key_text(json, "call", step->result.call);
    json_key_uint(json, "row_count", step->result.row_count);
    json_object_end(json);
}
