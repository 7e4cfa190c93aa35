/* SPDX-License-Identifier: Apache-2.0
 * unplanned.c: see unplanned.h. */
#include "verdict/unplanned.h"

#include "plan/memory_fit.h"

const struct program_arrays *unplanned_arrays(const struct verdict_facts *facts)
{
    const struct plan *plan = facts->is_of_plan ? facts->parts->plan : NULL;
    return plan == NULL || facts->is_on_chip || facts->is_host ? NULL : plan->unplanned;
}

int64_t unplanned_over_bytes(const struct verdict_facts *facts)
{
    const struct program_arrays *arrays = unplanned_arrays(facts);
    int64_t device = fit_device_bytes(facts);
    return arrays != NULL && device >= 0 && arrays->least_bytes > device ? arrays->least_bytes - device : 0;
}

bool unplanned_is_over(const struct verdict_facts *facts) { return unplanned_over_bytes(facts) > 0; }

const struct program_array *unplanned_too_large(const struct verdict_facts *facts)
{
    const struct program_arrays *arrays = unplanned_arrays(facts);
    const struct program_array *largest = arrays != NULL && arrays->count > 0 ? &arrays->items[0] : NULL;
    int64_t device = fit_device_bytes(facts);
    return largest != NULL && device >= 0 && largest->bytes / (int64_t)arrays->device_count > device ? largest : NULL;
}

/* What sizes are of together: " on all 8 devices", or "". */
static const char *devices_words(const struct verdict_facts *facts, const struct program_arrays *arrays)
{
    if (arrays->device_count < 2)
        return "";
    return arena_format(facts->arena, " on all %llu devices", (unsigned long long)arrays->device_count);
}

/* ---- the list ---- */

static const char *fused_words(const struct verdict_facts *facts, const struct program_arrays *arrays)
{
    if (arrays->fused_count == 0)
        return "";
    return arena_format(facts->arena,
                        " %u more array%s computed element by element, the largest of %s, %s not listed: the compiler "
                        "usually fuses these and never stores them.",
                        arrays->fused_count, arrays->fused_count == 1 ? "" : "s",
                        facts_size(facts, arrays->fused_largest_bytes), arrays->fused_count == 1 ? "is" : "are");
}

void unplanned_make(const struct verdict_facts *facts)
{
    const struct program_arrays *arrays = unplanned_arrays(facts);
    facts->out->arrays = arrays;
    if (arrays == NULL || arrays->count == 0)
        return;
    const char *device = facts->out->fit.capacity_bytes < 0
                             ? ""
                             : arena_format(facts->arena, "; the device has %s", fit_device_words(facts));
    facts->out->arrays_sentence = arena_format(
        facts->arena, "Together these take %s%s%s. Which of them live at one time is not known: no plan was made.%s",
        facts_size(facts, arrays->listed_bytes), devices_words(facts, arrays), device, fused_words(facts, arrays));
}

/* ---- did it fit ---- */

void unplanned_judge(const struct verdict_facts *facts)
{
    const struct program_arrays *arrays = unplanned_arrays(facts);
    struct verdict_fit *fit = &facts->out->fit;
    if (arrays == NULL || facts->failure != NULL || fit->needed_bytes >= 0)
        return;
    const char *least =
        arrays->least_bytes <= 0
            ? ""
            : arena_format(facts->arena, " Arguments and results alone take at least %s%s.",
                           facts_size(facts, arrays->least_bytes), arrays->device_count < 2 ? "" : " on each device");
    fit->sentence = arena_format(facts->arena, "How much is needed is not known: no plan was made.%s", least);
    if (!unplanned_is_over(facts))
        return;
    facts->out->fits = VERDICT_FITS_NO;
    fit->word = memory_fit_word_name(MEMORY_FIT_OVER);
    fit->sentence = arena_format(facts->arena, "%s The device has %s: over by at least %s.", fit->sentence,
                                 fit_device_words(facts), facts_size(facts, unplanned_over_bytes(facts)));
}

/* ---- why ---- */

/* "bf16[327680,327680] (result, oomjob.py:10)" */
static const char *array_words(const struct verdict_facts *facts, const struct program_array *array)
{
    const char *where = array->source[0] != '\0' ? array->source : array->name;
    return arena_format(facts->arena, "%s (%s%s%s)", array->shape, program_arrays_role_words(array->role),
                        where[0] != '\0' ? ", " : "", where);
}

static void of_one_array(const struct verdict_facts *facts, const struct program_array *array)
{
    bool is_sure = array->role != PROGRAM_ARRAY_BETWEEN;
    const char *split =
        facts->parts->plan->unplanned->device_count < 2 ? "" : " even where it is split evenly over all devices";
    facts->out->cause = (struct verdict_cause){
        .kind = VERDICT_CAUSE_ONE_BUFFER,
        .bytes = array->bytes,
        .confidence = is_sure ? VERDICT_EXACT : VERDICT_GUESS,
        .text = arena_format(facts->arena,
                             "One array of the program, %s, takes %s and the device has %s: it does not fit%s%s. No "
                             "setting makes room for it: its shape has to change, or more devices have to share it.",
                             array_words(facts, array), facts_size(facts, array->bytes), fit_device_words(facts), split,
                             is_sure ? "" : ", unless the compiler never keeps it whole")};
}

static void of_arguments(const struct verdict_facts *facts, const struct program_arrays *arrays)
{
    int64_t results = arrays->result_bytes - arrays->shared_bytes;
    facts->out->cause = (struct verdict_cause){
        .kind = results > arrays->argument_bytes ? VERDICT_CAUSE_OUTPUTS : VERDICT_CAUSE_INPUTS,
        .bytes = results > arrays->argument_bytes ? results : arrays->argument_bytes,
        .confidence = VERDICT_BOUND,
        .text = arena_format(facts->arena,
                             "Arguments take %s, results at least %s more%s, all at one time: that alone is more "
                             "than the device has. No setting of an allocator makes room for it.",
                             facts_size(facts, arrays->argument_bytes), facts_size(facts, results),
                             devices_words(facts, arrays))};
}

bool unplanned_cause(const struct verdict_facts *facts)
{
    const struct program_arrays *arrays = unplanned_arrays(facts);
    const struct program_array *large = unplanned_too_large(facts);
    if (arrays == NULL)
        return false;
    if (large != NULL)
        of_one_array(facts, large);
    else if (unplanned_is_over(facts))
        of_arguments(facts, arrays);
    else
        facts->out->cause = (struct verdict_cause){.kind = VERDICT_CAUSE_UNKNOWN,
                                                   .bytes = facts_figure(facts, OOM_needed_bytes),
                                                   .confidence = VERDICT_EXACT,
                                                   .text = arrays->sentence};
    return true;
}

bool unplanned_is_cause(const struct verdict_facts *facts)
{
    const struct verdict_cause *cause = &facts->out->cause;
    const struct program_array *large = unplanned_too_large(facts);
    return (large != NULL && cause->kind == VERDICT_CAUSE_ONE_BUFFER && cause->bytes == large->bytes) ||
           (unplanned_is_over(facts) && (cause->kind == VERDICT_CAUSE_INPUTS || cause->kind == VERDICT_CAUSE_OUTPUTS));
}

const char *unplanned_sentence(const struct verdict_facts *facts)
{
    const struct verdict *out = facts->out;
    const char *who = out->program != NULL && out->program[0] != '\0' ? out->program : "The program";
    const struct program_arrays *arrays = unplanned_arrays(facts);
    const struct program_array *large = unplanned_too_large(facts);
    if (arrays == NULL)
        return NULL;
    if (!unplanned_is_over(facts) && large != NULL)
        return arena_format(facts->arena, "%s may not fit: one of its arrays takes %s and %s has %s.", who,
                            facts_size(facts, large->bytes), out->fit.space, fit_device_words(facts));
    if (!unplanned_is_over(facts))
        return arrays->sentence;
    return arena_format(facts->arena, "%s cannot fit: its arguments and results alone take at least %s and %s has %s.",
                        who, facts_size(facts, arrays->least_bytes), out->fit.space, fit_device_words(facts));
}
