/* SPDX-License-Identifier: Apache-2.0
 * remedy.c: of the rows of remedy.def those of the failure, each with what its figures say, and what is to be said
 * of all of them. */
#include "verdict/remedy.h"
#include "model/oom/meaning.h"
#include "plan/memory_fit.h"
#include "verdict/torch_moment.h"

#define REMEDY(name, kind, effort, title, call, reason, make)                                                          \
    static const struct remedy row_##name = {VERDICT_ADVICE_##kind, effort, title, call, reason, make};
#include "verdict/remedy.def"
#define REMEDY(name, kind, effort, title, call, reason, make)                                                          \
    static const struct remedy row_##name = {VERDICT_ADVICE_##kind, effort, title, call, reason, make};
#include "verdict/remedy_doing.def"

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

#define DOING(program, activity, memory, ...)                                                                          \
    {OOM_PROGRAM_##program, OOM_ACTIVITY_##activity, OOM_MEMORY_##memory,                                              \
     (const struct remedy *const[]){__VA_ARGS__, NULL}},
static const struct doing {
    enum oom_program program;
    enum oom_activity activity;
    enum oom_memory memory;
    const struct remedy *const *remedies;
} doings[] = {
#include "verdict/remedy_doing.def"
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
    static const enum verdict_advice_kind of_one_step[] = {VERDICT_ADVICE_FUSED_ATTENTION, VERDICT_ADVICE_CHUNKED_LOSS,
                                                           VERDICT_ADVICE_OFFLOAD, VERDICT_ADVICE_CAST,
                                                           VERDICT_ADVICE_SEQUENCE};
    const struct torch_moment *moment = advice->facts->moment;
    if (advice->facts->join == NULL)
        return false;
    for (size_t i = 0; moment->is_retained && i < sizeof(of_one_step) / sizeof(of_one_step[0]); i++)
        if (remedy->kind == of_one_step[i])
            return true; /* each step would hold less, and all of them are held */
    bool is_told = moment->sums[CATEGORY_UNKNOWN].bytes <= moment->in_use_bytes / 2;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (remedy->kind == kinds[i])
            return is_told || (i == 0 && moment->failure != NULL);
    return false;
}

/* GPU and host are one machine's, with one memory. */
static bool is_of_one_memory(const struct oom_failure *failure)
{
    return failure->family == OOM_FAMILY_torch_mps || failure->family == OOM_FAMILY_metal;
}

/* Does no backward pass follow on what it was doing? */
static bool is_without_backward(const struct oom_failure *failure)
{
    switch (failure->activity) {
    case OOM_ACTIVITY_load:
    case OOM_ACTIVITY_merge:
    case OOM_ACTIVITY_export:
    case OOM_ACTIVITY_build:
    case OOM_ACTIVITY_save:
    case OOM_ACTIVITY_restore:
    case OOM_ACTIVITY_kv_cache:
    case OOM_ACTIVITY_prefill:
    case OOM_ACTIVITY_decode:
    case OOM_ACTIVITY_sampling:
    case OOM_ACTIVITY_generation:
    case OOM_ACTIVITY_inference:
    case OOM_ACTIVITY_graph_reserve:
    case OOM_ACTIVITY_evaluation:
    case OOM_ACTIVITY_profile_run: return true;
    default: return false;
    }
}

/* Can it change what stood in the way? What makes room beside a request helps none that is larger than the device; what
 * moves to the host frees nothing of the host's own memory; a host with one memory has no second GPU. */
static bool may_apply(const struct advice *advice, enum verdict_advice_kind kind)
{
    static const enum verdict_advice_kind make_room[] = {VERDICT_ADVICE_OFFLOAD,       VERDICT_ADVICE_NO_GRADIENTS,
                                                         VERDICT_ADVICE_CHECKPOINT,    VERDICT_ADVICE_OPTIMIZER_DTYPE,
                                                         VERDICT_ADVICE_STAGES,        VERDICT_ADVICE_MEMORY_SHARE,
                                                         VERDICT_ADVICE_FRAGMENTATION, VERDICT_ADVICE_FEWER_PROGRAMS};
    const struct oom_failure *failure = advice->facts->failure;
    bool is_past = fit_is_past_device(advice->facts), makes_room = false;
    for (size_t i = 0; i < sizeof(make_room) / sizeof(make_room[0]); i++)
        makes_room = makes_room || kind == make_room[i];
    if ((is_past && makes_room) || (kind == VERDICT_ADVICE_CHECKPOINT && is_without_backward(failure)))
        return false;
    if (is_of_one_memory(failure) && (kind == VERDICT_ADVICE_OFFLOAD || kind == VERDICT_ADVICE_SHARD))
        return false;
    return kind != VERDICT_ADVICE_OFFLOAD || !advice->facts->is_host;
}

static const struct {
    const struct remedy *one, *other;
} sames[] = {
#define SAME(one, other) {&row_##one, &row_##other},
#include "verdict/remedy_doing.def"
};

/* Was it, or what says the same of it, given already? */
static bool is_given(const struct advice *advice, const struct remedy *remedy)
{
    for (uint32_t i = 0; i < advice->given_count; i++) {
        const struct remedy *had = advice->given[i];
        if (had == remedy)
            return true;
        for (size_t k = 0; k < sizeof(sames) / sizeof(sames[0]); k++)
            if ((sames[k].one == had && sames[k].other == remedy) || (sames[k].other == had && sames[k].one == remedy))
                return true;
    }
    return false;
}

static const struct instead {
    enum oom_sign sign;
    const struct remedy *remedy, *other;
} insteads[] = {
#define INSTEAD(sign, remedy, other) {OOM_SIGN_##sign, &row_##remedy, other},
#include "verdict/remedy_instead.def"
};

/* What is left to do where the program does already what the remedy says; NULL: nothing. Each row is read once, so rows
 * in a circle end. */
static const struct remedy *remedy_left(const struct advice *advice, const struct remedy *remedy)
{
    for (size_t i = 0; i < sizeof(insteads) / sizeof(insteads[0]) && remedy != NULL; i++)
        if (insteads[i].remedy == remedy && oom_has_sign(advice->facts->failure, insteads[i].sign))
            remedy = insteads[i].other;
    return remedy;
}

static struct verdict_advice *remedy_add(struct advice *advice, const struct remedy *wanted)
{
    const struct remedy *remedy = remedy_left(advice, wanted);
    if (remedy == NULL || is_given(advice, remedy) || !may_apply(advice, remedy->kind) ||
        is_of_snapshot(advice, remedy) || is_predicted(advice, remedy))
        return NULL;
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
        return NULL;
    enum verdict_fits fits = item.fits;
    advice->kind = remedy->kind;
    struct verdict_advice *added = advice_add(advice, item);
    if (advice->given_count < ADVICE_GIVEN)
        advice->given[advice->given_count++] = remedy;
    if (fits != VERDICT_FITS_UNKNOWN)
        added->fits = fits;
    return added;
}

/* What the memory of a failure is a part of: rows say `gpu` of all devices, and `host` of all memory of the host. */
static enum oom_memory memory_of(const struct oom_failure *failure)
{
    switch (failure->memory_class) {
    case OOM_MEMORY_gpu:
    case OOM_MEMORY_device:
    case OOM_MEMORY_kv_cache: return OOM_MEMORY_gpu;
    case OOM_MEMORY_host: return OOM_MEMORY_host;
    default: return failure->family == OOM_FAMILY_unknown_runtime ? OOM_MEMORY_gpu : OOM_MEMORY_not_known;
    }
}

/* Programs that draw, by words which a framework beside them has as well. */
static bool is_drawn(enum oom_program program)
{
    return program == OOM_PROGRAM_blender || program == OOM_PROGRAM_resolve || program == OOM_PROGRAM_encoder ||
           program == OOM_PROGRAM_unreal || program == OOM_PROGRAM_graphics;
}

/* Of a program and what it was doing the first row counts; servers' own sentences have better rows of their own. */
static const struct doing *doing_of(const struct oom_failure *failure)
{
    static const enum oom_family families[] = {OOM_FAMILY_torch_gpu, OOM_FAMILY_gpu_driver, OOM_FAMILY_gpu_library,
                                               OOM_FAMILY_ggml,      OOM_FAMILY_vulkan,     OOM_FAMILY_level_zero,
                                               OOM_FAMILY_killed,    OOM_FAMILY_directml,   OOM_FAMILY_torch_mps,
                                               OOM_FAMILY_tensorrt,  OOM_FAMILY_nccl,       OOM_FAMILY_unknown_runtime,
                                               OOM_FAMILY_other,     OOM_FAMILY_ascend,     OOM_FAMILY_neuron,
                                               OOM_FAMILY_gaudi,     OOM_FAMILY_process};
    bool is_of_family = failure->family == OOM_FAMILY_metal && oom_is_form(failure, "command");
    if (oom_is_form(failure, "slots"))
        return NULL; /* a cache that is used up, and no memory that was refused */
    if (is_drawn(failure->program) && (failure->framework != OOM_FRAMEWORK_not_known || oom_is_form(failure, "dxvk")))
        return NULL;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        is_of_family |= failure->family == families[i];
    for (size_t i = 0; is_of_family && i < sizeof(doings) / sizeof(doings[0]); i++)
        if ((doings[i].program == OOM_PROGRAM_not_known || doings[i].program == failure->program) &&
            (doings[i].activity == OOM_ACTIVITY_not_known || doings[i].activity == failure->activity) &&
            doings[i].memory == memory_of(failure) &&
            (doings[i].program != OOM_PROGRAM_not_known || failure->family == OOM_FAMILY_torch_gpu ||
             failure->family == OOM_FAMILY_torch_mps))
            return &doings[i];
    return NULL;
}

/* In the order of the row. */
static void doing_add(struct advice *advice, const struct doing *doing)
{
    for (uint32_t i = 0; doing->remedies[i] != NULL; i++) {
        struct verdict_advice *added = remedy_add(advice, doing->remedies[i]);
        if (added != NULL)
            added->effort = i;
    }
}

/* Beside a row of what the program was doing, those of the family count that figures or the form of the text speak for.
 * */
void remedy_find(struct advice *advice)
{
    const struct oom_meaning *said = advice->facts->parts->failure;
    if (advice->facts->failure == NULL)
        return;
    const struct doing *doing = doing_of(advice->facts->failure);
    if (doing != NULL)
        doing_add(advice, doing);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (oom_is_kind(said, &rows[i].kind)) {
            for (const struct remedy *const *each = rows[i].remedies; *each != NULL; each++)
                if (doing == NULL || (*each)->make != NULL || rows[i].kind.form != NULL)
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
    if (facts->failure->family == OOM_FAMILY_torch_gpu && oom_is_past_capacity(facts->failure))
        return arena_format(
            facts->arena,
            "%s are requested in one piece, and the GPU has %s in all: no setting makes room for this request, "
            "it has to become smaller.",
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
        return "The text says neither who made the request nor how large it was, so there is no advice.";
    const char *of_torch = torch_sentence(advice);
    if (of_torch != NULL && facts->failure->framework == OOM_FRAMEWORK_torch)
        return of_torch;
    if (!may_fit)
        return "Nothing found here is enough alone.";
    if (has_measured)
        return NULL;
    return oom_is_kill(facts->failure)
               ? "The text does not say how much more it would have taken: none of these is measured."
               : "The text does not say how much each of these saves.";
}
