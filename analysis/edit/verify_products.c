/* SPDX-License-Identifier: Apache-2.0
 * Rules of verify_shape.c for opcodes that multiply, slide a window or look up by index. */
#include "edit/verify_rules.h"

static bool is_in(const int64_t *list, size_t count, size_t wanted)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == (int64_t)wanted)
            return true;
    return false;
}

/* Appends the dimensions of one side of a dot that are neither summed over nor walked together. */
static bool take_free(const struct verify_asked *asked, const program_shape *side, const int64_t *batch, size_t batches,
                      const int64_t *summed, size_t sums, size_t *at)
{
    for (size_t i = 0; i < side->n_dimensions; i++) {
        if (is_in(batch, batches, i) || is_in(summed, sums, i))
            continue;
        if (*at == asked->shape->n_dimensions || asked->shape->dimensions[(*at)++] != side->dimensions[i])
            return false;
    }
    return true;
}

static bool are_pairs_equal(const program_shape *a, const int64_t *of_a, const program_shape *b, const int64_t *of_b,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((uint64_t)of_a[i] >= a->n_dimensions || (uint64_t)of_b[i] >= b->n_dimensions ||
            a->dimensions[of_a[i]] != b->dimensions[of_b[i]])
            return false;
    return true;
}

const char *verify_dot(const struct verify_asked *asked)
{
    const Xla__DotDimensionNumbers *by = asked->instruction->dot_dimension_numbers;
    if (asked->count < 2 || by == NULL || by->n_lhs_contracting_dimensions != by->n_rhs_contracting_dimensions ||
        by->n_lhs_batch_dimensions != by->n_rhs_batch_dimensions)
        return "its two sides do not pair";
    const program_shape *left = asked->operands[0], *right = asked->operands[1];
    if (!are_pairs_equal(left, by->lhs_contracting_dimensions, right, by->rhs_contracting_dimensions,
                         by->n_lhs_contracting_dimensions) ||
        !are_pairs_equal(left, by->lhs_batch_dimensions, right, by->rhs_batch_dimensions, by->n_lhs_batch_dimensions))
        return "a dimension of one side is not as long as its partner";
    size_t at = 0;
    for (; at < by->n_lhs_batch_dimensions; at++)
        if (at >= asked->shape->n_dimensions ||
            asked->shape->dimensions[at] != left->dimensions[by->lhs_batch_dimensions[at]])
            return "its dimensions are not those of a product";
    return take_free(asked, left, by->lhs_batch_dimensions, by->n_lhs_batch_dimensions, by->lhs_contracting_dimensions,
                     by->n_lhs_contracting_dimensions, &at) &&
                   take_free(asked, right, by->rhs_batch_dimensions, by->n_rhs_batch_dimensions,
                             by->rhs_contracting_dimensions, by->n_rhs_contracting_dimensions, &at) &&
                   at == asked->shape->n_dimensions
               ? NULL
               : "its dimensions are not those of a product";
}

/* ---- windows ---- */

static int64_t dilated(int64_t size, int64_t dilation)
{
    __int128 length = size > 0 ? (__int128)(size - 1) * dilation + 1 : 0;
    return length > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)length;
}

static bool is_windowed(int64_t input, const Xla__WindowDimension *window, int64_t output)
{
    if (window->stride < 1 || window->size < 1 || window->window_dilation < 1 || window->base_dilation < 1)
        return false;
    __int128 padded = (__int128)dilated(input, window->base_dilation) + window->padding_low + window->padding_high;
    __int128 reach = dilated(window->size, window->window_dilation);
    return (padded < reach ? 0 : (padded - reach) / window->stride + 1) == output;
}

const char *verify_convolution(const struct verify_asked *asked)
{
    const program_instruction *instruction = asked->instruction;
    const Xla__ConvolutionDimensionNumbers *by = instruction->convolution_dimension_numbers;
    const Xla__Window *window = instruction->window;
    if (asked->count != 2 || by == NULL || window == NULL)
        return "it is no convolution";
    const program_shape *input = asked->operands[0], *kernel = asked->operands[1], *output = asked->shape;
    size_t spatial = window->n_dimensions, rank = output->n_dimensions;
    if (rank != spatial + 2 || input->n_dimensions != rank || kernel->n_dimensions != rank ||
        by->n_input_spatial_dimensions != spatial || by->n_kernel_spatial_dimensions != spatial ||
        by->n_output_spatial_dimensions != spatial)
        return "its dimensions do not go with its window";
    const int64_t named[] = {by->input_batch_dimension,          by->input_feature_dimension,
                             by->kernel_input_feature_dimension, by->kernel_output_feature_dimension,
                             by->output_batch_dimension,         by->output_feature_dimension};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if ((uint64_t)named[i] >= rank)
            return "it names a dimension that is not there";
    int64_t batch_groups = instruction->batch_group_count > 1 ? instruction->batch_group_count : 1;
    int64_t feature_groups = instruction->feature_group_count > 1 ? instruction->feature_group_count : 1;
    if (input->dimensions[named[0]] / batch_groups != output->dimensions[named[4]] ||
        input->dimensions[named[1]] / feature_groups != kernel->dimensions[named[2]] ||
        kernel->dimensions[named[3]] != output->dimensions[named[5]])
        return "its batch or features are not those of its operands";
    for (size_t i = 0; i < spatial; i++) {
        uint64_t from = (uint64_t)by->input_spatial_dimensions[i], to = (uint64_t)by->output_spatial_dimensions[i];
        uint64_t of = (uint64_t)by->kernel_spatial_dimensions[i];
        if (from >= rank || to >= rank || of >= rank || kernel->dimensions[of] != window->dimensions[i]->size ||
            !is_windowed(input->dimensions[from], window->dimensions[i], output->dimensions[to]))
            return "a dimension is not what its window leaves";
    }
    return NULL;
}

const char *verify_reduce_window(const struct verify_asked *asked)
{
    const Xla__Window *window = asked->instruction->window;
    if (shapes_is_tuple(asked->shape))
        return NULL; /* of several arrays at once: rare, and not edited */
    if (asked->count != 2 || window == NULL || window->n_dimensions != asked->shape->n_dimensions ||
        asked->operands[0]->n_dimensions != asked->shape->n_dimensions)
        return "its dimensions do not go with its window";
    for (size_t i = 0; i < window->n_dimensions; i++)
        if (!is_windowed(asked->operands[0]->dimensions[i], window->dimensions[i], asked->shape->dimensions[i]))
            return "a dimension is not what its window leaves";
    return NULL;
}

/* ---- by index ---- */

/* The dimension of the indices after `at` that is not the index vector itself, or their rank. */
static size_t next_index_dimension(const program_shape *indices, size_t at, int64_t vector)
{
    return at < indices->n_dimensions && (int64_t)at == vector ? at + 1 : at;
}

const char *verify_gather(const struct verify_asked *asked)
{
    const program_instruction *instruction = asked->instruction;
    const Xla__GatherDimensionNumbers *by = instruction->gather_dimension_numbers;
    if (asked->count != 2 || by == NULL || instruction->n_gather_slice_sizes != asked->operands[0]->n_dimensions ||
        !verify_same_type(asked->operands[0], asked->shape))
        return "it does not cut each dimension of its operand";
    const program_shape *operand = asked->operands[0], *indices = asked->operands[1];
    size_t of_slice = 0, of_indices = 0;
    for (size_t i = 0; i < asked->shape->n_dimensions; i++) {
        int64_t wanted = -1;
        if (is_in(by->offset_dims, by->n_offset_dims, i)) {
            while (of_slice < operand->n_dimensions &&
                   (is_in(by->collapsed_slice_dims, by->n_collapsed_slice_dims, of_slice) ||
                    is_in(by->operand_batching_dims, by->n_operand_batching_dims, of_slice)))
                of_slice++;
            if (of_slice < operand->n_dimensions)
                wanted = instruction->gather_slice_sizes[of_slice++];
        } else {
            of_indices = next_index_dimension(indices, of_indices, by->index_vector_dim);
            if (of_indices < indices->n_dimensions)
                wanted = indices->dimensions[of_indices++];
        }
        if (asked->shape->dimensions[i] != wanted)
            return "a dimension is neither that of a slice nor of the indices";
    }
    for (size_t i = 0; i < operand->n_dimensions; i++)
        if (instruction->gather_slice_sizes[i] < 0 || instruction->gather_slice_sizes[i] > operand->dimensions[i])
            return "a slice is larger than its operand";
    return NULL;
}

const char *verify_scatter(const struct verify_asked *asked)
{
    const Xla__ScatterDimensionNumbers *by = asked->instruction->scatter_dimension_numbers;
    if (asked->count != 3 || shapes_is_tuple(asked->shape))
        return NULL; /* of several arrays at once */
    if (by == NULL || !shapes_equal(asked->operands[0], asked->shape))
        return "its shape is not that of what it updates";
    const program_shape *indices = asked->operands[1], *updates = asked->operands[2];
    if (!verify_same_type(updates, asked->shape))
        return "the updates are of another kind";
    size_t at = 0;
    for (size_t i = 0; i < updates->n_dimensions; i++) {
        if (is_in(by->update_window_dims, by->n_update_window_dims, i))
            continue;
        at = next_index_dimension(indices, at, by->index_vector_dim);
        if (at >= indices->n_dimensions || indices->dimensions[at++] != updates->dimensions[i])
            return "the updates have not a slice for each index";
    }
    return NULL;
}
