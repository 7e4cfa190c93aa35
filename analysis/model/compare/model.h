/* SPDX-License-Identifier: Apache-2.0
 * model.h: two programs side by side: what was live in each at a moment, matched.
 *
 * In:     a plan, a memory space and a step on either side; they may be of one program.
 * Out:    items (what is live), pairs of them with the key that matched them, sums by category that lead from the
 *         figure of A to that of B to the byte, and groups of equal changes, the largest first.
 * Units:  bytes.
 * Memory: the arena.
 * Cost:   sorting what is live, five times; no pair of buffers is looked at twice. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "model/compare/programs.h"
#include "plan/plan.h"

#include <assert.h>

#define COMPARE_NONE UINT32_MAX
enum { COMPARE_A, COMPARE_B, COMPARE_SIDE_COUNT };

/* What a pair has in common beside its category, the surest first. */
enum compare_key {
#define COMPARE_KEY(constant, name, words) COMPARE_KEY_##constant,
#include "model/compare/keys.def"
#undef COMPARE_KEY
    COMPARE_KEY_COUNT
};
/* "scope_shape"; static storage. */
const char *compare_key_name(enum compare_key key);
/* "scope and shape". */
const char *compare_key_words(enum compare_key key);

enum compare_state { COMPARE_NEW, COMPARE_GONE, COMPARE_GROWN, COMPARE_SHRUNK, COMPARE_SAME, COMPARE_STATE_COUNT };
/* "new", "gone", "grown", "shrunk", "same"; static storage. */
const char *compare_state_name(enum compare_state state);

/* Something that is live on one side. Texts are known by numbers that mean the same on both sides. */
struct compare_item {
    const struct plan_row *row;
    uint32_t op_name, scope, last_part, shape, rank, line; /* scope: with {i}; line: COMPARE_NONE without one */
    uint32_t partner;                                      /* in the items of the other side, or COMPARE_NONE */
    uint8_t key;                                           /* enum compare_key, where there is a partner */
    bool has_name;                                         /* else op_name and the like are its opcode */
};

struct compare_side {
    const struct plan *plan;
    const struct plan_space *space;
    uint32_t step;
    bool is_peak;
    struct compare_item *items; /* in program order */
    uint32_t count;
    int64_t live_bytes;
    int64_t needed_bytes; /* what is held against the other side: the space's allocations, or what is live at a step */
};

/* One buffer of both sides, or of one. */
struct compare_pair {
    uint32_t items[COMPARE_SIDE_COUNT]; /* COMPARE_NONE: the other one alone has it */
    uint8_t state;                      /* enum compare_state */
    uint8_t category;
    int64_t delta_bytes;
    uint32_t group; /* in compare.groups */
};

/* Pairs of one state that have category, scope{i} and shapes in common. */
struct compare_group {
    uint32_t first_pair, count; /* first_pair: the one that changed most */
    int64_t delta_bytes, bytes[COMPARE_SIDE_COUNT];
};

/* A step of the way from A to B. */
struct compare_part {
    const char *label, *category; /* both "fragmentation" for what no buffer takes */
    int64_t delta_bytes;
};

struct compare {
    struct compare_side sides[COMPARE_SIDE_COUNT];
    struct arena *arena; /* that all of this lies in */
    struct str *texts;   /* by the numbers in items */
    struct compare_pair *pairs;
    struct compare_group *groups;
    struct compare_part parts[CATEGORY_COUNT + 1]; /* those that change; fragmentation is the last, and always there */
    uint32_t pair_count, group_count, part_count;
    uint32_t counts[COMPARE_STATE_COUNT];
    int64_t matched_bytes, all_bytes; /* of both sides together: with a partner, and all */
    bool is_of_steps;                 /* a step was named: what is live then is compared, not what is allocated */
};

/* What to compare. */
struct compare_choice {
    const struct plan_space *space;
    uint32_t step;
    bool is_peak;
};

void compare_build(const struct compare_programs *programs, const struct compare_choice choice[COMPARE_SIDE_COUNT],
                   struct arena *arena, struct buf *scratch, struct compare *out);

/* The op name of an item, or its scope; empty where nothing names it. */
static inline struct str compare_name(const struct compare *compare, const struct compare_item *item, bool is_folded)
{
    return item->has_name ? compare->texts[is_folded ? item->scope : item->op_name] : (struct str){"", 0};
}

/* "layer_{i}/mlp": the label of a scope without the operation at its end; a path stays. In the arena. */
struct str compare_place(struct str scope, struct arena *arena);

static inline const struct compare_item *compare_item_of(const struct compare *compare, const struct compare_pair *pair,
                                                         int side)
{
    return pair->items[side] == COMPARE_NONE ? NULL : &compare->sides[side].items[pair->items[side]];
}

/* That of B, or of A where B has none: one of the two has. */
static inline const struct compare_item *compare_item_any(const struct compare *compare,
                                                          const struct compare_pair *pair)
{
    const struct compare_item *b = compare_item_of(compare, pair, COMPARE_B),
                              *any = b != NULL ? b : compare_item_of(compare, pair, COMPARE_A);
    assert(any != NULL);
    return any;
}
