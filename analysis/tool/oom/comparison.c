/* SPDX-License-Identifier: Apache-2.0
 * comparison.c: a failure beside the plan of its program: do text and plan say the same, what makes the difference, and
 * which of the plan's buffers the text lists. */
#include "base/size_text.h"
#include "tool/oom/verdict.h"

#include <string.h>

/* From this share on, in percent, a difference is no matter of counting. */
enum { NEAR_PERCENT = 1 };

static uint64_t apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* How far a size may be from what was printed, and a little: not every printer rounds half up. */
static uint64_t rounding_of(const struct oom_figure *printed)
{
    return printed->half_unit + printed->half_unit / 50 + (printed->half_unit > 0);
}

/* Is what was asked for the whole of a program? Only compilers ask for that, and not for one buffer. */
static bool is_of_plan(const struct oom_failure *failure)
{
    return oom_is_compile(failure) && !oom_is_form(failure, "allocation_exceeds");
}

static bool has_lists(const struct oom_failure *failure)
{
    return failure->lists[OOM_ALLOCATIONS].count + failure->lists[OOM_ARGUMENTS_AND_OUTPUTS].count > 0;
}

/* ---- the bar ---- */

static void bar_set(struct oom_comparison *out, const struct oom_verdict *verdict, const struct oom_plan *plan)
{
    const struct oom_figure *capacity = oom_figure(verdict->failure, OOM_capacity_bytes);
    struct oom_bar *bar = &out->bar;
    bool is_itemised = verdict->bar.count > 0 && verdict->bar.is_itemised;
    if (is_itemised || !is_of_plan(verdict->failure) || plan->total_bytes == 0)
        return;
    *bar = (struct oom_bar){.of = "in the plan", .whole_bytes = plan->total_bytes, .is_itemised = true};
    oom_bar_add(bar, "arguments", plan->argument_bytes, NULL, "parameter");
    oom_bar_add(bar, "outputs", plan->output_bytes, NULL, "output");
    oom_bar_add(bar, "constants", plan->constant_bytes, NULL, "constant");
    oom_bar_add(bar, "temporaries", plan->temporary_bytes, NULL, "temporary");
    if (plan->temporary_bytes > 0)
        bar->stretches[bar->count - 1].lost_bytes =
            plan->fragmentation_bytes < plan->temporary_bytes ? plan->fragmentation_bytes : plan->temporary_bytes;
    uint64_t left = plan->total_bytes;
    for (size_t i = 0; i < bar->count; i++)
        left -= bar->stretches[i].bytes < left ? bar->stretches[i].bytes : left;
    oom_bar_add(bar, "others", left, NULL, "unknown");
    if (capacity != NULL) {
        bar->limit_word = "capacity";
        bar->limit_bytes = capacity->value;
        bar->limit_key = oom_figure_key(OOM_capacity_bytes);
    }
    bar->over_word = "over by";
    bar->over_bytes = verdict->over_bytes;
    bar->over_text = verdict->over_text;
}

/* ---- the sentences ---- */

/* The text's difference is no finer than its figures; that of the plan's total is. */
static void say_over(struct oom_sentence *said, const struct oom_verdict *verdict, const struct oom_plan *plan)
{
    const struct oom_figure *capacity = oom_figure(verdict->failure, OOM_capacity_bytes);
    char exact[SIZE_TEXT_BYTES];
    if (!verdict->is_over_known || capacity == NULL || plan->total_bytes <= capacity->value)
        return;
    if (strcmp(size_text(exact, plan->total_bytes - capacity->value), verdict->over_text) == 0)
        return;
    oom_say(said, " It is over by ");
    oom_say(said, verdict->over_text);
    oom_say(said, " as the text rounds; the plan's total is ");
    oom_say_size(said, plan->total_bytes - capacity->value);
    oom_say(said, " more than the ");
    oom_say_figure(said, verdict->failure, OOM_capacity_bytes, NULL);
    oom_say(said, " stated.");
}

/* What a text calls temporaries and what a plan does are different sums. */
static void say_temporaries(struct oom_sentence *said, const struct oom_failure *failure, const struct oom_plan *plan)
{
    const struct oom_figure *program = oom_figure(failure, OOM_program_bytes);
    if (oom_is_form(failure, "short")) {
        oom_say(
            said,
            " That total, which the text may call HLO temporaries, holds arguments and outputs as well; temporaries are ");
        oom_say_size(said, plan->temporary_bytes);
        oom_say(said, " of it.");
    } else if (program != NULL && apart(program->value, plan->temporary_bytes) > rounding_of(program)) {
        oom_say(said, " Temporaries and code are ");
        oom_say_figure(said, failure, OOM_program_bytes, NULL);
        oom_say(said, " in the text, temporaries alone ");
        oom_say_size(said, plan->temporary_bytes);
        oom_say(said, " in the plan.");
    }
}

static void say_total(struct oom_sentence *said, const struct oom_verdict *verdict, const struct oom_plan *plan)
{
    const struct oom_figure *needed = oom_figure(verdict->failure, OOM_needed_bytes);
    uint64_t by = apart(plan->total_bytes, needed->value);
    bool is_same = by <= rounding_of(needed);
    oom_say(said, is_same ? "Text and plan agree: " : "Text and plan disagree: ");
    oom_say_figure(said, verdict->failure, OOM_needed_bytes, NULL);
    oom_say(said, " in the text, ");
    oom_say_size(said, plan->total_bytes);
    oom_say(said, by == 0 ? " in the plan." : is_same ? " in the plan, the same but for rounding." : " in the plan, ");
    if (is_same) {
        say_over(said, verdict, plan);
        say_temporaries(said, verdict->failure, plan);
        return;
    }
    oom_say_size(said, by);
    oom_say(said, plan->total_bytes > needed->value ? " more." : " less.");
    if (by > needed->value / 100 * NEAR_PERCENT)
        oom_say(said,
                " The plan may be of another compile of the program: with other flags, or before the last change.");
}

static void agreement_set(struct oom_comparison *out, const struct oom_verdict *verdict, const struct oom_plan *plan,
                          struct arena *arena)
{
    const struct oom_failure *failure = verdict->failure;
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes);
    const char *space = failure->memory_space.text.data != NULL ? oom_space_name(failure, arena) : "HBM";
    const char *end = arena_format(arena, " of %s.", space);
    struct oom_sentence *said = &out->agreement;
    bool is_of_kernel = oom_is_form(failure, "scoped_vmem") ||
                        (oom_is_form(failure, "allocation_exceeds") && strcmp(space, "HBM") != 0);
    if (needed == NULL && plan->space_name == NULL)
        return;
    if (needed != NULL && !is_of_kernel && plan->total_bytes > 0 && is_of_plan(failure)) {
        say_total(said, verdict, plan);
    } else if (needed != NULL && !is_of_kernel && plan->total_bytes == 0) {
        oom_say(said, arena_format(arena, "The plan of the program takes nothing of %s; the text asks for ", space));
        oom_say_figure(said, failure, OOM_needed_bytes, NULL);
        oom_say(said, ".");
    } else {
        oom_say(said, needed == NULL ? "The text states no total; the plan takes "
                      : is_of_kernel ? "Text and plan speak of different things: the "
                                     : "The text asks for ");
        if (needed != NULL)
            oom_say_figure(said, failure, OOM_needed_bytes, NULL);
        if (is_of_kernel)
            oom_say(said, " are asked for inside one kernel, and no plan lists that. The plan takes ");
        else if (needed != NULL)
            oom_say(said, " in one piece, which need not be all of the program; its plan takes ");
        oom_say_size(said, plan->total_bytes);
        oom_say(said, end);
    }
    if (out->bar.count > 0)
        oom_say(said, " The text states a total alone; the bar is of the plan.");
}

static void largest_set(struct oom_comparison *out, const struct oom_failure *failure, const struct oom_plan *plan,
                        struct arena *arena)
{
    char count[COUNT_TEXT_BYTES];
    if (plan->largest_count == 0 || has_lists(failure))
        return;
    oom_say(&out->largest, "Largest in the plan: ");
    if (plan->largest_count > 1)
        oom_say(&out->largest, arena_format(arena, "%s × ", size_text_count(count, plan->largest_count)));
    oom_say_size(&out->largest, plan->largest_bytes);
    oom_say(&out->largest, " ");
    oom_say_name(&out->largest, oom_bare_shape(plan->largest_shape));
    oom_say(&out->largest, ".");
}

/* ---- listed buffers ---- */

static struct str up_to_layout(struct str shape)
{
    const char *layout = shape.length > 0 ? memchr(shape.data, '{', shape.length) : NULL;
    return layout != NULL ? (struct str){shape.data, (size_t)(layout - shape.data)} : shape;
}

/* In this order: the same operator and shape, the same shape, the same operator. */
enum { LOOK_BOTH, LOOK_SHAPE, LOOK_OPERATOR, LOOK_COUNT };

static bool is_like(const struct oom_buffer *listed, const struct oom_plan_buffer *planned, int look)
{
    bool is_operator = listed->op_name.text.data != NULL && str_equal(listed->op_name.text, planned->op_name);
    bool is_shape = str_equal(up_to_layout(listed->shape.text), up_to_layout(planned->shape));
    return look == LOOK_BOTH    ? is_operator && is_shape
           : look == LOOK_SHAPE ? listed->shape.text.data != NULL && is_shape
                                : is_operator;
}

/* The first buffer of that size, as far as it was printed, that is like the listed one and not `is_taken`. */
static const struct oom_plan_buffer *match(const struct oom_buffer *listed, const struct oom_plan *plan, int look,
                                           bool *is_taken)
{
    for (size_t i = 0; i < plan->buffer_count; i++)
        if (!is_taken[i] && apart(plan->buffers[i].bytes, listed->size.value) <= rounding_of(&listed->size) &&
            is_like(listed, &plan->buffers[i], look)) {
            is_taken[i] = true;
            return &plan->buffers[i];
        }
    return NULL;
}

static void matches_set(struct oom_comparison *out, const struct oom_failure *failure, const struct oom_plan *plan,
                        struct arena *arena)
{
    bool *is_taken = arena_array(arena, bool, plan->buffer_count + 1);
    for (size_t list = 0; list < OOM_LIST_COUNT; list++)
        out->matches[list] = arena_array(arena, const struct oom_plan_buffer *, failure->lists[list].count + 1);
    for (int look = 0; look < LOOK_COUNT; look++)
        for (size_t list = 0; list < OOM_LIST_COUNT; list++)
            for (size_t i = 0; i < failure->lists[list].count; i++) {
                const struct oom_buffer *listed = &failure->lists[list].items[i];
                if (out->matches[list][i] == NULL && listed->size.is_known)
                    out->matches[list][i] = match(listed, plan, look, is_taken);
            }
}

void oom_comparison_make(const struct oom_verdict *verdict, const struct oom_plan *plan, struct arena *arena,
                         struct oom_comparison *out)
{
    *out = (struct oom_comparison){.has_space = plan->space_name != NULL, .space = plan->space};
    bar_set(out, verdict, plan);
    agreement_set(out, verdict, plan, arena);
    largest_set(out, verdict->failure, plan, arena);
    matches_set(out, verdict->failure, plan, arena);
}
