/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/split.h"

#include "plan/category.h"
#include "read/hlo/shape.h"

static bool is_whole(const struct split *split, int64_t size)
{
    for (uint32_t i = 0; i < split->whole_count; i++)
        if (split->whole_sizes[i] == size)
            return true;
    return false;
}

bool split_takes(const struct split *split, int64_t size)
{
    return size > 0 && size % split->devices == 0 && !is_whole(split, size);
}

/* Small arrays stay whole; but the batch does not if all its arrays are small. */
static int64_t least_of(const struct variant *variant)
{
    int64_t largest = 0;
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        int64_t elements = 1;
        uint32_t dimension, nth = 0;
        if (argument->instruction_at == HLO_NONE ||
            (argument->choice.category != CATEGORY_BATCH && argument->choice.category != CATEGORY_INPUT))
            continue;
        for (; (dimension = dimensions_of(&variant->dimensions, argument->instruction_at, nth)) != HLO_NONE; nth++)
            if (__builtin_mul_overflow(elements, variant->sizes[dimension], &elements))
                return SPLIT_ELEMENTS_LEAST;
        largest = nth > 0 && elements > largest ? elements : largest;
    }
    return largest > 0 && largest < SPLIT_ELEMENTS_LEAST ? largest : SPLIT_ELEMENTS_LEAST;
}

/* By class: do indices that are computed say which rows of it are read or written? Not of what indices are along: an
 * edge is its device's own, whichever nodes it joins. */
static const bool *pointed_find(const struct variant *variant)
{
    const struct dimensions *dimensions = &variant->dimensions;
    bool *is_pointed = arena_array(variant->arena, bool, (size_t)dimensions->leaves.dimension_count + 1);
    arena_work(variant->arena, dimensions->pointing_count);
    for (uint32_t i = 0; i < dimensions->pointing_count; i++)
        is_pointed[dimensions_class(dimensions, dimensions->pointings[i].to)] = true;
    for (uint32_t i = 0; i < dimensions->pointing_count; i++)
        is_pointed[dimensions_class(dimensions, dimensions->pointings[i].from)] = false;
    return is_pointed;
}

/* For a table of parameters each device looks up the rows that it has, and the results are added. */
static bool is_table(const struct plan_argument *argument)
{
    return argument->choice.category == CATEGORY_PARAMETER || argument->choice.category == CATEGORY_OPTIMIZER_STATE;
}

void split_read(const struct variant *variant, int64_t devices, struct split *out)
{
    const struct dimensions *dimensions = &variant->dimensions;
    const bool *is_pointed = pointed_find(variant);
    *out = (struct split){.devices = devices, .least = least_of(variant)};
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        uint32_t at = argument->instruction_at, dimension;
        for (uint32_t nth = 0; at != HLO_NONE && (dimension = dimensions_of(dimensions, at, nth)) != HLO_NONE; nth++) {
            uint32_t class = dimensions_class(dimensions, dimension);
            bool is_read_anywhere = dimensions->is_cut[class] || (is_pointed[class] && !is_table(argument));
            if (is_read_anywhere && split_takes(out, variant->sizes[dimension]) && out->whole_count < SPLIT_SIZES_MAX)
                out->whole_sizes[out->whole_count++] = variant->sizes[dimension];
        }
    }
}

const char *split_whole_text(const struct split *split, struct arena *arena)
{
    const char *text = "";
    for (uint32_t i = 0; i < split->whole_count; i++)
        text = arena_format(arena, "%s%s%lld", text, i > 0 ? ", " : "", (long long)split->whole_sizes[i]);
    return text;
}

/* ---- what is not split as its operands are ---- */

/* Bytes of an array without padding; 0: it is none. */
static int64_t array_bytes(const struct variant *variant, uint32_t at)
{
    struct shape_array array;
    if (at == HLO_NONE || !shape_array_read(hlo_instruction_shape(&variant->plan->hlo, at), &array))
        return 0;
    int64_t bytes = shape_bytes(hlo_instruction_shape(&variant->plan->hlo, at));
    return bytes == SHAPE_UNKNOWN_SIZE ? INT64_MAX : bytes;
}

static const char fourier[] = "a Fourier transform";
enum { FOURIER_SHARE = 10 }; /* it is computed in many arrays of its size */

static const char *obstacle_words(const struct variant *variant, uint32_t at)
{
    const struct graph *graph = variant->plan->graph;
    struct str opcode = hlo_instruction_opcode(&variant->plan->hlo, at);
    struct str name = graph_op_name_end(graph, at);
    static const char fft[] = "fft";
    if (str_equal(opcode, STR("fft")) || memmem(name.data, name.length, fft, sizeof(fft) - 1) != NULL)
        return fourier;
    if (str_equal(opcode, STR("gather")))
        return "a lookup by index";
    if (str_equal(opcode, STR("scatter")))
        return "a write by index";
    return str_equal(opcode, STR("sort")) ? "a sort" : NULL;
}

/* Is there data that stays whole because all data is small? What it points into is gathered with it. */
static bool has_whole_data(const struct variant *variant)
{
    struct shape_array shape;
    int64_t least = least_of(variant);
    for (uint32_t i = 0; i < variant->plan->argument_count; i++) {
        const struct plan_argument *argument = &variant->plan->arguments[i];
        bool is_data = argument->choice.category == CATEGORY_BATCH || argument->choice.category == CATEGORY_INPUT;
        if (is_data && shape_array_read(argument->shape, &shape) && shape.rank > 0 &&
            shape_array_elements(&shape) < least)
            return true;
    }
    return false;
}

const char *split_obstacle(const struct variant *variant, int64_t least_bytes, uint32_t *at)
{
    const struct hlo *hlo = &variant->plan->hlo;
    const struct graph *graph = variant->plan->graph;
    bool is_of_operands = has_whole_data(variant);
    arena_work(variant->arena, hlo->instruction_count);
    for (*at = 0; *at < hlo->instruction_count; ++*at) {
        const char *words = obstacle_words(variant, *at);
        if (words != NULL &&
            (array_bytes(variant, *at) >= (words == fourier ? least_bytes / FOURIER_SHARE : least_bytes) ||
             (is_of_operands && array_bytes(variant, graph_operand(graph, *at, 0)) >= least_bytes)))
            return words;
    }
    *at = HLO_NONE;
    return NULL;
}
