/* SPDX-License-Identifier: Apache-2.0
 * where.c: where it all went: stretches that add up, to the byte, to what was needed; the same by whose memory it
 * is. */
#include "verdict/facts.h"
#include "verdict/torch_join.h"
#include "verdict/torch_moment.h"

#include "base/sum.h"
#include "model/memory_profile/model.h"

enum { ROWS_MAX = OOM_BAR_STRETCHES * 2 + CATEGORY_COUNT };

static void where_add(struct verdict_where *rows, uint32_t *count, struct verdict_where row)
{
    if (row.bytes > 0 && *count < ROWS_MAX)
        rows[(*count)++] = row;
}

static void kind_add(const struct verdict_facts *facts, const char *kind, const char *label, int64_t bytes,
                     const char *source)
{
    where_add(facts->out->where, &facts->out->where_count,
              (struct verdict_where){.kind = kind, .label = label, .bytes = bytes, .source = source});
}

/* What lies between the compiler's heap and the largest sum of what is live in it. */
static int64_t fragmentation_of(const struct plan_space *space)
{
    int64_t heap = space->total_bytes - space->indefinite_bytes;
    bool is_known = space->heap.failure == HEAP_FINE && space->trace_at != PLAN_NONE;
    return is_known && space->heap.peak_bytes < heap ? heap - space->heap.peak_bytes : 0;
}

static void of_plan(const struct verdict_facts *facts)
{
    const struct plan_space *space = facts->space;
    const int64_t lost = fragmentation_of(space);
    int64_t temporary = facts_positive(space->total_bytes - space->indefinite_bytes - lost);
    int64_t arguments = space->parameter_bytes, outputs = facts_outputs_bytes(space);
    int64_t left = space->total_bytes - temporary - lost - arguments - outputs - space->constant_bytes;
    kind_add(facts, "arguments", "arguments", arguments, "plan");
    kind_add(facts, "outputs", "outputs", outputs, "plan");
    /* Elsewhere the temporaries are what the compiler allocated for them, fragmentation with it. */
    kind_add(facts, "temporaries", lost > 0 ? "temporaries, without fragmentation" : "temporaries",
             temporary + (left < 0 ? left : 0), "plan");
    kind_add(facts, "constants", "constants", space->constant_bytes, "plan");
    kind_add(facts, "others", "other allocations of the plan", left, "plan");
    kind_add(facts, "fragmentation", "fragmentation of the heap", lost, "plan");
    if (facts->out->fit.needed_bytes > space->total_bytes && facts->is_compile)
        kind_add(facts, "program", "program code, and what else the plan does not list",
                 facts->out->fit.needed_bytes - space->total_bytes, "error text");
}

static void categories_of_plan(const struct verdict_facts *facts)
{
    const struct plan_space *space = facts->space;
    struct verdict *out = facts->out;
    int64_t left = out->where_bytes;
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        const char *name = category_name((enum category)i);
        where_add(out->categories, &out->category_count,
                  (struct verdict_where){.kind = "category",
                                         .label = category_words((enum category)i),
                                         .bytes = space->category_bytes[i],
                                         .category = name,
                                         .source = "plan"});
        left -= space->category_bytes[i];
    }
    where_add(out->categories, &out->category_count,
              (struct verdict_where){.kind = "rest",
                                     .label = "not live at the peak: fragmentation and what lives at other times",
                                     .bytes = left,
                                     .source = "plan"});
}

static void of_text(const struct verdict_facts *facts)
{
    static const char *const kinds[][2] = {{"parameter", "arguments"},
                                           {"output", "outputs"},
                                           {"constant", "constants"},
                                           {"temporary", "temporaries"},
                                           {"unknown", "others"}};
    const struct oom_bar *bar = &facts->parts->failure->bar;
    for (size_t i = 0; i < bar->count; i++) {
        const struct oom_stretch *stretch = &bar->stretches[i];
        const char *kind = "others";
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
            if (strcmp(stretch->look, kinds[k][0]) == 0)
                kind = kinds[k][1];
        if (str_equal(stretch->word, STR("reserved")))
            kind = "reserved";
        if (stretch->bytes > INT64_MAX / ROWS_MAX)
            continue;
        where_add(facts->out->where, &facts->out->where_count,
                  (struct verdict_where){.kind = kind,
                                         .label = arena_text(facts->arena, stretch->word),
                                         .bytes = (int64_t)(stretch->bytes - stretch->lost_bytes),
                                         .source = "error text",
                                         .key = stretch->key});
        where_add(facts->out->where, &facts->out->where_count,
                  (struct verdict_where){.kind = "fragmentation",
                                         .label = "fragmentation",
                                         .bytes = (int64_t)stretch->lost_bytes,
                                         .source = "error text",
                                         .key = stretch->lost_key});
    }
}

/* A compiler's figures are rounded each: what they lack is a row of its own, what they have too much goes off the
 * largest. */
static void rounding_even(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    struct verdict_where *largest = NULL;
    int64_t left = out->fit.needed_bytes;
    for (uint32_t i = 0; i < out->where_count; i++) {
        left -= out->where[i].bytes;
        if (largest == NULL || out->where[i].bytes > largest->bytes)
            largest = &out->where[i];
    }
    if (largest == NULL || out->fit.needed_bytes < 0)
        return;
    if (left > 0)
        kind_add(facts, "others", "rounding of the text's figures, and what it does not list", left, "error text");
    else if (-left <= largest->bytes / 100)
        largest->bytes += left;
}

static void of_trace(const struct verdict_facts *facts)
{
    const struct memory_profile_pool *pool = facts->pool;
    if (facts->moment != NULL) {
        kind_add(facts, "arrays", "blocks in use", facts->moment->in_use_bytes, "trace");
        if (torch_segments_is_needed(facts))
            kind_add(facts, "reserved", "reserved by PyTorch beside them", facts->moment->segments.beside_bytes,
                     "trace");
        return;
    }
    int64_t stack = memory_profile_stack_bytes(pool->profile, pool->peak_at);
    kind_add(facts, "program", "reserved for programs (stack)", stack, "trace");
    kind_add(facts, "arrays", "arrays (heap)", memory_profile_in_use_bytes(pool->profile, pool->peak_at) - stack,
             "trace");
}

static void line_add(const struct verdict_facts *facts, const char *from, int64_t bytes, const char *filter)
{
    where_add(facts->out->where, &facts->out->where_count,
              (struct verdict_where){.kind = "arrays",
                                     .label = arena_format(facts->arena, "live arrays from %s", from),
                                     .bytes = bytes,
                                     .source = "device profile",
                                     .filter = filter});
}

/* What a text says is taken besides; nothing where it does not tell. */
static void besides_add(const struct verdict_facts *facts, int64_t held)
{
    int64_t used = facts_figure(facts, OOM_total_bytes), capacity = facts_figure(facts, OOM_capacity_bytes),
            left = facts_figure(facts, OOM_free_bytes);
    if (used < 0 && capacity >= 0 && left >= 0)
        used = capacity - left;
    if (used <= SUM_MAX_BYTES)
        kind_add(facts, "others", "taken besides, as the text says", used - held, "error text");
}

/* What live arrays held by the lines that made them, loaded programs, and the request that failed beside them. */
static void of_live(const struct verdict_facts *facts)
{
    const struct live_arrays *live = &facts->live;
    int64_t needed = facts_figure(facts, OOM_needed_bytes);
    for (uint32_t i = 0; i < live->line_count; i++)
        line_add(facts, live->lines[i].place, live->lines[i].bytes, live->lines[i].filter);
    line_add(facts, arena_format(facts->arena, "%u other lines", live->other_count), live->other_bytes, NULL);
    where_add(facts->out->where, &facts->out->where_count,
              (struct verdict_where){.kind = "program",
                                     .label = "loaded programs",
                                     .bytes = live->program_bytes,
                                     .source = "device profile",
                                     .filter = live->program_filter});
    besides_add(facts, sum_add(live->array_bytes, live->program_bytes));
    if (needed > 0 && needed <= SUM_MAX_BYTES)
        where_add(facts->out->where, &facts->out->where_count,
                  (struct verdict_where){.kind = "temporaries",
                                         .label = "asked for",
                                         .bytes = needed,
                                         .source = "error text",
                                         .key = oom_figure_key(OOM_needed_bytes)});
}

/* At run time a text may state no more than the piece that failed: the plan of the program says more. */
static bool says_the_request_alone(const struct oom_bar *bar)
{
    return bar->count == 1 && bar->stretches[0].key == oom_figure_key(OOM_needed_bytes);
}

void where_make(const struct verdict_facts *facts)
{
    struct verdict *out = facts->out;
    out->where = arena_array(facts->arena, struct verdict_where, ROWS_MAX);
    out->categories = arena_array(facts->arena, struct verdict_where, ROWS_MAX);
    const struct oom_bar *bar = facts->failure != NULL ? &facts->parts->failure->bar : NULL;
    bool is_of_plan = facts->space != NULL && facts->space->total_bytes > 0 && !facts->is_on_chip && !facts->is_host &&
                      !facts->is_live_known &&
                      (bar == NULL || facts->is_compile || bar->count == 0 || says_the_request_alone(bar));
    if (is_of_plan)
        of_plan(facts);
    else if (facts->join != NULL)
        torch_beside_where(facts);
    else if (facts->is_live_known)
        of_live(facts);
    else if (facts->failure != NULL)
        of_text(facts);
    else if (facts->pool != NULL)
        of_trace(facts);
    if (!is_of_plan && facts->is_compile)
        rounding_even(facts);
    if (!is_of_plan && facts->moment != NULL)
        torch_moment_categories(facts);
    for (uint32_t i = 0; i < out->where_count; i++)
        out->where_bytes = sum_add(out->where_bytes, out->where[i].bytes);
    if (is_of_plan && facts->space->peak_bytes <= facts->space->total_bytes)
        categories_of_plan(facts);
}
