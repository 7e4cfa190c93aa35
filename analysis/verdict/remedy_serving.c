/* SPDX-License-Identifier: Apache-2.0
 * remedy_serving.c: what texts of servers of language models say of their remedies: many state the length that fits. */
#include "base/size_text.h"
#include "model/oom/meaning.h"
#include "verdict/remedy.h"

#include <string.h>

enum { GPUS_MAX = 128 };

/* A number of tokens that the text states, or -1. */
static int64_t tokens(const struct oom_figure *figure)
{
    return figure->is_known && figure->value <= INT32_MAX ? (int64_t)figure->value : -1;
}

static int64_t asked_tokens(const struct advice *advice) { return tokens(&advice->facts->failure->asked_tokens); }
static int64_t held_tokens(const struct advice *advice) { return tokens(&advice->facts->failure->held_tokens); }

static const char *remedy_serving_count(const struct advice *advice, int64_t number)
{
    char text[COUNT_TEXT_BYTES];
    return arena_text(advice->facts->arena, str_of(size_text_count(text, (uint64_t)number)));
}

/* What one request needs of the cache and what the cache has. False: the text gives no bytes. */
static bool bytes_of(const struct advice *advice, int64_t *needed, int64_t *has)
{
    *needed = facts_figure(advice->facts, OOM_needed_bytes);
    *has = facts_figure(advice->facts, OOM_capacity_bytes);
    return *needed > 0 && *has >= 0 && *needed > *has;
}

/* What is asked for and what there is, in bytes or in tokens. */
static const char *evidence_of(const struct advice *advice)
{
    int64_t needed, has;
    struct arena *arena = advice->facts->arena;
    if (bytes_of(advice, &needed, &has))
        return arena_format(arena, "One request needs %s of cache; there are %s.", facts_size(advice->facts, needed),
                            facts_size(advice->facts, has));
    if (asked_tokens(advice) < 0 || held_tokens(advice) < 0)
        return facts_sentence(advice->facts, &advice->facts->parts->failure->answer);
    return arena_format(arena, "A request may be %s tokens long; %s fit in the cache.",
                        remedy_serving_count(advice, asked_tokens(advice)),
                        remedy_serving_count(advice, held_tokens(advice)));
}

/* Below this share, in per cent, it is the share that leaves nothing for the cache, rather than the weights. */
enum { SMALL_SHARE = 80, MOST_SHARE = 95 };

static bool is_small_share(const struct advice *advice)
{
    unsigned percent = advice->facts->failure->share_percent;
    return percent > 0 && percent < SMALL_SHARE;
}

bool remedy_of_weights(const struct advice *advice, struct verdict_advice *item)
{
    item->is_of_cause = !is_small_share(advice);
    return true;
}

bool remedy_of_share(const struct advice *advice, struct verdict_advice *item)
{
    if (!is_small_share(advice))
        return true;
    item->is_of_cause = true;
    item->title = arena_format(advice->facts->arena, "%s: it was told to take %u %%", item->title,
                               advice->facts->failure->share_percent);
    return true;
}

/* Less than it was told to take; where that is little already, something else fills the device. */
bool remedy_share_less(const struct advice *advice, struct verdict_advice *item)
{
    enum { LITTLE = 40, LESS = 10, USUAL = 90 };
    unsigned percent = advice->facts->failure->share_percent;
    const char *number = strstr(item->call, "0.");
    if (percent == 0 || percent >= USUAL || number == NULL)
        return true;
    item->title = arena_format(advice->facts->arena, "%s: it was told to take %u %%", item->title, percent);
    item->call = arena_format(advice->facts->arena, "%.*s0.%02u", (int)(number - item->call), item->call,
                              percent - percent / LESS);
    return percent > LITTLE;
}

bool remedy_vllm_length(const struct advice *advice, struct verdict_advice *item)
{
    int64_t fit = held_tokens(advice), needed, has;
    item->evidence = evidence_of(advice);
    if (fit <= 0) {
        item->title = "Let requests be shorter";
        item->call = "vllm serve MODEL --max-model-len …";
        item->reason = "The cache has to hold one request of this length; the text does not say which length fits.";
        return true;
    }
    item->title = arena_format(advice->facts->arena, "Let a request be at most %s tokens long",
                               remedy_serving_count(advice, fit));
    item->call = arena_format(advice->facts->arena, "vllm serve MODEL --max-model-len %lld", (long long)fit);
    item->confidence = VERDICT_EXACT;
    item->reason = "vLLM itself states how many tokens fit.";
    if (bytes_of(advice, &needed, &has)) {
        item->saves_bytes = needed - has;
        item->lands_at_bytes = has;
    }
    item->fits = VERDICT_FITS_YES;
    return true;
}

bool remedy_vllm_more(const struct advice *advice, struct verdict_advice *item)
{
    int64_t needed, has;
    item->evidence = evidence_of(advice);
    item->reason = "By default vLLM takes about 90 % of the GPU; the text does not say what the GPU has.";
    if (bytes_of(advice, &needed, &has))
        item->title = arena_format(advice->facts->arena, "Let vLLM take more of the GPU: %s are missing",
                                   facts_size(advice->facts, needed - has));
    if (advice->facts->failure->share_percent >= MOST_SHARE)
        return false;            /* there is no more to take */
    if (held_tokens(advice) > 0) /* a length that fits is stated */
        return true;
    return remedy_of_share(advice, item);
}

/* No server works in less of a device than this, in whole per cent. */
enum { LEAST_SHARE = 25, MOST_OF_OTHERS = 50 };

/* The share that is free, in whole per cent; -1: not known. */
static int64_t free_percent(const struct advice *advice)
{
    int64_t capacity = facts_figure(advice->facts, OOM_capacity_bytes),
            left = facts_figure(advice->facts, OOM_free_bytes);
    return capacity < 100 || left < 0 ? -1 : left / (capacity / 100);
}

/* vLLM was just started: what is taken is other processes', and where that is most of the device, it is the cause. */
bool remedy_vllm_others(const struct advice *advice, struct verdict_advice *item)
{
    int64_t percent = free_percent(advice);
    item->is_of_cause = percent >= 0 && percent < MOST_OF_OTHERS;
    return remedy_others(advice, item);
}

bool remedy_vllm_start(const struct advice *advice, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t capacity = facts_figure(facts, OOM_capacity_bytes), left = facts_figure(facts, OOM_free_bytes),
            wanted = facts_figure(facts, OOM_needed_bytes);
    if (capacity < 100 || left < 0 || wanted < left)
        return false;
    int64_t percent = free_percent(advice);
    percent = percent > 99 ? 99 : percent;
    if (percent < LEAST_SHARE)
        return false;
    item->title =
        arena_format(facts->arena, "Let vLLM take no more than is free: %lld %% of the GPU", (long long)percent);
    item->call = arena_format(facts->arena, "vllm serve MODEL --gpu-memory-utilization 0.%02lld", (long long)percent);
    item->lands_at_bytes = capacity / 100 * percent;
    item->saves_bytes = wanted - item->lands_at_bytes;
    item->confidence = VERDICT_EXACT;
    item->reason = "vLLM then starts; the text does not say whether weights and cache fit.";
    item->evidence = arena_format(facts->arena, "%s of %s are free; vLLM was told to take %s.", facts_size(facts, left),
                                  facts_size(facts, capacity), facts_size(facts, wanted));
    item->fits = VERDICT_FITS_PERHAPS;
    return true;
}

bool remedy_cache_halved(const struct advice *advice, struct verdict_advice *item)
{
    int64_t needed, has, asked = asked_tokens(advice), held = held_tokens(advice);
    item->reason = "At most half, and only if the cache has 16-bit entries.";
    item->evidence = evidence_of(advice);
    if (bytes_of(advice, &needed, &has)) {
        item->confidence = VERDICT_BOUND;
        item->saves_bytes = needed / 2;
        item->lands_at_bytes = needed - needed / 2;
        item->fits = item->lands_at_bytes <= has ? VERDICT_FITS_PERHAPS : VERDICT_FITS_NO;
    } else if (asked > 0 && held > 0) {
        item->fits = 2 * held >= asked ? VERDICT_FITS_PERHAPS : VERDICT_FITS_NO;
    }
    return true;
}

/* The least power of two among which the cache of one request fits. */
bool remedy_vllm_split(const struct advice *advice, struct verdict_advice *item)
{
    int64_t needed, has, asked = asked_tokens(advice), held = held_tokens(advice), gpus = 2;
    bool is_of_bytes = bytes_of(advice, &needed, &has);
    if (is_of_bytes) {
        asked = needed;
        held = has;
    }
    if (asked <= 0 || held <= 0)
        return false;
    while (gpus < GPUS_MAX && asked / gpus > held)
        gpus *= 2;
    item->title = arena_format(advice->facts->arena, "Split weights and cache over %lld GPUs", (long long)gpus);
    item->call = arena_format(advice->facts->arena, "vllm serve MODEL --tensor-parallel-size %lld", (long long)gpus);
    item->reason = "If the heads of the cache split evenly. Split weights also leave more room on each GPU.";
    item->evidence = evidence_of(advice);
    if (is_of_bytes) {
        item->confidence = VERDICT_BOUND;
        item->lands_at_bytes = needed / gpus + (needed % gpus != 0);
        item->saves_bytes = needed - item->lands_at_bytes;
    }
    return true;
}

bool remedy_tgi_tokens(const struct advice *advice, struct verdict_advice *item)
{
    int64_t asked = asked_tokens(advice);
    struct arena *arena = advice->facts->arena;
    bool is_total = oom_is_form(advice->facts->failure, "total");
    const char *flag = is_total ? "--max-batch-total-tokens" : "--max-batch-prefill-tokens";
    item->call = arena_format(arena, "text-generation-launcher --model-id MODEL %s …  # fewer than now", flag);
    item->reason = "The text does not say how many fit.";
    if (asked > 1) {
        const char *what = is_total ? "tokens" : "prompt tokens";
        item->title =
            arena_format(arena, "Process fewer than %s %s at a time", remedy_serving_count(advice, asked), what);
        item->evidence = arena_format(arena, "There was no memory to warm up with %s %s.",
                                      remedy_serving_count(advice, asked), what);
        item->call = arena_format(arena, "text-generation-launcher --model-id MODEL %s %lld  # half, to begin with",
                                  flag, (long long)(asked / 2));
    }
    return true;
}
