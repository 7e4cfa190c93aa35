/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/alike.h"

#include "read/hlo/shape.h"

bool alike_array(const struct variant *variant, const struct variant_row *row, struct shape_array *array)
{
    const struct leaves *leaves = &variant->dimensions.leaves;
    if (row->leaf == HLO_NONE)
        return false;
    const struct leaf *leaf = &leaves->items[row->leaf];
    *array = (struct shape_array){.type = leaf->type};
    for (uint32_t i = 0; i < leaf->rank && array->rank < SHAPE_RANK_MAX; i++)
        if (leaves->sizes[leaf->first + i] > 1)
            array->dimensions[array->rank++] = leaves->sizes[leaf->first + i];
    return array->rank >= 2;
}

static struct shape_array plane_of(const struct shape_array *array)
{
    return (struct shape_array){.rank = 2,
                                .dimensions = {array->dimensions[array->rank - 2], array->dimensions[array->rank - 1]}};
}

static bool is_known(const void *context, uint64_t value)
{
    (void)context, (void)value;
    return true; /* the hash is as good as the shape */
}

static bool is_computed(const struct variant *variant, const struct variant_row *row)
{
    if (row->plan_row == PLAN_NONE)
        return true; /* a change added it: what is computed again */
    enum category category = (enum category)variant->space->rows[row->plan_row].choice.category;
    return !row->is_argument && !row->is_output && category != CATEGORY_COPY_OF_ARGUMENT &&
           category != CATEGORY_CONSTANT;
}

/* Rows that are gone, as repetitions of the compiler are where they are taken back, have the shapes too. */
static bool is_of_pattern(const struct variant *variant, const struct variant_row *row, enum pattern_kind kind)
{
    return row->plan_row != PLAN_NONE && (variant->space->rows[row->plan_row].patterns & 1U << kind) != 0;
}

/* Has something else that is live at the peak the shape of logits? Then layers have it, and the shape does not tell. */
static bool is_of_others(const struct variant *variant, const struct variant_row *row, enum pattern_kind kind)
{
    return kind == PATTERN_LOGITS && row->plan_row != PLAN_NONE && !is_of_pattern(variant, row, kind) &&
           is_computed(variant, row) &&
           plan_row_is_alive(&variant->space->rows[row->plan_row], variant->space->peak_step);
}

void alike_flag(const struct variant *variant, enum pattern_kind kind, bool *flags)
{
    struct map shapes, planes, others;
    struct shape_array array;
    bool is_new;
    map_init(&shapes, variant->arena, 16);
    map_init(&planes, variant->arena, 16);
    map_init(&others, variant->arena, 16);
    for (uint32_t i = 0; i < variant->row_count; i++) {
        if (is_of_others(variant, &variant->rows[i], kind) && alike_array(variant, &variant->rows[i], &array))
            map_number(&others, shape_array_hash_any_order(&array), is_known, NULL, &is_new);
        if (!is_of_pattern(variant, &variant->rows[i], kind) || !alike_array(variant, &variant->rows[i], &array))
            continue;
        map_number(&shapes, shape_array_hash_any_order(&array), is_known, NULL, &is_new);
        struct shape_array plane = plane_of(&array);
        if (kind == PATTERN_ATTENTION_SCORES && array.rank > 2)
            map_number(&planes, shape_array_hash_any_order(&plane), is_known, NULL, &is_new);
    }
    for (uint32_t i = 0; i < variant->row_count; i++) {
        const struct variant_row *row = &variant->rows[i];
        if (flags[i] || row->is_gone || !is_computed(variant, row) || !alike_array(variant, row, &array))
            continue;
        uint64_t hash = shape_array_hash_any_order(&array);
        if (map_find(&others, hash, is_known, NULL) != MAP_FREE)
            continue;
        flags[i] = map_find(&shapes, hash, is_known, NULL) != MAP_FREE ||
                   (array.rank == 2 && map_find(&planes, hash, is_known, NULL) != MAP_FREE);
    }
}

enum pattern_kind alike_pattern(struct str name)
{
    for (int i = 0; i < PATTERN_COUNT; i++)
        if (str_equal(name, str_of(pattern_name((enum pattern_kind)i))))
            return (enum pattern_kind)i;
    return PATTERN_COUNT;
}
