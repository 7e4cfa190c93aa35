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

/* What is taken out of logits, or goes back into them, without one position (a blank, the last label), or in two
 * dimensions. */
static void parts_note(struct map *parts, struct map *elements, struct shape_array array)
{
    enum { LEAST_POSITIONS = 8 };
    bool is_new;
    int64_t all = shape_array_elements(&array);
    for (uint32_t i = 0; i < array.rank; i++) {
        int64_t size = array.dimensions[i];
        if (size < LEAST_POSITIONS || all <= 0)
            continue;
        array.dimensions[i] = size - 1;
        map_number(parts, shape_array_hash_any_order(&array), is_known, NULL, &is_new);
        array.dimensions[i] = size;
        map_number(elements, (uint64_t)(all / size * (size - 1)), is_known, NULL, &is_new);
    }
    map_number(elements, (uint64_t)all, is_known, NULL, &is_new);
}

/* An array of three or more dimensions was flattened to two, so one is longer than any was before. */
static bool is_flat(const struct shape_array *array, int64_t longest)
{
    return array->rank == 2 && (array->dimensions[0] > longest || array->dimensions[1] > longest);
}

void alike_flag(const struct variant *variant, enum pattern_kind kind, bool *flags)
{
    struct map shapes, planes, others, parts, elements;
    int64_t longest = 0;
    struct shape_array array;
    bool is_new;
    map_init(&shapes, variant->arena, 16);
    map_init(&planes, variant->arena, 16);
    map_init(&others, variant->arena, 16);
    map_init(&parts, variant->arena, 16);
    map_init(&elements, variant->arena, 16);
    for (uint32_t i = 0; i < variant->row_count; i++) {
        if (is_of_others(variant, &variant->rows[i], kind) && alike_array(variant, &variant->rows[i], &array))
            map_number(&others, shape_array_hash_any_order(&array), is_known, NULL, &is_new);
        if (!is_of_pattern(variant, &variant->rows[i], kind) || !alike_array(variant, &variant->rows[i], &array))
            continue;
        map_number(&shapes, shape_array_hash_any_order(&array), is_known, NULL, &is_new);
        if (kind == PATTERN_LOGITS && array.rank > 2)
            parts_note(&parts, &elements, array);
        for (uint32_t k = 0; k < array.rank; k++)
            longest = array.dimensions[k] > longest ? array.dimensions[k] : longest;
        struct shape_array plane = plane_of(&array);
        if (kind == PATTERN_ATTENTION_SCORES && array.rank > 2)
            map_number(&planes, shape_array_hash_any_order(&plane), is_known, NULL, &is_new);
    }
    for (uint32_t i = 0; i < variant->row_count; i++) {
        const struct variant_row *row = &variant->rows[i];
        if (flags[i] || row->is_gone || !is_computed(variant, row) || !alike_array(variant, row, &array))
            continue;
        uint64_t hash = shape_array_hash_any_order(&array);
        flags[i] = map_find(&parts, hash, is_known, NULL) != MAP_FREE ||
                   (is_flat(&array, longest) &&
                    map_find(&elements, (uint64_t)shape_array_elements(&array), is_known, NULL) != MAP_FREE);
        if (flags[i] || map_find(&others, hash, is_known, NULL) != MAP_FREE)
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
