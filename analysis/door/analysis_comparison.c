/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_comparison.c: a failure beside the plan of its program: do text and plan say the same, what makes the
 * difference, and which of the plan's buffers the text lists. */
#include "base/sum.h"
#include "door/analysis_subject.h"

#include "base/size_text.h"
#include "model/oom/meaning.h"
#include "views/memory_viewer/culprit.h"
#include "views/memory_viewer/row_groups.h"
#include "views/oom_write_json.h"

#include <stdlib.h>
#include <string.h>

/* As for an answer of the Memory Viewer. */
#define LIMIT_BYTES ((uint64_t)1 << 30)
#define WORK ((uint64_t)1 << 29)
/* How many of the largest buffers at the peak are compared with those of a text; and the share, in percent, from which
 * a difference of the totals is real and not one of counting. */
enum { MAX_BUFFERS = 1000, NEAR_PERCENT = 1 };

struct comparing {
    const struct oom_meaning *meaning;
    struct tool_request request; /* about the plan */
    struct plan_space space;     /* that the failure is about; empty: the plan has none of that name */
    uint64_t total_bytes, temporary_bytes, largest_output_bytes;
};

static uint64_t size_of(int64_t bytes) { return bytes > 0 ? (uint64_t)bytes : 0; }

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

/* What is live at the peak, by whose memory it is, and what lies between. */
static void categories_add(struct oom_bar *bar, const struct comparing *of)
{
    const struct plan_space *space = &of->space;
    uint64_t left = of->total_bytes - size_of(space->peak_bytes);
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        if (bar->count < OOM_BAR_STRETCHES - 2)
            oom_bar_add(bar, category_words((enum category)i), size_of(space->category_bytes[i]), NULL,
                        category_name((enum category)i));
        else
            left += size_of(space->category_bytes[i]);
    }
    oom_bar_add(bar, "fragmentation", left, NULL, "unknown");
    if (left > 0)
        bar->stretches[bar->count - 1].lost_bytes = left;
}

/* The same by kind of allocation, where nothing tells what is live. */
static void kinds_add(struct oom_bar *bar, const struct comparing *of)
{
    const struct plan_space *space = &of->space;
    oom_bar_add(bar, "arguments", size_of(space->parameter_bytes), NULL, "parameter");
    oom_bar_add(bar, "outputs", size_of(space->output_bytes - space->output_reused_bytes), NULL, "output");
    oom_bar_add(bar, "constants", size_of(space->constant_bytes), NULL, "constant");
    oom_bar_add(bar, "temporaries", of->temporary_bytes, NULL, "temporary");
    uint64_t lost = size_of(space->total_bytes - space->peak_bytes), left = of->total_bytes;
    if (of->temporary_bytes > 0)
        bar->stretches[bar->count - 1].lost_bytes = lost < of->temporary_bytes ? lost : of->temporary_bytes;
    for (size_t i = 0; i < bar->count; i++)
        left -= bar->stretches[i].bytes < left ? bar->stretches[i].bytes : left;
    oom_bar_add(bar, "others", left, NULL, "unknown");
}

static void bar_set(struct oom_comparison *out, const struct comparing *of)
{
    const struct oom_meaning *meaning = of->meaning;
    const struct plan_space *space = &of->space;
    const struct oom_figure *capacity = oom_figure(meaning->failure, OOM_capacity_bytes);
    struct oom_bar *bar = &out->bar;
    bool is_itemised = meaning->bar.count > 0 && meaning->bar.is_itemised;
    if (is_itemised || !is_of_plan(meaning->failure) || of->total_bytes == 0)
        return;
    *bar = (struct oom_bar){.of = "in the plan", .whole_bytes = of->total_bytes, .is_itemised = true};
    if (space->heap.failure == HEAP_FINE && space->peak_bytes > 0 && size_of(space->peak_bytes) <= of->total_bytes)
        categories_add(bar, of);
    else
        kinds_add(bar, of);
    if (capacity != NULL) {
        bar->limit_word = "capacity";
        bar->limit_bytes = capacity->value;
        bar->limit_key = oom_figure_key(OOM_capacity_bytes);
    }
    bar->over_word = "over by";
    bar->over_bytes = meaning->over_bytes;
    bar->over_text = meaning->over_text;
}

/* ---- the sentences ---- */

/* The text's difference is no finer than its figures; that of the plan's total is. */
static void say_over(struct oom_sentence *said, const struct comparing *of)
{
    const struct oom_meaning *meaning = of->meaning;
    const struct oom_figure *capacity = oom_figure(meaning->failure, OOM_capacity_bytes);
    char exact[SIZE_TEXT_BYTES];
    if (!meaning->is_over_known || capacity == NULL || of->total_bytes <= capacity->value)
        return;
    if (strcmp(size_text(exact, of->total_bytes - capacity->value), meaning->over_text) == 0)
        return;
    oom_say(said, " It is over by ");
    oom_say(said, meaning->over_text);
    oom_say(said, " as the text rounds; the plan's total is ");
    oom_say_size(said, of->total_bytes - capacity->value);
    oom_say(said, " more than the ");
    oom_say_figure(said, meaning->failure, OOM_capacity_bytes, NULL);
    oom_say(said, " stated.");
}

/* What a text calls temporaries and what a plan does are different sums. */
static void say_temporaries(struct oom_sentence *said, const struct comparing *of)
{
    const struct oom_failure *failure = of->meaning->failure;
    const struct oom_figure *program = oom_figure(failure, OOM_program_bytes);
    if (oom_is_form(failure, "short")) {
        oom_say(said, " That total, which the text may call HLO temporaries, holds arguments and outputs as well; "
                      "temporaries, with what lies unused between them, are ");
        oom_say_size(said, of->temporary_bytes);
        oom_say(said, " of it.");
    } else if (program != NULL && !oom_figure_is(program, of->temporary_bytes)) {
        oom_say(said, " Temporaries and code are ");
        oom_say_figure(said, failure, OOM_program_bytes, NULL);
        oom_say(said, " in the text, temporaries alone ");
        oom_say_size(said, of->temporary_bytes);
        oom_say(said, " in the plan.");
    }
}

static void say_total(struct oom_sentence *said, const struct comparing *of)
{
    const struct oom_meaning *meaning = of->meaning;
    const struct oom_figure *needed = oom_figure(meaning->failure, OOM_needed_bytes);
    uint64_t by = sum_apart(of->total_bytes, needed->value);
    bool is_same = oom_figure_is(needed, of->total_bytes);
    oom_say(said, is_same ? "Text and plan agree: " : "Text and plan disagree: ");
    oom_say_figure(said, meaning->failure, OOM_needed_bytes, NULL);
    oom_say(said, " in the text, ");
    oom_say_size(said, of->total_bytes);
    oom_say(said, by == 0 ? " in the plan." : is_same ? " in the plan, the same but for rounding." : " in the plan, ");
    if (is_same) {
        say_over(said, of);
        say_temporaries(said, of);
        return;
    }
    oom_say_size(said, by);
    oom_say(said, of->total_bytes > needed->value ? " more." : " less.");
    if (by > needed->value / 100 * NEAR_PERCENT)
        oom_say(said,
                " The plan may be of another compile of the program: with other flags, or before the last change.");
}

static void agreement_set(struct oom_comparison *out, const struct comparing *of)
{
    const struct oom_failure *failure = of->meaning->failure;
    struct arena *arena = of->request.arena;
    const struct oom_figure *needed = oom_figure(failure, OOM_needed_bytes);
    const char *space = failure->memory_space.text.data != NULL ? oom_space_name(failure, arena)
                        : of->space.space == out->space         ? of->space.name
                                                                : "HBM";
    const char *end = arena_format(arena, " of %s.", space);
    struct oom_sentence *said = &out->agreement;
    bool is_of_kernel = needed != NULL && (oom_is_form(failure, "scoped_vmem") ||
                                           (oom_is_form(failure, "allocation_exceeds") && strcmp(space, "HBM") != 0));
    if (needed == NULL && out->space < 0)
        return;
    if (needed != NULL && !is_of_kernel && of->total_bytes > 0 && is_of_plan(failure)) {
        say_total(said, of);
    } else if (needed != NULL && !is_of_kernel && of->total_bytes == 0) {
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
            oom_say(said, " are requested inside one kernel, and no plan lists that. The plan takes ");
        else if (needed != NULL)
            oom_say(said, oom_asks_for_piece(failure, of->temporary_bytes)
                              ? " in one piece: all temporaries of the program. Its plan takes "
                          : oom_asks_for_piece(failure, of->largest_output_bytes)
                              ? " in one piece: an output of the program. Its plan takes "
                              : " in one piece, which need not be all of the program; its plan takes ");
        oom_say_size(said, of->total_bytes);
        oom_say(said, end);
    }
    if (out->bar.count > 0)
        oom_say(said, needed != NULL ? " The text states a total alone; the bar is of the plan."
                                     : " The bar is of the plan.");
}

static void largest_set(struct oom_comparison *out, const struct comparing *of)
{
    char text[COUNT_TEXT_BYTES];
    uint32_t count;
    int64_t bytes;
    struct str shape;
    if (has_lists(of->meaning->failure) || !culprit_largest(&of->request, &of->space, &count, &bytes, &shape))
        return;
    oom_say(&out->largest, "Largest in the plan: ");
    if (count > 1)
        oom_say(&out->largest, arena_format(of->request.arena, "%s × ", size_text_count(text, count)));
    oom_say_size(&out->largest, size_of(bytes));
    oom_say(&out->largest, " ");
    oom_say_name(&out->largest, oom_bare_shape(shape));
    oom_say(&out->largest, ".");
}

/* ---- listed buffers ---- */

/* One of the plan, alive at the peak. */
struct planned {
    const struct plan_row *row; /* NULL: it is another listed one's already */
    struct str shape, op_name;
};

static int by_size(const void *a, const void *b)
{
    const struct plan_row *x = ((const struct planned *)a)->row, *y = ((const struct planned *)b)->row;
    return ORDER(y->bytes, x->bytes) ?: ORDER(x, y);
}

static size_t planned_collect(const struct comparing *of, struct planned *all)
{
    const struct hlo *hlo = &((const struct plan *)of->request.model)->hlo;
    const struct memory_viewer_columns_rows rows = {.request = &of->request, .space = &of->space};
    size_t count = 0;
    for (uint32_t i = 0; i < of->space.row_count; i++)
        if (plan_row_is_alive(&of->space.rows[i], of->space.peak_step))
            all[count++].row = &of->space.rows[i];
    qsort(all, count, sizeof(*all), by_size);
    count = count < MAX_BUFFERS ? count : MAX_BUFFERS;
    for (size_t i = 0; i < count; i++) {
        all[i].shape = row_groups_key(&rows, (uint32_t)(all[i].row - of->space.rows), ROW_GROUPS_SHAPE);
        if (all[i].row->buffer_at != PLAN_NONE)
            all[i].op_name = hlo_detail(hlo, hlo->buffers[all[i].row->buffer_at].instruction_at).op_name;
    }
    return count;
}

static struct str up_to_layout(struct str shape)
{
    const char *layout = shape.length > 0 ? memchr(shape.data, '{', shape.length) : NULL;
    return layout != NULL ? (struct str){shape.data, (size_t)(layout - shape.data)} : shape;
}

/* In this order: the same operator and shape, the same shape, the same operator. */
enum { LOOK_BOTH, LOOK_SHAPE, LOOK_OPERATOR, LOOK_COUNT };

/* Does the planned row have the listed size, within the rounding of the text? */
static bool is_like(const struct oom_buffer *listed, const struct planned *planned, int look)
{
    if (planned->row == NULL || !oom_figure_is(&listed->size, size_of(planned->row->bytes)))
        return false;
    bool is_operator = listed->op_name.text.data != NULL && str_equal(listed->op_name.text, planned->op_name);
    bool is_shape = str_equal(up_to_layout(listed->shape.text), up_to_layout(planned->shape));
    return look == LOOK_BOTH    ? is_operator && is_shape
           : look == LOOK_SHAPE ? listed->shape.text.data != NULL && is_shape
                                : is_operator;
}

static struct oom_match match_of(const struct comparing *of, const struct plan_row *row)
{
    const struct plan *plan = of->request.model;
    struct buf *scratch = of->request.scratch;
    struct oom_match match = {.name = arena_text(of->request.arena, views_row_name(plan, row, scratch))};
    match.category = category_name((enum category)row->choice.category);
    match.confidence = category_confidence_name(category_rule_confidence((enum category_rule)row->choice.rule));
    match.id = row->buffer_at != PLAN_NONE
                   ? arena_format(of->request.arena, "%lld", (long long)plan->hlo.buffers[row->buffer_at].id)
                   : arena_format(of->request.arena, "allocation:%lld",
                                  (long long)plan->hlo.allocations[row->allocation_at].index);
    return match;
}

static void matches_set(struct oom_comparison *out, const struct comparing *of)
{
    const struct oom_buffers *lists = of->meaning->failure->lists;
    struct planned *all = arena_array(of->request.arena, struct planned, (size_t)of->space.row_count + 1);
    size_t count = has_lists(of->meaning->failure) ? planned_collect(of, all) : 0;
    for (size_t list = 0; list < OOM_LIST_COUNT; list++)
        out->matches[list] = arena_array(of->request.arena, struct oom_match, lists[list].count + 1);
    for (int look = 0; look < LOOK_COUNT; look++)
        for (size_t list = 0; list < OOM_LIST_COUNT; list++)
            for (size_t i = 0; i < lists[list].count; i++) {
                struct oom_match *match = &out->matches[list][i];
                const struct oom_buffer *listed = &lists[list].items[i];
                for (size_t at = 0; at < count && match->id == NULL && listed->size.is_known; at++)
                    if (is_like(listed, &all[at], look)) {
                        *match = match_of(of, all[at].row);
                        all[at].row = NULL;
                    }
            }
}

/* ---- the door ---- */

uint64_t analysis_oom_piece_bytes(const struct oom_meaning *meaning)
{
    const struct oom_figure *needed = oom_figure(meaning->failure, OOM_needed_bytes);
    if (needed == NULL || oom_is_compile(meaning->failure))
        return 0;
    uint64_t rounding = oom_figure_rounding(needed);
    return needed->value > rounding ? needed->value - rounding : 0;
}

/* By what was asked for, where one program alone asks for that: of several of one name the one with the
 * largest total. */
static size_t module_by_request(const struct oom_failure *failure, const struct analysis_oom_module *modules,
                                size_t count)
{
    const struct str name = failure->module.text;
    size_t chosen = count;
    for (size_t i = 0; i < count; i++) {
        bool is_named = name.data == NULL || str_equal(str_of(modules[i].name), name);
        if (!is_named || !(oom_asks_for_piece(failure, modules[i].temporary_bytes) ||
                           oom_asks_for_piece(failure, modules[i].largest_output_bytes) ||
                           oom_asks_for_total(failure, modules[i].total_bytes)))
            continue;
        if (chosen < count && strcmp(modules[i].name, modules[chosen].name) != 0)
            return count;
        if (chosen == count || modules[i].total_bytes > modules[chosen].total_bytes)
            chosen = i;
    }
    return chosen;
}

size_t analysis_oom_choose_module(const struct oom_meaning *meaning, const struct analysis_oom_module *modules,
                                  size_t count)
{
    const struct str name = meaning->failure->module.text;
    const uint64_t least = analysis_oom_piece_bytes(meaning);
    size_t chosen = module_by_request(meaning->failure, modules, count);
    if (chosen < count || oom_is_host(meaning->failure))
        return chosen;
    for (size_t i = 0; i < count; i++) {
        if (modules[i].total_bytes > 0 && modules[i].total_bytes < least)
            continue;
        bool is_it = name.data != NULL ? str_equal(str_of(modules[i].name), name) : count == 1;
        if (is_it && (chosen == count || modules[i].total_bytes > modules[chosen].total_bytes))
            chosen = i;
    }
    return chosen;
}

/* The space that the failure is about. A text of a GPU names none and means that of the device, whatever the plan calls
 * it. NULL: the plan has none of the name that the text states. */
static const struct plan_space *space_about(const struct oom_failure *failure, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->space_count; i++)
        if (oom_is_space(failure, plan->spaces[i].name))
            return &plan->spaces[i];
    const struct plan_space *main = plan_space_find(plan, 0);
    bool is_piece = main != NULL && (oom_asks_for_piece(failure, plan_temporary_bytes(main)) ||
                                     oom_asks_for_piece(failure, plan_output_largest_bytes(plan, main)));
    return oom_is_of_device(failure) || is_piece ? main : NULL;
}

static void analysis_comparison_compare(struct job *job, const void *in, void *to, struct err *err)
{
    struct comparing of = *(const struct comparing *)in;
    const struct plan *plan = of.request.model;
    struct oom_comparison *out = to;
    arena_allot_work(&job->arena, WORK);
    of.request.arena = &job->arena;
    of.space = plan_space_empty(0);
    out->space = -1;
    const struct plan_space *about = space_about(of.meaning->failure, plan);
    if (about != NULL) {
        of.space = *about;
        out->space = about->space;
    }
    of.total_bytes = size_of(of.space.total_bytes);
    of.temporary_bytes = plan_temporary_bytes(&of.space);
    of.largest_output_bytes = plan_output_largest_bytes(plan, &of.space);
    bar_set(out, &of);
    agreement_set(out, &of);
    largest_set(out, &of);
    matches_set(out, &of);
    buf_is_whole(of.request.scratch, "a name", err);
}

static int64_t read_nothing(void *context, uint64_t offset, void *into, size_t size)
{
    (void)context, (void)offset, (void)into, (void)size;
    return 0;
}

struct oom_comparison *analysis_oom_compare(const struct oom_meaning *meaning, const struct analysis_subject *module,
                                            struct err *err)
{
    const struct source nothing = {.read = read_nothing};
    struct buf scratch = BUF_INIT;
    const struct comparing comparing = {meaning, .request = {.model = &module->plan, .scratch = &scratch}};
    if (!module->plan.hlo.has_assignment) {
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "the program has no buffer assignment");
        return NULL;
    }
    struct oom_comparison *made =
        job_make(&nothing, LIMIT_BYTES, sizeof(struct oom_comparison), analysis_comparison_compare, &comparing, err);
    buf_free(&scratch);
    return made;
}

void analysis_oom_comparison_free(struct oom_comparison *comparison) { job_made_free(comparison); }

void analysis_oom_write_comparison(const struct oom_comparison *comparison, const struct oom_meaning *meaning,
                                   struct json *json)
{
    oom_write_json_comparison(json, meaning, comparison);
}
