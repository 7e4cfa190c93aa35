/* SPDX-License-Identifier: Apache-2.0
 * advice_text.c: what a text tells without the plan of its program: sums of arguments and results, and the buffers that
 * it lists. Nothing is predicted from it: its sums are bounds, the rest are guesses. */
#include "verdict/advice.h"

#include "base/sum.h"

enum { DEVICES_MAX = 128, LAST_OF_GUESSES = 130 };
static const char no_plan[] =
    "There is no plan of the program here: with its dump beside the text each change is predicted.";

/* Of a program whose plan is not here: one that was compiled, or that ran beside other arrays. */
static bool is_told(const struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    return facts->failure != NULL && facts->is_jax && !advice->has_program && !facts->is_on_chip && !facts->is_host;
}

static bool is_compile(const struct advice *advice) { return is_told(advice) && advice->facts->is_compile; }

static struct verdict_advice item_of(const struct advice *advice, const char *title, const char *call)
{
    return (struct verdict_advice){.title = title,
                                   .saves_bytes = -1,
                                   .lands_at_bytes = -1,
                                   .confidence = VERDICT_GUESS,
                                   .reason = no_plan,
                                   .evidence = facts_sentence(advice->facts, &advice->facts->parts->failure->answer),
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

void advice_text_donate(struct advice *advice)
{
    int64_t arguments = facts_figure(advice->facts, OOM_arguments_bytes),
            results = facts_figure(advice->facts, OOM_output_bytes),
            shared = facts_figure(advice->facts, OOM_shared_bytes);
    if (!is_told(advice))
        return;
    struct verdict_advice item = item_of(advice, "Donate the arguments that results replace",
                                         "jax.jit(step, donate_argnums=(0,))  # the state that the step gives back");
    if (is_compile(advice) && arguments >= 0 && results >= 0) {
        int64_t alone = results - facts_positive(shared);
        item.evidence =
            arena_format(advice->facts->arena, "Arguments take %s; of %s of results %s live in memory of arguments.",
                         facts_size(advice->facts, arguments), facts_size(advice->facts, results),
                         facts_size(advice->facts, facts_positive(shared)));
        item.reason = "At most so much: which results have the shapes of arguments the text does not say.";
        bound_add(advice, item, alone < arguments ? alone : arguments);
    } else if (!is_compile(advice)) {
        item.effort = LAST_OF_GUESSES; /* an array that is asked for at run time is hardly a result */
        advice_add(advice, item);
    }
}

void advice_text_unpad(struct advice *advice)
{
    const struct oom_buffer *worst = NULL;
    int64_t padding = 0;
    if (!is_compile(advice))
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
    struct verdict_advice item = item_of(advice, "Put a long dimension last in what is mostly padding",
                                         "x = jnp.swapaxes(x, …)  # a long dimension last");
    item.evidence =
        arena_format(advice->facts->arena, "%.*s takes %s for %s of data.", (int)shape.length,
                     shape.data == NULL ? "" : shape.data, facts_size(advice->facts, (int64_t)worst->size.value),
                     facts_size(advice->facts, (int64_t)worst->unpadded.value));
    item.reason = "At most so much: the padding of the buffers that the text lists, if they live at one time.";
    bound_add(advice, item, padding);
}

/* A power of two of devices among which an even split would fit. */
void advice_text_shard(struct advice *advice)
{
    const struct verdict_fit *fit = &advice->facts->out->fit;
    int64_t devices = 2;
    if (!is_told(advice))
        return;
    if (!is_compile(advice) || fit->needed_bytes <= 0 || fit->capacity_bytes <= 0) {
        advice_add(
            advice,
            item_of(advice, "Split parameters and batch over more devices",
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

void advice_text_batch(struct advice *advice)
{
    if (is_told(advice))
        advice_add(advice, item_of(advice, "Halve the batch", "x[:len(x) // 2]"));
}

void advice_text_sequence(struct advice *advice)
{
    if (is_told(advice) && advice->facts->failure->family == OOM_FAMILY_tpu_program_load)
        advice_add(advice, item_of(advice, "Halve the sequence", "x[:, :x.shape[1] // 2]"));
}

/* Of listed buffers those of float32. */
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
    item.reason = "At most so much: half of the listed buffers of float32, if they live at one time.";
    bound_add(advice, item, wide);
}
