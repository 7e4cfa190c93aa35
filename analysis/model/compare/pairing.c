/* SPDX-License-Identifier: Apache-2.0
 * pairing.c: see pairing.h. */
#include "model/compare/pairing.h"

#include "base/intern.h"
#include "base/sum.h"
#include "plan/describe.h"
#include "plan/group_key.h"

#include <stdlib.h>

/* ---- what is live ---- */

/* In the order of the program: arguments by their number, the others as they are born. */
struct live {
    const struct plan_row *row;
    uint32_t at;
    int64_t parameter;
};

static int by_program(const void *left, const void *right)
{
    const struct live *a = left, *b = right;
    return ORDER(a->parameter, b->parameter) ?: ORDER(a->at, b->at);
}

static uint32_t live_find(const struct compare_side *side, struct live *all)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < side->space->row_count; i++) {
        const struct plan_row *row = &side->space->rows[i];
        const struct hlo_allocation *allocation = &side->plan->hlo.allocations[row->allocation_at];
        if (plan_row_is_alive(row, side->step))
            all[count++] = (struct live){row, i, allocation->is_parameter ? allocation->parameter_number : INT64_MAX};
    }
    qsort(all, count, sizeof(*all), by_program);
    return count;
}

/* ---- what each is known by ---- */

struct pairing_naming {
    struct intern texts;
    struct arena *arena;
    struct buf *scratch;
};

static uint32_t pairing_number(struct pairing_naming *naming, struct str text)
{
    arena_work(naming->arena, text.length);
    return intern_number(&naming->texts, text);
}

/* Dimensions of a shape's text: "bf16[8,2048]" has two. */
static uint32_t rank_of(struct str shape)
{
    const char *open = shape.length > 0 ? memchr(shape.data, '[', shape.length) : NULL;
    uint32_t rank = 0;
    if (open == NULL || shape.data[0] == '(')
        return COMPARE_NONE;
    for (const char *at = open + 1; at < shape.data + shape.length && *at != ']'; at++)
        rank += at == open + 1 || *at == ',';
    return rank;
}

/* The file without its folders: a checkout lies elsewhere on another machine. */
static uint32_t line_of(struct pairing_naming *naming, const struct plan *plan, const struct plan_row *row)
{
    if (row->named_by == HLO_NONE)
        return COMPARE_NONE;
    const struct hlo_detail detail = hlo_detail(&plan->hlo, row->named_by);
    struct describe_source source = describe_source(&plan->hlo, &detail);
    struct str file = str_last_part(source.file);
    if (file.length == 0 || source.line <= 0)
        return COMPARE_NONE;
    naming->scratch->length = 0;
    buf_add(naming->scratch, file.data, file.length);
    buf_format(naming->scratch, ":%lld", (long long)source.line);
    return pairing_number(naming, describe_str(naming->scratch));
}

/* What has no op name is known by its opcode. */
static struct str name_of(const struct plan *plan, const struct plan_row *row, bool *has_name)
{
    struct str op_name = group_key_op_name(plan, row);
    *has_name = op_name.length > 0;
    if (*has_name || row->buffer_at == PLAN_NONE)
        return op_name;
    return hlo_instruction_opcode(&plan->hlo, plan->hlo.buffers[row->buffer_at].instruction_at);
}

static struct compare_item item_of(struct pairing_naming *naming, const struct plan *plan, const struct plan_row *row)
{
    struct compare_item item = {.row = row, .partner = COMPARE_NONE};
    struct str name = name_of(plan, row, &item.has_name);
    item.op_name = pairing_number(naming, name);
    struct group_key key = group_key_of(plan, row, naming->scratch, naming->arena);
    item.scope = pairing_number(naming, item.has_name ? key.scope : name);
    item.last_part = pairing_number(naming, str_last_part(item.has_name ? key.scope : name));
    item.shape = pairing_number(naming, key.shape);
    item.rank = rank_of(naming->texts.items[item.shape]);
    item.line = line_of(naming, plan, row);
    return item;
}

static void items_make(struct compare_side *side, struct pairing_naming *naming)
{
    struct live *live = arena_array(naming->arena, struct live, (size_t)side->space->row_count + 1);
    side->count = live_find(side, live);
    side->items = arena_array(naming->arena, struct compare_item, (size_t)side->count + 1);
    for (uint32_t i = 0; i < side->count; i++) {
        side->items[i] = item_of(naming, side->plan, live[i].row);
        side->live_bytes = sum_add(side->live_bytes, live[i].row->bytes);
    }
}

/* ---- pairs ---- */

/* An item that has no partner yet, under one key. Equal words and names are of one kind; `at` keeps program order. */
struct waiting {
    uint32_t words[3], name, at;
};

static int same_key(const struct waiting *a, const struct waiting *b)
{
    for (int i = 0; i < 3; i++)
        if (a->words[i] != b->words[i])
            return ORDER(a->words[i], b->words[i]);
    return ORDER(a->name, b->name);
}

static int by_key(const void *left, const void *right)
{
    const struct waiting *a = left, *b = right;
    return same_key(a, b) ?: ORDER(a->at, b->at);
}

/* The words of a key; false if an item has none. For unnamed items the opcode alone is too vague. */
static bool words_of(const struct compare_item *item, enum compare_key key, uint32_t words[3])
{
    bool is_of_scope = key == COMPARE_KEY_SCOPE_SHAPE || key == COMPARE_KEY_SCOPE;
    words[0] = item->row->choice.category;
    words[1] = is_of_scope ? item->scope : key == COMPARE_KEY_LINE ? item->line : item->last_part;
    words[2] = key == COMPARE_KEY_SCOPE_SHAPE || key == COMPARE_KEY_OP_SHAPE ? item->shape
               : key == COMPARE_KEY_OP_RANK                                  ? item->rank
                                                                             : 0;
    return (item->has_name || key == COMPARE_KEY_OP_SHAPE) && words[1] != COMPARE_NONE && words[2] != COMPARE_NONE;
}

static uint32_t waiting_find(const struct compare_side *side, enum compare_key key, bool with_name,
                             struct waiting *waiting)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < side->count; i++) {
        struct waiting *next = &waiting[count];
        if (side->items[i].partner != COMPARE_NONE || !words_of(&side->items[i], key, next->words))
            continue;
        next->name = with_name ? side->items[i].op_name : 0;
        next->at = i;
        count++;
    }
    qsort(waiting, count, sizeof(*waiting), by_key);
    return count;
}

/* Both lists have the same order: one walk over them pairs the first of a key with the first, the second with the
 * second. */
static void pair_by(struct compare_side *sides, enum compare_key key, bool with_name,
                    struct waiting *room[COMPARE_SIDE_COUNT])
{
    uint32_t count[COMPARE_SIDE_COUNT], at[COMPARE_SIDE_COUNT] = {0, 0};
    for (int side = 0; side < COMPARE_SIDE_COUNT; side++)
        count[side] = waiting_find(&sides[side], key, with_name, room[side]);
    while (at[COMPARE_A] < count[COMPARE_A] && at[COMPARE_B] < count[COMPARE_B]) {
        const struct waiting *a = &room[COMPARE_A][at[COMPARE_A]], *b = &room[COMPARE_B][at[COMPARE_B]];
        int order = same_key(a, b);
        if (order == 0) {
            struct compare_item *x = &sides[COMPARE_A].items[a->at], *y = &sides[COMPARE_B].items[b->at];
            x->partner = b->at;
            y->partner = a->at;
            x->key = y->key = (uint8_t)key;
        }
        at[COMPARE_A] += order <= 0;
        at[COMPARE_B] += order >= 0;
    }
}

void pairing_find(struct compare *compare, struct arena *arena, struct buf *scratch)
{
    struct compare_side *sides = compare->sides;
    struct pairing_naming naming = {.arena = arena, .scratch = scratch};
    struct waiting *room[COMPARE_SIDE_COUNT];
    intern_init(&naming.texts, arena);
    for (int side = 0; side < COMPARE_SIDE_COUNT; side++) {
        items_make(&sides[side], &naming);
        room[side] = arena_array(arena, struct waiting, (size_t)sides[side].count + 1);
    }
    for (int key = 0; key < COMPARE_KEY_COUNT; key++) {
        pair_by(sides, (enum compare_key)key, true, room);
        pair_by(sides, (enum compare_key)key, false, room);
    }
    compare->texts = naming.texts.items;
}
