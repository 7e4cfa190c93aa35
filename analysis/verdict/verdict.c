/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/facts.h"
#include "verdict/unread.h"

#include "model/memory_profile/model.h"
#include "model/memory_profile/replay_driver.h"
#include "plan/configuration.h"
#include "plan/describe.h"
#include "verdict/torch_choice.h"
#include "verdict/torch_join.h"
#include "verdict/torch_moment.h"
#include "verdict/unplanned.h"

const char *verdict_confidence_name(enum verdict_confidence confidence)
{
    static const char *const names[] = {"confirmed", "exact", "model", "bound", "guess"};
    return names[confidence];
}

const char *verdict_fits_name(enum verdict_fits fits)
{
    static const char *const names[] = {"unknown", "yes", "no", "perhaps"};
    return names[fits];
}

const char *verdict_evidence_name(enum verdict_evidence_kind kind)
{
    static const char *const names[VERDICT_EVIDENCE_KIND_COUNT] = {[VERDICT_EVIDENCE_NONE] = "none",
                                                                   [VERDICT_EVIDENCE_BUFFERS] = "buffers",
                                                                   [VERDICT_EVIDENCE_TEXT] = "text",
                                                                   [VERDICT_EVIDENCE_CAPACITY] = "capacity",
                                                                   [VERDICT_EVIDENCE_DIFFERENCE] = "difference",
                                                                   [VERDICT_EVIDENCE_CHANGE] = "change",
                                                                   [VERDICT_EVIDENCE_TRACE] = "trace",
                                                                   [VERDICT_EVIDENCE_PROFILE] = "profile"};
    return names[kind];
}

const char *verdict_note_name(enum verdict_note_kind kind)
{
    static const char *const names[VERDICT_NOTE_KIND_COUNT] = {[VERDICT_NOTE_ELSEWHERE] = "elsewhere",
                                                               [VERDICT_NOTE_SNAPSHOT] = "snapshot",
                                                               [VERDICT_NOTE_DISAGREEMENT] = "disagreement",
                                                               [VERDICT_NOTE_AGREEMENT] = "agreement",
                                                               [VERDICT_NOTE_TEXT] = "text",
                                                               [VERDICT_NOTE_PLAN] = "plan",
                                                               [VERDICT_NOTE_PROFILE] = "profile"};
    return names[kind];
}

/* ---- what is at hand ---- */

/* The plan's space that the failure is about; without a failure HBM. */
static const struct plan_space *space_of(const struct verdict_facts *facts)
{
    const struct plan *plan = facts->parts->plan;
    if (plan == NULL || !plan->hlo.has_assignment)
        return NULL;
    for (uint32_t i = 0; facts->failure != NULL && i < plan->space_count; i++)
        if (oom_is_space(facts->failure, plan->spaces[i].name))
            return &plan->spaces[i];
    return plan_space_find(plan, 0);
}

/* Pools of devices come first, the worst before all others. */
static const struct memory_profile_pool *pool_of(const struct memory_profile *trace)
{
    return trace != NULL && trace->pool_count > 0 && trace->pools[0].count > 0 ? &trace->pools[0] : NULL;
}

/* For a snapshot beside a text: finds the device that both are about. A snapshot of another failure is not used
 * here. */
static void join_find(struct verdict_facts *facts)
{
    if (facts->pool == NULL || facts->pool->profile->events.snapshot == NULL || facts->failure == NULL)
        return;
    struct torch_join *join = arena_array(facts->arena, struct torch_join, 1);
    torch_join_find(facts->failure, facts->pool->profile, facts->arena, join);
    facts->pool = join->pool;
    facts->join = join->pool != NULL ? join : NULL;
}

/* What has less is no device's memory: a text that names no space may be about one of a kernel. */
#define DEVICE_BYTES_MIN (INT64_C(1) << 30)

static bool is_on_chip(const struct verdict_facts *facts)
{
    const struct oom_failure *failure = facts->failure;
    int64_t capacity = facts_figure(facts, OOM_capacity_bytes);
    if (!facts->is_compile)
        return false;
    return oom_is_form(failure, "scoped_vmem") || oom_is_form(failure, "sparse_core") ||
           !oom_is_space(failure, "HBM") ||
           (failure->memory_space.text.data == NULL && capacity >= 0 && capacity < DEVICE_BYTES_MIN);
}

static bool is_of_host(const struct oom_failure *failure) { return oom_is_host(failure) || oom_is_kill(failure); }

static bool is_of_xla_or_jax(enum oom_framework framework)
{
    return framework == OOM_FRAMEWORK_xla || framework == OOM_FRAMEWORK_jax;
}

bool verdict_is_of_plan(const struct oom_meaning *said)
{
    return !is_of_host(said->failure) && oom_may_be_of_xla(said->failure);
}

/* The framework of the text, so that no user gets the calls of another framework. */
static void framework_find(struct verdict_facts *facts)
{
    const struct oom_failure *failure = facts->failure;
    bool is_of_family = failure == NULL || facts->is_of_request || oom_is_of_xla_family(failure);
    const enum oom_framework framework = failure != NULL ? failure->framework : OOM_FRAMEWORK_xla;
    facts->is_xla = is_of_family && framework != OOM_FRAMEWORK_tensorflow;
    facts->is_jax = is_of_family && is_of_xla_or_jax(framework);
    facts->is_of_plan = failure == NULL || facts->is_of_request || verdict_is_of_plan(facts->parts->failure);
}

/* Live arrays of a profile are JAX's, and show what held the memory when a request failed at run time. For the host's
 * memory that is a request of a program for the CPU. */
bool verdict_is_of_live_arrays(const struct oom_meaning *said, bool is_of_request)
{
    const struct oom_failure *failure = said->failure;
    return (is_of_request || (oom_is_of_xla_family(failure) && !is_of_host(failure))) &&
           is_of_xla_or_jax(failure->framework) && !oom_is_compile(failure);
}

static void live_find(struct verdict_facts *facts)
{
    const struct oom_failure *failure = facts->failure;
    bool has_device = failure != NULL && failure->device.text.data != NULL;
    live_arrays_find(facts->parts->profiles, has_device ? failure->device.text : STR(""), facts->scratch, facts->arena,
                     &facts->live);
    facts->is_live_known = failure != NULL && facts->live.array_bytes > 0 &&
                           verdict_is_of_live_arrays(facts->parts->failure, facts->is_of_request);
}

/* A program of the host takes memory of the host: that is the device it runs on. */
static void request_find(struct verdict_facts *facts)
{
    const struct plan *plan = facts->parts->plan;
    const struct plan_space *main =
        plan != NULL && plan->hlo.has_assignment && facts->failure != NULL ? plan_space_find(plan, 0) : NULL;
    facts->is_of_request = main != NULL && (oom_asks_for_piece(facts->failure, plan_temporary_bytes(main)) ||
                                            oom_asks_for_piece(facts->failure, plan_output_largest_bytes(plan, main)));
}

static void facts_gather(struct verdict_facts *facts)
{
    const struct oom_failure *failure = facts->parts->failure != NULL ? facts->parts->failure->failure : NULL;
    facts->failure = failure;
    facts->is_compile = failure != NULL && oom_is_compile(failure);
    request_find(facts);
    facts->is_host = failure != NULL && is_of_host(failure) && !facts->is_of_request;
    framework_find(facts);
    facts->is_on_chip = is_on_chip(facts);
    facts->growth = profiles_growth_of(facts->parts->profiles, facts->scratch, facts->arena);
    live_find(facts);
    facts->space = facts->is_of_plan ? space_of(facts) : NULL;
    facts->pool = pool_of(facts->parts->trace);
    join_find(facts);
    torch_moment_find(facts);
    facts->total_bytes = facts->space != NULL ? facts->space->total_bytes : -1;
    facts->out->program =
        failure != NULL && failure->module.text.data != NULL ? arena_text(facts->arena, failure->module.text)
        : facts->parts->plan != NULL && facts->is_of_plan    ? arena_text(facts->arena, facts->parts->plan->hlo.name)
                                                             : NULL;
    facts->out->configuration =
        facts->parts->plan != NULL && facts->is_of_plan ? configuration_text(facts->parts->plan, facts->arena) : NULL;
}

/* ---- what could not be read ---- */

static void not_read_make(const struct verdict_facts *facts)
{
    const struct verdict_parts *parts = facts->parts;
    struct verdict *out = facts->out;
    out->not_read = arena_array(facts->arena, struct verdict_not_read, parts->around.unread_count);
    for (size_t i = 0; i < parts->around.unread_count; i++)
        out->not_read[out->not_read_count++] = (struct verdict_not_read){
            &parts->around.unread[i], unread_sentence(&parts->around.unread[i], facts->arena)};
}

/* ---- the sentence ---- */

/* ": saved activations, 27.80 GiB." */
static const char *cause_end(const struct verdict_facts *facts, const char *before)
{
    const struct verdict_cause *cause = &facts->out->cause;
    if (cause->kind == VERDICT_CAUSE_UNKNOWN || cause->bytes <= 0)
        return ".";
    return arena_format(facts->arena, "%s%s%s, %s.", before, verdict_cause_words(cause->kind),
                        cause->confidence == VERDICT_GUESS ? " (a guess)" : "", facts_size(facts, cause->bytes));
}

/* Does the text say what there was to be had? */
static bool says_what_was_free(const struct verdict_facts *facts)
{
    return facts->parts->failure->is_limit_known || facts_figure(facts, OOM_free_bytes) >= 0 ||
           facts_figure(facts, OOM_capacity_bytes) >= 0;
}

/* What was requested, and what held the memory. */
static const char *live_sentence(const struct verdict_facts *facts)
{
    const struct verdict *out = facts->out;
    const struct live_arrays *live = &facts->live;
    const struct oom_meaning *said = facts->parts->failure;
    const char *held = facts_size(facts, live->array_bytes),
               *line = live->line_count == 0
                           ? ""
                           : arena_format(facts->arena, ", %s of it from %s", facts_size(facts, live->lines[0].bytes),
                                          live->lines[0].place);
    if (says_what_was_free(facts) || out->fit.needed_bytes < 0)
        return arena_format(facts->arena, "%s Live arrays hold %s%s.", facts_sentence(facts, &said->answer), held,
                            line);
    return arena_format(facts->arena, "%s: %s asks for %s while live arrays hold %s%s.", said->title,
                        out->program != NULL ? out->program : "a program", facts_size(facts, out->fit.needed_bytes),
                        held, line);
}

static const char *sentence_of(const struct verdict_facts *facts)
{
    const struct verdict *out = facts->out;
    const struct verdict_fit *fit = &out->fit;
    const char *who = out->program != NULL && out->program[0] != '\0' ? out->program : "The program";
    if (facts->join != NULL)
        return torch_moment_sentence(facts);
    if (facts->is_live_known)
        return live_sentence(facts);
    if (facts->failure != NULL && (!facts->is_compile || facts->is_on_chip || facts->total_bytes < 0))
        return facts_sentence(facts, &facts->parts->failure->answer);
    if (fit->needed_bytes < 0 && (facts->growth.grows || out->cause.kind == VERDICT_CAUSE_LIVE_ARRAYS))
        return out->cause.text;
    if (fit->needed_bytes < 0 && out->not_read_count > 0)
        return out->not_read[0].sentence;
    if (fit->needed_bytes < 0 && out->arrays != NULL)
        return unplanned_sentence(facts);
    if (fit->needed_bytes < 0)
        return "Nothing here says how much memory was needed.";
    if (facts->total_bytes < 0 && facts->moment != NULL)
        return torch_moment_sentence(facts);
    if (facts->total_bytes < 0)
        return arena_format(facts->arena, "The allocator %s held %s at its peak%s.", fit->space,
                            facts_size(facts, fit->needed_bytes),
                            fit->capacity_bytes < 0 ? ""
                                                    : arena_format(facts->arena, "; it has %s, %s were free",
                                                                   facts_size(facts, fit->capacity_bytes),
                                                                   facts_size(facts, fit->free_bytes)));
    if (fit->capacity_bytes < 0)
        return arena_format(facts->arena, "%s needs %s of %s; what the device has is not known%s", who,
                            facts_size(facts, fit->needed_bytes), fit->space, cause_end(facts, "; largest: "));
    const char *needed = facts_size_beside(facts, fit->needed_bytes, fit->capacity_bytes),
               *capacity = facts_size_beside(facts, fit->capacity_bytes, fit->needed_bytes);
    const char *has = fit->share_bytes < 0
                          ? capacity
                          : arena_format(facts->arena, "%s, of which JAX takes %s by default", capacity,
                                         facts_size_beside(facts, fit->share_bytes, fit->needed_bytes));
    if (out->fits == VERDICT_FITS_YES)
        return arena_format(facts->arena, "%s needs %s and %s has %s: it fits, %s free.", who, needed, fit->space, has,
                            facts_size(facts, fit->free_bytes));
    if (out->fits == VERDICT_FITS_PERHAPS && fit->over_bytes < 0)
        return arena_format(facts->arena, "%s needs %s and %s has %s: too close to tell whether it fits%s", who, needed,
                            fit->space, has, cause_end(facts, "; largest: "));
    if (out->fits == VERDICT_FITS_PERHAPS)
        return arena_format(facts->arena, "%s needs %s and %s has %s: over that by %s%s", who, needed, fit->space, has,
                            facts_size(facts, fit->over_bytes), cause_end(facts, ": "));
    return arena_format(facts->arena, "%s needs %s and %s has %s, over by %s%s", who, needed, fit->space, capacity,
                        facts_size(facts, fit->over_bytes), cause_end(facts, ": "));
}

/* "VMEM: …" where the verdict is about HBM. */
static bool is_of_other_space(const struct verdict_facts *facts, const char *note)
{
    const struct plan *plan = facts->parts->plan;
    for (uint32_t i = 0; i < plan->space_count; i++) {
        size_t length = strlen(plan->spaces[i].name);
        if (&plan->spaces[i] != facts->space && strncmp(note, plan->spaces[i].name, length) == 0 && note[length] == ':')
            return true;
    }
    return false;
}

/* The list of arrays says it. */
static bool is_of_arrays(const struct verdict_facts *facts, const struct note *note)
{
    const struct program_arrays *arrays = unplanned_arrays(facts);
    return arrays != NULL && strcmp(note->text, arrays->sentence) == 0;
}

/* What text and plan say of each other, and what the text's reader has to say. */
static void notes_make(const struct verdict_facts *facts)
{
    const struct verdict_parts *parts = facts->parts;
    const struct plan *plan = facts->is_of_plan ? parts->plan : NULL;
    for (size_t i = 0; i < sizeof(parts->around.joined) / sizeof(parts->around.joined[0]); i++)
        if (parts->around.joined[i] != NULL)
            facts_note(facts, VERDICT_NOTE_ELSEWHERE, parts->around.joined[i]);
    const char *choice =
        parts->around.choice != NULL ? torch_choice_sentence(parts->around.choice, facts->arena) : NULL;
    if (choice != NULL)
        facts_note(facts, VERDICT_NOTE_SNAPSHOT, choice);
    if (parts->not_compared != NULL)
        facts_note(facts, VERDICT_NOTE_AGREEMENT,
                   arena_format(facts->arena, "The text was not held against the plan: %s.", parts->not_compared));
    if (plan != NULL && parts->comparison != NULL && parts->comparison->agreement.count > 0)
        facts_note(facts, VERDICT_NOTE_AGREEMENT, facts_sentence(facts, &parts->comparison->agreement));
    for (size_t i = 0; facts->failure != NULL && i < facts->failure->note_count; i++)
        facts_note(facts, VERDICT_NOTE_TEXT, facts->failure->notes[i].text);
    for (uint32_t i = 0; plan != NULL && i < plan->note_count; i++)
        if (!is_of_other_space(facts, plan->notes[i].text) && !is_of_arrays(facts, &plan->notes[i]))
            facts_note(facts, VERDICT_NOTE_PLAN, plan->notes[i].text);
}

/* Where no cause is known, the cause itself says so. */
static void without_bytes_note(const struct verdict_facts *facts)
{
    const char *without_bytes = profiles_without_bytes(facts->parts->profiles, facts->arena);
    if (without_bytes != NULL && facts->out->cause.kind != VERDICT_CAUSE_UNKNOWN)
        facts_note(facts, VERDICT_NOTE_PROFILE, without_bytes);
}

/* Seen on GPUs, with each allocator: results that no memory was found for are counted, too. */
static void live_note(const struct verdict_facts *facts)
{
    int64_t held = facts->live.array_bytes, capacity = facts->out->fit.capacity_bytes;
    static const char counted[] = "JAX counts an array as live from the call that makes it: results of the call that "
                                  "failed may be among the live arrays although they got no memory";
    if (!facts->is_live_known)
        return;
    facts_note(facts, VERDICT_NOTE_PROFILE,
               capacity >= 0 && held > capacity
                   ? arena_format(facts->arena, "%s. Some are: %s are live, and the device has %s.", counted,
                                  facts_size_beside(facts, held, capacity), facts_size_beside(facts, capacity, held))
               : facts->space != NULL && facts->total_bytes > 0
                   ? arena_format(facts->arena, "%s, of %s up to %s.", counted, facts->out->program,
                                  facts_size(facts, facts_outputs_bytes(facts->space)))
                   : arena_format(facts->arena, "%s.", counted));
}

/* A dump or a profile that is here need not be made. */
static void steps_make(const struct verdict_facts *facts)
{
    const struct oom_meaning *said = facts->parts->failure;
    struct verdict *out = facts->out;
    bool has_dump = (facts->parts->plan != NULL && facts->is_of_plan) || facts->parts->around.unnamed_count > 0;
    bool is_past = fit_is_past_device(facts); /* whatever else is alive */
    struct oom_step *steps = arena_array(facts->arena, struct oom_step, said == NULL ? 1 : said->step_count + 1);
    for (size_t i = 0; said != NULL && i < said->step_count; i++)
        if (!(has_dump && said->steps[i].is_for_dump) && !(is_past && said->steps[i].is_for_profile) &&
            !(facts->is_live_known && said->steps[i].is_for_profile) && facts->join == NULL)
            steps[out->step_count++] = said->steps[i];
    out->steps = steps;
}

static void snapshot_figures(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    bool has_segments = moment != NULL && moment->pool->torch.is_known && moment->pool->torch.event_count > 0;
    facts->out->reserved_bytes = moment != NULL ? moment->segments.peak_bytes : -1;
    facts->out->retry_count = has_segments ? replay_driver_retry_count(&moment->pool->torch) : -1;
}

void verdict_make(const struct verdict_parts *parts, struct buf *scratch, struct arena *arena, struct verdict *out)
{
    struct verdict_facts facts = {.parts = parts, .arena = arena, .scratch = scratch, .out = out};
    facts_gather(&facts);
    not_read_make(&facts);
    notes_make(&facts);
    fit_make(&facts);
    unplanned_judge(&facts);
    live_note(&facts);
    if (facts.join != NULL)
        torch_beside_make(&facts);
    unplanned_make(&facts);
    cause_make(&facts);
    without_bytes_note(&facts);
    where_make(&facts);
    fit_judge(&facts);
    peak_make(&facts);
    advice_make(&facts);
    ledger_make(&facts);
    snapshot_figures(&facts);
    out->sentence = sentence_of(&facts);
    steps_make(&facts);
    if (!parts->is_for_row)
        evidence_make(&facts);
}
