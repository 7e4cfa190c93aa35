/* SPDX-License-Identifier: Apache-2.0
 * torch_named_rows.c: what is said of each cause that has a name, and the first advice against it; see torch_named.h.
 */
#include "base/sum.h"
#include "verdict/torch_item.h"
#include "verdict/torch_moment.h"

/* What holds less of the moment than this is not advised about. */
enum { LEAST_PART = 50, LEAST_PART_OF_WORKSPACE = 10 };

static const struct row {
    enum verdict_cause_kind cause;
    enum verdict_advice_kind kind;
    enum category category; /* that its rows are of; CATEGORY_COUNT: of several */
    enum verdict_confidence confidence;
    const char *title, *call, *reason, *change;
} rows[TORCH_NAMED_COUNT] = {
    [TORCH_NAMED_STEPS_KEEP] = {VERDICT_CAUSE_LEAK, VERDICT_ADVICE_LEAK, CATEGORY_COUNT, VERDICT_BOUND,
                                "Keep no tensor of earlier steps, or a bounded number of them",
                                "history.append(y.detach().cpu())  # or collections.deque(maxlen=…)",
                                "Upper bound: what steps before the last two have left. A snapshot does not show which "
                                "variable holds it.",
                                NULL},
    [TORCH_NAMED_WEIGHTS_TWICE] = {VERDICT_CAUSE_WEIGHTS_TWICE, VERDICT_ADVICE_LOAD_ON_HOST, CATEGORY_COUNT,
                                   VERDICT_BOUND,
                                   "Load the weights to the host's memory, or in place of those of the "
                                   "model",
                                   "state = torch.load(path, map_location=\"cpu\", mmap=True); "
                                   "model.load_state_dict(state); del state",
                                   "Upper bound: what the file's own copy holds.", NULL},
    [TORCH_NAMED_EVALUATION] = {VERDICT_CAUSE_EVALUATION, VERDICT_ADVICE_NO_GRADIENTS, CATEGORY_COUNT, VERDICT_BOUND,
                                "Evaluate without a graph", "with torch.no_grad(): …  # and model.eval()",
                                "Upper bound: without a graph the activations of one layer are there at a time.", NULL},
    [TORCH_NAMED_FIRST_STEP] = {VERDICT_CAUSE_OPTIMIZER_STATE, VERDICT_ADVICE_OPTIMIZER_DTYPE, CATEGORY_OPTIMIZER_STATE,
                                VERDICT_GUESS, NULL, NULL, NULL, NULL},
    [TORCH_NAMED_STEP_TEMPORARIES] = {VERDICT_CAUSE_STEP_TEMPORARIES, VERDICT_ADVICE_FUSED_STEP,
                                      CATEGORY_OPTIMIZER_TEMPORARY, VERDICT_BOUND,
                                      "Let the optimizer work in place: fused, or one weight at a time",
                                      "torch.optim.AdamW(model.parameters(), lr=…, fused=True)  # or foreach=False",
                                      "Upper bound: what the step makes and gives back. By default it works on all "
                                      "weights at once, with temporaries as large as they are.",
                                      NULL},
    [TORCH_NAMED_GRAPH_POOLS] = {VERDICT_CAUSE_GRAPH_POOLS, VERDICT_ADVICE_SHARED_POOL, CATEGORY_COUNT, VERDICT_BOUND,
                                 "Let CUDA graphs share one pool, or capture fewer sizes",
                                 "torch.cuda.graph(g, pool=first.pool())  # torch.compile(…, mode=\"default\") "
                                 "captures none",
                                 "Upper bound: what is free in private pools, which nothing else may use.", NULL},
    [TORCH_NAMED_AUTOTUNING] = {VERDICT_CAUSE_AUTOTUNING, VERDICT_ADVICE_WORKSPACE, CATEGORY_COUNT, VERDICT_BOUND,
                                "Compile without trying out kernels on the device",
                                "torch.compile(model)  # mode=\"default\", not \"max-autotune\"",
                                "Upper bound: arrays that kernels are tried out with.", NULL},
    [TORCH_NAMED_CUDNN] = {VERDICT_CAUSE_WORKSPACE, VERDICT_ADVICE_WORKSPACE, CATEGORY_COUNT, VERDICT_BOUND,
                           "Let cuDNN choose algorithms that need little workspace",
                           "torch.backends.cudnn.benchmark = False  # CUDNN_CONV_WSCAP_DBG=512 limits it to 512 MiB",
                           "Upper bound: what cuDNN works in.", NULL},
    [TORCH_NAMED_CUBLAS] = {VERDICT_CAUSE_WORKSPACE, VERDICT_ADVICE_WORKSPACE, CATEGORY_COUNT, VERDICT_BOUND,
                            "Give cuBLAS less to work in", "CUBLAS_WORKSPACE_CONFIG=:4096:2 python …",
                            "Upper bound: one workspace for each stream and thread that multiplies.", NULL},
    [TORCH_NAMED_BUCKETS] = {VERDICT_CAUSE_COLLECTIVES, VERDICT_ADVICE_COMMUNICATION, CATEGORY_COUNT, VERDICT_BOUND,
                             "Let gradients be views of the buckets that devices exchange",
                             "DistributedDataParallel(model, gradient_as_bucket_view=True)",
                             "Upper bound: then each gradient is there once, and not in a bucket, too.", NULL},
    [TORCH_NAMED_AVERAGED] = {VERDICT_CAUSE_AVERAGED_WEIGHTS, VERDICT_ADVICE_AVERAGE_ON_HOST, CATEGORY_COUNT,
                              VERDICT_BOUND, "Keep the averaged weights in the host's memory",
                              "torch.optim.swa_utils.AveragedModel(model, device=\"cpu\")",
                              "Upper bound: all of the average. Each update copies the weights to the host.", NULL},
    [TORCH_NAMED_WIDE_GRADIENTS] = {VERDICT_CAUSE_WIDE_GRADIENTS, VERDICT_ADVICE_CAST, CATEGORY_GRADIENT, VERDICT_GUESS,
                                    "Keep gradients in the type of the weights",
                                    "MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)  # "
                                    "DeepSpeed: \"data_types\": {\"grad_accum_dtype\": \"bf16\"}",
                                    "Half of them, if they are twice as wide: sizes say so, types are not recorded. "
                                    "Sums of many batches lose digits.",
                                    NULL},
    [TORCH_NAMED_LATE_GRADIENTS] = {VERDICT_CAUSE_GRADIENTS, VERDICT_ADVICE_GRADIENTS_FREED, CATEGORY_GRADIENT,
                                    VERDICT_BOUND, "Free the gradients before the forward pass",
                                    "optimizer.zero_grad(set_to_none=True)  # right after optimizer.step()",
                                    "At most this much, if the peak is in the forward pass.", "zero_grad"},
    [TORCH_NAMED_TRAINING_CACHE] = {VERDICT_CAUSE_CACHE, VERDICT_ADVICE_NO_CACHE, CATEGORY_CACHE, VERDICT_BOUND,
                                    "Keep no keys and values in training",
                                    "model(input_ids, labels=…, use_cache=False)",
                                    "Upper bound: attention may save what the cache was made of instead.", "no_cache"},
};

static const struct torch_holder_sum *sum_of(const struct torch_moment *moment, enum torch_named_cause named)
{
    static const enum torch_holder holders[TORCH_NAMED_COUNT] = {
        [TORCH_NAMED_WEIGHTS_TWICE] = TORCH_HOLDER_LOADED,     [TORCH_NAMED_EVALUATION] = TORCH_HOLDER_EVALUATION,
        [TORCH_NAMED_AUTOTUNING] = TORCH_HOLDER_AUTOTUNING,    [TORCH_NAMED_CUDNN] = TORCH_HOLDER_CUDNN,
        [TORCH_NAMED_STEP_TEMPORARIES] = TORCH_HOLDER_FOREACH, [TORCH_NAMED_CUBLAS] = TORCH_HOLDER_CUBLAS,
        [TORCH_NAMED_BUCKETS] = TORCH_HOLDER_BUCKETS,          [TORCH_NAMED_AVERAGED] = TORCH_HOLDER_AVERAGED};
    return &moment->named.sums[holders[named]];
}

/* Whose rows the page shows. */
static enum category category_of(const struct torch_moment *moment, enum torch_named_cause named)
{
    if (rows[named].category != CATEGORY_COUNT)
        return rows[named].category;
    if (named == TORCH_NAMED_STEPS_KEEP)
        return moment->named.kept.category;
    return named == TORCH_NAMED_GRAPH_POOLS ? CATEGORY_COUNT : sum_of(moment, named)->category;
}

static const char *made_at(const struct verdict_facts *facts, const char *line)
{
    return line[0] == '\0' ? "" : arena_format(facts->arena, ", most of it at %s", line);
}

/* "3.00 GiB of 14.22 GiB" */
static const char *share(const struct verdict_facts *facts, int64_t bytes)
{
    return arena_format(facts->arena, "%s of %s", facts_size(facts, bytes),
                        facts_size(facts, facts->moment->in_use_bytes));
}

static const char *kept_words(const struct verdict_facts *facts)
{
    const struct memory_profile_kept *kept = &facts->moment->named.kept;
    return arena_format(facts->arena,
                        "%s are kept from step to step: %llu blocks of %u of the last %u forward passes, "
                        "since %.1f ms, made at %.*s",
                        share(facts, kept->bytes), (unsigned long long)kept->count, kept->step_count, kept->steps_since,
                        (double)kept->first_time_ps / 1e9, (int)kept->words.length, kept->words.data);
}

static const char *first_step_words(const struct verdict_facts *facts)
{
    const struct torch_moment *moment = facts->moment;
    int64_t state = moment->sums[CATEGORY_OPTIMIZER_STATE].bytes;
    return arena_format(facts->arena,
                        "The request failed in the optimizer's first step, which makes its state: %s are made already, "
                        "for %s of parameters. Adam keeps two tensors for each of them",
                        facts_size(facts, state), facts_size(facts, moment->sums[CATEGORY_PARAMETER].bytes));
}

/* What holds how much, without a full stop. */
static const char *words_of(const struct verdict_facts *facts, enum torch_named_cause named)
{
    const struct torch_moment *moment = facts->moment;
    const struct torch_named *found = &moment->named;
    const struct torch_holder_sum *sum = sum_of(moment, named);
    const char *held = share(facts, found->bytes[named]), *line = made_at(facts, sum->line);
    switch (named) {
    case TORCH_NAMED_STEPS_KEEP: return kept_words(facts);
    case TORCH_NAMED_WEIGHTS_TWICE:
        return arena_format(facts->arena,
                            "The weights are there twice: what was read from a file holds %s%s, beside %s "
                            "of the model's own",
                            held, line,
                            facts_size(facts, moment->sums[CATEGORY_PARAMETER].bytes - sum->parameter_bytes));
    case TORCH_NAMED_EVALUATION:
        return arena_format(facts->arena, "An evaluation keeps a graph that nothing asks back: %s in %u blocks%s", held,
                            sum->count, line);
    case TORCH_NAMED_FIRST_STEP: return first_step_words(facts);
    case TORCH_NAMED_STEP_TEMPORARIES:
        return (found->failed_of & 1u << TORCH_HOLDER_FOREACH) != 0
                   ? arena_format(facts->arena,
                                  "The request of %s failed in the optimizer's step, whose temporaries "
                                  "are as large as the weights that it works on at once",
                                  facts_size(facts, moment->failure->requested_bytes))
                   : arena_format(facts->arena, "Temporaries of the optimizer's step hold %s", held);
    case TORCH_NAMED_GRAPH_POOLS:
        return arena_format(facts->arena,
                            "%s are free in private pools of %s, as CUDA graphs have them: nothing else "
                            "may use that",
                            facts_size(facts, found->bytes[named]), facts_size(facts, found->private_bytes));
    case TORCH_NAMED_AUTOTUNING: return arena_format(facts->arena, "Kernels that are tried out hold %s%s", held, line);
    case TORCH_NAMED_CUDNN: return arena_format(facts->arena, "Workspace of cuDNN holds %s%s", held, line);
    case TORCH_NAMED_CUBLAS: return arena_format(facts->arena, "Workspace of cuBLAS holds %s%s", held, line);
    case TORCH_NAMED_BUCKETS:
        return arena_format(facts->arena, "Buckets of DistributedDataParallel hold %s%s", held, line);
    case TORCH_NAMED_AVERAGED: return arena_format(facts->arena, "Averages of the weights hold %s%s", held, line);
    case TORCH_NAMED_WIDE_GRADIENTS:
        return arena_format(facts->arena,
                            "Gradients twice as large as their weights hold %s, as those of 32 bits "
                            "beside weights of 16",
                            held);
    case TORCH_NAMED_LATE_GRADIENTS:
        return arena_format(facts->arena, "Gradients of the step before are still there in the forward pass: %s", held);
    case TORCH_NAMED_TRAINING_CACHE:
        return arena_format(facts->arena, "Keys and values that a model caches hold %s, in a program that trains",
                            held);
    case TORCH_NAMED_COUNT: break;
    }
    return "";
}

void torch_named_set(const struct verdict_facts *facts, enum torch_named_cause named)
{
    const struct torch_named *found = &facts->moment->named;
    cause_set(facts, rows[named].cause, found->bytes[named], rows[named].confidence,
              arena_format(facts->arena, "%s.", words_of(facts, named)));
}

enum torch_named_cause torch_named_of_cause(const struct verdict_facts *facts)
{
    const struct verdict_cause *cause = &facts->out->cause;
    int at = 0;
    while (at < TORCH_NAMED_COUNT && !(facts->moment->named.is_cause[at] && cause->kind == rows[at].cause &&
                                       cause->bytes == facts->moment->named.bytes[at]))
        at++;
    return (enum torch_named_cause)at;
}

struct verdict_evidence torch_named_evidence(const struct verdict_facts *facts, enum torch_named_cause named)
{
    const struct torch_moment *moment = facts->moment;
    enum category category = category_of(moment, named);
    if (category == CATEGORY_COUNT)
        return torch_figure_evidence(facts, TORCH_FREE);
    struct verdict_evidence evidence = torch_moment_evidence(facts, category, moment->sums[category].bytes);
    evidence.rest_bytes = sum_add(moment->named.bytes[named], -evidence.sum_bytes);
    evidence.rest = evidence.rest_bytes == 0  ? NULL
                    : evidence.rest_bytes < 0 ? "of other lines of the same category, which it is without"
                                              : "of other categories, and of the request that failed";
    return evidence;
}

void torch_named_advise(struct advice *advice)
{
    const struct verdict_facts *facts = advice->facts;
    const struct torch_moment *moment = facts->moment;
    const enum torch_named_cause cause = torch_named_of_cause(facts);
    for (int at = 0; at < TORCH_NAMED_COUNT; at++) {
        const struct row *row = &rows[at];
        enum torch_named_cause named = (enum torch_named_cause)at;
        int64_t bytes = moment->named.bytes[at];
        bool is_told = at == (int)cause || at != TORCH_NAMED_STEPS_KEEP;
        int least = row->kind == VERDICT_ADVICE_WORKSPACE ? LEAST_PART_OF_WORKSPACE : LEAST_PART;
        if (row->title == NULL || bytes <= 0 || !is_told || bytes < moment->in_use_bytes / least ||
            (at == TORCH_NAMED_GRAPH_POOLS && !moment->named.is_cause[at]))
            continue;
        struct verdict_advice *added = torch_advice_add(
            advice, &(struct torch_item){row->kind, category_of(moment, named),
                                         at == TORCH_NAMED_WIDE_GRADIENTS ? bytes / 2 : bytes, row->confidence,
                                         row->title, row->call, row->reason,
                                         arena_format(facts->arena, "%s.", words_of(facts, named)), row->change, 0});
        if (added != NULL)
            added->is_of_cause = at == (int)cause;
    }
}
