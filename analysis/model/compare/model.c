/* SPDX-License-Identifier: Apache-2.0
 * model.c: see model.h. */
#include "model/compare/model.h"

#include "base/sum.h"
#include "model/compare/pairing.h"
#include "plan/group_key.h"

#include <stdlib.h>

static const struct {
    const char *name, *words;
} keys[] = {
#define COMPARE_KEY(constant, name, words) {name, words},
#include "model/compare/keys.def"
#undef COMPARE_KEY
};

const char *compare_key_name(enum compare_key key) { return keys[key].name; }
const char *compare_key_words(enum compare_key key) { return keys[key].words; }

const char *compare_state_name(enum compare_state state)
{
    static const char *const names[] = {"new", "gone", "grown", "shrunk", "same"};
    return names[state];
}

struct str compare_place(struct str scope, struct arena *arena)
{
    struct str label = group_key_label(scope, arena), last = str_last_part(label);
    bool has_operation = last.length < label.length;
    return has_operation ? (struct str){label.data, label.length - last.length - 1} : label;
}

/* ---- pairs ---- */

static int64_t bytes_of(const struct compare_item *item) { return item != NULL ? item->row->bytes : 0; }

static void pair_add(struct compare *out, uint32_t a, uint32_t b)
{
    struct compare_pair pair = {.items = {a, b}};
    const struct compare_item *x = compare_item_of(out, &pair, COMPARE_A), *y = compare_item_of(out, &pair, COMPARE_B);
    pair.delta_bytes = bytes_of(y) - bytes_of(x);
    pair.category = compare_item_any(out, &pair)->row->choice.category;
    pair.state = x == NULL              ? COMPARE_NEW
                 : y == NULL            ? COMPARE_GONE
                 : pair.delta_bytes > 0 ? COMPARE_GROWN
                 : pair.delta_bytes < 0 ? COMPARE_SHRUNK
                                        : COMPARE_SAME;
    out->counts[pair.state]++;
    out->all_bytes = sum_add(out->all_bytes, sum_add(bytes_of(x), bytes_of(y)));
    if (x != NULL && y != NULL)
        out->matched_bytes = sum_add(out->matched_bytes, sum_add(bytes_of(x), bytes_of(y)));
    out->pairs[out->pair_count++] = pair;
}

/* Those of B in its program's order, then what A alone has. */
static void pairs_make(struct compare *out, struct arena *arena)
{
    const struct compare_side *a = &out->sides[COMPARE_A], *b = &out->sides[COMPARE_B];
    out->pairs = arena_array(arena, struct compare_pair, (size_t)a->count + b->count + 1);
    for (uint32_t i = 0; i < b->count; i++)
        pair_add(out, b->items[i].partner, i);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i].partner == COMPARE_NONE)
            pair_add(out, i, COMPARE_NONE);
}

/* ---- groups ---- */

struct member {
    uint32_t words[4]; /* state and category, scope, shapes of A and B */
    uint32_t pair;
};

static int same_group(const struct member *a, const struct member *b)
{
    for (int i = 0; i < 4; i++)
        if (a->words[i] != b->words[i])
            return ORDER(a->words[i], b->words[i]);
    return 0;
}

static int by_group(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    return same_group(a, b) ?: ORDER(a->pair, b->pair);
}

static int64_t size_of(int64_t delta) { return delta < 0 ? -delta : delta; }

static int by_change(const void *left, const void *right)
{
    const struct compare_group *a = left, *b = right;
    return ORDER(size_of(b->delta_bytes), size_of(a->delta_bytes))
               ?: ORDER(sum_add(b->bytes[0], b->bytes[1]), sum_add(a->bytes[0], a->bytes[1]))
                      ?: ORDER(a->first_pair, b->first_pair);
}

static struct member member_of(const struct compare *compare, uint32_t at)
{
    const struct compare_pair *pair = &compare->pairs[at];
    const struct compare_item *a = compare_item_of(compare, pair, COMPARE_A),
                              *b = compare_item_of(compare, pair, COMPARE_B);
    return (struct member){{(uint32_t)pair->state << 8 | pair->category, compare_item_any(compare, pair)->scope,
                            a != NULL ? a->shape : COMPARE_NONE, b != NULL ? b->shape : COMPARE_NONE},
                           at};
}

static void group_take(struct compare *out, struct compare_group *group, uint32_t at)
{
    const struct compare_pair *pair = &out->pairs[at];
    bool is_larger = size_of(pair->delta_bytes) > size_of(out->pairs[group->first_pair].delta_bytes);
    group->first_pair = group->count == 0 || is_larger ? at : group->first_pair;
    group->count++;
    group->delta_bytes += pair->delta_bytes;
    for (int side = 0; side < COMPARE_SIDE_COUNT; side++)
        group->bytes[side] = sum_add(group->bytes[side], bytes_of(compare_item_of(out, pair, side)));
}

static void groups_make(struct compare *out, struct arena *arena)
{
    struct member *members = arena_array(arena, struct member, (size_t)out->pair_count + 1);
    uint32_t *place = arena_array(arena, uint32_t, (size_t)out->pair_count + 1);
    out->groups = arena_array(arena, struct compare_group, (size_t)out->pair_count + 1);
    for (uint32_t i = 0; i < out->pair_count; i++)
        members[i] = member_of(out, i);
    qsort(members, out->pair_count, sizeof(*members), by_group);
    for (uint32_t i = 0; i < out->pair_count; i++) {
        if (i == 0 || same_group(&members[i - 1], &members[i]) != 0)
            out->group_count++;
        group_take(out, &out->groups[out->group_count - 1], members[i].pair);
        out->pairs[members[i].pair].group = out->group_count - 1;
    }
    for (uint32_t i = 0; i < out->group_count; i++) /* sorting moves groups: pairs find theirs by one of its pairs */
        place[i] = out->groups[i].first_pair;
    qsort(out->groups, out->group_count, sizeof(*out->groups), by_change);
    uint32_t *now = arena_array(arena, uint32_t, (size_t)out->pair_count + 1);
    for (uint32_t i = 0; i < out->group_count; i++)
        now[out->groups[i].first_pair] = i;
    for (uint32_t i = 0; i < out->pair_count; i++)
        out->pairs[i].group = now[place[out->pairs[i].group]];
}

/* ---- from A to B ---- */

static int by_part(const void *left, const void *right)
{
    const struct compare_part *a = left, *b = right;
    return ORDER(size_of(b->delta_bytes), size_of(a->delta_bytes)) ?: strcmp(a->label, b->label);
}

static int64_t fragmentation_of(const struct compare_side *side) { return side->needed_bytes - side->live_bytes; }

static void parts_make(struct compare *out)
{
    int64_t deltas[CATEGORY_COUNT] = {0};
    for (uint32_t i = 0; i < out->pair_count; i++)
        deltas[out->pairs[i].category] += out->pairs[i].delta_bytes;
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (deltas[i] != 0)
            out->parts[out->part_count++] =
                (struct compare_part){category_words((enum category)i), category_name((enum category)i), deltas[i]};
    qsort(out->parts, out->part_count, sizeof(*out->parts), by_part);
    out->parts[out->part_count++] =
        (struct compare_part){"fragmentation", "fragmentation",
                              fragmentation_of(&out->sides[COMPARE_B]) - fragmentation_of(&out->sides[COMPARE_A])};
}

void compare_build(const struct compare_programs *programs, const struct compare_choice choice[COMPARE_SIDE_COUNT],
                   struct arena *arena, struct buf *scratch, struct compare *out)
{
    *out = (struct compare){.arena = arena, .is_of_steps = !choice[COMPARE_A].is_peak || !choice[COMPARE_B].is_peak};
    for (int side = 0; side < COMPARE_SIDE_COUNT; side++)
        out->sides[side] = (struct compare_side){.plan = programs->plans[side],
                                                 .space = choice[side].space,
                                                 .step = choice[side].step,
                                                 .is_peak = choice[side].is_peak};
    pairing_find(out, arena, scratch);
    for (int side = 0; side < COMPARE_SIDE_COUNT; side++)
        out->sides[side].needed_bytes =
            out->is_of_steps ? out->sides[side].live_bytes : out->sides[side].space->total_bytes;
    pairs_make(out, arena);
    groups_make(out, arena);
    parts_make(out);
}
