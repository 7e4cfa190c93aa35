/* SPDX-License-Identifier: Apache-2.0
 * remedy.c: of the rows of remedy.def those of the failure, each with what its figures say, and what is to be said
 * of all of them. */
#include "verdict/remedy.h"
#include "tool/oom/verdict.h"
#include "verdict/torch_moment.h"

#define REMEDY(name, kind, effort, title, call, reason, make)                                                          \
    static const struct remedy row_##name = {VERDICT_ADVICE_##kind, effort, title, call, reason, make};
#include "verdict/remedy.def"

#define R(name) &row_##name
#define FOR(family, framework, memory, cause, form, ...)                                                               \
    {{OOM_FAMILY_##family, OOM_FRAMEWORK_##framework, OOM_MEMORY_##memory, OOM_CAUSE_##cause, form},                   \
     (const struct remedy *const[]){__VA_ARGS__, NULL}},
static const struct {
    struct oom_kind kind;
    const struct remedy *const *remedies;
} rows[] = {
#include "verdict/remedy.def"
};

/* ---- figures ---- */

int64_t remedy_short_bytes(const struct advice *advice)
{
    int64_t needed = facts_figure(advice->facts, OOM_needed_bytes), left = facts_figure(advice->facts, OOM_free_bytes);
    return needed >= 0 && left >= 0 && needed > left ? needed - left : -1;
}

int64_t remedy_kept_bytes(const struct advice *advice)
{
    uint64_t kept = oom_unallocated(advice->facts->failure);
    return kept > INT64_MAX ? INT64_MAX : (int64_t)kept;
}

bool remedy_is_past_device(const struct advice *advice)
{
    int64_t needed = facts_figure(advice->facts, OOM_needed_bytes),
            capacity = facts_figure(advice->facts, OOM_capacity_bytes);
    bool is_limited = facts_figure(advice->facts, OOM_free_bytes) > capacity; /* more is there than it may take */
    return capacity >= 0 && needed > capacity && !is_limited;
}

const char *remedy_size(const struct advice *advice, enum oom_figure_at at)
{
    int64_t bytes = facts_figure(advice->facts, at);
    return bytes < 0 ? "" : facts_size(advice->facts, bytes);
}

/* ---- rows ---- */

/* What a plan predicts of the same kind is better than a guess, and gets its line to write. False: there is nothing. */
static bool is_predicted(struct advice *advice, const struct remedy *remedy)
{
    bool is_there = false;
    for (uint32_t i = 0; i < advice->count; i++)
        if (advice->items[i].kind == remedy->kind &&
            (advice->items[i].change != NULL || torch_advice_is(&advice->items[i]))) {
            is_there = true;
            if (advice->items[i].call[0] == '\0' && remedy->call != NULL)
                advice->items[i].call = remedy->call;
        }
    return is_there;
}

/* What a snapshot of the failure says itself, or would say if it helped. */
static bool is_of_snapshot(const struct advice *advice, const struct remedy *remedy)
{
    static const enum verdict_advice_kind kinds[] = {VERDICT_ADVICE_FRAGMENTATION,  VERDICT_ADVICE_CHECKPOINT,
                                                     VERDICT_ADVICE_NO_GRADIENTS,   VERDICT_ADVICE_BATCH,
                                                     VERDICT_ADVICE_SHARD,          VERDICT_ADVICE_GRADIENTS_FREED,
                                                     VERDICT_ADVICE_OPTIMIZER_DTYPE};
    const struct torch_moment *moment = advice->facts->moment;
    if (advice->facts->join == NULL)
        return false;
    bool is_told = moment->sums[CATEGORY_UNKNOWN].bytes <= moment->in_use_bytes / 2;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (remedy->kind == kinds[i])
            return is_told || (i == 0 && moment->failure != NULL);
    return false;
}

static void remedy_add(struct advice *advice, const struct remedy *remedy)
{
    if (is_of_snapshot(advice, remedy) || is_predicted(advice, remedy))
        return;
    struct verdict_advice item = {
        .title = remedy->title,
        .saves_bytes = -1,
        .lands_at_bytes = -1,
        .confidence = VERDICT_GUESS,
        .reason = remedy->reason,
        .evidence = facts_sentence(advice->facts, &advice->facts->parts->failure->answer),
        .call = remedy->call,
        .effort = remedy->effort,
        .extra_flops_percent = -1,
    };
    if (remedy->make != NULL && !remedy->make(advice, &item))
        return;
    enum verdict_fits fits = item.fits;
    advice->kind = remedy->kind;
    struct verdict_advice *added = advice_add(advice, item);
    if (fits != VERDICT_FITS_UNKNOWN)
        added->fits = fits;
}

void remedy_find(struct advice *advice)
{
    const struct oom_verdict *said = advice->facts->parts->failure;
    if (advice->facts->failure == NULL)
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (oom_is_kind(said, &rows[i].kind)) {
            for (const struct remedy *const *each = rows[i].remedies; *each != NULL; each++)
                remedy_add(advice, *each);
            return;
        }
}

/* ---- of all of them ---- */

/* Why what one would try first is not listed. */
static const char *torch_sentence(const struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t missing = remedy_short_bytes(advice), kept = remedy_kept_bytes(advice);
    bool is_cuda = facts->failure->family == OOM_FAMILY_torch_gpu && !oom_is_form(facts->failure, "xpu");
    if (facts->failure->family == OOM_FAMILY_torch_gpu && remedy_is_past_device(advice))
        return arena_format(facts->arena,
                            "%s are asked for in one piece and the GPU has %s in all: no setting makes room for it, it "
                            "has to become smaller.",
                            remedy_size(advice, OOM_needed_bytes), remedy_size(advice, OOM_capacity_bytes));
    if (is_cuda && facts_figure(facts, OOM_allocated_bytes) >= 0 && missing > kept)
        return arena_format(facts->arena,
                            "%s are missing, and of what PyTorch has reserved %s are not allocated: neither "
                            "torch.cuda.empty_cache() nor another setting of the allocator can free enough.",
                            facts_size(facts, missing), facts_size(facts, kept));
    return NULL;
}

static bool is_measured(const struct verdict_advice *item)
{
    return item->fits == VERDICT_FITS_YES || item->saves_bytes > 0 || item->lands_at_bytes >= 0 ||
           item->confidence == VERDICT_EXACT;
}

const char *remedy_sentence(const struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    bool has_measured = false, may_fit = false;
    for (uint32_t i = 0; i < advice->count; i++) {
        has_measured = has_measured || is_measured(&advice->items[i]);
        may_fit = may_fit || advice->items[i].fits != VERDICT_FITS_NO;
    }
    if (advice->count == 0)
        return "The text tells neither who asked nor for how much: nothing follows from it.";
    const char *of_torch = torch_sentence(advice);
    if (of_torch != NULL && facts->failure->framework == OOM_FRAMEWORK_torch)
        return of_torch;
    if (!may_fit)
        return "Nothing found here is enough alone.";
    if (has_measured)
        return NULL;
    return oom_is_kill(facts->failure)
               ? "How much more it would have taken is not in the text: none of these is measured."
               : "How much each of these saves is not in the text.";
}
