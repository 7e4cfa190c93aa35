/* SPDX-License-Identifier: Apache-2.0
 * advice_program.c: changes of the person's program. Each is tried on the compiled heap (advice_try); what does not
 * apply there is not said. */
#include "verdict/advice.h"

#include "base/sum.h"
#include "plan/arguments.h"
#include "plan/describe.h"
#include "plan/relayout.h"
#include "whatif/call.h"
#include "whatif/checkpointed.h"
#include "whatif/split.h"

#include <stdlib.h>

enum { DEVICES_MAX = 128 };

static const char *advice_program_words(const struct advice *advice, const char *before, const char *name,
                                        const char *behind)
{
    return arena_format(advice->facts->arena, "%s%s%s", before, name, behind);
}

/* What a category holds at the peak, as evidence. */
static void category_evidence(const struct advice *advice, enum category category, struct verdict_advice *item)
{
    const struct verdict_facts *facts = advice->facts;
    item->evidence = arena_format(facts->arena, "%s: %s of the %s that are live at the peak.",
                                  describe_capital(category_words(category), facts->arena),
                                  facts_size(facts, facts->space->category_bytes[category]),
                                  facts_size(facts, facts->space->peak_bytes));
    item->tool = "memory_viewer";
    item->filter = arena_format(facts->arena, "cat:%s", category_name(category));
}

static int64_t advice_program_held(const struct advice *advice, enum category category)
{
    return advice->facts->space->category_bytes[category];
}

/* ---- results ---- */

/* "state" of the largest argument that a result could replace; "" without a name. */
static const char *donor_name(const struct advice *advice)
{
    const struct plan *plan = advice->facts->parts->plan;
    const struct plan_argument *largest = NULL;
    if (call_is_of_equinox(plan))
        return "";
    for (uint32_t i = 0; i < plan->argument_count; i++) {
        enum category category = (enum category)plan->arguments[i].choice.category;
        if (category != CATEGORY_BATCH && category != CATEGORY_INPUT &&
            (largest == NULL || plan->arguments[i].bytes > largest->bytes))
            largest = &plan->arguments[i];
    }
    return largest == NULL ? "" : arena_text(advice->facts->arena, call_argument(largest->path));
}

/* Donation saves about what the copies of the cache take (percent). */
enum { SAME_SAVING_PERCENT = 2 };

/* Is the cache all that is to be donated? Then that is the advice for it: exact, where a cache without copies is a
 * bound. */
static bool is_of_cache(struct advice *advice)
{
    if (advice_pattern(advice, PATTERN_CACHE_COPY) == NULL)
        return false;
    if (advice_pattern(advice, PATTERN_NO_DONATION) == NULL)
        return true;
    int64_t total = advice->facts->total_bytes, cache = advice_lands(advice, "without=cache_copy"),
            all = advice_lands(advice, "donate=all");
    return cache >= 0 && all >= 0 && all < total && llabs(cache - all) <= (total - all) / 100 * SAME_SAVING_PERCENT;
}

void advice_find_donate(struct advice *advice)
{
    if (!advice->has_program) {
        advice_text_donate(advice);
        return;
    }
    const struct plan_pattern *pattern = advice_pattern(advice, PATTERN_NO_DONATION);
    struct verdict_advice item = {.change = "donate=all"};
    if (!advice_is_of_program(advice) || is_of_cache(advice))
        return;
    const char *name = donor_name(advice);
    item.title = name[0] != '\0' ? advice_program_words(advice, "Donate ", name, ": results take its memory")
                                 : "Donate the arguments that results replace";
    item.evidence = "Results have the shapes and types of arguments and live in memory of their own.";
    if (pattern != NULL)
        advice_evidence(pattern, advice->facts->arena, &item);
    advice_try(advice, item);
}

/* "jax.jit(f, donate_argnums=(1,))" of the caches that are not donated; NULL: all are. */
static const char *cache_donation(const struct advice *advice)
{
    const struct plan *plan = advice->facts->parts->plan;
    bool *flags = arena_array(advice->facts->arena, bool, (size_t)plan->argument_count + 1), is_any = false;
    for (uint32_t i = 0; i < advice->start.row_count; i++) {
        const struct variant_row *row = &advice->start.rows[i];
        if (!row->is_argument || row->is_output || row->plan_row == PLAN_NONE ||
            advice->start.space->rows[row->plan_row].choice.category != CATEGORY_CACHE)
            continue;
        const struct plan_argument *argument = arguments_find(plan, variant_parameter(&advice->start, row));
        if (argument != NULL)
            is_any = flags[argument - plan->arguments] = true;
    }
    return is_any ? call_donation(plan, flags, advice->facts->arena) : NULL;
}

void advice_find_cache_in_place(struct advice *advice)
{
    const struct plan_pattern *pattern = advice_pattern(advice, PATTERN_CACHE_COPY);
    struct verdict_advice item = {.title = "Donate the cache or state and update it where it is",
                                  .change = "donate=all"};
    if (!advice_is_of_program(advice) || pattern == NULL)
        return;
    advice_evidence(pattern, advice->facts->arena, &item);
    if (is_of_cache(advice) && advice_try(advice, item) != NULL)
        return;
    item.title = "Carry the cache or state through the loop and update it where it is";
    item.change = "without=cache_copy";
    const char *donation = cache_donation(advice);
    if (donation != NULL) {
        item.title = "Donate the cache or state, carry it through the loop and update it where it is";
        item.call = arena_format(advice->facts->arena,
                                 "%s; cache = jax.lax.dynamic_update_slice(cache, new, start)  # in what the loop "
                                 "carries, not in its xs and ys",
                                 donation);
        item.reason = "Do both. Carried but not donated, the cache takes one more copy; "
                      "passed as xs, its memory cannot become the ys.";
    }
    advice_try(advice, item);
}

void advice_find_return_less(struct advice *advice)
{
    const struct plan_pattern *pattern = advice_pattern(advice, PATTERN_PREFILL_LOGITS);
    const struct verdict_facts *facts = advice->facts;
    if (!advice_is_of_program(advice))
        return;
    if (pattern != NULL) {
        struct verdict_advice item = {.title = "Return the logits of the last position only",
                                      .change = "without=prefill_logits"};
        advice_evidence(pattern, facts->arena, &item);
        advice_try(advice, item);
        return;
    }
    int64_t results = facts->space->output_bytes - facts->space->output_reused_bytes;
    if (results < facts->total_bytes / 10 || advice_pattern(advice, PATTERN_NO_DONATION) != NULL)
        return;
    struct verdict_advice item = {
        .title = "Return less of it",
        .saves_bytes = results,
        .lands_at_bytes = facts->total_bytes - results,
        .confidence = VERDICT_GUESS,
        .reason = "It is not known whether the caller needs all of it, nor whether the compiler can avoid the whole "
                  "array when it is not a result.",
        .call = "return y.sum()  # only what the caller uses, instead of all of y",
        .extra_flops_percent = -1,
    };
    category_evidence(advice, CATEGORY_OUTPUT, &item);
    advice_add(advice, item);
}

/* ---- layout, types ---- */

/* The largest array that is mostly padding, if such arrays have most of the padding. It excludes arrays that the
 * compiler copied into that layout because other operations need it. NULL: there is none. */
static const struct plan_row *mostly_padded(const struct advice *advice, const struct plan_pattern *pattern)
{
    const struct verdict_facts *facts = advice->facts;
    const struct plan_row *largest = NULL;
    int64_t bytes = 0, all_bytes = 0; /* of padding */
    for (uint32_t i = 0; i < pattern->row_count; i++) {
        const struct plan_row *row = &facts->space->rows[pattern->rows[i]];
        int64_t padding = row->bytes - row->unpadded_bytes;
        if (row->unpadded_bytes < 0)
            continue;
        all_bytes = sum_add(all_bytes, padding);
        if (padding < row->unpadded_bytes || relayout_of(facts->parts->plan, row) != NULL)
            continue;
        largest = largest == NULL ? row : largest;
        bytes = sum_add(bytes, padding);
    }
    return bytes >= all_bytes / 2 ? largest : NULL;
}

/* Arrays of NOTHING_ELSE times their data are nearly only padding; SEVERE_PERCENT of all padding has to be theirs. */
enum { NOTHING_ELSE = 8, SEVERE_PERCENT = 75 };

/* Is most padding in arrays that no operation needs so? Padding of a few times the data may be a layout that a reader
 * needs. */
static bool is_severe(const struct verdict_facts *facts, const struct plan_pattern *pattern)
{
    int64_t all = 0, severe = 0;
    for (uint32_t i = 0; i < pattern->row_count; i++) {
        const struct plan_row *row = &facts->space->rows[pattern->rows[i]];
        int64_t padding = facts_padding(row);
        all = sum_add(all, padding);
        if (row->bytes / NOTHING_ELSE >= row->unpadded_bytes)
            severe = sum_add(severe, padding);
    }
    return severe >= all / 100 * SEVERE_PERCENT;
}

void advice_find_unpad(struct advice *advice)
{
    if (!advice->has_program) {
        advice_text_unpad(advice);
        return;
    }
    const struct plan_pattern *pattern = advice_pattern(advice, PATTERN_PADDING);
    const struct verdict_facts *facts = advice->facts;
    if (!advice_is_of_program(advice) || pattern == NULL)
        return;
    const struct plan_row *row = mostly_padded(advice, pattern);
    if (row == NULL)
        return;
    const char *shape = facts_shape(facts, row);
    struct verdict_advice item = {.change = "unpad=*"};
    item.title = advice_program_words(advice, "Put a long dimension last: ", shape, " is mostly padding");
    advice_evidence(pattern, facts->arena, &item);
    if (row->unpadded_bytes > 0)
        item.evidence =
            arena_format(facts->arena, "%s takes %s for %s of data (%.1f times).", shape, facts_size(facts, row->bytes),
                         facts_size(facts, row->unpadded_bytes), (double)row->bytes / (double)row->unpadded_bytes);
    struct verdict_advice *added = advice_try(advice, item);
    if (added != NULL && !is_severe(facts, pattern))
        advice_figure_drop(advice, added,
                           "How much is not known, because the compiler chooses the layout of what it computes by the "
                           "operations that read it, whatever the order of dimensions in the source.");
}

void advice_find_optimizer_dtype(struct advice *advice)
{
    struct verdict_advice item = {
        .title = "Keep the optimizer's first moment in bfloat16",
        .change = "cast=mu:bf16",
        .call = "optax.adam(…, mu_dtype=jnp.bfloat16)  # in your optimizer: adamw and others take it as well"};
    if (!advice_is_of_program(advice) || advice_program_held(advice, CATEGORY_OPTIMIZER_STATE) == 0)
        return;
    category_evidence(advice, CATEGORY_OPTIMIZER_STATE, &item);
    advice_try(advice, item);
}

/* ---- the backward pass ---- */

/* How many layers keep something for the backward pass, if their names differ only in numbers; else 0. Two stacks of
 * layers, or blocks beside heads, are not so many of one thing. */
static uint32_t alike_layers(const struct advice *advice, const struct regions *regions)
{
    bool *has_saved = arena_array(advice->facts->arena, bool, (size_t)regions->count + 1);
    const uint8_t *checkpointed = checkpointed_layers(&advice->start);
    uint32_t count = 0;
    uint64_t kind = 0;
    for (uint32_t i = 0; i < advice->start.row_count; i++) {
        const struct variant_row *row = &advice->start.rows[i];
        const struct plan_row *plan_row = &advice->facts->space->rows[row->plan_row];
        uint32_t at = plan_row->made_by != HLO_NONE ? plan_row->made_by : row->instruction_at;
        if (plan_row->choice.category == CATEGORY_SAVED_ACTIVATION && at != HLO_NONE && regions->of[at] != HLO_NONE)
            has_saved[regions->of[at]] = true;
    }
    for (uint32_t i = 0; i < regions->count; i++) {
        if (!has_saved[i] || (checkpointed != NULL && checkpointed[i] == CHECKPOINTED_ALL))
            continue;
        if (count > 0 && regions->items[i].kind != kind)
            return 0;
        kind = regions->items[i].kind;
        count++;
    }
    return count;
}

static const char *layers_title(const struct advice *advice)
{
    const struct regions *regions = regions_by_any(&advice->start);
    uint32_t alike = alike_layers(advice, regions);
    if (alike > 1)
        return arena_format(advice->facts->arena, "Checkpoint the %u layers", alike);
    return regions->count > 1 ? "Checkpoint the layers" : "Checkpoint the layers, or the body of the scan";
}

/* The policy that computes scores alone again. Those that keep the products of weights are not in the model. */
static void policies_find(struct advice *advice)
{
    const struct plan_pattern *scores = advice_pattern(advice, PATTERN_ATTENTION_SCORES);
    struct verdict_advice item = {
        .title = "Checkpoint the layers, but keep all but the attention scores",
        .change = "checkpoint=attention_scores",
        .call = "jax.checkpoint(layer, policy=jax.checkpoint_policies.save_anything_except_these_names(\"scores\"))  # "
                "scores = jax.ad_checkpoint.checkpoint_name(scores, \"scores\")",
        .effort = 1,
    };
    if (scores == NULL || !advice_may_be_first(advice, VERDICT_MODEL, item.effort))
        return;
    advice_evidence(scores, advice->facts->arena, &item);
    advice_try(advice, item);
}

void advice_find_checkpoint(struct advice *advice)
{
    const struct plan_pattern *pattern = advice_pattern(advice, PATTERN_SAVED_ACTIVATIONS);
    struct verdict_advice item = {.change = "checkpoint=*"};
    bool is_of_cause = advice->facts->out->cause.kind == VERDICT_CAUSE_SAVED_ACTIVATIONS;
    if (!advice_is_of_program(advice) || !advice->has_backward ||
        (!is_of_cause && !advice_may_be_first(advice, VERDICT_MODEL, 0)))
        return;
    item.title = layers_title(advice);
    category_evidence(advice, CATEGORY_SAVED_ACTIVATION, &item);
    if (pattern != NULL)
        advice_evidence(pattern, advice->facts->arena, &item);
    struct verdict_advice *added = advice_try(advice, item);
    if (added != NULL && added->is_doubtful)
        added->is_of_cause = is_of_cause && !added->is_uneven;
    else if (added != NULL && pattern != NULL)
        policies_find(advice);
}

/* What it takes is the host's memory already, and its devices share that. */
static bool is_of_cpu(const struct advice *advice)
{
    return advice->facts->parts->plan->platform == SPACE_PLATFORM_CPU;
}

void advice_find_offload(struct advice *advice)
{
    struct verdict_advice item = {.title = "Keep the optimizer's state in the host's memory between its updates",
                                  .change = "offload=mu",
                                  .confidence = VERDICT_GUESS,
                                  .reason = "The state streams back for its update: when 10.5 GiB were offloaded and "
                                            "compiled, 4.4 GiB were saved, less than half."};
    if (!advice_is_of_program(advice) || is_of_cpu(advice) || !advice_may_be_first(advice, VERDICT_GUESS, 0))
        return;
    if (advice_program_held(advice, CATEGORY_OPTIMIZER_STATE) > 0) {
        category_evidence(advice, CATEGORY_OPTIMIZER_STATE, &item);
        advice_try(advice, item);
    }
    const struct plan_pattern *pattern = advice_pattern(advice, PATTERN_SAVED_ACTIVATIONS);
    if (pattern == NULL || !advice->has_backward)
        return;
    item = (struct verdict_advice){
        .title = "Keep what the layers save in the host's memory",
        .change = "offload=saved_activations",
        .confidence = VERDICT_GUESS,
        .reason = "Offloaded values come back piece by piece; the memory for that is not counted. In compiled "
                  "examples it was more than half of what was offloaded.",
        .call = "jax.checkpoint(layer, policy=jax.checkpoint_policies.save_and_offload_only_these_names("
                "names_which_can_be_saved=[], names_which_can_be_offloaded=[\"saved\"], offload_src=\"device\", "
                "offload_dst=\"pinned_host\"))  # x = jax.ad_checkpoint.checkpoint_name(x, \"saved\")",
        .effort = 2,
    };
    advice_evidence(pattern, advice->facts->arena, &item);
    advice_try(advice, item);
}

/* ---- shapes that need not be stored ---- */

static const char *attention_title(const struct advice *advice)
{
    return advice->has_program && advice->facts->parts->plan->platform == SPACE_PLATFORM_GPU
               ? "Use a fused attention kernel: no scores are stored"
               : "Compute attention in blocks of queries: no scores are stored whole";
}

void advice_find_fused_attention(struct advice *advice)
{
    const struct plan_pattern *pattern = advice_pattern(advice, PATTERN_ATTENTION_SCORES);
    struct verdict_advice item = {.title = attention_title(advice), .change = "without=attention_scores"};
    if (advice_text_attention(advice) || !advice_is_of_program(advice) || pattern == NULL ||
        advice_find_blocks(advice, pattern))
        return;
    advice_evidence(pattern, advice->facts->arena, &item);
    advice_try(advice, item);
}

void advice_find_chunked_loss(struct advice *advice)
{
    const struct plan_pattern *pattern = advice_pattern(advice, PATTERN_LOGITS);
    struct verdict_advice item = {.title = "Compute the loss in chunks of the sequence: no logits are stored whole",
                                  .change = "without=logits"};
    advice_text_logits(advice);
    if (!advice_is_of_program(advice) || pattern == NULL)
        return;
    advice_evidence(pattern, advice->facts->arena, &item);
    advice_try(advice, item);
}

/* ---- several devices ---- */

/* The largest arrays that are whole on each device, and their lines, in the line to write. */
static const char *whole_call(const struct advice *advice, const struct plan_pattern *pattern)
{
    enum { ARRAYS_SHOWN = 3 };
    const struct verdict_facts *facts = advice->facts;
    const char *arrays = "", *last = "";
    for (uint32_t i = 0, shown = 0; i < pattern->row_count && shown < ARRAYS_SHOWN; i++) {
        const struct plan_row *row = &facts->space->rows[pattern->rows[i]];
        const char *source = facts_source(facts, row), *shape = facts_shape(facts, row);
        const char *one = source[0] != '\0' ? arena_format(facts->arena, "%s at %s", shape, source) : shape;
        if (shape[0] == '\0' || strcmp(one, last) == 0)
            continue;
        arrays = arena_format(facts->arena, "%s%s%s", arrays, shown++ > 0 ? ", " : "", last = one);
    }
    return arena_format(facts->arena,
                        "x = jax.lax.with_sharding_constraint(x, jax.sharding.NamedSharding(mesh, "
                        "jax.sharding.PartitionSpec(mesh.axis_names[0])))  # mesh: of your arguments%s%s",
                        arrays[0] != '\0' ? "; x: " : "", arrays);
}

void advice_find_sharding_constraint(struct advice *advice)
{
    static const enum pattern_kind split[] = {PATTERN_BATCH_NOT_SPLIT, PATTERN_GATHERED_ACTIVATION};
    struct arena *arena = advice->facts->arena;
    for (size_t i = 0; advice_is_of_program(advice) && i < sizeof(split) / sizeof(split[0]); i++) {
        const struct plan_pattern *pattern = advice_pattern(advice, split[i]);
        uint64_t devices = advice->facts->parts->plan->hlo.device_count;
        if (pattern == NULL || devices < 2 || devices > DEVICES_MAX)
            continue;
        struct verdict_advice item = {
            .title = "Constrain the activations to each device's part of the batch",
            .change = arena_format(arena, "shard=%s:%llu", pattern_name(split[i]), (unsigned long long)devices),
            .call = whole_call(advice, pattern),
        };
        advice_evidence(pattern, arena, &item);
        if (advice_try(advice, item) != NULL)
            return;
    }
}

/* How many devices suffice: a power of two; else the most that are tried. */
static uint32_t devices_that_fit(struct advice *advice, const char *glob)
{
    uint32_t devices = 2;
    for (; devices < DEVICES_MAX && advice->facts->limit_bytes >= 0; devices *= 2) {
        int64_t lands = advice_lands(advice, arena_format(advice->facts->arena, "shard=%s:%u", glob, devices));
        if (lands < 0 || lands <= advice->facts->limit_bytes)
            break;
    }
    return devices;
}

/* Of what the program takes, what an operation has to work on for its way over devices to count (percent). */
enum { OBSTACLE_PERCENT = 5 };

/* Over several devices some operations gather what they work on: how much is the partitioner's choice. */
static void split_doubt(const struct advice *advice, struct verdict_advice *item)
{
    uint32_t at;
    const char *words = split_obstacle(&advice->start, advice->facts->total_bytes / 100 * OBSTACLE_PERCENT, &at);
    if (words == NULL)
        return;
    const char *place = facts_source_of(advice->facts, at);
    advice_figure_drop(advice, item,
                       arena_format(advice->facts->arena,
                                    "How much is not known, because %s%s%s works on a large array, which the "
                                    "partitioner may gather on every device; the arguments are split evenly.",
                                    words, place[0] != '\0' ? " at " : "", place));
}

void advice_find_shard(struct advice *advice)
{
    if (!advice->has_program) {
        advice_text_shard(advice);
        return;
    }
    const struct plan_pattern *pattern = advice_pattern(advice, PATTERN_REPLICATED);
    struct arena *arena = advice->facts->arena;
    struct verdict_advice item = {.call = NULL};
    bool is_of_cause = pattern != NULL && advice->facts->out->cause.kind == VERDICT_CAUSE_REPLICATED;
    if (!advice_is_of_program(advice) || (advice->facts->is_of_request && is_of_cpu(advice)) ||
        (!is_of_cause && !advice_may_be_first(advice, VERDICT_BOUND, 0)))
        return;
    if (pattern != NULL && advice->facts->parts->plan->hlo.device_count <= DEVICES_MAX) {
        item.change = arena_format(arena, "shard=replicated:%llu",
                                   (unsigned long long)advice->facts->parts->plan->hlo.device_count);
        item.title = "Split what every device holds whole (FSDP, ZeRO)";
        advice_evidence(pattern, arena, &item);
        struct verdict_advice *added = advice_try(advice, item);
        if (added != NULL)
            added->is_of_cause = is_of_cause && added->fits != VERDICT_FITS_NO;
    }
    if (advice->facts->parts->plan->hlo.device_count > 1)
        return; /* over more devices than it is split over already: the change knows one device alone */
    uint32_t devices = devices_that_fit(advice, "*");
    item = (struct verdict_advice){.title = arena_format(arena, "Split the program over %u devices", devices),
                                   .change = arena_format(arena, "shard=*:%u", devices),
                                   .effort = pattern != NULL};
    item.evidence =
        arena_format(arena, "%s are needed on one device.", facts_size(advice->facts, advice->facts->total_bytes));
    struct verdict_advice *added = advice_try(advice, item);
    if (added != NULL)
        split_doubt(advice, added);
}
