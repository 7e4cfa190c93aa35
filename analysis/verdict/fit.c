/* SPDX-License-Identifier: Apache-2.0
 * fit.c: did it fit: what was needed, what there is, and which of the figures are held against each other.
 *
 * The compiler's total decides whether a program fits. Where a text rounds it and the plan of the program has the same
 * total but for that, the plan's is taken, which is exact. */
#include "base/sum.h"
#include "plan/memory_fit.h"
#include "verdict/capacity.h"
#include "verdict/facts.h"
#include "verdict/torch_moment.h"
#include "verdict/unplanned.h"

#include "model/memory_profile/model.h"
#include "read/device.h"

static bool is_same_but_rounded(const struct verdict_facts *facts, int64_t bytes)
{
    const struct oom_figure *needed = oom_figure(facts->failure, OOM_needed_bytes);
    return needed != NULL && bytes >= 0 && oom_figure_is(needed, (uint64_t)bytes);
}

/* Is what was asked for the whole of a program? */
static bool is_of_program(const struct verdict_facts *facts)
{
    return facts->is_compile && !facts->is_on_chip && !oom_is_form(facts->failure, "allocation_exceeds");
}

static void needed_find(struct verdict_facts *facts)
{
    struct verdict_fit *fit = &facts->out->fit;
    const struct memory_profile_pool *pool = facts->pool;
    int64_t asked = facts_figure(facts, OOM_needed_bytes);
    if (facts->failure == NULL)
        fit->needed_bytes = facts->total_bytes >= 0           ? facts->total_bytes
                            : torch_segments_is_needed(facts) ? facts->moment->segments.peak_bytes
                            : facts->moment != NULL           ? facts->moment->in_use_bytes
                            : pool != NULL ? memory_profile_in_use_bytes(pool->profile, pool->peak_at)
                                           : -1;
    else if (facts->total_bytes >= 0 && !facts->is_on_chip &&
             (facts->is_compile ? !is_of_program(facts) || asked < 0 || is_same_but_rounded(facts, facts->total_bytes)
                                : asked < 0))
        fit->needed_bytes = facts->total_bytes; /* of one array that is too large: the program with it */
    else
        fit->needed_bytes = asked;
    if (is_of_program(facts) && facts->total_bytes >= 0 && fit->needed_bytes == asked && asked != facts->total_bytes)
        facts_note(facts, VERDICT_NOTE_DISAGREEMENT,
                   arena_format(facts->arena,
                                "The text says %s and the plan %s: the plan may be from another compilation of the "
                                "program. Where it went and what would be saved come from the plan.",
                                facts_size(facts, asked), facts_size(facts, facts->total_bytes)));
}

static void fit_capacity_take(struct verdict_facts *facts, enum capacity_from from, int64_t bytes, const char *source)
{
    struct verdict_fit *fit = &facts->out->fit;
    const struct capacity_said one = {from, bytes}, found = {fit->capacity_from, fit->capacity_bytes};
    if (bytes < 0 || (fit->capacity_bytes >= 0 && !capacity_counts_before(&one, &found)))
        return;
    fit->capacity_from = from;
    fit->capacity_bytes = bytes;
    fit->capacity_source = source;
}

/* Beside a plan the limit that its trace records is a device of that trace already (CAPACITY_TRACE). */
static bool is_by_allocator(const struct verdict_facts *facts)
{
    return facts->failure == NULL && facts->parts->plan == NULL && facts->pool != NULL &&
           facts->pool->capacity_bytes > 0;
}

static int64_t stated_bytes(const struct capacity_stated *stated)
{
    return stated->bytes > 0 && stated->bytes <= INT64_MAX ? (int64_t)stated->bytes : -1;
}

static void fit_capacity_find(struct verdict_facts *facts)
{
    const struct verdict_parts *parts = facts->parts;
    fit_capacity_take(facts, CAPACITY_FAILURE, facts_figure(facts, OOM_capacity_bytes),
                      parts->around.failure_file != NULL ? parts->around.failure_file : "error text");
    if (!facts->is_on_chip && !facts->is_host)
        fit_capacity_take(facts, parts->around.capacity.from, stated_bytes(&parts->around.capacity),
                          parts->around.capacity.source);
    if (is_by_allocator(facts))
        fit_capacity_take(facts, CAPACITY_ALLOCATOR, facts->pool->capacity_bytes, facts->pool->capacity_source);
}

/* ---- the whole device ---- */

/* A text of a GPU's allocator tells its limit, unless it is the driver that it asks. */
static bool is_limit_of_allocator(const struct verdict_facts *facts)
{
    bool is_of_gpu = facts->failure != NULL && facts->failure->framework != OOM_FRAMEWORK_tensorflow &&
                     (facts->failure->family == OOM_FAMILY_gpu_bfc || facts->failure->family == OOM_FAMILY_gpu_xla);
    return is_of_gpu && !oom_is_form(facts->failure, "driver") && facts->out->fit.capacity_bytes >= 0 &&
           facts->out->fit.capacity_from == CAPACITY_FAILURE;
}

int64_t fit_device_bytes(const struct verdict_facts *facts)
{
    int64_t capacity = facts->out->fit.capacity_bytes, percent = capacity / MEMORY_FIT_SHARE_PERCENT;
    if (!is_limit_of_allocator(facts))
        return capacity;
    return percent <= INT64_MAX / 100 ? percent * 100 : INT64_MAX;
}

const char *fit_device_words(const struct verdict_facts *facts)
{
    if (fit_device_bytes(facts) < 0)
        return "one device";
    const char *size = facts_size(facts, fit_device_bytes(facts));
    if (!is_limit_of_allocator(facts))
        return size;
    return arena_format(facts->arena, "about %s, if the allocator's limit of %s is %s of it", size,
                        facts_size(facts, facts->out->fit.capacity_bytes), MEMORY_FIT_SHARE_WORDS);
}

const char *fit_wrong_size(const struct verdict_facts *facts)
{
    const int64_t most = INT64_C(64) << 40; /* more than any host with all its devices has */
    const int64_t times = 1024;             /* an array that many times what the host may have is no plan */
    int64_t needed = facts_figure(facts, OOM_needed_bytes), capacity = facts_figure(facts, OOM_capacity_bytes);
    bool is_far_past = facts->is_host && capacity > 0 && needed / times > capacity;
    return needed <= most && !is_far_past
               ? NULL
               : arena_format(facts->arena, "Look for the wrong number: %s is no real size", facts_size(facts, needed));
}

bool fit_is_request_past_device(const struct verdict_facts *facts)
{
    if (facts->failure == NULL || facts->is_compile || facts->is_host || facts->is_on_chip)
        return false;
    int64_t device = fit_device_bytes(facts);
    return facts->parts->failure->cause == OOM_CAUSE_TOO_LARGE ||
           (facts->is_xla && device >= 0 && facts_figure(facts, OOM_needed_bytes) > device);
}

bool fit_is_half_past_device(const struct verdict_facts *facts)
{
    int64_t device = fit_device_bytes(facts);
    return fit_is_request_past_device(facts) && (device < 0 || facts_figure(facts, OOM_needed_bytes) / 2 > device);
}

bool fit_is_past_device(const struct verdict_facts *facts)
{
    return (facts->failure != NULL && facts->failure->is_past_limit && !facts->is_compile) ||
           unplanned_is_over(facts) || unplanned_too_large(facts) != NULL || fit_is_request_past_device(facts);
}

/* ---- did it fit ---- */

/* Limits of two kinds of TPU are further apart than this; releases of libtpu print them up to 10 MiB apart. */
#define LIMIT_APART_BYTES (UINT64_C(12) << 20)

/* The kind of TPU whose limit a compiler's text states; NULL: of none, or of a memory that is not the device's. */
static const struct device *device_of_limit(const struct verdict_facts *facts)
{
    int64_t stated = facts_figure(facts, OOM_capacity_bytes);
    bool is_of_tpu = facts->failure != NULL && facts->is_compile && !facts->is_on_chip &&
                     facts->failure->family == OOM_FAMILY_tpu_compile;
    for (size_t i = 0; is_of_tpu && stated >= 0 && device_at(i) != NULL; i++)
        if (device_at(i)->platform == SPACE_PLATFORM_TPU && device_at(i)->available_bytes > 0 &&
            sum_apart((uint64_t)device_at(i)->available_bytes, (uint64_t)stated) <= LIMIT_APART_BYTES)
            return device_at(i);
    return NULL;
}

static void device_find(struct verdict_facts *facts)
{
    const struct device *device = facts->parts->around.device == NULL ? device_of_limit(facts) : NULL;
    facts->out->fit.device = device == NULL ? facts->parts->around.device
                                            : arena_format(facts->arena, "%s, by its limit of %s", device->title,
                                                           facts_size(facts, facts_figure(facts, OOM_capacity_bytes)));
}

/* Does what was handed in count, and not what a text or a curve of this verdict says? */
static bool is_capacity_of_parts(const struct verdict_facts *facts)
{
    const struct verdict_fit *fit = &facts->out->fit;
    return fit->capacity_bytes >= 0 && fit->capacity_from == facts->parts->around.capacity.from;
}

/* A GPU of whose allocator nothing is known. */
static bool is_whole_gpu(const struct verdict_facts *facts)
{
    const struct verdict_parts *parts = facts->parts;
    bool is_of_plan = facts->space != NULL && facts->space->space == 0 && parts->plan->platform == SPACE_PLATFORM_GPU;
    return parts->around.capacity.is_physical && is_capacity_of_parts(facts) &&
           (parts->around.capacity.is_of_gpu || is_of_plan);
}

static bool is_physical_of_trace(const struct verdict_facts *facts)
{
    return facts->out->fit.capacity_from == CAPACITY_ALLOCATOR && facts->pool != NULL &&
           facts->pool->capacity_is_physical;
}

/* What a process with PyTorch takes of a GPU outside of its allocator: the CUDA context and its kernels, no less. */
enum { TORCH_BESIDE_BYTES = 512 << 20 };

/* Nothing failed that is known of: what is needed beside what there is. */
static void without_failure_judge(struct verdict_facts *facts)
{
    static const enum verdict_fits fits[] = {[MEMORY_FIT_NOT_KNOWN] = VERDICT_FITS_UNKNOWN,
                                             [MEMORY_FIT_FITS] = VERDICT_FITS_YES,
                                             [MEMORY_FIT_CLOSE] = VERDICT_FITS_PERHAPS,
                                             [MEMORY_FIT_DEFAULT] = VERDICT_FITS_PERHAPS,
                                             [MEMORY_FIT_OVER] = VERDICT_FITS_NO};
    const struct verdict_parts *parts = facts->parts;
    struct verdict_fit *fit = &facts->out->fit;
    bool is_of_parts = is_capacity_of_parts(facts);
    const bool is_torch = facts->moment != NULL && facts->total_bytes < 0, is_whole = is_whole_gpu(facts);
    int64_t half_bytes = is_of_parts ? (int64_t)parts->around.capacity.half_bytes : 0;
    if (is_torch && is_whole && half_bytes < TORCH_BESIDE_BYTES)
        half_bytes = TORCH_BESIDE_BYTES;
    const struct memory_capacity capacity = {.bytes = fit->capacity_bytes,
                                             .half_bytes = half_bytes,
                                             .asked_bytes = -1,
                                             .source = fit->capacity_source,
                                             .is_physical = is_of_parts ? parts->around.capacity.is_physical
                                                                        : is_physical_of_trace(facts),
                                             .is_of_gpu = is_whole && !is_torch};
    struct memory_fit judged;
    memory_fit_judge(&capacity, fit->needed_bytes, fit->space, facts->arena, &judged);
    facts->out->fits = fits[judged.word];
    fit->over_bytes = judged.over_bytes;
    fit->free_bytes = judged.free_bytes;
    fit->share_bytes = judged.share_bytes;
    fit->word = memory_fit_word_name(judged.word);
    fit->sentence = judged.sentence;
}

/* At run time the program is held against what was free, not against what there is in all. */
static void over_find(struct verdict_facts *facts)
{
    const struct oom_meaning *said = facts->parts->failure;
    struct verdict_fit *fit = &facts->out->fit;
    bool is_run = facts->failure != NULL && !facts->is_compile;
    facts->limit_bytes = fit->capacity_bytes;
    if (is_run) {
        fit->free_bytes = facts_figure(facts, OOM_free_bytes);
        if (facts->failure->family == OOM_FAMILY_tpu_program_load && said->is_limit_known)
            facts->limit_bytes = (int64_t)said->limit_bytes;
        fit->over_bytes = said->is_over_known ? (int64_t)said->over_bytes : -1;
        facts->out->fits = VERDICT_FITS_NO;
        return;
    }
    if (torch_moment_is_failure(facts)) {
        facts->out->fits = VERDICT_FITS_NO;
        return;
    }
    if (fit->needed_bytes < 0 || fit->capacity_bytes < 0) {
        facts->out->fits = facts->failure != NULL ? VERDICT_FITS_NO : VERDICT_FITS_UNKNOWN;
        if (said != NULL && said->is_over_known)
            fit->over_bytes = (int64_t)said->over_bytes;
        return;
    }
    if (facts->failure == NULL) {
        without_failure_judge(facts);
        return;
    }
    int64_t over = fit->needed_bytes - fit->capacity_bytes;
    facts->out->fits = over > 0 ? VERDICT_FITS_NO : VERDICT_FITS_YES;
    fit->over_bytes = facts_positive(over);
    fit->free_bytes = facts_positive(-over);
    /* Figures of a text that are equal as they are rounded there. */
    if (over <= 0 && fit->capacity_from == CAPACITY_FAILURE) {
        facts->out->fits = VERDICT_FITS_NO;
        fit->over_bytes = said->is_over_known ? (int64_t)said->over_bytes : -1;
        fit->free_bytes = -1;
    }
}

/* How sure the figures of `fit` are: those of text and snapshot, those of the text, else what the cause rests on. */
static void sureness_find(const struct verdict_facts *facts)
{
    const struct verdict *out = facts->out;
    const struct oom_meaning *said = facts->parts->failure;
    struct verdict_fit *fit = &facts->out->fit;
    bool is_of_both = out->together != NULL && out->together->row_count > 0;
    fit->sureness = is_of_both     ? verdict_confidence_name(VERDICT_EXACT)
                    : said != NULL ? said->sureness
                                   : verdict_confidence_name(out->cause.confidence);
    fit->sureness_of = is_of_both ? "in the snapshot" : said != NULL ? said->sureness_of : "";
    fit->sureness_reason = is_of_both || said == NULL ? NULL : said->sureness_reason;
}

void fit_judge(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    sureness_find(facts);
    /* Rows that are the whole device are within it: what was over is what was asked for beside them. */
    out->where_over_bytes =
        out->where_bytes > facts_positive(out->fit.capacity_bytes) ? facts_positive(out->fit.over_bytes) : 0;
}

static const char *needs_text(const struct verdict_facts *facts)
{
    const struct verdict_fit *fit = &facts->out->fit;
    if (fit->needed_bytes < 0)
        return "How much was needed is not known.";
    if (fit->capacity_bytes < 0)
        return arena_format(facts->arena, "Needs %s of %s; capacity not known.", facts_size(facts, fit->needed_bytes),
                            fit->space);
    const char *needed = facts_size_beside(facts, fit->needed_bytes, fit->capacity_bytes),
               *capacity = facts_size_beside(facts, fit->capacity_bytes, fit->needed_bytes),
               *over = facts_size(facts, fit->over_bytes);
    if (fit->needed_bytes == fit->capacity_bytes) /* as the text rounds them */
        return fit->over_bytes <= 0
                   ? arena_format(facts->arena, "Needs more than the %s of %s.", capacity, fit->space)
                   : arena_format(facts->arena, "Needs %s more than the %s of %s.", over, capacity, fit->space);
    return arena_format(facts->arena, "Needs %s of %s; %s are available: over by %s.", needed, fit->space, capacity,
                        over);
}

/* What the text says of one request, and what a whole run of its program takes, where the plan of that is here. */
static const char *run_text(const struct verdict_facts *facts)
{
    const struct plan_space *space = facts->space;
    const char *answer = facts_sentence(facts, &facts->parts->failure->answer);
    if (space == NULL || facts->total_bytes <= 0 || facts->out->program == NULL)
        return answer;
    const char *needs =
        arena_format(facts->arena, "%s One run of %s needs %s of %s: arguments %s, outputs %s, temporaries %s", answer,
                     facts->out->program, facts_size(facts, facts->total_bytes), space->name,
                     facts_size(facts, space->parameter_bytes), facts_size(facts, facts_outputs_bytes(space)),
                     facts_size(facts, space->total_bytes - space->indefinite_bytes));
    int64_t capacity = facts->out->fit.capacity_bytes;
    if (capacity < 0)
        return arena_format(facts->arena, "%s.", needs);
    bool takes_a_share = facts->is_jax && is_whole_gpu(facts);
    return arena_format(facts->arena, "%s. The device has %s%s.", needs, facts_size(facts, capacity),
                        takes_a_share ? arena_format(facts->arena, ", of which JAX takes %d %% by default",
                                                     (int)MEMORY_FIT_SHARE_PERCENT)
                                      : "");
}

static const char *word_of(enum verdict_fits fits)
{
    return memory_fit_word_name(fits == VERDICT_FITS_YES       ? MEMORY_FIT_FITS
                                : fits == VERDICT_FITS_NO      ? MEMORY_FIT_OVER
                                : fits == VERDICT_FITS_PERHAPS ? MEMORY_FIT_CLOSE
                                                               : MEMORY_FIT_NOT_KNOWN);
}

void fit_make(struct verdict_facts *facts)
{
    struct verdict_fit *fit = &facts->out->fit;
    *fit = (struct verdict_fit){
        .needed_bytes = -1, .capacity_bytes = -1, .over_bytes = -1, .free_bytes = -1, .share_bytes = -1};
    bool is_of_gpu_kernel = facts->failure != NULL && facts->failure->memory_class == OOM_MEMORY_gpu_shared;
    fit->space = facts->failure != NULL && facts->failure->memory_space.text.data != NULL
                     ? oom_space_name(facts->failure, facts->arena)
                 : facts->is_host       ? "host memory"
                 : is_of_gpu_kernel     ? "shared memory"
                 : facts->space != NULL ? facts->space->name
                 : facts->pool != NULL  ? arena_text(facts->arena, facts->pool->name)
                                        : "device memory";
    needed_find(facts);
    fit_capacity_find(facts);
    over_find(facts);
    device_find(facts);
    bool is_run = facts->failure != NULL && !facts->is_compile;
    if (fit->sentence == NULL)
        fit->sentence = is_run ? run_text(facts) : needs_text(facts);
    if (torch_moment_is_failure(facts))
        torch_moment_fit(facts);
    if (torch_segments_is_needed(facts))
        fit->sentence = arena_format(facts->arena, "%s %s", fit->sentence, torch_segments_sentence(facts));
    if (fit->word == NULL)
        fit->word = word_of(facts->out->fits);
}
