/* SPDX-License-Identifier: Apache-2.0
 * bar.c: where the memory went, as stretches that add up to a whole, held against what there was. What the text does
 * not itemise has a stretch with a name of its own. */
#include "base/size_text.h"
#include "base/sum.h"
#include "model/oom/meaning.h"

/* A part of the whole that is smaller is rounding. */
enum { NEAR_PARTS = 100 };

void oom_bar_add(struct oom_bar *bar, const char *word, uint64_t bytes, const char *key, const char *look)
{
    if (bytes > 0 && bar->count < OOM_BAR_STRETCHES)
        bar->stretches[bar->count++] =
            (struct oom_stretch){.word = str_of(word), .bytes = bytes, .key = key, .look = look};
}

static void figure_add(struct oom_bar *bar, const struct oom_failure *failure, const char *word, enum oom_figure_at at,
                       const char *look)
{
    const struct oom_figure *figure = oom_figure(failure, at);
    if (figure != NULL)
        oom_bar_add(bar, word, figure->value, oom_figure_key(at), look);
}

static uint64_t sum_of(const struct oom_bar *bar)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bar->count; i++)
        sum = sum_add_unsigned(sum, bar->stretches[i].bytes);
    return sum;
}

static void limit_set(struct oom_bar *bar, const struct oom_failure *failure, const char *word, enum oom_figure_at at)
{
    const struct oom_figure *figure = oom_figure(failure, at);
    if (figure == NULL)
        return;
    bar->limit_word = word;
    bar->limit_bytes = figure->value;
    bar->limit_key = oom_figure_key(at);
}

/* Of the stretch of figure `of`, figure `at` is fragmentation. */
static void fragmentation_set(struct oom_bar *bar, const struct oom_failure *failure, enum oom_figure_at of,
                              enum oom_figure_at at)
{
    const struct oom_figure *lost = oom_figure(failure, at);
    for (size_t i = 0; i < bar->count; i++)
        if (bar->stretches[i].key == oom_figure_key(of) && lost != NULL && lost->value > 0 &&
            lost->value < bar->stretches[i].bytes) {
            bar->stretches[i].lost_bytes = lost->value;
            bar->stretches[i].lost_key = oom_figure_key(at);
        }
}

static void rest_add(struct oom_bar *bar, uint64_t whole, const char *word, const char *look)
{
    uint64_t sum = sum_of(bar);
    if (bar->count > 0 && sum < whole && whole - sum > whole / NEAR_PARTS)
        oom_bar_add(bar, word, whole - sum, NULL, look);
}

/* The rows of a compiler's report that add up to what it asks for: newer releases leave the reserved part out. */
static void report_bar(struct oom_bar *bar, const struct oom_failure *failure)
{
    uint64_t whole = failure->figures[OOM_needed_bytes].value;
    enum oom_figure_at program =
        oom_figure(failure, OOM_program_bytes) != NULL ? OOM_program_bytes : OOM_requirement_bytes;
    figure_add(bar, failure, "arguments", OOM_arguments_bytes, "parameter");
    figure_add(bar, failure, "temporaries and code", program, "temporary");
    uint64_t without = sum_of(bar);
    size_t count = bar->count;
    figure_add(bar, failure, "reserved", OOM_reserved_bytes, "unknown");
    if (sum_apart(sum_of(bar), whole) >= sum_apart(without, whole))
        bar->count = count;
    rest_add(bar, whole, "outputs and what is not itemised", "output");
    fragmentation_set(bar, failure, program, OOM_fragmentation_bytes);
}

static void compile_bar(struct oom_bar *bar, const struct oom_failure *failure)
{
    uint64_t whole = failure->figures[OOM_needed_bytes].value;
    const char *key = oom_figure_key(OOM_needed_bytes);
    if (oom_is_form(failure, "scoped_vmem"))
        oom_bar_add(bar, "one kernel", whole, key, "temporary");
    else if (oom_is_form(failure, "allocation_exceeds"))
        oom_bar_add(bar, "one buffer", whole, key, "temporary");
    else if (failure->memory_class == OOM_MEMORY_gpu_shared)
        oom_bar_add(bar, "one kernel", whole, key, "temporary");
    else
        report_bar(bar, failure);
    if (bar->count == 0) {
        bar->is_itemised = false;
        oom_bar_add(bar, "not itemised in the text", whole, key, "unknown");
    }
    limit_set(bar, failure, "capacity", OOM_capacity_bytes);
}

/* Of a chip that tells its cores apart. */
static void cores_bar(struct oom_bar *bar, const struct oom_failure *failure)
{
    static const char *const keys[] = {"buffers.0.size_bytes", "buffers.1.size_bytes"}, *const looks[] = {"temporary",
                                                                                                          "parameter"};
    const struct oom_buffers *cores = &failure->lists[OOM_ALLOCATIONS];
    for (size_t i = 0; i < cores->count && i < 2; i++)
        if (cores->items[i].size.is_known && cores->items[i].size.value > 0) {
            oom_bar_add(bar, "part", cores->items[i].size.value, keys[i], looks[i]);
            if (cores->items[i].label.text.data != NULL)
                bar->stretches[bar->count - 1].word = cores->items[i].label.text;
        }
    limit_set(bar, failure, "capacity", OOM_capacity_bytes);
}

/* A GPU's plan: what the program holds in all; the request is one piece of it. */
static void assignment_bar(struct oom_bar *bar, const struct oom_failure *failure)
{
    const struct oom_figure *results = oom_figure(failure, OOM_output_bytes);
    uint64_t shared = oom_shared_output_bytes(failure), whole = failure->figures[OOM_total_bytes].value;
    figure_add(bar, failure, shared > 0 ? "parameters, and results in their memory" : "parameters", OOM_arguments_bytes,
               "parameter");
    if (shared == 0)
        figure_add(bar, failure, "outputs", OOM_output_bytes, "output");
    else if (results != NULL && results->value > shared && results->value - shared > whole / NEAR_PARTS)
        oom_bar_add(bar, "other outputs", results->value - shared, NULL, "output");
    figure_add(bar, failure, "temporaries", OOM_program_bytes, "temporary");
    rest_add(bar, whole, "constants and others", "constant");
    fragmentation_set(bar, failure, OOM_program_bytes, OOM_temporary_fragmentation_bytes);
    bar->of = "the plan of the whole program";
}

/* Of an allocator, as PyTorch's: what it has given out, what it keeps, what is not its own, and the request beside
 * it. */
static void torch_bar(struct oom_bar *bar, const struct oom_failure *failure)
{
    const struct oom_figure *capacity = oom_figure(failure, OOM_capacity_bytes),
                            *unused = oom_figure(failure, OOM_free_bytes);
    figure_add(bar, failure, oom_rows_allocated_word(failure), OOM_allocated_bytes, "parameter");
    if (oom_figure(failure, OOM_unallocated_bytes) != NULL)
        figure_add(bar, failure, "reserved, not allocated", OOM_unallocated_bytes, "unknown");
    else
        oom_bar_add(bar, "reserved, not allocated", oom_unallocated(failure), NULL, "unknown");
    if (failure->family == OOM_FAMILY_torch_mps)
        figure_add(bar, failure, "other allocations", OOM_others_bytes, "other");
    else if (capacity != NULL && unused != NULL && capacity->value > unused->value)
        rest_add(bar, capacity->value - unused->value,
                 failure->family == OOM_FAMILY_torch_gpu ? "not PyTorch's" : "not this allocator's", "other");
    figure_add(bar, failure, "the failed request", OOM_needed_bytes, "temporary");
    limit_set(bar, failure, "capacity", OOM_capacity_bytes);
}

/* At run time: what is taken, and the request beside it. */
static void request_bar(struct oom_bar *bar, const struct oom_failure *failure)
{
    static const char *const words[OOM_FIGURE_COUNT] = {[OOM_largest_free_bytes] = "largest hole",
                                                        [OOM_available_bytes] = "reservable",
                                                        [OOM_free_bytes] = "free",
                                                        [OOM_capacity_bytes] = "capacity"};
    bool has_used = oom_figure(failure, OOM_capacity_bytes) != NULL && oom_figure(failure, OOM_total_bytes) != NULL &&
                    failure->family != OOM_FAMILY_cpu_alloc && failure->family != OOM_FAMILY_other &&
                    failure->family != OOM_FAMILY_tpu_program_load;
    if (has_used)
        figure_add(bar, failure, "in use", OOM_total_bytes, "parameter");
    figure_add(bar, failure, "the failed request", OOM_needed_bytes, "temporary");
    enum oom_figure_at limit = oom_limit_of(failure);
    if (has_used)
        limit_set(bar, failure, "limit", OOM_capacity_bytes);
    else if (limit < OOM_FIGURE_COUNT)
        limit_set(bar, failure, words[limit], limit);
}

/* The figure of the meaning where the two are the same but for rounding. */
static void bar_over_set(struct oom_bar *bar, const struct oom_meaning *meaning, struct arena *arena)
{
    char text[SIZE_TEXT_BYTES];
    if (bar->limit_word == NULL || bar->whole_bytes <= bar->limit_bytes)
        return;
    bar->over_bytes = bar->whole_bytes - bar->limit_bytes;
    const struct oom_figure *needed = oom_figure(meaning->failure, OOM_needed_bytes);
    uint64_t rounding = needed != NULL ? sum_add_unsigned(4 * needed->half_unit, bar->whole_bytes / NEAR_PARTS) : 0;
    bool is_same = meaning->is_over_known && sum_apart(bar->over_bytes, meaning->over_bytes) <= rounding;
    bool is_compile = oom_is_compile(meaning->failure);
    if (is_same)
        bar->over_bytes = meaning->over_bytes;
    bar->over_word = is_compile ? "over by" : is_same || !meaning->is_over_known ? "short by" : "past the limit by";
    bar->over_text = is_same ? meaning->over_text : arena_text(arena, str_of(size_text(text, bar->over_bytes)));
}

void oom_bar_set(struct oom_meaning *meaning, struct arena *arena)
{
    const struct oom_failure *failure = meaning->failure;
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes);
    struct oom_bar *bar = &meaning->bar;
    *bar = (struct oom_bar){.of = "", .is_itemised = true};
    if (oom_is_form(failure, "core_usage"))
        cores_bar(bar, failure);
    else if (oom_is_compile(failure) && needed != NULL && needed->value > 0)
        compile_bar(bar, failure);
    else if (oom_has_assignment(failure))
        assignment_bar(bar, failure);
    else if (oom_figure(failure, OOM_allocated_bytes) != NULL && needed != NULL && needed->value > 0)
        torch_bar(bar, failure);
    else if (!oom_is_compile(failure) && needed != NULL && needed->value > 0)
        request_bar(bar, failure);
    bar->whole_bytes = sum_of(bar);
    bar_over_set(bar, meaning, arena);
}
