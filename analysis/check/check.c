/* SPDX-License-Identifier: Apache-2.0
 * check.c: see check.h. */
#include "check/check.h"

#include "base/size_text.h"
#include "check/lost.h"
#include "model/compare/sentence.h"
#include "plan/describe.h"

enum { DEVICE_SPACE = 0, MILLION = 1000000 };

static const struct {
    const char *name, *words;
} rules[] = {
#define RULE(constant, name, words) {name, words},
#include "check/rules.def"
#undef RULE
};

const char *check_rule_name(enum check_rule rule) { return rules[rule].name; }
const char *check_rule_words(enum check_rule rule) { return rules[rule].words; }

bool check_applies(const struct check_limits *limits, const struct check_module *module, enum check_rule rule)
{
    if (rule == CHECK_OVER)
        return limits->max_total_bytes >= 0;
    return module->baseline_bytes >= 0 && (rule == CHECK_GROWN || !module->is_figure_alone);
}

/* What is being decided. */
struct check_deciding {
    const struct check_limits *limits;
    struct arena *arena, *scratch_arena;
    struct buf *scratch;
    struct check_module *module;
};

static struct check_finding *finding_add(const struct check_deciding *deciding, enum check_rule rule, int64_t bytes)
{
    struct check_finding *finding = &deciding->module->findings[deciding->module->finding_count++];
    *finding = (struct check_finding){.rule = rule, .bytes = bytes, .source_line = -1};
    return finding;
}

/* The text in scratch becomes the sentence. */
static void finding_say(const struct check_deciding *deciding, struct check_finding *finding)
{
    finding->sentence = arena_text(deciding->arena, describe_str(deciding->scratch));
}

static void finding_place(const struct check_deciding *deciding, struct check_finding *finding,
                          struct describe_source source)
{
    if (source.file.length == 0 || source.line <= 0)
        return;
    finding->source_file = arena_text(deciding->arena, source.file);
    finding->source_line = source.line;
}

static void decide_over(const struct check_deciding *deciding)
{
    char needs[SIZE_TEXT_BYTES], allowed[SIZE_TEXT_BYTES], over[SIZE_TEXT_BYTES];
    struct check_module *module = deciding->module;
    const struct check_limits *limits = deciding->limits;
    if (limits->max_total_bytes < 0)
        return;
    const struct memory_capacity limit = {.bytes = limits->max_total_bytes,
                                          .asked_bytes = -1,
                                          .source = "as chosen",
                                          .is_physical = limits->is_physical,
                                          .is_of_gpu = limits->is_of_gpu && !module->is_snapshot};
    module->fit = arena_array(deciding->arena, struct memory_fit, 1);
    memory_fit_judge(&limit, module->total_bytes, module->space_name, deciding->arena, module->fit);
    if (module->fit->word != MEMORY_FIT_OVER && module->fit->word != MEMORY_FIT_DEFAULT)
        return;
    struct check_finding *finding = finding_add(deciding, CHECK_OVER, module->fit->over_bytes);
    deciding->scratch->length = 0;
    if (module->fit->word == MEMORY_FIT_DEFAULT)
        buf_format(deciding->scratch, "%s: %s", module->name, module->fit->sentence);
    else
        buf_format(deciding->scratch, "%s needs %s of %s; %s are allowed: over by %s.", module->name,
                   size_text(needs, (uint64_t)module->total_bytes), module->space_name,
                   size_text(allowed, (uint64_t)limits->max_total_bytes),
                   size_text(over, (uint64_t)module->fit->over_bytes));
    finding_say(deciding, finding);
}

static bool has_grown(const struct check_deciding *deciding, int64_t before_bytes, int64_t grown_bytes)
{
    uint64_t before = (uint64_t)before_bytes, ppm = deciding->limits->tolerance_ppm;
    unsigned __int128 allowed = (unsigned __int128)before * ppm / MILLION;
    return grown_bytes > 0 && (unsigned __int128)grown_bytes > allowed;
}

static void decide_growth(const struct check_deciding *deciding, const struct compare *compare)
{
    int64_t before = compare->sides[COMPARE_A].needed_bytes, after = compare->sides[COMPARE_B].needed_bytes;
    struct alignment alignment;
    if (!has_grown(deciding, before, after - before))
        return;
    struct check_finding *finding = finding_add(deciding, CHECK_GROWN, after - before);
    alignment_make(compare, ALIGNMENT_SCOPE, deciding->scratch_arena, &alignment);
    struct sentence_peaks peaks = sentence_peaks_find(compare, &alignment);
    deciding->scratch->length = 0;
    sentence_write(compare, &peaks, deciding->scratch);
    finding_say(deciding, finding);
    finding_place(deciding, finding, sentence_source(compare, after - before));
}

static void decide_donation(const struct check_deciding *deciding, const struct plan *plan, const struct plan *baseline)
{
    char size[SIZE_TEXT_BYTES], count[COUNT_TEXT_BYTES];
    struct lost_donation lost;
    lost_donation_find(plan, baseline, deciding->scratch_arena, &lost);
    if (lost.count == 0)
        return;
    struct check_finding *finding = finding_add(deciding, CHECK_DONATION_LOST, lost.bytes);
    finding->count = lost.count;
    deciding->scratch->length = 0;
    buf_format(deciding->scratch, "%s %s, %s, gave %s memory to results in the baseline and no longer %s: ",
               size_text_count(count, lost.count), lost.count == 1 ? "argument" : "arguments",
               size_text(size, (uint64_t)lost.bytes), lost.count == 1 ? "its" : "their",
               lost.count == 1 ? "does" : "do");
    buf_add(deciding->scratch, lost.largest.data, lost.largest.length);
    if (lost.count > 1)
        buf_format(deciding->scratch, " and %s more", size_text_count(count, lost.count - 1));
    buf_format(deciding->scratch, ". %s", lost.call);
    finding_say(deciding, finding);
}

static void decide_fusion(const struct check_deciding *deciding, const struct compare *compare)
{
    char size[SIZE_TEXT_BYTES], count[COUNT_TEXT_BYTES];
    struct lost_fusion lost;
    int64_t before = compare->sides[COMPARE_A].needed_bytes, after = compare->sides[COMPARE_B].needed_bytes;
    lost_fusion_find(compare, deciding->scratch_arena, &lost);
    if (after < before || !has_grown(deciding, before, lost.bytes)) /* a smaller program may store what it likes */
        return;
    struct check_finding *finding = finding_add(deciding, CHECK_FUSION_LOST, lost.bytes);
    finding->count = lost.count;
    deciding->scratch->length = 0;
    buf_format(
        deciding->scratch, "%s %s, %s at the peak, %s inside fusions in the baseline and now %s memory of %s own: ",
        size_text_count(count, lost.count), lost.count == 1 ? "value" : "values", size_text(size, (uint64_t)lost.bytes),
        lost.count == 1 ? "stays" : "stay", lost.count == 1 ? "takes" : "take", lost.count == 1 ? "its" : "their");
    sentence_group(compare, lost.largest, deciding->scratch);
    buf_char(deciding->scratch, '.');
    finding_say(deciding, finding);
    finding_place(deciding, finding, sentence_group_source(compare, lost.largest));
}

static const struct plan_space *device_space(const struct plan *plan, const struct plan *other, struct arena *arena)
{
    const struct plan_space *space = plan_space_find(plan, DEVICE_SPACE);
    if (space == NULL && plan->space_count > 0 && (other == NULL || plan_space_find(other, DEVICE_SPACE) == NULL))
        space = &plan->spaces[0];
    if (space != NULL)
        return space;
    struct plan_space *empty = arena_array(arena, struct plan_space, 1);
    *empty = plan_space_empty(DEVICE_SPACE);
    return empty;
}

static void decide_growth_of_figures(const struct check_deciding *deciding, const struct check_before *before)
{
    char needs[SIZE_TEXT_BYTES], was[SIZE_TEXT_BYTES], more[SIZE_TEXT_BYTES];
    struct check_module *module = deciding->module;
    if (strcmp(before->space_name, module->space_name) != 0)
        return;
    int64_t grown_bytes = module->total_bytes - before->total_bytes;
    module->baseline_bytes = before->total_bytes;
    module->is_figure_alone = true;
    if (!has_grown(deciding, before->total_bytes, grown_bytes))
        return;
    struct check_finding *finding = finding_add(deciding, CHECK_GROWN, grown_bytes);
    deciding->scratch->length = 0;
    buf_format(deciding->scratch, "%s needs %s of %s, %s more than the %s of the baseline%s.", module->name,
               size_text(needs, (uint64_t)module->total_bytes), module->space_name,
               size_text(more, (uint64_t)grown_bytes), size_text(was, (uint64_t)before->total_bytes),
               module->is_snapshot ? "" : ", whose program cannot be read");
    finding_say(deciding, finding);
}

void check_decide_taken(const struct check_limits *limits, const struct check_taken *taken,
                        const struct check_before *before, struct arena *arena, struct buf *scratch,
                        struct check_module *module)
{
    const struct check_deciding deciding = {limits, arena, NULL, scratch, module};
    module->space_name = arena_text(arena, str_of(taken->space_name));
    module->total_bytes = taken->total_bytes;
    module->baseline_bytes = -1;
    module->is_snapshot = true;
    decide_over(&deciding);
    if (before != NULL)
        decide_growth_of_figures(&deciding, before);
}

void check_decide(const struct check_limits *limits, const struct plan *plan, const struct check_baseline *against,
                  struct arena *arena, struct arena *scratch_arena, struct buf *scratch, struct check_module *module)
{
    const struct check_deciding deciding = {limits, arena, scratch_arena, scratch, module};
    const struct plan *baseline = against->plan;
    const struct plan_space *space = device_space(plan, baseline, scratch_arena);
    module->space_name = arena_text(arena, str_of(space->name));
    module->total_bytes = space->total_bytes;
    module->baseline_bytes = -1;
    decide_over(&deciding);
    if (baseline == NULL && against->before != NULL)
        decide_growth_of_figures(&deciding, against->before);
    if (baseline == NULL)
        return;
    const struct plan_space *before = device_space(baseline, plan, scratch_arena);
    const struct compare_programs programs = {{baseline, plan}};
    const struct compare_choice choice[COMPARE_SIDE_COUNT] = {{before, before->peak_step, true},
                                                              {space, space->peak_step, true}};
    struct compare *compare = arena_array(scratch_arena, struct compare, 1);
    compare_build(&programs, choice, scratch_arena, scratch, compare);
    module->baseline_bytes = before->total_bytes;
    decide_growth(&deciding, compare);
    decide_donation(&deciding, plan, baseline);
    decide_fusion(&deciding, compare);
}

/* "jit_step: plan grown, donation lost" of the first that has any. */
static void say_worst(const struct check_report *report, struct buf *out)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct check_module *module = &report->modules[i];
        if (module->finding_count == 0)
            continue;
        buf_format(out, ": %s", module->name);
        for (uint32_t at = 0; at < module->finding_count; at++)
            buf_format(out, "%s%s", at == 0 ? " (" : ", ", check_rule_words(module->findings[at].rule));
        buf_char(out, ')');
        return;
    }
}

void check_sentence(const struct check_report *report, struct buf *out)
{
    char count[COUNT_TEXT_BYTES], all[COUNT_TEXT_BYTES];
    size_t with_count = 0;
    for (size_t i = 0; i < report->count; i++)
        with_count += report->modules[i].finding_count > 0;
    bool has_snapshot = false;
    for (size_t i = 0; i < report->count; i++)
        has_snapshot |= report->modules[i].is_snapshot;
    const char *modules = has_snapshot         ? (report->count == 1 ? "process" : "processes")
                          : report->count == 1 ? "module"
                                               : "modules";
    if (with_count == 0)
        buf_format(out, "No finding in %s %s", size_text_count(all, report->count), modules);
    else
        buf_format(out, "%s of %s %s %s", size_text_count(count, with_count), size_text_count(all, report->count),
                   modules, with_count == 1 ? "has a finding" : "have findings");
    say_worst(report, out);
    if (report->fault_count > 0)
        buf_format(out, "; %s could not be checked", size_text_count(count, report->fault_count));
    if (report->limits.has_baseline && report->compared_count + report->fault_count < report->count)
        buf_format(out, "; %s not in the baseline",
                   size_text_count(count, report->count - report->compared_count - report->fault_count));
    buf_char(out, '.');
}
