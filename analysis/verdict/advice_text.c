/* SPDX-License-Identifier: Apache-2.0
 * advice_text.c: what a text tells without the plan of its program: sums of arguments and results, and the buffers that
 * it lists. Nothing is predicted from it: its sums are bounds, the rest are guesses. */
#include "verdict/advice.h"
#include "verdict/unplanned.h"

#include "base/sum.h"
#include "whatif/call.h"

enum { DEVICES_MAX = 128, LAST_OF_GUESSES = 130 };

static const char *reason_of(const struct verdict_facts *facts)
{
    return facts->parts->around.unnamed_count > 0
               ? arena_format(facts->arena, "Nothing is predicted: %s.", facts_why_no_plan(facts))
               : "There is no plan of the program here. With its dump next to the text, memviewd predicts each change.";
}

static bool is_of_device(const struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    return facts->failure != NULL && !advice->has_program && !facts->is_on_chip && !facts->is_host;
}

/* For a program whose plan is not here: one that was compiled, or that ran beside other arrays. */
static bool is_told(const struct advice *advice) { return is_of_device(advice) && advice->facts->is_jax; }

static bool is_compile(const struct advice *advice) { return is_told(advice) && advice->facts->is_compile; }

static struct verdict_advice item_of(const struct advice *advice, const char *title, const char *call)
{
    return (struct verdict_advice){.title = title,
                                   .saves_bytes = -1,
                                   .lands_at_bytes = -1,
                                   .confidence = VERDICT_GUESS,
                                   .reason = reason_of(advice->facts),
                                   .evidence =
                                       advice->facts->failure != NULL
                                           ? facts_sentence(advice->facts, &advice->facts->parts->failure->answer)
                                           : advice->facts->out->cause.text,
                                   .call = call,
                                   .extra_flops_percent = -1};
}

static void bound_add(struct advice *advice, struct verdict_advice item, int64_t saves)
{
    int64_t needed = advice->facts->out->fit.needed_bytes;
    if (needed < 0 || saves < needed / 100 || saves <= 0)
        return;
    item.confidence = VERDICT_BOUND;
    item.saves_bytes = saves < needed ? saves : needed;
    item.lands_at_bytes = needed - item.saves_bytes;
    advice_add(advice, item);
}

/* A program whose own arrays are known, or whose text says so, takes no arguments. */
static bool has_no_arguments(const struct advice *advice)
{
    const struct program_arrays *arrays = unplanned_arrays(advice->facts);
    return arrays != NULL ? arrays->argument_bytes == 0 : facts_figure(advice->facts, OOM_arguments_bytes) == 0;
}

static void donate_of_arrays(struct advice *advice, const struct program_arrays *arrays)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t bytes = arrays->donatable_bytes / (int64_t)arrays->device_count;
    bool is_over = unplanned_over_bytes(facts) > bytes;
    if (bytes <= 0 || bytes < arrays->least_bytes / 100 || is_over ||
        (facts->failure == NULL && facts->out->fits != VERDICT_FITS_NO))
        return;
    struct verdict_advice item = {.title = "Donate the arguments that results replace",
                                  .saves_bytes = bytes,
                                  .lands_at_bytes = -1,
                                  .confidence = VERDICT_BOUND,
                                  .reason =
                                      "At most this much: the arguments may be needed afterwards. No plan was made.",
                                  .call = "jax.jit(step, donate_argnums=(0,))  # the state that the step returns",
                                  .extra_flops_percent = -1};
    item.evidence =
        arena_format(facts->arena, "Results of %s have the shapes and types of arguments that are not donated.",
                     facts_size(facts, bytes));
    advice_add(advice, item);
}

/* Results that take the memory of arguments: those are donated already. */
static int64_t shared_bytes(const struct verdict_facts *facts)
{
    uint64_t shared = facts->failure != NULL ? oom_shared_output_bytes(facts->failure) : 0;
    return shared <= INT64_MAX ? (int64_t)shared : INT64_MAX;
}

void advice_text_donate(struct advice *advice)
{
    int64_t arguments = facts_figure(advice->facts, OOM_arguments_bytes),
            results = facts_figure(advice->facts, OOM_output_bytes), shared = shared_bytes(advice->facts);
    const struct program_arrays *arrays = unplanned_arrays(advice->facts);
    if (arrays != NULL && unplanned_too_large(advice->facts) == NULL)
        donate_of_arrays(advice, arrays);
    if (!is_told(advice) || arrays != NULL || has_no_arguments(advice) || fit_is_past_device(advice->facts))
        return;
    struct verdict_advice item = item_of(advice, "Donate the arguments that results replace",
                                         "jax.jit(step, donate_argnums=(0,))  # the state that the step returns");
    if (is_compile(advice) && arguments >= 0 && results >= 0) {
        int64_t alone = results - shared;
        item.evidence =
            arena_format(advice->facts->arena, "Arguments take %s; of %s of results %s live in memory of arguments.",
                         facts_size(advice->facts, arguments), facts_size(advice->facts, results),
                         facts_size(advice->facts, shared));
        item.reason = "At most this much: the text does not say which results have the shapes of arguments.";
        bound_add(advice, item, alone < arguments ? alone : arguments);
    } else if (!is_compile(advice) && (shared == 0 || results - shared > results / 100)) {
        item.effort = LAST_OF_GUESSES; /* an array that is asked for at run time is hardly a result */
        advice_add(advice, item);
    }
}

void advice_text_scan_outputs(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    if (!is_told(advice) || facts->out->cause.kind != VERDICT_CAUSE_SCAN_OUTPUTS)
        return;
    struct verdict_advice item = item_of(advice, "Reduce inside the scan, or return every k-th of its outputs",
                                         ADVICE_SCAN_OUTPUTS_CALL "; or scan in pieces, each moved by jax.device_get");
    item.evidence = facts->out->cause.text;
    advice_add(advice, item);
}

static const char *swap_call(const struct oom_failure *failure)
{
    switch (failure->framework) {
    case OOM_FRAMEWORK_tensorflow: return "x = tf.transpose(x, …)  # a long dimension last";
    case OOM_FRAMEWORK_torch_xla: return "x = x.transpose(…).contiguous()  # a long dimension last";
    default: return "x = jnp.swapaxes(x, …)  # a long dimension last";
    }
}

/* What the compiler lists is padded whatever the program is written in. */
void advice_text_unpad(struct advice *advice)
{
    const struct oom_buffer *worst = NULL;
    int64_t padding = 0;
    if (!is_of_device(advice) || !advice->facts->is_compile)
        return;
    const struct oom_buffers *listed = &advice->facts->failure->lists[OOM_ALLOCATIONS];
    for (size_t i = 0; i < listed->count; i++) {
        const struct oom_buffer *buffer = &listed->items[i];
        if (!buffer->size.is_known || !buffer->unpadded.is_known || buffer->unpadded.value >= buffer->size.value)
            continue;
        padding = sum_add(padding, (int64_t)(buffer->size.value - buffer->unpadded.value));
        if (worst == NULL || buffer->size.value - buffer->unpadded.value > worst->size.value - worst->unpadded.value)
            worst = buffer;
    }
    if (worst == NULL)
        return;
    struct str shape = oom_bare_shape(worst->shape.text);
    struct verdict_advice item =
        item_of(advice, "Put a long dimension last in what is mostly padding", swap_call(advice->facts->failure));
    item.evidence =
        arena_format(advice->facts->arena, "%.*s takes %s for %s of data.", (int)shape.length,
                     shape.data == NULL ? "" : shape.data, facts_size(advice->facts, (int64_t)worst->size.value),
                     facts_size(advice->facts, (int64_t)worst->unpadded.value));
    item.reason = "At most this much: the padding of the buffers that the text lists, if they live at the same time.";
    bound_add(advice, item, padding);
}

/* Advises sharding for what is too large for one device by its shape alone; false: nothing is. */
static bool shard_of_arrays(struct advice *advice, const struct program_arrays *arrays)
{
    const struct verdict_facts *facts = advice->facts;
    int64_t device = fit_device_bytes(facts), already = (int64_t)arrays->device_count, devices = 2,
            largest = arrays->count > 0 ? arrays->items[0].bytes / already : 0;
    int64_t part = arrays->least_bytes > largest ? arrays->least_bytes : largest;
    if (part <= device)
        return false;
    while (devices < DEVICES_MAX && part / devices > device)
        devices *= 2;
    struct verdict_advice item = {
        .title = arena_format(facts->arena, "Split it over at least %lld devices", (long long)(devices * already)),
        .saves_bytes = -1,
        .lands_at_bytes = -1,
        .confidence = VERDICT_GUESS,
        .reason = "If all of it splits evenly. Intermediate values are not counted, because no plan was made.",
        .extra_flops_percent = -1};
    item.evidence = arena_format(facts->arena, "%s at least, and a device has %s.", facts_size(facts, part),
                                 fit_device_words(facts));
    item.call =
        arena_format(facts->arena,
                     "x = jax.lax.with_sharding_constraint(x, NamedSharding(jax.make_mesh((%lld,), (\"data\",)), "
                     "P(\"data\")))  # in the jitted function",
                     (long long)(devices * already));
    advice_add(advice, item);
    return true;
}

/* What is past the device has to become smaller. */
void advice_find_smaller(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct program_array *large = unplanned_too_large(facts);
    if (large == NULL && !(is_told(advice) && fit_is_request_past_device(facts)))
        return;
    const char *what = large != NULL ? large->shape : "this one request",
               *size = facts_size(facts, large != NULL ? large->bytes : facts_figure(facts, OOM_needed_bytes));
    const char *wrong = large == NULL ? fit_wrong_size(facts) : NULL;
    struct verdict_advice item = {
        .title = wrong != NULL ? wrong
                               : arena_format(facts->arena, "Make %s smaller: no setting makes room for %s on %s", what,
                                              size, fit_device_words(facts)),
        .saves_bytes = -1,
        .lands_at_bytes = -1,
        .confidence = VERDICT_GUESS,
        .reason = wrong == NULL
                      ? "One array has this size: its shape is wrong, or it has to be made in slices or tiles."
                      : FIT_WRONG_SIZE_REASON,
        .evidence = large != NULL ? arena_format(facts->arena, "%s takes %s.", what, size)
                                  : facts_sentence(facts, &facts->parts->failure->answer),
        .call = large != NULL && large->source[0] != '\0'
                    ? arena_format(facts->arena,
                                   "print(x.shape)  # of what %s makes; if the size is intended: slices or tiles",
                                   large->source)
                    : "print(x.shape)  # of what the line makes; if the size is intended: slices or tiles",
        .is_of_cause = true,
        .extra_flops_percent = -1};
    advice_add(advice, item);
}

/* A power of two of devices among which an even split would fit. */
void advice_text_shard(struct advice *advice)
{
    const struct verdict_fit *fit = &advice->facts->out->fit;
    const struct program_arrays *arrays = unplanned_arrays(advice->facts);
    int64_t devices = 2;
    bool has_total = is_compile(advice) && fit->needed_bytes > 0 && fit->capacity_bytes > 0;
    if (arrays != NULL && fit_is_past_device(advice->facts) && !has_total && shard_of_arrays(advice, arrays))
        return;
    if (!is_told(advice) || fit_is_half_past_device(advice->facts))
        return;
    if (!has_total) {
        advice_add(
            advice,
            item_of(advice,
                    has_no_arguments(advice) ? "Split the largest arrays over more devices"
                                             : "Split parameters and batch over more devices",
                    "state = jax.device_put(state, NamedSharding(jax.make_mesh((2,), (\"data\",)), P(\"data\")))"));
        return;
    }
    while (devices < DEVICES_MAX && fit->needed_bytes / devices > fit->capacity_bytes)
        devices *= 2;
    struct verdict_advice item = item_of(
        advice, arena_format(advice->facts->arena, "Split the program over %lld devices", (long long)devices),
        arena_format(advice->facts->arena,
                     "state = jax.device_put(state, NamedSharding(jax.make_mesh((%lld,), (\"data\",)), P(\"data\")))",
                     (long long)devices));
    item.reason = "If all of it splits evenly; what devices gather from each other is not counted.";
    bound_add(advice, item, fit->needed_bytes - fit->needed_bytes / devices);
}

/* If arguments and results alone are too much, half of the arrays that may be a batch has to make up for it. An array
 * that is too large with a batch of one needs another remedy. */
static bool batch_helps(const struct advice *advice, const struct program_arrays *arrays)
{
    int64_t over = unplanned_over_bytes(advice->facts);
    const struct program_array *large = unplanned_too_large(advice->facts);
    bool is_of_one = large != NULL && strstr(large->shape, "[1,") != NULL;
    return !is_of_one && arrays->batch_bytes > 0 && arrays->batch_bytes / 2 / (int64_t)arrays->device_count >= over;
}

void advice_text_batch(struct advice *advice)
{
    const struct program_arrays *arrays = unplanned_arrays(advice->facts);
    bool is_past = arrays != NULL && fit_is_past_device(advice->facts);
    bool has_batch = arrays != NULL ? batch_helps(advice, arrays)
                                    : !has_no_arguments(advice) && !fit_is_half_past_device(advice->facts);
    if ((is_told(advice) || is_past) && has_batch)
        advice_add(advice, item_of(advice, "Halve the batch", "x[:len(x) // 2]"));
}

bool advice_text_attention(struct advice *advice)
{
    const struct verdict_cause *cause = &advice->facts->out->cause;
    if (!is_told(advice) || cause->kind != VERDICT_CAUSE_ATTENTION_LOGITS)
        return false;
    struct verdict_advice item =
        item_of(advice, "Compute attention in blocks of queries: no scores are stored whole",
                arena_format(advice->facts->arena,
                             "%s; on a GPU: jax.nn.dot_product_attention(q, k, v, implementation=\"cudnn\")",
                             call_attention(false, true, advice->facts->arena)));
    item.evidence = cause->text;
    item.is_of_cause = true;
    advice_add(advice, item);
    return true;
}

void advice_text_logits(struct advice *advice)
{
    const struct verdict_cause *cause = &advice->facts->out->cause;
    if (!is_told(advice) || cause->kind != VERDICT_CAUSE_LOGITS)
        return;
    struct verdict_advice item =
        item_of(advice, "Compute logits and loss for a part of the tokens at a time",
                "jax.lax.map(jax.checkpoint(loss_of_part), (hidden, labels))  # (parts, tokens, …); without a loss: "
                "logits of the tokens that are needed, in bfloat16");
    item.evidence = cause->text;
    item.is_of_cause = true;
    advice_add(advice, item);
}

void advice_text_sequence(struct advice *advice)
{
    if (is_told(advice) && advice->facts->failure->family == OOM_FAMILY_tpu_program_load && !has_no_arguments(advice))
        advice_add(advice, item_of(advice, "Halve the sequence", "x[:, :x.shape[1] // 2]"));
}

/* Counts the float32 buffers among those listed. */
void advice_text_cast(struct advice *advice)
{
    int64_t wide = 0;
    if (!is_compile(advice))
        return;
    const struct oom_buffers *listed = &advice->facts->failure->lists[OOM_ALLOCATIONS];
    for (size_t i = 0; i < listed->count; i++)
        if (listed->items[i].size.is_known && str_starts(listed->items[i].shape.text, STR("f32[")))
            wide = sum_add(wide, (int64_t)(listed->items[i].size.value / 2));
    struct verdict_advice item = item_of(advice, "Keep the largest arrays in bfloat16", "x.astype(jnp.bfloat16)");
    item.evidence =
        arena_format(advice->facts->arena, "Listed buffers of float32 take %s.", facts_size(advice->facts, 2 * wide));
    item.reason = "At most this much: half of the listed float32 buffers, if they live at the same time.";
    bound_add(advice, item, wide);
}
