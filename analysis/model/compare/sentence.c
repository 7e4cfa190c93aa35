/* SPDX-License-Identifier: Apache-2.0
 * sentence.c: see sentence.h. */
#include "model/compare/sentence.h"

#include "base/size_text.h"
#include "plan/describe.h"
#include "plan/group_key.h"
#include "plan/pattern.h"

/* A peak that is less than this share of the program away, in percent, has not moved; from this share of the change
 * on a group of buffers, or a category, is what the change is. */
enum { NEAR_PERCENT = 2, CAUSE_PERCENT = 50 };

static uint64_t size_of(int64_t delta) { return delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta; }

static void say_size(struct buf *out, uint64_t bytes)
{
    char text[SIZE_TEXT_BYTES];
    buf_text(out, size_text(text, bytes));
}

void sentence_change(int64_t delta_bytes, struct buf *out)
{
    buf_text(out, delta_bytes > 0 ? "+" : delta_bytes < 0 ? "\xE2\x88\x92" : "");
    say_size(out, size_of(delta_bytes));
}

/* ---- the peak ---- */

static uint32_t instruction_at_peak(const struct compare_side *side)
{
    const struct plan *plan = side->plan;
    const struct plan_space *space = side->space;
    if (!space->has_peak_step)
        return HLO_NONE;
    if (space->unit == PLAN_UNIT_SCHEDULE)
        return space->peak_step < plan->schedule.length ? plan->schedule.order[space->peak_step] : HLO_NONE;
    const struct hlo_event *event = &plan->hlo.events[plan->hlo.traces[space->trace_at].event_first + space->peak_step];
    return event->buffer_at == HLO_NONE ? HLO_NONE : plan->hlo.buffers[event->buffer_at].instruction_at;
}

static struct sentence_peak peak_of(const struct compare_side *side, const struct alignment *alignment, int at,
                                    struct arena *arena, struct str *folded)
{
    struct sentence_peak peak = {{"", 0}, {"", 0}, -1};
    uint32_t instruction_at = instruction_at_peak(side);
    *folded = (struct str){"", 0};
    if (instruction_at == HLO_NONE)
        return peak;
    peak.position = alignment->positions[at][side->space->peak_step];
    peak.instruction = hlo_instruction_name(&side->plan->hlo, instruction_at);
    struct str op_name = hlo_detail(&side->plan->hlo, instruction_at).op_name;
    *folded = group_key_scope((struct str){op_name.data, op_name.length - str_last_part(op_name).length}, arena);
    peak.scope = compare_place(op_name, arena);
    return peak;
}

struct sentence_peaks sentence_peaks_find(const struct compare *compare, const struct alignment *alignment)
{
    struct sentence_peaks peaks = {.is_known = !compare->is_of_steps};
    struct str folded[COMPARE_SIDE_COUNT];
    uint32_t at[COMPARE_SIDE_COUNT];
    for (int side = 0; side < COMPARE_SIDE_COUNT; side++) {
        peaks.sides[side] = peak_of(&compare->sides[side], alignment, side, compare->arena, &folded[side]);
        peaks.is_known &= peaks.sides[side].position >= 0;
        at[side] = alignment_of_step(alignment, side, compare->sides[side].space->peak_step);
    }
    uint64_t apart = at[0] > at[1] ? at[0] - at[1] : at[1] - at[0];
    peaks.has_moved =
        peaks.is_known && !str_equal(folded[0], folded[1]) && apart * 100 > (uint64_t)alignment->length * NEAR_PERCENT;
    return peaks;
}

static void say_place(struct buf *out, const struct sentence_peak *peak)
{
    struct str name = peak->scope.length > 0 ? peak->scope : peak->instruction;
    char count[COUNT_TEXT_BYTES];
    buf_add(out, name.data, name.length);
    buf_format(out, " (schedule position %s)", size_text_count(count, (uint64_t)peak->position));
}

static void say_moved(const struct sentence_peaks *peaks, struct buf *out)
{
    buf_text(out, " The peak is now at ");
    say_place(out, &peaks->sides[COMPARE_B]);
    buf_text(out, "; in A it is at ");
    say_place(out, &peaks->sides[COMPARE_A]);
    buf_char(out, '.');
}

/* ---- the cause ---- */

struct describe_source sentence_group_source(const struct compare *compare, const struct compare_group *group)
{
    const struct compare_pair *pair = &compare->pairs[group->first_pair];
    int side = pair->items[COMPARE_B] != COMPARE_NONE ? COMPARE_B : COMPARE_A;
    const struct compare_item *item = compare_item_any(compare, pair);
    const struct hlo *hlo = &compare->sides[side].plan->hlo;
    if (item->row->named_by == HLO_NONE)
        return (struct describe_source){{"", 0}, -1};
    const struct hlo_detail detail = hlo_detail(hlo, item->row->named_by);
    return describe_source(hlo, &detail);
}

static void say_source(const struct compare *compare, const struct compare_group *group, struct buf *out)
{
    struct describe_source source = sentence_group_source(compare, group);
    struct str file = str_last_part(source.file);
    if (file.length == 0 || source.line <= 0)
        return;
    buf_text(out, ", ");
    buf_add(out, file.data, file.length);
    buf_format(out, ":%lld", (long long)source.line);
}

void sentence_group(const struct compare *compare, const struct compare_group *group, struct buf *out)
{
    const struct compare_pair *pair = &compare->pairs[group->first_pair];
    const struct compare_item *a = compare_item_of(compare, pair, COMPARE_A), *item = compare_item_any(compare, pair);
    struct str shape = compare->texts[(a != NULL ? a : item)->shape], shape_b = compare->texts[item->shape];
    char count[COUNT_TEXT_BYTES];
    if (group->count > 1)
        buf_format(out, "%s \xC3\x97 ", size_text_count(count, group->count));
    buf_add(out, shape.data, shape.length);
    if (!str_equal(shape, shape_b)) {
        buf_text(out, " \xE2\x86\x92 ");
        buf_add(out, shape_b.data, shape_b.length);
    }
    if (pair->category != CATEGORY_UNKNOWN)
        buf_format(out, " %s",
                   pair->category == CATEGORY_SAVED_ACTIVATION ? "saved"
                                                               : category_words((enum category)pair->category));
    struct str place = compare_place(compare_name(compare, item, true), compare->arena);
    buf_text(out, place.length > 0 ? " in " : "");
    buf_add(out, place.data, place.length);
}

/* "… , model.py:41 are new (+3.00 GiB)" */
static void say_group(const struct compare *compare, const struct compare_group *group, struct buf *out)
{
    static const char *const verbs[][2] = {
        {"is", "are"}, {"is", "are"}, {"has grown", "have grown"}, {"has shrunk", "have shrunk"}, {"is", "are"}};
    static const char *const states[] = {" new", " gone", "", "", " the same"};
    const struct compare_pair *pair = &compare->pairs[group->first_pair];
    sentence_group(compare, group, out);
    say_source(compare, group, out);
    buf_format(out, " %s%s (", verbs[pair->state][group->count > 1], states[pair->state]);
    sentence_change(group->delta_bytes, out);
    buf_char(out, ')');
}

/* The group that changed most in this direction; NULL: none did. */
static const struct compare_group *group_largest(const struct compare *compare, int64_t change, const char *category)
{
    for (uint32_t i = 0; i < compare->group_count; i++) {
        const struct compare_group *group = &compare->groups[i];
        const struct compare_pair *pair = &compare->pairs[group->first_pair];
        bool is_wanted = category == NULL || category_name((enum category)pair->category) == category;
        if (is_wanted && (change > 0 ? group->delta_bytes > 0 : group->delta_bytes < 0))
            return group;
    }
    return NULL;
}

static bool is_part(int64_t part, int64_t whole, uint64_t percent)
{
    return size_of(part) >= size_of(whole) / 100 * percent;
}

static bool is_most(int64_t part, int64_t whole) { return is_part(part, whole, CAUSE_PERCENT); }

struct describe_source sentence_source(const struct compare *compare, int64_t change)
{
    const struct compare_group *group = group_largest(compare, change, NULL);
    return group == NULL ? (struct describe_source){{"", 0}, -1} : sentence_group_source(compare, group);
}

/* A group that is most of the change, else the category that changed most and its largest group. */
static void say_cause(const struct compare *compare, int64_t change, struct buf *out)
{
    const struct compare_group *group = group_largest(compare, change, NULL);
    if (group != NULL && is_most(group->delta_bytes, change)) {
        say_group(compare, group, out);
        return;
    }
    for (uint32_t i = 0; i < compare->part_count; i++) {
        const struct compare_part *part = &compare->parts[i];
        if ((change > 0) != (part->delta_bytes > 0) || part->delta_bytes == 0)
            continue;
        buf_format(out, "%s ", part->label);
        sentence_change(part->delta_bytes, out);
        group = group_largest(compare, change, part->category);
        if (group != NULL) {
            buf_text(out, is_most(group->delta_bytes, part->delta_bytes) ? "; most of it: " : "; the largest: ");
            say_group(compare, group, out);
        }
        return;
    }
}

static uint32_t changed_count(const struct compare *compare)
{
    return compare->pair_count - compare->counts[COMPARE_SAME];
}

static void say_same(const struct compare *compare, int64_t bytes, struct buf *out)
{
    char differ[COUNT_TEXT_BYTES], all[COUNT_TEXT_BYTES];
    const char *when = compare->is_of_steps ? "then" : "at the peak";
    buf_text(out, compare->is_of_steps ? "A and B have the same live: " : "A and B need the same: ");
    say_size(out, (uint64_t)bytes);
    buf_format(out, "; %s of %s buffers %s differ", size_text_count(differ, changed_count(compare)),
               size_text_count(all, compare->pair_count), when);
    if (changed_count(compare) > 0 && compare->group_count > 0 && compare->groups[0].delta_bytes != 0) {
        buf_text(out, ": ");
        say_group(compare, &compare->groups[0], out);
    }
    buf_char(out, '.');
}

static const struct plan_pattern *pattern_of(const struct compare_side *side, uint8_t kind)
{
    for (uint32_t i = 0; i < side->space->pattern_count; i++)
        if (side->space->patterns[i].kind == kind)
            return &side->space->patterns[i];
    return NULL;
}

/* " Gone: results that could reuse the memory of arguments (8.69 GiB)." of the larger patterns of one side. */
enum { PATTERN_PERCENT = 5 };
static void say_patterns(const struct compare *compare, int at, const char *word, struct buf *out)
{
    const struct compare_side *side = &compare->sides[at], *other = &compare->sides[1 - at];
    bool is_first = true;
    for (uint32_t i = 0; i < side->space->pattern_count; i++) {
        const struct plan_pattern *pattern = &side->space->patterns[i];
        if (pattern_of(other, pattern->kind) != NULL || !is_part(pattern->bytes, side->needed_bytes, PATTERN_PERCENT))
            continue;
        buf_text(out, is_first ? word : ", ");
        buf_format(out, "%s (", pattern_words((enum pattern_kind)pattern->kind));
        say_size(out, (uint64_t)pattern->bytes);
        buf_char(out, ')');
        is_first = false;
    }
    if (!is_first)
        buf_char(out, '.');
}

void sentence_write(const struct compare *compare, const struct sentence_peaks *peaks, struct buf *out)
{
    int64_t before = compare->sides[COMPARE_A].needed_bytes, after = compare->sides[COMPARE_B].needed_bytes;
    int64_t change = after - before;
    if (change == 0) {
        say_same(compare, before, out);
    } else {
        buf_text(out, compare->is_of_steps ? "B has " : "B needs ");
        say_size(out, size_of(change));
        buf_text(out, change > 0 ? " more" : " less");
        buf_text(out, compare->is_of_steps ? " live, " : ", ");
        say_size(out, (uint64_t)after);
        buf_text(out, " instead of ");
        say_size(out, (uint64_t)before);
        buf_text(out, ": ");
        say_cause(compare, change, out);
        buf_char(out, '.');
    }
    if (!compare->is_of_steps) {
        say_patterns(compare, COMPARE_A, " Gone: ", out);
        say_patterns(compare, COMPARE_B, " New: ", out);
    }
    if (peaks->has_moved)
        say_moved(peaks, out);
}
