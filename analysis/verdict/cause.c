/* SPDX-License-Identifier: Apache-2.0
 * cause.c: why memory ran short, or what takes most of it: what a text says first, then the plan's patterns and
 * categories, then what allocators and live arrays tell. */
#include "verdict/cause_arrays.h"
#include "verdict/torch_moment.h"
#include "verdict/unplanned.h"
#include "verdict/unread.h"

#include "base/sum.h"
#include "model/memory_profile/failures.h"
#include "model/memory_profile/model.h"
#include "model/memory_profile/notes.h"
#include "plan/describe.h"
#include "plan/memory_fit.h"
#include "plan/pattern.h"

static const struct {
    const char *name, *words;
} causes[VERDICT_CAUSE_COUNT] = {
#define CAUSE(constant, name, words) {name, words},
#include "verdict/cause.def"
#undef CAUSE
};

const char *verdict_cause_name(enum verdict_cause_kind kind) { return causes[kind].name; }
const char *verdict_cause_words(enum verdict_cause_kind kind) { return causes[kind].words; }

static const enum verdict_cause_kind of_pattern[PATTERN_COUNT] = {
    [PATTERN_LOGITS] = VERDICT_CAUSE_LOGITS,
    [PATTERN_ATTENTION_SCORES] = VERDICT_CAUSE_ATTENTION_LOGITS,
    [PATTERN_SAVED_ACTIVATIONS] = VERDICT_CAUSE_SAVED_ACTIVATIONS,
    [PATTERN_SCAN_RESIDUALS] = VERDICT_CAUSE_SCAN_RESIDUALS,
    [PATTERN_NO_DONATION] = VERDICT_CAUSE_NO_DONATION,
    [PATTERN_DONATION_UNUSED] = VERDICT_CAUSE_DONATION_UNUSED,
    [PATTERN_CACHE_COPY] = VERDICT_CAUSE_CACHE_COPY,
    [PATTERN_BATCH_NOT_SPLIT] = VERDICT_CAUSE_BATCH_NOT_SPLIT,
    [PATTERN_GATHERED_ACTIVATION] = VERDICT_CAUSE_GATHERED_ACTIVATION,
    [PATTERN_GATHERED_PARAMETERS] = VERDICT_CAUSE_GATHERED_PARAMETERS,
    [PATTERN_REPLICATED] = VERDICT_CAUSE_REPLICATED,
    [PATTERN_GRADIENT_ACCUMULATOR] = VERDICT_CAUSE_GRADIENT_ACCUMULATOR,
    [PATTERN_ALL_GRADIENTS] = VERDICT_CAUSE_ALL_GRADIENTS,
    [PATTERN_PARAMETER_CAST_COPY] = VERDICT_CAUSE_PARAMETER_CAST_COPY,
    [PATTERN_PREFILL_LOGITS] = VERDICT_CAUSE_PREFILL_LOGITS,
    [PATTERN_MASK] = VERDICT_CAUSE_MASK,
    [PATTERN_CONSTANT] = VERDICT_CAUSE_CONSTANT,
    [PATTERN_REPEAT] = VERDICT_CAUSE_REPEAT,
    [PATTERN_PADDING] = VERDICT_CAUSE_PADDING,
};

static const enum verdict_cause_kind of_category[CATEGORY_COUNT] = {
    [CATEGORY_PARAMETER] = VERDICT_CAUSE_PARAMETERS,
    [CATEGORY_OPTIMIZER_STATE] = VERDICT_CAUSE_OPTIMIZER_STATE,
    [CATEGORY_CACHE] = VERDICT_CAUSE_CACHE,
    [CATEGORY_BATCH] = VERDICT_CAUSE_BATCH,
    [CATEGORY_RNG] = VERDICT_CAUSE_INPUTS,
    [CATEGORY_INPUT] = VERDICT_CAUSE_INPUTS,
    [CATEGORY_OTHER] = VERDICT_CAUSE_INPUTS,
    [CATEGORY_COPY_OF_ARGUMENT] = VERDICT_CAUSE_COPIES_OF_ARGUMENTS,
    [CATEGORY_CONSTANT] = VERDICT_CAUSE_CONSTANT,
    [CATEGORY_SAVED_ACTIVATION] = VERDICT_CAUSE_SAVED_ACTIVATIONS,
    [CATEGORY_GRADIENT] = VERDICT_CAUSE_GRADIENTS,
    [CATEGORY_GRADIENT_ACCUMULATOR] = VERDICT_CAUSE_GRADIENT_ACCUMULATOR,
    [CATEGORY_OPTIMIZER_TEMPORARY] = VERDICT_CAUSE_WORKSPACE,
    [CATEGORY_COLLECTIVE] = VERDICT_CAUSE_COLLECTIVES,
    [CATEGORY_OUTPUT] = VERDICT_CAUSE_OUTPUTS,
    [CATEGORY_WORKSPACE] = VERDICT_CAUSE_WORKSPACE,
    [CATEGORY_UNKNOWN] = VERDICT_CAUSE_UNKNOWN,
};

enum verdict_cause_kind cause_of_category(enum category category) { return of_category[category]; }

void cause_set(const struct verdict_facts *facts, enum verdict_cause_kind kind, int64_t bytes,
               enum verdict_confidence confidence, const char *text)
{
    facts->out->cause = (struct verdict_cause){.kind = kind, .text = text, .bytes = bytes, .confidence = confidence};
}

/* ---- of a plan ---- */

/* Categories that say little: a pattern or one large array says more. */
static bool is_vague(enum category category)
{
    return category == CATEGORY_WORKSPACE || category == CATEGORY_OUTPUT || category == CATEGORY_UNKNOWN ||
           category == CATEGORY_INPUT || category == CATEGORY_OTHER;
}

static const struct plan_row *largest_row(const struct plan_space *space)
{
    const struct plan_row *largest = NULL;
    for (uint32_t i = 0; i < space->row_count; i++)
        if (plan_row_is_alive(&space->rows[i], space->peak_step) &&
            (largest == NULL || space->rows[i].bytes > largest->bytes))
            largest = &space->rows[i];
    return largest;
}

static const char *of_peak(const struct verdict_facts *facts, const char *what, int64_t bytes)
{
    const struct plan_space *space = facts->space;
    return arena_format(facts->arena, "%s: %s of the %s that are live at the peak.", what, facts_size(facts, bytes),
                        facts_size(facts, space->peak_bytes));
}

/* The confidence of most of a category's bytes: that of the rule of its largest row. */
static enum verdict_confidence category_confidence(const struct plan_space *space, enum category category)
{
    const struct plan_row *largest = NULL;
    for (uint32_t i = 0; i < space->row_count; i++)
        if (space->rows[i].choice.category == category && plan_row_is_alive(&space->rows[i], space->peak_step) &&
            (largest == NULL || space->rows[i].bytes > largest->bytes))
            largest = &space->rows[i];
    bool is_guess =
        largest != NULL && category_rule_confidence((enum category_rule)largest->choice.rule) == CONFIDENCE_GUESS;
    return is_guess ? VERDICT_GUESS : VERDICT_EXACT;
}

static void of_one_array(const struct verdict_facts *facts, const struct plan_row *row)
{
    const char *source = facts_source(facts, row), *shape = facts_shape(facts, row);
    cause_set(facts, VERDICT_CAUSE_ONE_BUFFER, row->bytes, VERDICT_EXACT,
              arena_format(facts->arena, "One array%s%s takes %s%s%s.", shape[0] != '\0' ? ", " : "",
                           shape[0] != '\0' ? arena_format(facts->arena, "%s,", shape) : "",
                           facts_size(facts, row->bytes), source[0] != '\0' ? ", made at " : "", source));
}

/* What every device holds whole says more of arguments than what they are, where it is most of them. */
static const struct plan_pattern *replicated_of(const struct plan_space *space, enum category main)
{
    if (main != CATEGORY_PARAMETER && main != CATEGORY_OPTIMIZER_STATE)
        return NULL;
    for (uint32_t i = 0; i < space->pattern_count; i++)
        if (space->patterns[i].kind == PATTERN_REPLICATED &&
            space->patterns[i].bytes >= space->category_bytes[main] / 2)
            return &space->patterns[i];
    return NULL;
}

/* The largest pattern unless a category that says what it is takes more; of what says little, arrays of one size that
 * are at least half of the peak. */
static void of_plan(const struct verdict_facts *facts)
{
    const struct plan_space *space = facts->space;
    const struct plan_pattern *pattern = space->pattern_count > 0 ? &space->patterns[0] : NULL;
    const struct plan_row *largest = largest_row(space);
    enum category main = CATEGORY_UNKNOWN;
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (space->category_bytes[i] > space->category_bytes[main])
            main = (enum category)i;
    int64_t bytes = space->category_bytes[main];
    bool is_said = pattern != NULL && (pattern->bytes >= bytes || (is_vague(main) && pattern->bytes >= bytes / 2));
    bool is_padded = is_said && is_vague(main) && pattern->kind == PATTERN_PADDING;
    if (cause_arrays_make(facts, is_vague(main) && !is_said, is_padded, bytes))
        return;
    const struct plan_pattern *replicated = is_said ? NULL : replicated_of(space, main);
    if (replicated != NULL) {
        pattern = replicated;
        is_said = true;
    }
    if (is_said)
        cause_set(facts, of_pattern[pattern->kind], pattern->bytes, VERDICT_EXACT, pattern->sentence);
    else if (is_vague(main) && largest != NULL && largest->bytes > space->peak_bytes / 2)
        of_one_array(facts, largest);
    else if (bytes > 0)
        cause_set(facts, of_category[main], bytes, category_confidence(space, main),
                  arena_format(facts->arena, "%s%s",
                               of_peak(facts, describe_capital(category_words(main), facts->arena), bytes),
                               main == CATEGORY_COPY_OF_ARGUMENT ? cause_named_relayout(facts)
                               : is_vague(main)                  ? cause_named_largest(facts, main)
                                                                 : ""));
}

/* ---- of a text ---- */

const char *cause_said(const struct verdict_facts *facts)
{
    const struct oom_meaning *said = facts->parts->failure;
    return said->cause_text.count > 0 ? facts_sentence(facts, &said->cause_text)
           : said->more.count > 0     ? facts_sentence(facts, &said->more)
                                      : facts_sentence(facts, &said->answer);
}

/* The name of a whole HLO instruction: "jit(f5)/pallas_call (%f5.1)" for "%f5.1 = f32[…] custom-call(…), …,
 * metadata={op_name="jit(f5)/pallas_call" …}". For any other label, the label itself. */
static const char *kernel_words(const struct verdict_facts *facts, struct str label)
{
    static const char equals[] = " = ", operation[] = "op_name=\"";
    const char *name_end =
        label.length > 0 && label.data[0] == '%' ? memmem(label.data, label.length, equals, sizeof(equals) - 1) : NULL;
    if (name_end == NULL)
        return arena_text(facts->arena, label);
    const char *name = arena_text(facts->arena, (struct str){label.data, (size_t)(name_end - label.data)});
    const char *end = label.data + label.length,
               *at = memmem(label.data, label.length, operation, sizeof(operation) - 1);
    at = at != NULL ? at + sizeof(operation) - 1 : end;
    const char *quote = memchr(at, '"', (size_t)(end - at));
    if (quote == NULL || quote == at)
        return name;
    return arena_format(facts->arena, "%s (%s)", arena_text(facts->arena, (struct str){at, (size_t)(quote - at)}),
                        name);
}

static void of_kernel(const struct verdict_facts *facts)
{
    const struct oom_group group = oom_group_largest(facts->failure);
    const char *label = "scratch or block";
    if (group.count > 0 && group.buffer->label.text.data != NULL)
        label = kernel_words(facts, group.buffer->label.text);
    int64_t needed = facts->out->fit.needed_bytes;
    if (group.count == 0 && oom_is_form(facts->failure, "report"))
        cause_set(facts, VERDICT_CAUSE_KERNEL_SCRATCH, needed, VERDICT_EXACT,
                  arena_format(facts->arena, "Kernels keep more in %s than there is; the text does not say what it is.",
                               facts->out->fit.space));
    else
        cause_set(facts, VERDICT_CAUSE_KERNEL_SCRATCH, needed, VERDICT_EXACT,
                  arena_format(facts->arena, "One kernel asks for %s of %s in one piece: %s.",
                               needed < 0 ? "more than there is" : facts_size(facts, needed), facts->out->fit.space,
                               label));
}

/* A process that finds less than half of the device free before it has taken much shares it with others. */
static bool is_shared(const struct verdict_facts *facts)
{
    int64_t capacity = facts_figure(facts, OOM_capacity_bytes), left = facts_figure(facts, OOM_free_bytes),
            own = facts_figure(facts, OOM_total_bytes);
    return facts->failure->family == OOM_FAMILY_gpu_xla && capacity > 0 && left >= 0 &&
           capacity - left - facts_positive(own) > capacity / 2 && (own >= 0 || oom_is_form(facts->failure, "driver"));
}

/* The driver or a library finds no room for code or a handle, beside an allocator that took the device in advance. */
static bool is_reserved(const struct verdict_facts *facts)
{
    const struct oom_failure *failure = facts->failure;
    bool is_outside =
        failure->family == OOM_FAMILY_gpu_library || oom_is_form(failure, "module") || oom_is_form(failure, "graph");
    return is_outside && (failure->family == OOM_FAMILY_gpu_library || failure->family == OOM_FAMILY_gpu_driver) &&
           (failure->framework == OOM_FRAMEWORK_jax || failure->framework == OOM_FRAMEWORK_xla ||
            failure->framework == OOM_FRAMEWORK_tensorflow);
}

static void of_reserved(const struct verdict_facts *facts)
{
    bool is_tensorflow = facts->failure->framework == OOM_FRAMEWORK_tensorflow;
    cause_set(
        facts, VERDICT_CAUSE_PREALLOCATION, -1, VERDICT_GUESS,
        arena_format(facts->arena,
                     "The driver found no memory outside %s, which by default reserves %s of the device in advance.",
                     is_tensorflow ? "TensorFlow's allocator" : "JAX's allocator",
                     is_tensorflow ? "nearly all" : MEMORY_FIT_SHARE_WORDS));
}

/* ---- of live arrays ---- */

/* What live arrays hold, and from which lines those are that hold much. */
static const char *live_text(const struct verdict_facts *facts)
{
    enum { LINES_SAID = 3, SAID_PERCENT = 2 };
    const struct live_arrays *live = &facts->live;
    const char *text = "";
    for (uint32_t i = 0; i < live->line_count && i < LINES_SAID; i++)
        if (i == 0 || live->lines[i].bytes > live->array_bytes / 100 * SAID_PERCENT)
            text = arena_format(facts->arena, "%s%s%s from %s", text, i == 0 ? ": " : ", ",
                                facts_size(facts, live->lines[i].bytes), live->lines[i].place);
    return arena_format(facts->arena, "Live arrays hold %s%s (%s).", facts_size(facts, live->array_bytes), text,
                        live->name);
}

/* What was held when a request failed that is no larger. False: nothing tells, or what a step of the program adds is
 * more. */
static bool of_live(const struct verdict_facts *facts)
{
    const struct live_arrays *live = &facts->live;
    int64_t arguments = facts_arguments_bytes(facts);
    if (!facts->is_live_known || facts_figure(facts, OOM_needed_bytes) > live->array_bytes ||
        (arguments >= 0 && facts_live_besides_bytes(facts) < facts->total_bytes - arguments))
        return false;
    cause_set(facts, VERDICT_CAUSE_LIVE_ARRAYS, live->array_bytes, VERDICT_EXACT, live_text(facts));
    return true;
}

/* Without a plan: live arrays are the lesser part. */
static bool of_large_request(const struct verdict_facts *facts)
{
    int64_t needed = facts_figure(facts, OOM_needed_bytes);
    if (!facts->is_live_known || facts->space != NULL || needed <= facts->live.array_bytes)
        return false;
    cause_set(facts, VERDICT_CAUSE_ONE_BUFFER, needed, VERDICT_EXACT,
              arena_format(facts->arena, "One request of %s: live arrays hold no more than %s beside it.",
                           facts_size(facts, needed), facts_size(facts, facts->live.array_bytes)));
    return true;
}

/* One run of the program takes less than half of what JAX reserves of the device: three quarters by default. */
static bool of_other_arrays(const struct verdict_facts *facts)
{
    int64_t share = memory_fit_share(facts->out->fit.capacity_bytes);
    if (facts->is_live_known || !verdict_is_of_live_arrays(facts->parts->failure, false) || facts->total_bytes <= 0 ||
        facts->total_bytes > share / 2)
        return false;
    cause_set(
        facts, VERDICT_CAUSE_LIVE_ARRAYS, -1, VERDICT_GUESS,
        arena_format(
            facts->arena,
            "One run of the program takes %s, and the device has %s: other memory filled it, usually other arrays. "
            "A device profile names them.",
            facts_size(facts, facts->total_bytes), facts_size(facts, facts->out->fit.capacity_bytes)));
    return true;
}

/* No place for a program, or beside them: where a device profile is there, it says which of the two takes more. */
static void of_load(const struct verdict_facts *facts, int64_t used, int64_t left, int64_t needed)
{
    const struct live_arrays *live = &facts->live;
    if (live->is_known && live->program_bytes > live->array_bytes)
        cause_set(facts, VERDICT_CAUSE_TOO_MANY_PROGRAMS, live->program_bytes, VERDICT_EXACT,
                  arena_format(facts->arena, "Loaded programs hold %s, live arrays %s.",
                               facts_size(facts, live->program_bytes), facts_size(facts, live->array_bytes)));
    else if (!of_live(facts))
        cause_set(facts, VERDICT_CAUSE_LIVE_ARRAYS, used, VERDICT_EXACT,
                  left >= 0
                      ? arena_format(facts->arena, "Live arrays and loaded programs leave %s free; %s were requested.",
                                     facts_size(facts, left), needed < 0 ? "more" : facts_size(facts, needed))
                      : cause_said(facts));
}

/* False: the text does not tell. */
static bool of_text(const struct verdict_facts *facts)
{
    const struct oom_meaning *said = facts->parts->failure;
    int64_t needed = facts_figure(facts, OOM_needed_bytes), capacity = facts_figure(facts, OOM_capacity_bytes),
            left = facts_figure(facts, OOM_free_bytes);
    int64_t used = capacity >= 0 && left >= 0 ? capacity - left : -1;
    if (facts->is_on_chip)
        of_kernel(facts);
    else if (facts->is_host && said->cause != OOM_CAUSE_LIMIT)
        cause_set(facts, VERDICT_CAUSE_HOST_MEMORY, needed, oom_is_host(facts->failure) ? VERDICT_EXACT : VERDICT_GUESS,
                  cause_said(facts));
    else if (said->cause == OOM_CAUSE_OTHER_PROCESS)
        cause_set(facts, VERDICT_CAUSE_OTHER_PROCESS, used, VERDICT_EXACT, cause_said(facts));
    else if (said->cause == OOM_CAUSE_LIMIT)
        cause_set(facts, VERDICT_CAUSE_LIMIT, capacity,
                  facts->failure->family == OOM_FAMILY_unknown_runtime ? VERDICT_GUESS : VERDICT_EXACT,
                  cause_said(facts));
    else if (facts->failure->family == OOM_FAMILY_torch_gpu && said->cause == OOM_CAUSE_UNPLACED)
        cause_set(facts, VERDICT_CAUSE_UNKNOWN, needed, VERDICT_EXACT, cause_said(facts));
    else if (said->cause == OOM_CAUSE_FRAGMENTATION || said->cause == OOM_CAUSE_UNPLACED)
        cause_set(facts, VERDICT_CAUSE_FRAGMENTATION, left, VERDICT_EXACT, cause_said(facts));
    else if (is_shared(facts))
        cause_set(facts, VERDICT_CAUSE_OTHER_PROCESS, used, VERDICT_GUESS,
                  arena_format(facts->arena, "%s of %s were already taken, and this process had requested little.",
                               facts_size(facts, used), facts_size(facts, capacity)));
    else if (facts->failure->family == OOM_FAMILY_tpu_program_load || facts->failure->family == OOM_FAMILY_tpu_buffer)
        of_load(facts, used, left, needed);
    else if (is_reserved(facts))
        of_reserved(facts);
    else
        return false;
    return true;
}

static void of_growth(const struct verdict_facts *facts)
{
    const struct profiles_growth *growth = &facts->growth;
    const char *place = growth->place == NULL ? ""
                                              : arena_format(facts->arena, ", most of it at %s (%s)", growth->place,
                                                             facts_size(facts, growth->place_bytes));
    cause_set(facts, VERDICT_CAUSE_LEAK, growth->bytes, VERDICT_EXACT,
              arena_format(facts->arena, "Live arrays grow by %s from %s to %s%s.", facts_size(facts, growth->bytes),
                           growth->first_name, growth->last_name, place));
}

/* Without a plan: of an allocator that was nearly full, whether it was in pieces. */
static void of_trace(const struct verdict_facts *facts)
{
    const struct memory_profile_pool *pool = facts->pool;
    int64_t in_use = memory_profile_in_use_bytes(pool->profile, pool->peak_at);
    double lost = pool->has_fragmentation ? memory_profile_fragmentation_of(pool->profile, pool->peak_at) : 0;
    if (pool->capacity_bytes > 0 && in_use > pool->capacity_bytes / 10 * 9 && lost > 0.5)
        cause_set(
            facts, VERDICT_CAUSE_FRAGMENTATION, pool->capacity_bytes - in_use, VERDICT_EXACT,
            arena_format(facts->arena, "At the peak %.0f %% of the free memory was in small pieces.", 100 * lost));
    else
        cause_set(facts, VERDICT_CAUSE_LIVE_ARRAYS, in_use, VERDICT_EXACT,
                  arena_format(
                      facts->arena,
                      "At the peak the allocator held %s; the Memory Profile lists the operations that requested it.",
                      facts_size(facts, in_use)));
}

static void of_profile(const struct verdict_facts *facts)
{
    cause_set(facts, VERDICT_CAUSE_LIVE_ARRAYS, facts->live.array_bytes, VERDICT_EXACT, live_text(facts));
}

/* What other processes hold is the text's to say: a snapshot has its own process alone. */
static bool is_of_others(const struct verdict_facts *facts)
{
    const struct memory_profile_failure *failure = facts->moment->failure;
    return facts->parts->failure->cause == OOM_CAUSE_OTHER_PROCESS &&
           (failure == NULL || failure->kind == PROFILE_FAILURE_SHORTAGE);
}

/* Names the files that count no bytes, could not be read or hold no event, so that no file that is here is called
 * absent. */
static const char *unknown_text(const struct verdict_facts *facts)
{
    const struct verdict_parts *parts = facts->parts;
    const char *without_bytes = profiles_without_bytes(parts->profiles, facts->arena);
    if (without_bytes != NULL)
        return arena_format(facts->arena, "What fills the memory is not known: %s", without_bytes);
    const char *of_trace = parts->trace != NULL ? memory_profile_notes_reason(parts->trace).text : NULL;
    bool is_of_trace =
        of_trace != NULL && parts->around.unread_count == 1 && parts->around.unread[0].why.code == ERR_truncated;
    if (parts->around.unread_count > 0 && !is_of_trace)
        return arena_format(facts->arena, "What fills the memory is not known: %s could not be read.",
                            unread_names(parts->around.unread, parts->around.unread_count, facts->arena));
    if (of_trace != NULL)
        return arena_format(facts->arena, "What fills the memory is not known. %s", of_trace);
    if (parts->plan != NULL)
        return "What fills the memory is not known: the program has no buffer assignment, which is its memory plan.";
    return "What fills the memory is not known: no plan, trace or profile is here.";
}

void cause_make(const struct verdict_facts *facts)
{
    bool has_plan = facts->space != NULL && facts->space->peak_bytes > 0;
    cause_set(facts, VERDICT_CAUSE_UNKNOWN, -1, VERDICT_EXACT, unknown_text(facts));
    bool is_run = facts->failure != NULL && !facts->is_compile && !facts->is_host;
    if (facts->growth.grows && (facts->failure == NULL ? !has_plan : is_run))
        of_growth(facts);
    else if (facts->join != NULL && !is_of_others(facts))
        torch_cause_make(facts);
    else if (facts->failure != NULL && of_text(facts))
        return;
    else if (of_live(facts) || of_large_request(facts))
        return;
    else if (facts->failure != NULL && has_plan && of_other_arrays(facts))
        return;
    else if (has_plan)
        of_plan(facts);
    else if (facts->failure != NULL)
        cause_listed_make(facts);
    else if (facts->moment != NULL)
        torch_cause_make(facts);
    else if (facts->pool != NULL)
        of_trace(facts);
    else if (facts->live.is_known)
        of_profile(facts);
    else
        unplanned_cause(facts);
}
