/* SPDX-License-Identifier: Apache-2.0
 * advice.c: what will make it fit: all that applies, in order, and what to do where nothing found suffices alone.
 *
 * Order: what makes it fit alone; then what may, donation first, which costs nothing, and last what lands past the
 * limit by less than a prediction errs; within that what is confirmed, exact, model, bound, guess; then the least
 * change to the person's program; then bytes. Flags of the compiler, which has tried already, come behind all that.
 * Bytes that are held at the peak are no saving: what a change saves is what the replay of the heap says
 * (docs/use/what-if.md). */
#include "verdict/remedy.h"

#include "plan/memory_fit.h"
#include "read/device.h"
#include "whatif/confirmed.h"

#include <stdlib.h>

static const struct {
    const char *name;
    uint32_t effort;
    void (*find)(struct advice *advice);
} kinds[VERDICT_ADVICE_COUNT] = {
#define ADVICE(constant, name, effort, find) {name, effort, find},
#include "verdict/advice.def"
#undef ADVICE
};

const char *verdict_advice_name(enum verdict_advice_kind kind) { return kinds[kind].name; }

/* ---- does it fit? ---- */

/* A prediction nearer to the limit than this is none: most are within 2 % (docs/use/what-if.md). */
enum { NEAR_PERCENT = 2 };

static enum verdict_fits fits_of(const struct verdict_facts *facts, const struct verdict_advice *item)
{
    int64_t limit = facts->limit_bytes, near = limit / 100 * NEAR_PERCENT;
    bool is_run = facts->failure != NULL && !facts->is_compile;
    if (item->lands_at_bytes < 0)
        return VERDICT_FITS_PERHAPS;
    if (limit < 0)
        return is_run ? VERDICT_FITS_PERHAPS : VERDICT_FITS_UNKNOWN;
    if (item->lands_at_bytes > limit)
        return item->confidence == VERDICT_MODEL && item->lands_at_bytes - near <= limit ? VERDICT_FITS_PERHAPS
                                                                                         : VERDICT_FITS_NO;
    int64_t share = facts->out->fit.share_bytes;
    if (is_run || item->confidence == VERDICT_BOUND || item->confidence == VERDICT_GUESS ||
        (share >= 0 && item->lands_at_bytes > memory_fit_share_safe(share)))
        return VERDICT_FITS_PERHAPS;
    return item->confidence == VERDICT_MODEL && item->lands_at_bytes + near > limit ? VERDICT_FITS_PERHAPS
                                                                                    : VERDICT_FITS_YES;
}

struct verdict_advice *advice_add(struct advice *advice, struct verdict_advice item)
{
    size_t capacity = advice->capacity;
    advice->items =
        arena_grown(advice->facts->arena, advice->items, (size_t)advice->count + 1, &capacity, sizeof(*advice->items));
    advice->capacity = capacity;
    item.kind = advice->kind;
    item.allocated_bytes = item.allocated_bytes > 0 ? item.allocated_bytes : -1;
    item.effort += 10 * kinds[advice->kind].effort;
    item.fits = fits_of(advice->facts, &item);
    advice->items[advice->count] = item;
    return &advice->items[advice->count++];
}

/* ---- a change of the program ---- */

void advice_tried_forget(struct advice *advice)
{
    advice->last.change = NULL;
    arena_free(advice->tried);
}

/* Leaves the variant as it is after all of them. */
static bool changes_try(struct advice *advice, const char *const *changes, uint32_t count, struct advice_tried *out)
{
    variant_copy(&out->variant, &advice->start, advice->tried);
    for (uint32_t i = 0; i < count; i++) {
        struct err err = ERR_INIT;
        struct change change;
        if (!change_read(str_of(changes[i]), &change, &err) ||
            !change_apply(&out->variant, &change, &out->result, &err))
            return false;
    }
    variant_measure(&out->variant, &out->sums, NULL);
    change_result_settle(&out->result, &out->sums);
    return true;
}

const struct advice_tried *advice_tried(struct advice *advice, const char *change)
{
    struct advice_tried *last = &advice->last;
    if (!advice->has_program)
        return NULL;
    if (last->change == NULL || strcmp(last->change, change) != 0) {
        advice_tried_forget(advice);
        last->applies = changes_try(advice, &change, 1, last);
        last->change = change;
    }
    return last->applies ? last : NULL;
}

static int64_t lands_of(const struct advice *advice, const struct variant_sums *sums)
{
    return advice->facts->total_bytes - (advice->before.total_bytes - sums->total_bytes);
}

bool advice_sums(struct advice *advice, const char *change, struct variant_sums *sums)
{
    const struct advice_tried *tried = advice_tried(advice, change);
    if (tried != NULL)
        *sums = tried->sums;
    return tried != NULL;
}

int64_t advice_lands(struct advice *advice, const char *change)
{
    const struct advice_tried *tried = advice_tried(advice, change);
    return tried != NULL ? lands_of(advice, &tried->sums) : -1;
}

struct verdict_advice *advice_try(struct advice *advice, struct verdict_advice item)
{
    static const enum verdict_confidence confidences[] = {[CHANGE_EXACT] = VERDICT_EXACT,
                                                          [CHANGE_MODEL] = VERDICT_MODEL,
                                                          [CHANGE_BOUND] = VERDICT_BOUND,
                                                          [CHANGE_GUESS] = VERDICT_GUESS};
    struct arena *arena = advice->facts->arena;
    const struct advice_tried *tried = advice_tried(advice, item.change);
    if (tried == NULL)
        return NULL;
    const struct change_result *result = &tried->result;
    item.saves_bytes = advice->before.total_bytes - tried->sums.total_bytes;
    item.lands_at_bytes = lands_of(advice, &tried->sums);
    item.is_doubtful = result->doubt != NULL;
    item.is_uneven = result->is_uneven || result->has_no_figure;
    item.extra_flops_percent = result->has_extra_flops ? result->extra_flops_percent : -1;
    if (item.confidence < confidences[result->confidence])
        item.confidence = confidences[result->confidence];
    if (!result->has_no_figure && (item.saves_bytes <= 0 || item.saves_bytes < advice->before.total_bytes / 100))
        return NULL;
    if (item.reason == NULL)
        item.reason = arena_text(arena, str_of(result->reason));
    if (item.call == NULL)
        item.call = arena_text(arena, str_of(result->call));
    struct verdict_advice *added = advice_add(advice, item);
    if (item.is_doubtful)
        advice_figure_drop(advice, added, item.reason);
    return added;
}

void advice_figure_drop(const struct advice *advice, struct verdict_advice *item, const char *reason)
{
    item->saves_bytes = item->lands_at_bytes = -1;
    item->extra_flops_percent = -1;
    item->confidence = VERDICT_GUESS;
    item->reason = reason;
    item->fits = fits_of(advice->facts, item);
}

const struct plan_pattern *advice_pattern(const struct advice *advice, enum pattern_kind kind)
{
    const struct plan_space *space = advice->has_program ? advice->facts->space : NULL;
    for (uint32_t i = 0; space != NULL && i < space->pattern_count; i++)
        if (space->patterns[i].kind == kind)
            return &space->patterns[i];
    return NULL;
}

void advice_evidence(const struct plan_pattern *pattern, struct arena *arena, struct verdict_advice *item)
{
    item->evidence = pattern->sentence;
    item->tool = "memory_viewer";
    item->filter = arena_format(arena, "pattern:%s", pattern_name((enum pattern_kind)pattern->kind));
}

bool advice_is_of_program(const struct advice *advice)
{
    return advice->has_program && !advice->facts->is_on_chip && !advice->facts->is_host;
}

/* A program that takes less than this percentage of the filled memory is not the cause. */
enum { SMALL_PERCENT = 10 };

/* A device of unknown size has at least this much. */
static int64_t smallest_device_bytes(void)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; device_at(i) != NULL; i++)
        if (device_at(i)->physical_bytes > 0 && device_at(i)->physical_bytes < least)
            least = device_at(i)->physical_bytes;
    return least;
}

/* Kept arrays fill the memory, and the program that happened to ask next is small: changing that program does not
 * help. */
static bool is_beside_cause(const struct verdict_facts *facts)
{
    const struct verdict_cause *cause = &facts->out->cause;
    int64_t takes = facts->total_bytes >= 0 ? facts->total_bytes : facts_figure(facts, OOM_needed_bytes);
    int64_t filled = facts->is_live_known                  ? facts->live.array_bytes
                     : facts->out->fit.capacity_bytes >= 0 ? facts->out->fit.capacity_bytes
                                                           : smallest_device_bytes();
    bool is_kept = cause->kind == VERDICT_CAUSE_LIVE_ARRAYS || cause->kind == VERDICT_CAUSE_LEAK;
    return is_kept && facts->failure != NULL && facts->is_jax && !facts->is_compile && takes >= 0 && filled >= 0 &&
           takes <= filled / 100 * SMALL_PERCENT;
}

/* ---- order ---- */

enum rank {
    RANK_SUFFICES, /* alone, or what there is to suffice for is not known */
    RANK_FREE,     /* it may suffice, and costs neither time nor digits: the first to be tried of what may */
    RANK_MAY_SUFFICE,
    RANK_NOT_KNOWN, /* how far it goes */
    RANK_NOT_ALONE, /* or it leaves all to the compiler, which has tried already */
};

static enum rank rank_of(const struct verdict_advice *item)
{
    if (item->fits == VERDICT_FITS_NO || item->kind == VERDICT_ADVICE_FLAGS)
        return RANK_NOT_ALONE;
    if (item->fits != VERDICT_FITS_PERHAPS)
        return RANK_SUFFICES;
    return item->lands_at_bytes < 0 || item->is_past ? RANK_NOT_KNOWN
           : item->kind == VERDICT_ADVICE_DONATE     ? RANK_FREE
                                                     : RANK_MAY_SUFFICE;
}

static int by_use(const void *left, const void *right)
{
    const struct verdict_advice *a = left, *b = right;
    if (a->is_refuted != b->is_refuted)
        return ORDER(a->is_refuted, b->is_refuted);
    int by_cause = ORDER(b->is_of_cause, a->is_of_cause), by_rank = ORDER((int)rank_of(a), (int)rank_of(b));
    /* That of two the compiler could be asked about one makes the other no worse. */
    int by_confidence = ORDER((int)a->predicted_confidence, (int)b->predicted_confidence),
        by_effort = ORDER(a->effort, b->effort);
    return by_cause ?: by_rank ?: by_confidence ?: by_effort ?: ORDER(b->saves_bytes, a->saves_bytes)
                                                ?: strcmp(a->title, b->title);
}

bool advice_may_be_first(const struct advice *advice, enum verdict_confidence surest, uint32_t effort)
{
    uint32_t least_effort = 10 * kinds[advice->kind].effort + effort;
    bool is_preceded = false;
    for (uint32_t i = 0; advice->is_first_enough && i < advice->count && !is_preceded; i++) {
        const struct verdict_advice *item = &advice->items[i];
        is_preceded = rank_of(item) == RANK_SUFFICES && item->confidence <= surest && item->effort < least_effort &&
                      item->saves_bytes > 0 && item->lands_at_bytes >= 0;
    }
    return !is_preceded;
}

/* ---- two together ---- */

/* How many of the changes that do not suffice alone are tried in pairs. */
enum { PAIRED_MAX = 6 };

struct pair {
    const struct verdict_advice *first, *second;
    int64_t lands_at_bytes;
};

static struct pair pair_find(struct advice *advice)
{
    struct pair best = {NULL, NULL, INT64_MAX};
    const struct verdict_advice *single[PAIRED_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < advice->count && count < PAIRED_MAX; i++)
        if (advice->items[i].change != NULL && advice->items[i].saves_bytes > 0)
            single[count++] = &advice->items[i];
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count; k++) {
            const char *const changes[] = {single[i]->change, single[k]->change};
            struct advice_tried both;
            if (single[i]->kind == single[k]->kind)
                continue;
            advice_tried_forget(advice);
            if (changes_try(advice, changes, 2, &both) && lands_of(advice, &both.sums) < best.lands_at_bytes)
                best = (struct pair){single[i], single[k], lands_of(advice, &both.sums)};
        }
    advice_tried_forget(advice);
    return best;
}

/* In percent of the capacity: a program that leaves less free is near its limit. */
enum { SPARE_PERCENT = 10 };

static bool fits_by_far(const struct verdict_facts *facts)
{
    const struct verdict_fit *fit = &facts->out->fit;
    return facts->out->fits == VERDICT_FITS_YES && fit->free_bytes >= fit->capacity_bytes / 100 * SPARE_PERCENT;
}

static const char *spare_sentence(const struct verdict_facts *facts)
{
    const char *spare = facts_size(facts, facts->out->fit.free_bytes);
    return fits_by_far(facts)
               ? arena_format(facts->arena, "It fits with %s to spare; nothing is needed.", spare)
               : arena_format(facts->arena, "It fits with no more than %s to spare; what is listed would save more.",
                              spare);
}

static const char *sentence_of(struct advice *advice)
{
    static const char nothing[] = "Nothing was found that would make it fit.";
    const struct verdict_facts *facts = advice->facts;
    bool suffices = false;
    for (uint32_t i = 0; i < advice->count; i++)
        suffices = suffices || rank_of(&advice->items[i]) <= RANK_MAY_SUFFICE;
    bool is_first_known = advice->count > 0 && advice->items[0].saves_bytes > 0;
    if (facts->out->fits == VERDICT_FITS_YES && advice->count == 0)
        return NULL;
    if (facts->out->fits == VERDICT_FITS_YES)
        return spare_sentence(facts);
    if (facts->out->fits != VERDICT_FITS_NO || suffices || (facts->is_on_chip && advice->count > 0))
        return NULL;
    if (facts->failure != NULL && (facts->is_host || (!facts->is_jax && !advice->has_program)))
        return remedy_sentence(advice);
    if (!advice->has_program || facts->is_on_chip || facts->limit_bytes < 0)
        return advice->count == 0 ? nothing
               : advice->has_program
                   ? NULL
                   : arena_format(facts->arena, "How much %s is not known: %s.",
                                  is_first_known ? "the others save" : "each of these saves", facts_why_no_plan(facts));
    const struct pair pair = pair_find(advice);
    if (pair.first == NULL)
        return "No single change fits, and no pair of changes that was tried can be combined.";
    int64_t over = pair.lands_at_bytes - facts->limit_bytes;
    if (over > 0)
        return arena_format(facts->arena,
                            "Nothing found here is enough alone. The best two together, %s and %s, leave %s over.",
                            pair.first->change, pair.second->change, facts_size(facts, over));
    return arena_format(facts->arena,
                        "Nothing found here is enough alone. %s and %s together land at %s and fit, by prediction.",
                        pair.first->change, pair.second->change, facts_size(facts, pair.lands_at_bytes));
}

/* Changes of a program are written as calls of JAX, so users of other frameworks do not get them. */
static void jax_calls_drop(struct advice *advice)
{
    const struct oom_failure *failure = advice->facts->failure;
    bool is_other = failure != NULL &&
                    (failure->framework == OOM_FRAMEWORK_torch_xla || failure->framework == OOM_FRAMEWORK_tensorflow ||
                     failure->framework == OOM_FRAMEWORK_julia);
    for (uint32_t i = 0; is_other && advice_is_of_program(advice) && i < advice->count; i++)
        if (advice->items[i].kind != VERDICT_ADVICE_FLAGS)
            advice->items[i].call = "";
}

/* What takes away the cause goes before what has the better figures. */
static int64_t best_of(const struct advice *advice)
{
    const struct verdict *out = advice->facts->out;
    if (out->fits == VERDICT_FITS_YES)
        return -1;
    if (out->cause.kind == VERDICT_CAUSE_LIVE_ARRAYS && advice->count > 0 &&
        advice->items[0].kind == VERDICT_ADVICE_LEAK)
        return 0;
    for (uint32_t i = 0; i < advice->count; i++)
        if (advice->items[i].saves_bytes > 0 && !advice->items[i].is_refuted &&
            (advice->items[i].lands_at_bytes >= 0 || i == 0))
            return i;
    return -1;
}

/* A change that makes the program fit is not refuted by saving less than predicted. */
static bool is_refuted(const struct advice *advice, const struct verdict_advice *predicted,
                       const struct verdict_advice *compiled)
{
    if (compiled->fits == VERDICT_FITS_YES && advice->facts->out->fits != VERDICT_FITS_YES)
        return false;
    bool was_to_fit = predicted->lands_at_bytes >= 0 &&
                      (predicted->fits == VERDICT_FITS_YES || predicted->fits == VERDICT_FITS_PERHAPS);
    return confirmed_is_refuted(predicted->saves_bytes, compiled->saves_bytes, was_to_fit,
                                compiled->fits != VERDICT_FITS_NO);
}

/* The compiler's figures take the place of predicted ones. */
static void compiled_take(struct advice *advice, struct verdict_advice *item, const struct verdict_compiled *compiled)
{
    const struct verdict_advice predicted = *item;
    item->compiled = arena_text(advice->facts->arena, str_of(compiled->sentence));
    if (compiled->total_bytes < 0)
        return;
    item->predicted_bytes = predicted.lands_at_bytes >= 0 ? predicted.lands_at_bytes : advice->facts->total_bytes;
    item->lands_at_bytes = compiled->total_bytes;
    item->saves_bytes = advice->facts->total_bytes - compiled->total_bytes;
    if (compiled->is_of_dump) {
        item->confidence = VERDICT_CONFIRMED;
        item->reason = item->compiled;
    }
    if (compiled->is_partial)
        item->confidence = VERDICT_BOUND;
    item->fits = fits_of(advice->facts, item);
    item->is_partial = compiled->is_partial;
    item->is_refuted = !compiled->is_partial && is_refuted(advice, &predicted, item);
}

static void compiled_fill(struct advice *advice)
{
    const struct verdict_around *around = &advice->facts->parts->around;
    for (uint32_t i = 0; i < advice->count; i++) {
        struct verdict_advice *item = &advice->items[i];
        item->predicted_bytes = -1;
        item->predicted_confidence = item->confidence;
        for (size_t k = 0; k < around->compiled_count && item->change != NULL && item->compiled == NULL; k++)
            if (strcmp(around->compiled[k].change, item->change) == 0)
                compiled_take(advice, item, &around->compiled[k]);
    }
}

/* Where all has its word on whether it fits. */
static void over_fill(struct advice *advice)
{
    int64_t limit = advice->facts->limit_bytes;
    for (uint32_t i = 0; i < advice->count; i++) {
        struct verdict_advice *item = &advice->items[i];
        bool is_over = item->fits == VERDICT_FITS_NO && limit >= 0 && item->lands_at_bytes > limit;
        item->over_bytes = is_over ? item->lands_at_bytes - limit : -1;
        item->fits_text =
            item->fits == VERDICT_FITS_YES       ? "fits"
            : item->fits == VERDICT_FITS_PERHAPS ? "may fit"
            : is_over ? arena_format(advice->facts->arena, "over by %s", facts_size(advice->facts, item->over_bytes))
            : item->fits == VERDICT_FITS_NO ? "over"
                                            : NULL;
        item->is_past = limit >= 0 && item->lands_at_bytes > limit && item->confidence == VERDICT_MODEL;
    }
}

void advice_make(const struct verdict_facts *facts)
{
    const struct plan *plan = facts->parts->plan;
    struct advice *advice = arena_array(facts->arena, struct advice, 1);
    *advice = (struct advice){.facts = facts, .tried = arena_child(facts->arena)};
    advice->has_program = facts->space != NULL && facts->space->space == 0 && plan->graph != NULL &&
                          plan->hlo.instruction_count > 0 && facts->total_bytes > 0;
    facts->out->replayed_bytes = -1;
    if (advice->has_program) {
        variant_begin(&advice->start, plan, facts->space, facts->arena);
        variant_limit(&advice->start, facts->out->fit.capacity_bytes);
        variant_measure(&advice->start, &advice->before, NULL);
        facts->out->replayed_bytes = advice->before.total_bytes;
        advice->has_backward = plan->graph->has_backward;
    }
    /* Of a failure, of a snapshot and of compiled changes more decides what comes first. */
    advice->is_first_enough = facts->parts->is_for_row && facts->failure == NULL && facts->moment == NULL &&
                              facts->parts->around.compiled_count == 0;
    const bool is_beside = is_beside_cause(facts);
    for (int i = 0; i < VERDICT_ADVICE_COUNT; i++) {
        advice->kind = (enum verdict_advice_kind)i;
        if (kinds[i].find != NULL && !(is_beside && i <= VERDICT_ADVICE_SHARD))
            kinds[i].find(advice);
    }
    jax_calls_drop(advice);
    torch_advice_find(advice);
    remedy_find(advice);
    compiled_fill(advice);
    over_fill(advice);
    if (advice->count > 1)
        qsort(advice->items, advice->count, sizeof(*advice->items), by_use);
    advice_patch(advice);
    facts->out->advice_sentence = advice->is_first_enough ? NULL : sentence_of(advice);
    if (facts->moment != NULL && (facts->out->advice_sentence == NULL || facts->failure == NULL || facts->join != NULL))
        facts->out->advice_sentence = torch_advice_sentence(advice);
    facts->out->is_advice_idle = advice->count > 0 && fits_by_far(facts);
    facts->out->advice = advice->items;
    facts->out->advice_count = advice->count;
    facts->out->best_at = best_of(advice);
}
